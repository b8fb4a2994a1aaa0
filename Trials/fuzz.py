"""fuzz.py PROGRAMS MINUTES [SEED]: damaged pictures through a real daemon with real workers.

Mutates pictures that the project draws itself, in every format that is read, and drops them into inboxes of several recipes.
Keeps what took a worker down, hung, or was lost, in a folder that it names; ends with 1 when there was any. The Nth picture of
a seed is always the same.
"""
import glob
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections import Counter

import camera_seeds

MOST_AT_ONCE = 48
# Of the supervisor, which holds no pixels; and of a worker, at 20 million pixels a picture.
MOST_MEMORY, MOST_WORKER_MEMORY = 256 << 20, 2 << 30
SILENCE = 90

CONFIGURATION = "[Daemon]\nMaxPixels=20M\nJobTimeout=30s\n"
# Its inbox: its file, and how many results a picture has.
RECIPES = {
    "": (None, 1),
    "web": ("""[Recipe]
Inbox=web
OnTruncated=accept
[Output]
Chain=noir contrast=1.5 | resize width=100 | save format=webp
[Output thumb]
Chain=resize width=64 height=64 fit=cover | save format=png
""", 2),
    "print": ("""[Recipe]
Inbox=print
[Output]
Chain=resize scale=1.5 kernel=cubic | save format=tiff metadata=copyright
""", 1),
    "small": ("""[Recipe]
Inbox=small
[Output]
Chain=resize width=48 | save format=avif quality=30
""", 1),
    # Planes of a JPEG or WebP stay planes here, up to the encoder.
    "planes": ("""[Recipe]
Inbox=planes
OnTruncated=accept
[Output]
Chain=resize width=100 | save format=webp
[Output whole]
Chain=save format=jpeg metadata=copyright
[Output fine]
Chain=resize width=70 height=41 fit=cover | save format=jpeg quality=95 metadata=strip
[Output grey]
Chain=noir | resize scale=0.3 | save format=webp
""", 4),
    "half": ("""[Recipe]
Inbox=half
[Output]
Chain=resize scale=0.5 | save format=jpeg
""", 1),
    "develop": ("""[Recipe]
Inbox=develop
Raw=develop
[Output]
Chain=resize scale=0.5 | save format=jpeg
[Output whole]
Chain=save format=png
""", 2),
    "plain": ("""[Recipe]
Inbox=plain
Original=delete
OnTruncated=accept
[Output]
Chain=save format=png
""", 1),
}
SAMPLES = ["morning-hills.jpg", "poplars-upright.jpg", "stained-glass.png", "balloon.png", "plasma.webp"]
# How `vips` writes a seed: its suffix, and the command with its options.
FORMATS = [
    ("jpg", "jpegsave"), ("jpg", "jpegsave --interlace"), ("jpg", "jpegsave --subsample-mode off --Q 95"),
    ("jpg", "jpegsave --optimize-coding --restart-interval 4"), ("png", "pngsave"), ("png", "pngsave --interlace"),
    ("png", "pngsave --palette"), ("webp", "webpsave"), ("webp", "webpsave --lossless"),
    ("webp", "webpsave --page-height 60"), ("tif", "tiffsave"), ("tif", "tiffsave --compression deflate --tile"),
    ("tif", "tiffsave --compression jpeg"), ("tif", "tiffsave --compression lzw --predictor horizontal"),
    ("gif", "gifsave"), ("gif", "gifsave --page-height 60"), ("heic", "heifsave --compression hevc"),
    ("avif", "heifsave --compression av1 --effort 0"), ("jpg", "jpegsave --profile p3"),
    ("jpg", "icc_transform cmyk"), ("png", "colourspace rgb16"), ("png", "icc_transform p3"),
    ("tif", "cast float"),
]


def make_seeds(programs, folder):
    """Small pictures in every format, in a fixed order: (suffix, bytes)."""
    subprocess.run([f"{programs}/pipelined-samples", f"{folder}/drawn"], check=True)
    seeds = []
    for sample in SAMPLES:
        small = f"{folder}/{sample}.png"
        subprocess.run(["vips", "thumbnail", f"{folder}/drawn/{sample}", small, "160", "--height", "120",
                        "--size", "force", "--no-rotate"], check=True, stderr=subprocess.DEVNULL)
        for index, (suffix, command) in enumerate(FORMATS):
            verb, *options = command.split()
            made = f"{folder}/{sample}.{index}.{suffix}"
            done = subprocess.run(["vips", verb, small, made, *options], stderr=subprocess.DEVNULL)
            if done.returncode == 0:
                with open(made, "rb") as file:
                    seeds.append((suffix, file.read()))
        with open(f"{folder}/{sample}.0.jpg", "rb") as file:
            preview = file.read()
        plain = f"{folder}/{sample}.v"
        subprocess.run(["vips", "jpegload", f"{folder}/{sample}.0.jpg", plain], check=True)
        subprocess.run(["vips", "rawsave", plain, f"{folder}/pixels"], check=True)
        with open(f"{folder}/pixels", "rb") as file:
            pixels = file.read()
        seeds += [("dng", camera_seeds.dng(160, 120, pixels, preview))] * 4
        seeds += [("bmp", bitmap) for bitmap in camera_seeds.bitmaps(160, 120, pixels)]
    return seeds


class Mutator:
    """The Nth picture of a seed."""

    numbers = [0, 1, 2, 3, 7, 8, 16, 64, 127, 128, 255, 256, 1000, 4096, 32767, 32768, 65535, 65536, 1 << 24,
               (1 << 31) - 1, 1 << 31, (1 << 32) - 1]

    def __init__(self, seed, seeds):
        self.seed, self.seeds = seed, seeds

    def picture(self, number):
        """(inbox, suffix, bytes)"""
        rng = random.Random(f"{self.seed}:{number}")
        inbox = rng.choice(list(RECIPES))
        suffix, body = rng.choice(self.seeds)
        data = bytearray(body)
        if rng.random() > 0.05:
            for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 5, 12])):
                self.mutate(rng, data)
            if suffix == "png" and rng.random() < 0.7:
                data = self.with_checksums(data)
        return inbox, suffix, bytes(data)

    def mutate(self, rng, data):
        size = len(data)
        if size < 16:
            data += rng.randbytes(16)
            return
        # Headers are where decisions are made.
        end = rng.choice([64, 256, 1024, size, size, size])
        at = rng.randrange(min(end, size))
        kind = rng.randrange(10)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.choice([0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)])
        elif kind in (2, 3):
            form = rng.choice([">H", "<H", ">I", "<I"])
            value = rng.choice(self.numbers) & (0xffff if form[1] == "H" else 0xffffffff)
            data[at:at + struct.calcsize(form)] = struct.pack(form, value)
        elif kind == 4:
            del data[rng.randrange(size):]
        elif kind == 5:
            del data[at:at + rng.choice([1, 2, 4, 16, 256])]
        elif kind == 6:
            data[at:at] = data[at:at + rng.choice([1, 2, 12, 64, 512])] * rng.choice([1, 2, 20])
        elif kind == 7:
            data[at:at] = rng.randbytes(rng.choice([1, 2, 4, 16, 256]))
        elif kind == 8:
            length = rng.choice([1, 4, 32, 200])
            data[at:at + length] = bytes([rng.choice([0, 0xff])]) * len(data[at:at + length])
        else:
            _, other = rng.choice(self.seeds)
            start = rng.randrange(len(other))
            length = rng.choice([8, 64, 1024])
            data[at:at + length] = other[start:start + length]

    @staticmethod
    def with_checksums(data):
        """A PNG whose chunks pass their check, so that what is in them is looked at."""
        result, at = bytearray(data[:8]), 8
        while at + 12 <= len(data):
            length = int.from_bytes(data[at:at + 4], "big")
            if at + 12 + length > len(data):
                break
            content = data[at + 4:at + 8 + length]
            result += data[at:at + 8 + length] + zlib.crc32(content).to_bytes(4, "big")
            at += 12 + length
        return result + data[at:]


class Daemon:
    """A daemon on a root of its own, its log, and what becomes of its jobs."""

    def __init__(self, programs, root):
        self.root = root
        self.ended = {}
        self.names = {}
        self.crashes = []
        self.changed = threading.Condition()
        os.makedirs(f"{root}/etc/recipes.d")
        self.write("etc/pipelined.conf", CONFIGURATION)
        for name, (text, _) in RECIPES.items():
            if text:
                self.write(f"etc/recipes.d/{name}.recipe", text)
        self.process = subprocess.Popen([f"{programs}/pipelined", "--root", root], stderr=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        ready = threading.Event()
        threading.Thread(target=self.read_log, args=[ready], daemon=True).start()
        if not ready.wait(60):
            raise SystemExit(f"fuzz: the daemon does not start; see {root}/log")
        threading.Thread(target=self.watch, daemon=True).start()

    def write(self, path, text):
        with open(f"{self.root}/{path}", "w", encoding="utf-8") as file:
            file.write(text)

    def read_log(self, ready):
        with open(f"{self.root}/log", "w", encoding="utf-8") as log:
            for line in self.process.stderr:
                text = line.decode("utf-8", "replace")
                log.write(text)
                log.flush()
                if "is ready" in text:
                    ready.set()
                if "worker" in text and re.search(r"ended by signal|ended by itself|can't be read", text):
                    with self.changed:
                        self.crashes.append(text.strip())

    def watch(self):
        """The end of each job, as it is told."""
        link = socket.socket(socket.AF_UNIX)
        link.connect(f"{self.root}/run/control.sock")
        link.sendall(json.dumps({"method": "org.pipelined.Control.Watch", "parameters": {"cursor": 0},
                                 "more": True}).encode() + b"\0")
        buffer = b""
        while received := link.recv(1 << 20):
            *messages, buffer = (buffer + received).split(b"\0")
            with self.changed:
                for message in messages:
                    for event in json.loads(message)["parameters"].get("events", []):
                        job = event.get("job")
                        if event["kind"] == "job" and job and job["state"] in ("done", "failed", "cancelled"):
                            self.names[job["id"]] = job["input"]
                            self.ended[job["input"]] = (job["state"], job.get("error") or "")
                self.changed.notify_all()

    def states(self):
        with self.changed:
            return Counter(state for state, _ in self.ended.values())

    def memory(self):
        """Of the supervisor, and of its largest worker, in bytes."""
        process = self.process.pid
        workers = []
        for path in glob.glob(f"/proc/{process}/task/*/children"):
            try:
                with open(path, encoding="ascii") as file:
                    workers += file.read().split()
            except OSError:
                pass
        return self.resident(process), max([0] + [self.resident(worker) for worker in workers])

    @staticmethod
    def resident(process):
        try:
            with open(f"/proc/{process}/statm", encoding="ascii") as file:
                # Without what it shares with others, as mapped files.
                _, resident, shared, *_ = file.read().split()
                return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError):
            return 0


class Run:
    def __init__(self, programs, minutes, seed):
        self.seed, self.minutes = seed, minutes
        self.root = tempfile.mkdtemp(prefix="pipelined-fuzz.")
        self.findings = os.path.abspath(f".build/fuzz/{seed}")
        self.problems = []
        self.mutator = Mutator(seed, make_seeds(programs, self.root + "/seeds-of-fuzz"))
        self.daemon = Daemon(programs, self.root)
        self.dropped = {}
        self.placed = Counter()
        self.results = Counter()
        self.peak = self.worker_peak = 0
        self.begin = self.told = self.said = self.heard = time.monotonic()
        self.crashes_seen = 0

    def name(self, number):
        inbox, suffix, body = self.mutator.picture(number)
        return inbox, f"{number:08}.{suffix}", body

    def drop(self, number):
        inbox, name, body = self.name(number)
        outside = f"{self.root}/outside"
        with open(outside, "wb") as file:
            file.write(body)
        os.makedirs(f"{self.root}/inbox/{inbox}", exist_ok=True)
        self.dropped[name] = inbox
        os.rename(outside, f"{self.root}/inbox/{inbox}/{name}")

    def problem(self, what, name=None):
        """Kept with its picture, made once more, if it is about one."""
        self.problems.append(what + (f": {name}" if name else ""))
        os.makedirs(self.findings, exist_ok=True)
        if name in self.dropped:
            inbox, _, body = self.name(int(name.split(".")[0]))
            folder = f"{self.findings}/{inbox or 'noir'}"
            os.makedirs(folder, exist_ok=True)
            with open(f"{folder}/{name}", "wb") as file:
                file.write(body)
        with open(f"{self.findings}/problems", "a", encoding="utf-8") as file:
            file.write(self.problems[-1] + "\n")

    def look(self):
        """Takes up what has happened; once a second."""
        now = time.monotonic()
        if now - self.told < 1:
            return
        self.told = now
        for line in self.daemon.crashes[self.crashes_seen:]:
            self.crashes_seen += 1
            found = re.search(r"\b(\d{8}\.\w+)", line)
            self.problem(line, found.group(1) if found else None)
        self.sweep()
        supervisor, worker = self.daemon.memory()
        self.peak, self.worker_peak = max(self.peak, supervisor), max(self.worker_peak, worker)
        states = self.daemon.states()
        elapsed = int(now - self.begin)
        line = (f"{elapsed // 60}:{elapsed % 60:02}  {len(self.dropped)} pictures, {states['done']} done, "
                f"{states['failed']} failed, {self.crashes_seen} crashes, {supervisor >> 20} MB")
        if sys.stderr.isatty():
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
        elif now - self.said >= 30:
            self.said = now
            print(line, file=sys.stderr, flush=True)

    def sweep(self):
        """Counts where originals and results lie, and makes room."""
        for place in ("archive", "failed", "outbox"):
            for folder, folders, files in os.walk(f"{self.root}/{place}"):
                if ".staging" in folders:
                    folders.remove(".staging")
                for file in files:
                    # On its way.
                    if file.endswith((".new", ".part")):
                        continue
                    original = file.removesuffix(".error.txt") if place == "failed" else file
                    path = f"{folder}/{file}"
                    if place == "outbox":
                        self.results[file.split(".")[0]] += os.path.getsize(path) > 0
                    elif original != file:
                        self.results[file] += os.path.getsize(path) > 100
                    else:
                        self.placed[place, file] += 1
                    os.remove(path)

    def work(self):
        end = self.begin + self.minutes * 60
        number = 0
        while time.monotonic() < end or len(self.daemon.ended) < len(self.dropped):
            if self.daemon.process.poll() is not None:
                return self.problem("the daemon ended")
            if time.monotonic() < end and len(self.dropped) - len(self.daemon.ended) < MOST_AT_ONCE:
                self.drop(number)
                number += 1
            else:
                before = len(self.daemon.ended)
                with self.daemon.changed:
                    self.daemon.changed.wait(1)
                if len(self.daemon.ended) > before:
                    self.heard = time.monotonic()
            if time.monotonic() - self.heard > SILENCE:
                return self.problem("nothing ends any more")
            self.look()

    def check(self):
        """That every picture is in exactly one place, and nothing is left over."""
        if self.daemon.process.poll() is None:
            self.daemon.process.send_signal(signal.SIGTERM)
            if self.daemon.process.wait(60) != 0:
                self.problem(f"the daemon ended with {self.daemon.process.returncode}")
        self.told = 0
        self.look()
        for name, inbox in self.dropped.items():
            state, error = self.daemon.ended.get(name, ("lost", ""))
            stem = name.split(".")[0]
            archived, failed = self.placed["archive", name], self.placed["failed", name]
            kept = inbox != "plain"
            if state == "done":
                if (archived, failed) != (int(kept), 0) or self.results[stem] != RECIPES[inbox][1]:
                    self.problem(f"done, {archived} in archive, {failed} in failed, {self.results[stem]} results", name)
            elif state == "failed":
                if (archived, failed) != (0, 1) or self.results[stem] or not self.results[name + ".error.txt"]:
                    self.problem(f"failed, {archived} in archive, {failed} in failed, {self.results[stem]} results", name)
                if not error or re.search("took its worker down|JobTimeout", error):
                    self.problem(f"failed with '{error}'", name)
            else:
                self.problem(f"neither done nor failed, but {state}", name)
        for place in ("inbox", "outbox", "cancelled"):
            for folder, _, files in os.walk(f"{self.root}/{place}"):
                for file in files:
                    job = re.match(r"(\d+)-\d+\.", file) if folder.endswith(".staging") else None
                    name = self.daemon.names.get(int(job.group(1))) if job else file
                    self.problem(f"left over: {folder.removeprefix(self.root)}/{file}", name)
        if self.peak > MOST_MEMORY:
            self.problem(f"the daemon took {self.peak >> 20} MB")
        if self.worker_peak > MOST_WORKER_MEMORY:
            self.problem(f"a worker took {self.worker_peak >> 20} MB")

    def report(self):
        states = self.daemon.states()
        seconds = time.monotonic() - self.begin
        print(f"\nSeed {self.seed}: {len(self.dropped)} pictures in {seconds / 60:.1f} minutes "
              f"({len(self.dropped) / seconds:.0f} a second): {states['done']} done, {states['failed']} failed.")
        print(f"At the most the daemon took {self.peak >> 20} MB, a worker {self.worker_peak >> 20} MB.")
        if self.problems:
            print(f"{len(self.problems)} problems; their pictures are in {self.findings}, by recipe:")
            for problem in self.problems[:20]:
                print("  " + problem)
            shutil.copy(f"{self.root}/log", f"{self.findings}/log")
            print("  To see one again: ./run daemon, then cp it into var/inbox, under such a recipe.")
        else:
            print("No worker was lost, every picture is where it belongs, and nothing is left over.")

    def close(self):
        if self.daemon.process.poll() is None:
            self.daemon.process.kill()
            self.daemon.process.wait()
        shutil.rmtree(self.root, ignore_errors=True)


def main():
    if len(sys.argv) not in (3, 4):
        raise SystemExit(__doc__)
    programs, minutes = sys.argv[1], float(sys.argv[2])
    seed = sys.argv[3] if len(sys.argv) == 4 else str(int(time.time()))
    run = Run(programs, minutes, seed)
    try:
        run.work()
        run.check()
        run.report()
    except KeyboardInterrupt:
        print(f"\nfuzz: stopped; seed {seed}", file=sys.stderr)
        return 130
    finally:
        run.close()
    return 1 if run.problems else 0


if __name__ == "__main__":
    sys.exit(main())
