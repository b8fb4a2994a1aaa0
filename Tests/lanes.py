"""Runs the tests in lanes: python3 Tests/lanes.py PROGRAM FOLDER [--lanes N] [--filter PATTERN]… [--skip PATTERN]…
[--unit] [--needs] [--hunt ROUNDS]

PROGRAM is the test bundle. Each suite runs in a process of its own, so that suites share no state. The tests of a suite run one after the
other, and as many suites run concurrently as there are lanes. FOLDER keeps the output and the duration of each suite. The next run starts
the slowest suites first.

--unit selects the suites that start no program. --needs prints the tools that `run` has to provide for the selected tests.

--hunt looks for tests that depend on the speed of the machine. Each suite runs ROUNDS times while a busy loop occupies each processor. In
every second round, the suite is restricted to one processor. At the end, the script lists the suites that failed at least once, with their
rounds.

A suite counts as hanging when it has written nothing for QUIET seconds, or for three times its last duration if that is longer. gdb then
prints its threads, and the script kills the programs that the suite has started. A test that waits for such a program fails with the
program's log, and the remaining tests run. If the suite stays silent, the script kills the suite as well.
"""

import argparse
import functools
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

QUIET = 5 * 60
# The limit for a suite whose duration is unknown, for example because it has never run.
UNKNOWN = 15 * 60
# How long a suite may stay silent after its programs were killed. A test needs a moment to report their end.
GRACE = 60

# On a new clone no durations are known, so suites are sorted by their number of tests. The suites below take longer
# than that number suggests.
LONG = [
    "EndToEndTests.CrashSweepTests", "EndToEndTests.PowerCutTests", "EndToEndTests.LedgerDamageTests", "EndToEndTests.FleetSweepTests",
    "RenderWorkerTests.ConformanceTests", "RenderWorkerTests.MemoryTests",
    "EndToEndTests.RefusedCallTests", "EndToEndTests.WorkerLossTests", "JobFlowTests.DownloadOperationTests",
    "EndToEndTests.FilterFailureTests", "EndToEndTests.FaultyDiskTests", "RenderWorkerTests.PictureKindTests",
    "EndToEndTests.CrashLoadTests",
]

# The tools that `run` provides, by word. A suite needs the tool if the word appears in the suite's code or in the code
# of its fixtures.
NEEDS = {
    "chromedriver": "browser", "PIPELINED_FOREIGN_CLIENT": "foreign_client", "PIPELINED_NATS_SERVER": "nats_server",
    "PIPELINED_PROMETHEUS": "prometheus", "PIPELINED_AXE": "axe", "PIPELINED_GO": "go", "PIPELINED_HDR_READER": "hdr_reader", "nginx": "web_servers",
}

# A suite starts programs if its code, or the code of its fixtures, mentions one of these words.
STARTS = {
    "Browser", "ChildProcess", "DaemonFixture", "FetchPool", "FleetPool", "HookRun", "Hooks", "Mount", "NATSServer", "Plugin", "Process", "Programs",
    "FileCalls", "Python", "Worker", "WorkerPool", "WorkerProcess", "clinux_spawn",
}


class Suite:
    """The selected tests of a suite, and the process that runs them."""

    def __init__(self, name, tests, is_whole, known, round=None):
        self.name, self.tests, self.is_whole, self.known = name, tests, is_whole, known
        self.round = round
        self.failed, self.hung = False, False

    def again(self, round):
        """Returns a copy of this suite for one round of a hunt."""
        return Suite(self.name, self.tests, self.is_whole, self.known, round)

    @property
    def label(self):
        return self.name if self.round is None else f"{self.name}.{self.round}"

    def run(self, program, folder):
        """Runs the suite, and blocks until it has finished."""
        began = time.monotonic()
        self.output, self.events = folder / f"{self.label}.log", folder / f"{self.label}.jsonl"
        self.events.write_text("")
        chosen = [self.name + "/"] if self.is_whole else self.tests
        words = [
            program, "--testing-library", "swift-testing", "--no-parallel", "--event-stream-output-path", self.events]
        for test in chosen:
            words += ["--filter", "^" + re.escape(test)]
        if self.round and self.round % 2:
            processors = sorted(os.sched_getaffinity(0))
            words = ["taskset", "-c", str(processors[self.round // 2 % len(processors)])] + words
        self.output.write_bytes(b"")
        # The file is opened for appending, because gdb's output is appended to it as well.
        with open(self.output, "ab") as output:
            # The suite gets its own session, so that the programs that it starts can be found and killed.
            self.process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
            status, usage = self.wait()
        self.failed = status != 0
        self.seconds, self.processor = time.monotonic() - began, usage.ru_utime + usage.ru_stime

    def wait(self):
        over = threading.Event()
        threading.Thread(target=self.watch, args=(over,), daemon=True).start()
        try:
            return os.wait4(self.process.pid, 0)[1:]
        finally:
            over.set()
            self.end()

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.end_programs()

    def watch(self, over):
        """Kills the programs of a hanging suite, and then the suite itself."""
        patience = UNKNOWN if self.known is None else max(QUIET, 3 * self.known)
        told, since, are_ended = 0, time.monotonic(), False
        while not over.wait(5):
            size = self.events.stat().st_size + self.output.stat().st_size
            if size != told:
                told, since, are_ended = size, time.monotonic(), False
            elif time.monotonic() - since > (GRACE if are_ended else patience):
                self.hung = True
                if are_ended:
                    return self.end()
                self.show_threads()
                self.end_programs()
                # The output of gdb does not count as activity of the suite.
                told, since, are_ended = self.events.stat().st_size + self.output.stat().st_size, time.monotonic(), True

    def show_threads(self):
        if not shutil.which("gdb"):
            return
        words = ["gdb", "-p", str(self.process.pid), "-batch", "-ex", "thread apply all backtrace"]
        said = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        # gdb prints thousands of warnings about Swift's symbols.
        noise = (b"During symbol reading", b"[New LWP", b"warning: ")
        with open(self.output, "ab") as output:
            output.writelines(line for line in said.splitlines(keepends=True) if not line.startswith(noise))

    def end_programs(self):
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                # Split after the closing bracket of the process name, which may contain spaces.
                session = (process / "stat").read_text().rpartition(")")[2].split()[3]
                if int(session) == self.process.pid != int(process.name):
                    os.kill(int(process.name), signal.SIGKILL)
            except (OSError, IndexError):
                pass  # The process has just exited.

    def records(self):
        for line in self.events.read_text(encoding="utf-8").splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                pass  # The process ended while it was writing this line.

    def skipped(self):
        """Returns a line for each skipped test, with the reason."""
        payloads = (record["payload"] for record in self.records())
        return [
            message["text"] for payload in payloads if payload.get("kind") == "testSkipped" for message in payload["messages"]]

    def read(self):
        """Yields lines about the failed tests, for the end of the log, where readers look first."""
        names, issues, running = {}, {}, {}
        for record in self.records():
            payload = record["payload"]
            test = payload.get("testID", payload.get("id"))
            if record["kind"] == "test":
                names[test] = payload.get("displayName", payload["name"])
            elif payload["kind"] == "testStarted":
                running[test] = True
            elif payload["kind"] == "testEnded":
                running.pop(test, None)
            elif payload["kind"] == "issueRecorded" and not payload["issue"].get("isKnown"):
                issues.setdefault(test, []).append(payload)
        for test, recorded in issues.items():
            yield f"failed: {names.get(test, test)}"
            for payload in recorded:
                place = payload["issue"].get("sourceLocation")
                if place:
                    yield f"  {place['fileID']}:{place['line']}"
                for message in payload["messages"]:
                    yield "    " + message["text"].replace("\n", "\n    ")
        for test in running:
            if "/" in (test or ""):  # Ignore suites, which are still running when a test does not end.
                yield f"did not end{', and said nothing for a long time' if self.hung else ''}: {names.get(test, test)}"


def precompile(folder):
    """Starts to precompile the header of libvips, for the plugins that tests compile."""
    header = folder / "vips.pch"
    header.unlink(missing_ok=True)
    os.environ["PIPELINED_PRECOMPILED"] = str(header.absolute())
    command = (
        'echo "#include <vips/vips.h>" | clang -w -fPIC -D_GNU_SOURCE -x c-header -o "$1.part" - $(pkg-config --cflags vips) && mv "$1.part" "$1"')
    return subprocess.Popen(["sh", "-c", command, "sh", header], stderr=subprocess.DEVNULL)


def busy_loops():
    """Starts a busy loop for each processor. The loops end when this program exits."""
    loop = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"
    return [subprocess.Popen([sys.executable, "-c", loop]) for _ in os.sched_getaffinity(0)]


def chosen(program, filters, skips, known):
    listed = subprocess.run(
        [program, "--testing-library", "swift-testing", "--list-tests"], capture_output=True, text=True, check=True)
    tests = [line for line in listed.stdout.splitlines() if "/" in line]
    suites = {}
    for test in tests:
        suites.setdefault(test.split("/")[0], []).append(test)
    for name, all_of_it in sorted(suites.items()):
        some = [
            test for test in all_of_it
            if (not filters or any(re.search(each, test) for each in filters))
            and not any(re.search(each, test) for each in skips)
        ]
        if some:
            yield Suite(name, some, len(some) == len(all_of_it), known.get(name))


@functools.cache
def sources():
    """Maps each type of the tests to its files: `Type.swift`, and `Type+Topic.swift` with extensions."""
    files = {}
    for path in pathlib.Path("Tests").rglob("*.swift"):
        files.setdefault(path.stem.partition("+")[0], []).append(path)
    return files


def words(suite):
    """Returns all words in the code of a suite, and in the code of the fixtures that it uses."""
    module, _, name = suite.name.partition(".")
    found, known, waiting = set(), {name}, [name]
    while waiting:
        for path in sources().get(waiting.pop(), []):
            # Ignore types of the same name in other modules, except in TestTools, which all modules use.
            if path.parts[1] not in (module, "TestTools"):
                continue
            here = set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
            found |= here
            fixtures = {word for word in here & sources().keys() if not word.endswith("Tests")} - known
            known |= fixtures
            waiting += fixtures
    return found


def needs(suite):
    return {NEEDS[word] for word in words(suite) & NEEDS.keys()}


def starts_programs(suite):
    return not STARTS.isdisjoint(words(suite))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--lanes", type=int, default=4 * len(os.sched_getaffinity(0)))
    parser.add_argument("--filter", action="append", default=[])
    parser.add_argument("--skip", action="append", default=[])
    parser.add_argument("--unit", action="store_true")
    parser.add_argument("--needs", action="store_true")
    parser.add_argument("--hunt", type=int, default=0, metavar="ROUNDS")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    # Whole sweeps and runs under valgrind take longer, so their durations are kept separately.
    kind = "-all" if os.environ.get("PIPELINED_SWEEP") == "all" else "-memory" if os.environ.get("PIPELINED_WATCH") else ""
    times = options.folder / f"times{kind}.json"
    known = json.loads(times.read_text()) if times.exists() else {}
    suites = list(chosen(options.program, options.filter, options.skip, known))
    if options.unit:
        suites = [suite for suite in suites if not starts_programs(suite)]
    if not suites:
        sys.exit("no test has such a name")
    if options.needs:
        print(*sorted(set().union(*map(needs, suites))))
        return
    if options.hunt:
        suites = [suite.again(round) for round in range(options.hunt) for suite in suites]
    guess = {name: 1000 - place for place, name in enumerate(LONG)}
    waiting = sorted(suites, key=lambda suite: suite.known or guess.get(suite.name, len(suite.tests)))
    lock, running, over = threading.Lock(), set(), []
    began = time.monotonic()

    def lane():
        while True:
            with lock:
                if not waiting:
                    return
                suite = waiting.pop()
                running.add(suite)
            suite.run(options.program, options.folder)
            with lock:
                running.remove(suite)
                over.append(suite)
                mark = "FAILED" if suite.failed else "ok"
                tests = f"{len(suite.tests)} test{'s' if len(suite.tests) > 1 else ''}"
                print(
                    f"[{len(over):3}/{len(suites)}] {mark:6} {suite.label}: {tests}, {suite.seconds:.1f} s "
                    f"({suite.processor:.1f} s of the processors)", flush=True)

    precompile(options.folder)
    loops = busy_loops() if options.hunt else []
    lanes = [threading.Thread(target=lane, daemon=True) for _ in range(options.lanes)]
    try:
        for each in lanes:
            each.start()
        for each in lanes:
            each.join()
    except KeyboardInterrupt:
        with lock:
            waiting.clear()
            for suite in running:
                suite.end()
        sys.exit(130)
    finally:
        for loop in loops:
            loop.kill()
    if not options.hunt:
        known.update({suite.name: suite.seconds for suite in over if suite.is_whole})
        times.write_text(json.dumps(known, indent=1))
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    failed = [suite for suite in over if suite.failed]
    for suite in failed:
        print(f"\n{suite.label}: what it said is in {suite.output}")
        last = suite.output.read_text(errors="replace")[-2000:]
        print("\n".join(suite.read()) or f"it ended before its tests did; its last words:\n{last}")
    if options.hunt:
        print()
        for name in sorted({suite.name for suite in failed}):
            rounds = sorted(suite.round for suite in failed if suite.name == name)
            print(f"{name} failed in {len(rounds)} of {options.hunt} rounds: {', '.join(map(str, rounds))}")
    skipped = [line for suite in over if not suite.round for line in suite.skipped()]
    for line in skipped:
        print(f"SKIPPED: {line}")
    if len(over) > 10 and not options.hunt:
        slowest = sorted(over, key=lambda suite: -suite.seconds)[:10]
        print("\nThe slowest: " + ", ".join(f"{suite.name} {suite.seconds:.0f} s" for suite in slowest))
    tests = sum(len(suite.tests) for suite in over)
    all_passed = "all passed" if not skipped else f"all passed but {len(skipped)} that were skipped"
    print(
        f"\n{tests} tests in {len(over)} suites in {time.monotonic() - began:.0f} s, with {usage.ru_utime + usage.ru_stime:.0f} s of the "
        f"processors: {f'{len(failed)} suites FAILED' if failed else all_passed}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
