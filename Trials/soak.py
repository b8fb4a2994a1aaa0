#!/usr/bin/env python3
"""soak.py PROGRAMS [MINUTES [SEED]]: a daemon under everything at once, for a long time.

Good and bad pictures, several recipes, cancels, retries, pauses, reloads, kills of workers. What the daemon holds is
measured all along and drawn as a chart; it ends with 1 when something grows, or when a picture is lost.
"""

import collections
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

RECIPES = {
    "web": "[Recipe]\nInbox=web\n[Output]\nChain=resize width=400 | save format=webp\n"
    "[Output small]\nChain=resize width=90 | noir | save\n",
    "print": "[Recipe]\nInbox=print\nOriginal=delete\n[Output]\nChain=resize scale=0.3 | save format=avif quality=40\n",
    "odd": "[Recipe]\nInbox=odd\nConflict=replace\n[Output]\nChain=resize width=200 height=200 fit=cover | save format=png\n",
}
# Above the number of rows that are remembered, so that forgetting them is part of the trial.
CONFIGURATION = "[Daemon]\nHistoryJobs=500\nWorkerJobs=200\nCancelGrace=100ms\n[Queues]\nWindow=128\n"
SERIES = ["supervisor MB", "largest worker MB", "descriptors", "rows", "staging files"]


class Daemon:
    def __init__(self, programs, root):
        self.root = root
        self.log = open(root / "log", "ab")
        self.process = subprocess.Popen(
            [programs / "pipelined", "--root", root], stdout=subprocess.DEVNULL, stderr=self.log)
        while not (root / "run/control.sock").exists():
            if self.process.poll() is not None:
                sys.exit(f"the daemon does not start:\n{(root / 'log').read_text()}")
            time.sleep(0.05)

    def call(self, method, **parameters):
        """One call of org.pipelined.Control; None when it is refused."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(120)
            connection.connect(str(self.root / "run/control.sock"))
            message = {"method": f"org.pipelined.Control.{method}", "parameters": parameters}
            connection.sendall(json.dumps(message).encode() + b"\0")
            answer = b""
            while not answer.endswith(b"\0"):
                part = connection.recv(1 << 16)
                if not part:
                    raise ConnectionError(f"{method}: no answer")
                answer += part
        reply = json.loads(answer[:-1])
        return None if "error" in reply else reply["parameters"]

    def workers(self):
        found = []
        for thread in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                found += [int(word) for word in (thread / "children").read_text().split()]
            except OSError:
                pass
        return found


def memory(process):
    try:
        for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0


def measure(daemon):
    root = daemon.root
    with sqlite3.connect(f"file:{root}/state/ledger.sqlite?mode=ro", uri=True) as ledger:
        rows = ledger.execute("SELECT COUNT(*) FROM jobs").fetchone()[0]
    ledger.close()
    return [
        memory(daemon.process.pid),
        max([memory(worker) for worker in daemon.workers()] or [0]),
        len(os.listdir(f"/proc/{daemon.process.pid}/fd")),
        rows,
        sum(len(files) for folder, _, files in os.walk(root / "outbox") if ".staging" in folder),
    ]


def chart(name, values, width=60):
    """The course of one series: eight heights, the lowest at zero."""
    columns = [values[len(values) * at // width:max(len(values) * (at + 1) // width, len(values) * at // width + 1)]
               for at in range(min(width, len(values)))]
    top = max(values) or 1
    line = "".join("▁▂▃▄▅▆▇█"[min(7, int(8 * max(column) / top))] for column in columns)
    return f"  {name:<18}{line}  {min(values):.0f} – {max(values):.0f}"


def median(values):
    return sorted(values)[len(values) // 2]


def drops(samples, chooser, daemon, number):
    """Puts one picture, or something that only looks like one, into an inbox; returns its name."""
    source = chooser.choice(samples)
    name = f"{number:07d}{source.suffix}"
    outside = daemon.root / f"outside-{name}"
    data = source.read_bytes()
    if chooser.random() < 0.15:
        data = chooser.choice([data[:len(data) // 2], b"", b"no picture", data[:50] + bytes(200) + data[250:]])
    outside.write_bytes(data)
    outside.rename(daemon.root / "inbox" / chooser.choice(["", "web", "print", "odd"]) / name)


def disturb(daemon, chooser):
    """One thing that people, and bad luck, do to a daemon."""
    kind = chooser.choices(
        ["kill", "stop", "cancel", "cancel-all", "retry", "reload", "pause", "limit", "list"],
        [4, 1, 6, 1, 2, 2, 1, 1, 4])[0]
    if kind in ("kill", "stop"):
        workers = daemon.workers()
        if workers:
            try:
                os.kill(chooser.choice(workers), signal.SIGKILL if kind == "kill" else signal.SIGSTOP)
            except ProcessLookupError:
                pass
    elif kind == "cancel":
        jobs = (daemon.call("List", states=["queued", "running", "waiting"], limit=50) or {}).get("jobs", [])
        for job in chooser.sample(jobs, min(3, len(jobs))):
            daemon.call("Cancel", ids=[job["id"]])
    elif kind == "cancel-all":
        daemon.call("CancelAll")
    elif kind == "retry":
        jobs = (daemon.call("List", states=["cancelled"], limit=20) or {}).get("jobs", [])
        if jobs:
            daemon.call("Retry", ids=[job["id"] for job in jobs], states=[])
    elif kind == "reload":
        daemon.call("Reload")
    elif kind == "pause":
        daemon.call("Pause", queue=chooser.choice(["render", "publish"]), reason="soak")
        time.sleep(0.3)
        daemon.call("Resume")
    elif kind == "limit":
        daemon.call("Concurrency", queue="render", limit=chooser.choice(["1", "2", "4", "auto"]), save=False)
    elif kind == "list":
        daemon.call("List", states=[], limit=500)
    return kind


def clear(root):
    """Takes away what has come out, as its readers would: what is measured is the daemon, not a growing folder."""
    for place in ("outbox", "archive", "failed", "cancelled"):
        for folder, folders, files in os.walk(root / place):
            if ".staging" in folder:
                continue
            for name in files:
                try:
                    os.unlink(os.path.join(folder, name))
                except OSError:
                    pass


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    programs = pathlib.Path(sys.argv[1])
    minutes = float(sys.argv[2]) if len(sys.argv) > 2 else 5
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    chooser = random.Random(seed)
    root = pathlib.Path(tempfile.mkdtemp(prefix="pipelined-soak."))
    for name, text in RECIPES.items():
        path = root / "etc/recipes.d" / f"{name}.recipe"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "etc/pipelined.conf").write_text(CONFIGURATION)
    subprocess.run([programs / "pipelined-samples", root / "samples"], check=True, stdout=subprocess.DEVNULL)
    samples = sorted((root / "samples").iterdir())
    daemon = Daemon(programs, root)
    print(f"soak: {minutes:g} minutes, seed {seed}, in {root}", flush=True)
    began = time.monotonic()
    course, done_things, dropped, told, cleared = [], collections.Counter(), 0, began, began
    try:
        while time.monotonic() - began < 60 * minutes:
            status = daemon.call("Status")["status"]["jobs"]
            open_jobs = status["waiting"] + status["queued"] + status["running"]
            for _ in range(max(0, 40 - open_jobs)):
                dropped += 1
                drops(samples, chooser, daemon, dropped)
            done_things[disturb(daemon, chooser)] += 1
            course.append(measure(daemon))
            now = time.monotonic()
            if now - cleared > 5:
                clear(root)
                cleared = now
            if sys.stdout.isatty() or now - told > 60:
                told = now
                text = ", ".join(f"{value:.0f} {name}" for name, value in zip(SERIES, course[-1]))
                line = f"{int(now - began) // 60:3d}:{int(now - began) % 60:02d}  {dropped} pictures; {text}"
                print(f"\r\033[K{line}" if sys.stdout.isatty() else line,
                      end="" if sys.stdout.isatty() else "\n", flush=True)
            if daemon.process.poll() is not None:
                sys.exit(f"the daemon has ended with {daemon.process.returncode}; its log: {root}/log")
            time.sleep(chooser.uniform(0.02, 0.2))
        daemon.call("Resume")
        while True:
            status = daemon.call("Status")["status"]["jobs"]
            if not any(status[state] for state in ("waiting", "queued", "running", "cancelling")):
                break
            time.sleep(0.1)
        daemon.process.terminate()
        ended = daemon.process.wait(60)
    finally:
        daemon.process.kill()
    return report(root, course, done_things, dropped, ended)


def report(root, course, done_things, dropped, ended):
    print("\n" if sys.stdout.isatty() else "")
    for at, name in enumerate(SERIES):
        print(chart(name, [row[at] for row in course]))
    print(f"\n  {dropped} pictures; " + ", ".join(f"{count} × {kind}" for kind, count in done_things.most_common()))
    complaints = []
    if ended != 0:
        complaints.append(f"the daemon's exit status is {ended}")
    third = len(course) // 3
    for at, name in enumerate(SERIES):
        before = median([row[at] for row in course[third:2 * third]] or [0])
        after = median([row[at] for row in course[2 * third:]] or [0])
        if after > before * 1.15 + 4:
            complaints.append(f"{name} grows: {before:.0f} in the second third, {after:.0f} in the last")
    left = [os.path.join(folder, name) for folder, _, files in os.walk(root / "inbox") for name in files]
    staged = [os.path.join(folder, name) for folder, _, files in os.walk(root / "outbox") if ".staging" in folder
              for name in files]
    if left:
        complaints.append(f"{len(left)} files are left in the inboxes: {left[:3]}")
    if staged:
        complaints.append(f"{len(staged)} staging files are left: {staged[:3]}")
    for complaint in complaints:
        print(f"  {complaint}")
    if complaints:
        print(f"  everything is in {root}")
        return 1
    print("  nothing grows, nothing is left over")
    shutil.rmtree(root)
    return 0


sys.exit(main())
