#!/usr/bin/env python3
"""fleet_chaos.py PROGRAMS NATS_SERVER PICTURES ACTS [SEED]: a fleet of five nodes while things are killed, stopped and cut.

Two servers in a cluster, three origins that get more pictures than they can do, and a relay between each node and each
server. Every few seconds something is lost, and mended a little later. At the end each picture has to be published once, and
whole, and no node may keep anything; it ends with 1 when that is not so, or when free places were left empty for too long.
"""

import asyncio
import collections
import hashlib
import json
import os
import pathlib
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

LONGEST = 15
DISK = "2G"
UNDERWAY = ("waiting", "queued", "running", "cancelling")
HEADERS = pathlib.Path(__file__).resolve().parent.parent / "Sources/CPipelinePlugin"
PLUGIN = """
#include <unistd.h>
#include <vips/vips.h>
#include <pipeline_plugin.h>
static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *in, VipsImage **out) {
    int width = vips_image_get_width(in);
    usleep(1000 * (50 + (width > 250 ? 250 : width)));
    return vips_copy(in, out, NULL);
}
const char edition[] = "edition EDITION";
static const PipelineFilter filter = {
    PIPELINE_FILTER_LAYOUT, .name = "naps", .version = "1", .summary = "naps", .apply = apply};
const PipelineFilter *pipeline_filter(void) { return &filter; }
"""
# The time of day goes wrong by some seconds; what measures a duration goes on.
WRONG_CLOCK = """
#include <dlfcn.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static time_t wrong(void) { return atol(getenv("CLOCK_WRONG_BY")); }
int clock_gettime(clockid_t clock, struct timespec *now) {
    int status = syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += wrong();
    return status;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    *now = (struct timeval){time.tv_sec, time.tv_nsec / 1000};
    return 0;
}
/* The kernel's clock is right. */
int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict end) {
    int (*wait)(sem_t *, const struct timespec *) = dlsym(RTLD_NEXT, "sem_timedwait");
    struct timespec right = {end->tv_sec - wrong(), end->tv_nsec};
    return wait(semaphore, &right);
}
time_t time(time_t *now) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    if (now) *now = time.tv_sec;
    return time.tv_sec;
}
"""
RECIPE = "[Recipe]\nInbox=far\n[Output]\nChain=naps | resize scale=0.5 | save format=jpeg quality=95\n"
# For how many seconds, at least and at most, and after how many more the others can know that it is mended.
ACTS = {
    "daemon killed": (2, 12, 2), "origin killed": (2, 12, 2), "fleet's process killed": (3, 3, 2),
    "server killed": (2, 15, 3), "fleet's process stopped": (5, 40, 3), "daemon stopped": (5, 40, 3), "line cut": (3, 30, 3),
    "line hangs": (3, 30, 3), "line slow": (3, 30, 3),
    "line narrow": (3, 30, 3), "line loses": (3, 30, 3), "clock wrong": (4, 20, 2), "twin": (4, 12, 12), "disk full": (4, 20, 12),
    # A node that has refused a picture is not asked again for half a minute.
    "other plugin": (5, 20, 32),
}


class PacketLoss:
    """Rules of the kernel's packet filter: each fifth packet to or from some ports of this machine is dropped."""
    TABLE = "inet pipelined_chaos"
    RULES = """
        add table {0}
        add set {0} ports {{ type inet_service ; }}
        add chain {0} input {{ type filter hook input priority 0 ; }}
        add rule {0} input tcp dport @ports numgen random mod 5 < 1 drop
        add rule {0} input tcp sport @ports numgen random mod 5 < 1 drop
    """

    def __init__(self):
        self.works = shutil.which("nft") is not None and self.nft(self.RULES.format(self.TABLE))

    def nft(self, commands):
        """Whether the kernel does it; only root may, and not every kernel can."""
        return subprocess.run(["nft", "-f", "-"], input=commands, text=True, stderr=subprocess.DEVNULL).returncode == 0

    def change(self, verb, relays):
        ports = ", ".join(str(relay.port) for relay in relays)
        if not self.nft(f"{verb} element {self.TABLE} ports {{ {ports} }}"):
            sys.exit(f"nft can't {verb} the ports {ports}")

    def end(self):
        self.nft(f"delete table {self.TABLE}")


class Relay:
    """One node's way to one server: ok, cut, hangs, slow, narrow: 200 kB a second each way, or one that loses packets."""
    loop = asyncio.new_event_loop()

    def __init__(self, port):
        self.target, self.mode, self.writers = port, "ok", set()
        started = asyncio.run_coroutine_threadsafe(asyncio.start_server(self.serve, "127.0.0.1", 0), self.loop)
        self.port = started.result().sockets[0].getsockname()[1]

    def turn(self, mode):
        self.mode = mode
        if mode == "cut":
            self.loop.call_soon_threadsafe(lambda: [one.transport.abort() for one in set(self.writers)])

    async def serve(self, reader, writer):
        ends = {writer}
        try:
            if self.mode != "cut":
                there, other = await asyncio.open_connection("127.0.0.1", self.target)
                ends.add(other)
                self.writers |= ends
                await asyncio.wait([asyncio.ensure_future(self.pump(reader, other)),
                                    asyncio.ensure_future(self.pump(there, writer))], return_when="FIRST_COMPLETED")
        except OSError:
            pass
        self.writers -= ends
        for end in ends:
            end.transport.abort()

    async def pump(self, reader, writer):
        try:
            while data := await reader.read(1 << 16):
                while self.mode == "hangs":
                    await asyncio.sleep(0.05)
                await asyncio.sleep({"slow": 0.3, "narrow": len(data) / 200_000}.get(self.mode, 0))
                writer.write(data)
                await writer.drain()
        except OSError:
            pass


class Server:
    def __init__(self, program, folder, number, ports, routes):
        self.program, self.name, self.port = program, f"server {number + 1}", ports[number]
        self.file = folder / f"server-{number + 1}.conf"
        known = ", ".join(f'"nats-route://127.0.0.1:{port}"' for port in routes)
        self.file.write_text(
            f'listen: "127.0.0.1:{self.port}"\nserver_name: "s{number}"\ncluster {{ name: fleet, '
            f'listen: "127.0.0.1:{routes[number]}", routes: [{known}], no_advertise: true }}\n')
        self.start()

    def start(self):
        with open(self.file.with_suffix(".log"), "ab") as log:
            self.process = subprocess.Popen([self.program, "-c", self.file], stdout=log, stderr=log)


class Node:
    def __init__(self, programs, root, name, places, servers, plugin):
        self.programs, self.root, self.name, self.process = programs, root, name, None
        self.relays = [Relay(server.port) for server in servers]
        root.mkdir()
        # Only root can give it a disk that others don't need.
        self.has_disk = os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", name, root]).returncode == 0
        # When it answered last, and what; what is wrong with it; and until when the others can't know better.
        self.latest, self.trouble, self.upset = (0, None, []), None, 0
        for part in ("etc/recipes.d", "plugins"):
            (root / part).mkdir(parents=True)
        urls = " ".join(f"nats://127.0.0.1:{relay.port}" for relay in self.relays)
        fleet = f"[Fleet]\nServers={urls}\nName={name}\nGive=always\n" if servers else ""
        (root / "etc/pipelined.conf").write_text(
            f"[Daemon]\nHistoryJobs=100000\n[Queues]\nRender={places}\n[Inbox]\nSettle=1ms\n{fleet}")
        (root / "etc/recipes.d/far.recipe").write_text(RECIPE)
        shutil.copy(plugin, root / "plugins/naps.so")

    def start(self, clock=None, wrong_by=0):
        """`clock` is a library that has the time of day go wrong by so many seconds."""
        wrong = {"LD_PRELOAD": str(clock), "CLOCK_WRONG_BY": str(wrong_by)} if clock else {}
        with open(self.root / "log", "ab") as log:
            self.process = subprocess.Popen(
                [self.programs / "pipelined", "--root", self.root], stdout=subprocess.DEVNULL, stderr=log,
                env={**os.environ, **wrong})
        while not self.status():
            if self.process.poll() is not None:
                sys.exit(f"{self.name} does not start; its log: {self.root}/log")
            time.sleep(0.1)

    def end(self):
        self.process.kill()
        self.process.wait()

    def fill_disk(self):
        """Leaves no byte of it. Returns what mends it."""
        filler = self.root / "filler"
        end = 0
        with open(filler, "wb") as file:
            for size in (1 << 26, 1 << 20, 1 << 12):
                try:
                    while True:
                        os.posix_fallocate(file.fileno(), end, size)
                        end += size
                except OSError:
                    pass  # So much is not free any more.
        return filler.unlink

    def call(self, method, **parameters):
        """The reply to one call of org.pipelined.Control; empty when there is none."""
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(5)
                connection.connect(str(self.root / "run/control.sock"))
                message = {"method": f"org.pipelined.Control.{method}", "parameters": parameters}
                connection.sendall(json.dumps(message).encode() + b"\0")
                answer = bytearray()
                while not answer.endswith(b"\0"):
                    answer += connection.recv(1 << 16) or b"{}\0"
            return json.loads(answer[:-1]).get("parameters", {})
        except (OSError, ValueError):
            return {}

    def status(self):
        return self.call("Status").get("status")

    def jobs(self, *states):
        found, more = [], {}
        while page := self.call("List", states=states, limit=500, **more).get("jobs"):
            found += page
            more = {"before": min(job["id"] for job in page)}
        return found

    def fleet_process(self):
        for thread in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            for word in thread.read_text().split():
                if pathlib.Path(f"/proc/{word}/comm").read_text().startswith("pipelined-fleet"):
                    return int(word)
        return None

    def deploy(self, plugin):
        shutil.copy(plugin, self.root / "naps.new")
        (self.root / "naps.new").rename(self.root / "plugins/naps.so")
        subprocess.run([self.programs / "pipectl", "--root", self.root, "reload"], stdout=subprocess.DEVNULL)

    def sample(self):
        while True:
            if status := self.status():
                self.latest = (time.monotonic(), status, self.call("List", states=["waiting"], limit=200).get("jobs", []))
            time.sleep(0.5)

    def underway(self):
        return sum(self.latest[1]["jobs"][state] for state in UNDERWAY) if self.latest[1] else 0

    def files(self, part):
        return [path for path in (self.root / part).rglob("*") if path.is_file()]

    # What is known of it for the stretches.

    def is_known(self):
        status = self.latest[1]
        return not self.trouble and time.monotonic() > self.upset and time.monotonic() - self.latest[0] < 4 \
            and status["fleet"] is not None and status["fleet"].get("server") is not None

    def is_free(self):
        render, fleet = self.latest[1]["queues"]["render"], self.latest[1]["fleet"]
        return render["waiting"] == 0 and fleet["taken"] < fleet["places"] \
            and render["running"] + fleet["taken"] < render["effective"]

    def not_begun(self):
        return [job["id"] for job in self.latest[2] if (job.get("reason") or "") == "with the fleet"]


def picture(chooser):
    """A PNG with a content of its own. Some need several messages."""
    width = chooser.choice([1000, 700] + [chooser.randrange(40, 300) for _ in range(18)])
    height = width * 3 // 4
    rows = b"".join(b"\0" + chooser.randbytes(3 * width) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks)


class Watch:
    """The stretches in which a node had a free place while pictures that an origin had lent were begun by nobody."""

    def __init__(self, nodes):
        self.nodes, self.since, self.looks, self.stretches = nodes, {}, collections.Counter(), [(0, "")]

    def look(self):
        for taker in self.nodes:
            for origin in self.nodes[:3]:
                if taker is origin or not taker.is_known() or not origin.is_known():
                    self.since.pop((taker, origin), None)
                    continue
                free, waiting = taker.is_free(), origin.not_begun()
                self.looks.update({"all": 1, "free": int(free), "waiting": int(bool(waiting))})
                if not free or not waiting:
                    self.since.pop((taker, origin), None)
                    continue
                began, before = self.since.setdefault((taker, origin), (time.monotonic(), waiting))
                length = time.monotonic() - began
                self.stretches.append(
                    (length, f"until {time.strftime('%H:%M:%S')}, {taker.name} had a place, {origin.name} had {waiting}, "
                     f"of which {len(set(before) & set(waiting))} from its beginning"))
                if LONGEST <= length < LONGEST + 0.6:
                    print(f"  a long stretch: {self.stretches[-1][1]}", flush=True)

    def run(self):
        while True:
            self.look()
            time.sleep(0.5)


class Chaos:
    def __init__(self, nodes, servers, editions, clock, folder, chooser):
        self.nodes, self.servers, self.editions, self.clock, self.folder, self.chooser = nodes, servers, editions, clock, folder, chooser
        self.undo, self.counts, self.twins, self.loss = [], collections.Counter(), [], PacketLoss()
        self.kinds = [kind for kind in ACTS if self.can(kind)]

    def can(self, kind):
        """Whether this machine has what the act needs."""
        needed = {
            "line loses": self.loss.works, "disk full": any(node.has_disk for node in self.nodes)}
        if not (able := needed.get(kind, True)):
            print(f"  left out, since this machine or user can't: {kind}", flush=True)
        return able

    def act(self):
        """Does one thing, and remembers what mends it. False when enough are in trouble already."""
        kind = self.chooser.choice(self.kinds)
        least, most, after = ACTS[kind]
        seconds = self.chooser.uniform(least, most)
        well = [node for node in (self.nodes[:3] if kind == "origin killed" else self.nodes)
                if not node.trouble and (node.has_disk or kind != "disk full")]
        up = [server for server in self.servers if server.process.poll() is None]
        if not (up if kind == "server killed" else well) or sum(bool(node.trouble) for node in self.nodes) > 2:
            return False
        what = self.chooser.choice(up if kind == "server killed" else well)
        hurt = self.nodes if kind == "server killed" else [what]
        mend, name = self.hurt(kind, what), what.name
        if kind != "server killed":
            what.trouble = kind
        self.counts[kind] += 1
        print(f"  {time.strftime('%H:%M:%S')} {kind}: {name}, for {seconds:.0f} s", flush=True)

        def mended():
            mend()
            for node in hurt:
                node.trouble = node.trouble if kind == "server killed" else None
                node.upset = max(node.upset, time.monotonic() + after)
        for node in hurt:
            node.upset = max(node.upset, time.monotonic() + after)
        self.undo.append((time.monotonic() + seconds, mended))
        return True

    def hurt(self, kind, what):
        """Returns what mends it."""
        if kind in ("daemon killed", "origin killed"):
            what.end()
            return what.start
        if kind == "server killed":
            what.process.kill()
            what.process.wait()
            return what.start
        if kind == "daemon stopped":
            what.process.send_signal(signal.SIGSTOP)
            return lambda: what.process.send_signal(signal.SIGCONT)
        if kind.startswith("fleet's process"):
            # The daemon ends a process that is stopped.
            if process := what.fleet_process():
                os.kill(process, signal.SIGKILL if kind.endswith("killed") else signal.SIGSTOP)
            return lambda: None
        if kind == "disk full":
            return what.fill_disk()
        if kind == "clock wrong":
            what.end()
            what.start(self.clock, self.chooser.choice([-2 * 86400, -3600, 3600, 400 * 86400]))
            return lambda: (what.end(), what.start())
        if kind.startswith("line"):
            relays = self.chooser.choice([what.relays, what.relays[:1], what.relays[1:]])
            if kind == "line loses":
                self.loss.change("add", relays)
                return lambda: self.loss.change("delete", relays)
            for relay in relays:
                relay.turn(kind.split()[1])
            return lambda: [relay.turn("ok") for relay in relays]
        if kind == "twin":
            root = self.folder / f"twin-{len(self.twins) + 1}"
            self.twins.append(Node(what.programs, root, what.name, 1, self.servers, self.editions[0]))
            self.twins[-1].start()
            return self.twins[-1].end
        what.deploy(self.editions[1])
        return lambda: what.deploy(self.editions[0])

    def mend(self):
        for entry in [one for one in self.undo if one[0] < time.monotonic()]:
            self.undo.remove(entry)
            entry[1]()


def compiled(folder, name, source, *packages):
    text, product = folder / f"{name}.c", folder / f"{name}.so"
    text.write_text(source)
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", *packages], check=True, capture_output=True, text=True).stdout if packages else ""
    subprocess.run(["gcc", "-w", "-fPIC", "-D_GNU_SOURCE", "-shared", "-o", product, "-I", str(HEADERS), text, *flags.split()], check=True)
    return product


def await_end(nodes):
    """Waits until nothing is left to do; false when nothing has changed for five minutes."""
    before, changed = None, time.monotonic()
    while time.monotonic() - changed < 300:
        known = [node.status() for node in nodes]
        now = [one and (one["jobs"], one["fleet"]["taken"], one["fleet"]["lent"]) for one in known]
        if all(one and not any(one[0][state] for state in UNDERWAY) and one[1:] == (0, 0) for one in now) \
                and not any(path.suffix == ".png" for node in nodes for path in node.files("inbox")):
            return True
        if now != before:
            before, changed = now, time.monotonic()
        time.sleep(0.5)
    for node in nodes:
        print(json.dumps(node.status(), indent=1))
        for job in node.jobs(*UNDERWAY)[:3]:
            print(json.dumps(node.call("Show", id=job["id"])))
    return False


def judge(nodes, dropped, lone):
    complaints, makers, lost, contents = [], collections.Counter(), [], {}
    for node in nodes:
        failed = {job["input"]: job for job in node.jobs("failed")}
        for name, job in failed.items():
            if "none came to an end" in (job["error"] or ""):
                lost.append(f"{name} of {node.name}: {job['error']}")
            else:
                complaints.append(f"{node.name}: job {job['id']}, {name}, has failed: {job['error']}")
        wanted = sorted(name for name, where in dropped.items() if where is node and name not in failed)
        results = [path for path in node.files("outbox") if ".staging" not in str(path)]
        left = [path for path in node.files("outbox") + node.files("inbox") + node.files("state/spool")
                if path not in results]
        done = node.jobs("done")
        for what, found in (("published", [path.stem + ".png" for path in results]), ("done", [job["input"] for job in done]),
                            ("in the archive", [path.name for path in node.files("archive")])):
            if sorted(found) != wanted:
                more = collections.Counter(found) - collections.Counter(wanted)
                complaints.append(f"{node.name}: not {what}: {sorted(set(wanted) - set(found))[:5]}, too many: {list(more)[:5]}")
        for path in results:
            data, other = path.read_bytes(), lone.root / "outbox/far" / path.name
            twin = contents.setdefault(hashlib.sha256(data).digest(), path.name)
            if other.exists() and other.read_bytes() != data or not data.endswith(b"\xff\xd9") or twin != path.name:
                complaints.append(f"{node.name}: {path.name} is not what a lone daemon makes of it, or not whole, or {twin}")
        if left:
            complaints.append(f"{node.name}: left: {left[:5]}")
        for job in done:
            where = re.findall(r"on node (node-\d)", json.dumps(node.call("Show", id=job["id"])))
            makers[(node.name, where[-1] if where else node.name)] += 1
    return complaints, makers, lost


def drop(nodes, dropped, contents, folder, began, looked):
    """One origin in turn gets nothing for some seconds, and is a node for the others then."""
    resting = int((time.monotonic() - began) // 10) % 4
    for number, node in enumerate(nodes[:3]):
        if number == resting or looked.get(node) == node.latest[0] or node.underway() > 40 or node.trouble == "disk full":
            continue
        looked[node] = node.latest[0]
        for _ in range(20):
            name = f"{len(dropped):06d}.png"
            (folder / "pictures" / name).write_bytes(picture(contents))
            shutil.copy(folder / "pictures" / name, node.root / name)
            dropped[name] = node
            (node.root / name).rename(node.root / "inbox/far" / name)


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    programs, nats = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    pictures, acts, seed = int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]) if len(sys.argv) > 5 else 1
    chooser, contents = random.Random(seed), random.Random(seed)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pipelined-chaos."))
    print(f"fleet_chaos: at least {pictures} pictures, {acts} acts, seed {seed}, in {folder}", flush=True)
    threading.Thread(target=Relay.loop.run_forever, daemon=True).start()
    editions = [compiled(folder, f"naps-{edition}", PLUGIN.replace("EDITION", str(edition)), "vips") for edition in (1, 2)]
    clock = compiled(folder, "clock", WRONG_CLOCK)
    # All are there at once, so that no two are the same.
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(4)]
    ports = [one.getsockname()[1] for one in taken]
    for one in taken:
        one.close()
    servers = [Server(nats, folder, number, ports[:2], ports[2:]) for number in range(2)]
    nodes = [Node(programs, folder / f"node-{number}", f"node-{number}", 2 if number < 4 else 1, servers, editions[0])
             for number in range(1, 6)]
    lone = Node(programs, folder / "lone", "lone", 8, [], editions[0])
    chaos, watch, dropped, looked = Chaos(nodes, servers, editions, clock, folder, chooser), Watch(nodes), {}, {}
    (folder / "pictures").mkdir()
    try:
        for node in nodes:
            node.start()
            threading.Thread(target=node.sample, daemon=True).start()
        threading.Thread(target=watch.run, daemon=True).start()
        began = time.monotonic()
        due, done = began + 5, 0
        while done < acts or len(dropped) < pictures or chaos.undo:
            chaos.mend()
            if done < acts and time.monotonic() > due and chaos.act():
                done, due = done + 1, time.monotonic() + chooser.uniform(2, 4)
            if done < acts or len(dropped) < pictures:
                drop(nodes, dropped, contents, folder, began, looked)
            time.sleep(0.1)
        print(f"  {time.strftime('%H:%M:%S')} everything is mended; {len(dropped)} pictures", flush=True)
        ended = await_end(nodes)
        print(f"  {time.strftime('%H:%M:%S')} {'all is done' if ended else 'something is stuck'}", flush=True)
        lone.start()
        # Of the others it is looked whether they are whole, and no two the same.
        compared = chooser.sample(sorted(dropped), min(500, len(dropped)))
        for name in compared:
            shutil.copy(folder / "pictures" / name, lone.root / name)
            (lone.root / name).rename(lone.root / "inbox/far" / name)
        while len(lone.jobs("done", "failed")) < len(compared):
            time.sleep(0.5)
        complaints, makers, lost = judge(nodes, dropped, lone)
    finally:
        for one in nodes + servers + [lone] + chaos.twins:
            if one.process:
                one.process.kill()
                one.process.wait()
        chaos.loss.end()
    return report(folder, chaos, watch, dropped, makers, lost, complaints + ([] if ended else ["something is stuck"]))


def report(folder, chaos, watch, dropped, makers, lost, complaints):
    print("\n  " + ", ".join(f"{count} × {kind}" for kind, count in chaos.counts.most_common()))
    for origin in sorted({where for where, _ in makers}):
        of = [f"{count} by {maker}" for (where, maker), count in sorted(makers.items()) if where == origin]
        print(f"  of {origin}: {', '.join(of)}")
    longest = max(watch.stretches)
    print(f"  {len(dropped)} pictures; of {watch.looks['all']} looks at two nodes one had a free place at {watch.looks['free']}, "
          f"and the other pictures that nobody had begun at {watch.looks['waiting']}")
    print(f"  both for {longest[0]:.1f} s at most {longest[1]}")
    for one in lost:
        print(f"  lost with three nodes: {one}")
    if longest[0] >= LONGEST:
        complaints.append("free places were left empty for too long")
    for complaint in complaints:
        print(f"  {complaint}")
    if complaints:
        print(f"  everything is in {folder}")
        return 1
    print("  every picture was published once, and whole; nothing is left over")
    for disk in folder.glob("*/etc"):
        if disk.parent.is_mount():
            subprocess.run(["umount", "--lazy", disk.parent], check=True)
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
