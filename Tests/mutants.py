"""Mutation testing: python3 Tests/mutants.py [N] [--files PATTERN] [--seed SEED] [--seconds SECONDS] [--list]

Makes N small faults (mutants) in the files that move pictures, and checks for each mutant whether a test fails with it. Lists the mutants
that no test kills. In such a case a test is missing, the code is superfluous, or the mutant makes no difference. For mutants that make no
difference, `Tests/mutants.txt` gives the reason.

All mutants are built together into a copy of this checkout. Each has a switch that an environment variable turns on (`Mutant.swift`). A
first run without any mutant finds out which suites reach which mutants. Then those suites run with each mutant turned on: first the quick
unit tests, in one process, and then the other suites, the quickest first, for at most SECONDS. A mutant counts as killed when a test
records an issue or when the suite hangs.

The copy is `.build/mutants`. A mount namespace, which needs root, shows the copy at the path of this checkout, so that the copied build
folder stays valid. `.build/mutants/results.jsonl` keeps the results, and the next run continues from there.
"""

import argparse
import collections
import json
import mmap
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import lanes

SOURCES = pathlib.Path("Sources")
FILES = [
    "PictureFiles/Publishing/*.swift", "PictureFiles/Originals/*.swift", "JobFlow/Keeping/*.swift", "JobFlow/Intake/Recovery.swift",
    "JobFlow/JobQueue/JobQueue*.swift", "JobFlow/JobQueue/WindowRoom.swift", "JobFlow/JobRunner/JobLife.swift",
    "JobFlow/JobRunner/JobRunner+States.swift"]
COPY = pathlib.Path(".build/mutants")
# Folders of .build that are not copied.
LEFT_OUT = {"mutants", "on", "revisions", "bench", "benchmarks", "peers", "tests", "tests-hunt", "memory", "release"}
REASONS = pathlib.Path("Tests/mutants.txt")
# Suites that are not run, because they take too long or trace every call of the daemon.
SLOW = r"Sweep|FleetTests|FleetDownload|WorkerLoss|FilterGuide|CrashLoad|ClientLimit|ClientFuzz|Page|Preview|Browser"

# The number of mutants that are tested concurrently.
LANES = 2

SWITCH = """
import Glibc

/// Turns on the mutant that the environment names, and notes which mutants are reached.
enum Mutant {
    private static let alive = getenv("PIPELINED_MUTANT").flatMap { Int(String(cString: $0)) }
    nonisolated(unsafe) private static let reached: UnsafeMutablePointer<UInt8>? = getenv("PIPELINED_REACHED").flatMap { path in
        let file = Glibc.open(path, O_RDWR | O_CLOEXEC)
        defer { close(file) }
        let memory = mmap(nil, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        return memory == MAP_FAILED ? nil : memory?.assumingMemoryBound(to: UInt8.self)
    }

    static func isAlive(_ number: Int) -> Bool {
        if let reached { reached[number] = 1 }
        return alive == number
    }

    static func flip(_ number: Int, _ condition: Bool) -> Bool { condition != isAlive(number) }
    static func swap<Value>(_ number: Int, _ value: Value, _ other: Value) -> Value { isAlive(number) ? other : value }
    static func edge<Value: Comparable>(
        _ number: Int, _ left: Value, _ right: Value, _ usual: (Value, Value) -> Bool, _ other: (Value, Value) -> Bool
    ) -> Bool { isAlive(number) ? other(left, right) : usual(left, right) }
}
"""


DECLARATION = re.compile(
    r"//|import |case |@|extension|(private |fileprivate |static |nonisolated )*(func|init|struct|enum|class|typealias|let \w+: )")
CALL = re.compile(r"(try[?]? )?(_ = (try )?)?[a-zA-Z][\w.?!]*(\[[\w.]+\])?[\w.?!]*\(.*\)")
ASSIGNMENT = re.compile(r"[a-z][\w.]*(\[[\w., :]+\])?[\w.?]* ?(=|\+=|-=) [^{]*")
# A line is not a whole statement if the previous line matches CONTINUED or the next line matches CONTINUES.
CONTINUED, CONTINUES = re.compile(r"[=(,\[+?:|&]$|\breturn$"), re.compile(r"[.?:&|+]")
WITHOUT_VALUE = re.compile(r"(\} else )?(if|else|guard|for|while|do|defer)\b|\} else|.*func (?!.*->)")


class Mutants:
    """Inserts mutants into sources, line by line. Relies on the format that the formatter produces."""

    def __init__(self, impossible):
        self.all = []
        self.impossible = impossible

    def new(self, kind, what):
        """Adds a mutant, and returns its number. Returns None if the compiler has refused this mutant."""
        key = f"{self.path.relative_to(SOURCES)}:{kind}:{what.strip()}"
        self.seen[key] += 1
        if self.seen[key] > 1:
            key += f" #{self.seen[key]}"
        if key in self.impossible:
            return None
        self.all.append({"key": key, "line": self.line})
        return len(self.all)

    def rewrite(self, path):
        self.path, self.seen, self.is_init = path, collections.Counter(), False
        # Constants that are initialised in a separate statement, which must not be dropped.
        self.constants = set()
        lines = path.read_text(encoding="utf-8").splitlines()
        out = []
        for index, line in enumerate(lines):
            self.line = index + 1
            before = lines[index - 1].strip() if index else ""
            after = lines[index + 1].strip() if index + 1 < len(lines) else ""
            out.append(self.mutated(line, before, after))
        return "\n".join(out) + "\n"

    def mutated(self, line, before, after):
        text = line.strip()
        if found := re.search(r"\b(func|init[?]?\(|var|subscript)\b", text):
            self.is_init = found[1].startswith("init") if found[1] != "var" else self.is_init and not text.endswith("{")
        if found := re.fullmatch(r"let (\w+): [^=]+", text):
            self.constants.add(found[1])
        if DECLARATION.match(text) or text == "while true {":
            return line
        return self.statement(self.literals(self.condition(line)), text, before, after)

    # Conditions

    def condition(self, line):
        found = re.match(r"^(\s*(?:\} else )?(?:if|guard|while) )(.*?)( else \{.*| \{.*|,)?$", line)
        if not found:
            found = re.match(r"^(\s*(?:return |\w+ = |let \w+ = ))(?!try )([^?{\"]+?)( \? .+ : .+)$", line)
        if not found or "{" in found[2] or "#" in found[2] or "`" in found[2]:
            return line
        head, conditions, tail = found[1], found[2], found[3] or ""
        pieces = split(conditions)
        if pieces is None or not tail and len(pieces) == 1:
            return line
        return head + ", ".join(self.piece(piece) for piece in pieces) + tail

    def piece(self, piece):
        if re.match(r"(try\??!? )?(let|var|case) ", piece):
            return piece
        number = self.new("flip", piece)
        inner = piece
        found = re.fullmatch(r"([\w.()$?\[\]]+) (<=|>=|<|>) ([\w.()$]+)", piece)
        if found:
            edge = self.new("edge", piece)
            if edge:
                other = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}[found[2]]
                inner = f"Mutant.edge({edge}, {found[1]}, {found[3]}, {found[2]}, {other})"
        return f"Mutant.flip({number}, {inner})" if number else inner

    # Literals

    def literals(self, line):
        if re.search(r"\bcase \.|private let |static let |public let ", line):
            return line

        def other(found):
            if is_quoted(line, found.start()):
                return found[0]
            old = found[0]
            new = {"true": "false", "false": "true", "0": "1", "1": "0"}[old]
            number = self.new("swap", f"{old} in {line.strip()}")
            return f"Mutant.swap({number}, {old}, {new})" if number else old

        if "Mutant." in line:
            return line
        return re.sub(r"(?<![\w.$\[(#\"])(?:true|false|0|1)(?![\w.\]x\"])", other, line)

    # Statements

    def statement(self, line, text, before, after):
        if self.is_init or CONTINUED.search(before) or CONTINUES.match(after):
            return line
        # Don't drop log messages.
        is_call = CALL.fullmatch(text) and not re.match(r"Log\.|(super|self)\.init|return|let |if |guard |for |while ", text)
        if not (is_call or ASSIGNMENT.fullmatch(text)) or not is_balanced(text) or text.split(" = ")[0] in self.constants:
            return line
        # The only expression of a body may be its return value, so it can't be dropped.
        if before.endswith(("{", " in")) and after == "}" and not WITHOUT_VALUE.match(before):
            return line
        number = self.new("drop", text)
        if not number:
            return line
        indent = line[: len(line) - len(line.lstrip())]
        return f"{indent}if !Mutant.isAlive({number}) {{ {line.strip()} }}"


def split(text):
    """Splits at the commas outside of brackets. Returns None if the brackets don't match, as in a part of an expression."""
    parts, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        if is_quoted(text, place):
            continue
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0:
            return None
        if sign == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    parts.append(text[start:].strip())
    return parts if depth == 0 and all(parts) else None


def is_balanced(text):
    return split(text) is not None and text.count("(") == text.count(")") and text.count('"') % 2 == 0


def is_quoted(line, place):
    return line[:place].count('"') % 2 == 1


# The copy


def copy():
    """Updates the copy. Unchanged files keep their modification times."""
    if not (COPY / ".build").exists():
        print("Copying the build folder …", flush=True)
        (COPY / ".build.part").mkdir(parents=True, exist_ok=True)
        some = [entry for entry in pathlib.Path(".build").iterdir() if entry.name not in LEFT_OUT]
        subprocess.run(["cp", "-a", "--reflink=auto", *some, COPY / ".build.part"], check=True)
        (COPY / ".build.part").rename(COPY / ".build")
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, check=True).stdout
    names = {name for name in os.fsdecode(listed).split("\0") if name and os.path.isfile(name)}
    mutated = {str(path) for path in sources()}
    for name in names - mutated:
        there = COPY / name
        if not there.exists() or there.read_bytes() != pathlib.Path(name).read_bytes():
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(name, there)
    for top in ("Sources", "Tests"):
        for path in (COPY / top).rglob("*"):
            name = str(path.relative_to(COPY))
            if path.is_file() and name not in names and "__pycache__" not in name:
                path.unlink()


def sources():
    return sorted(path for pattern in FILES for path in SOURCES.glob(pattern))


def write_if_changed(path, text):
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def rewrite(impossible):
    mutants = Mutants(impossible)
    for path in sources():
        write_if_changed(COPY / path, mutants.rewrite(path))
    for module in {pattern.partition("/")[0] for pattern in FILES}:
        write_if_changed(COPY / SOURCES / module / "Mutant.swift", SWITCH)
    (COPY / "mutants.json").write_text(json.dumps(mutants.all, indent=1, ensure_ascii=False))
    return mutants.all


def within(words, **options):
    """Runs a command in a mount namespace that shows the copy at the path of this checkout."""
    script = 'mount --bind "$0" "$1" && cd "$1" && shift && exec "$@"'
    return subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, str(COPY.absolute()), os.getcwd(), *words], **options)


def build():
    """Builds the copy, without the mutants that the compiler refuses."""
    kept = COPY / "impossible.json"
    impossible = set(json.loads(kept.read_text())) if kept.exists() else set()
    for _ in range(8):
        mutants = rewrite(impossible)
        print(f"Building with {len(mutants)} mutants …", flush=True)
        built = within(["swift", "build", "--build-tests"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if built.returncode == 0:
            return mutants
        places = set(re.findall(rf"({SOURCES}/[\w/+.]+\.swift):(\d+):\d+: error:", built.stdout))
        refused = set()
        for path, line in places:
            here = [mutant for mutant in mutants if str(SOURCES / mutant["key"].split(":")[0]) == path and mutant["line"] <= int(line)]
            # The compiler may report a dropped statement some lines later, so blame the nearest mutant before the error.
            nearest = max((mutant["line"] for mutant in here if mutant["key"] not in impossible), default=0)
            refused |= {mutant["key"] for mutant in here if mutant["line"] == nearest}
        print(*sorted({line for line in built.stdout.splitlines() if ": error:" in line}), sep="\n", flush=True)
        if not refused - impossible:
            sys.exit(built.stdout[-3000:])
        impossible |= refused
        kept.write_text(json.dumps(sorted(impossible), indent=1, ensure_ascii=False))
    sys.exit("the mutants can't be built")


# Runs


class Trial(lanes.Suite):
    """Runs suites in one process. Stops at the first issue, or when no event was recorded for `patience` seconds."""

    def __init__(self, suites, name, patience, environment):
        super().__init__("+".join(suites), [], True, None)
        self.suites, self.file, self.patience, self.environment = suites, name, patience, environment

    def run(self, program, folder, stops=True):
        self.output, self.events = folder / f"{self.file}.log", folder / f"{self.file}.jsonl"
        self.events.write_text("")
        self.stops, self.cause = stops, None
        words = [program, "--testing-library", "swift-testing", "--no-parallel", "--event-stream-output-path", self.events]
        for suite in self.suites:
            words += ["--filter", "^" + re.escape(suite + "/")]
        # Use a short path, because the path of a socket must be short.
        home = pathlib.Path(tempfile.mkdtemp(prefix="m"))
        home.chmod(0o1777)
        began = time.monotonic()
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                env=os.environ | {"TMPDIR": str(home)} | self.environment)
            status, _ = self.wait()
        shutil.rmtree(home, ignore_errors=True)
        self.seconds = time.monotonic() - began
        if status and not self.cause:
            self.cause = "crash" if os.WIFSIGNALED(status) else "issue"
        return self.cause

    def watch(self, over):
        told, since = 0, time.monotonic()
        while not over.wait(0.3):
            events = self.events.read_bytes()
            if self.stops and b'"issueRecorded"' in events:
                self.cause = "issue"
                return self.end()
            if len(events) != told:
                told, since = len(events), time.monotonic()
            elif time.monotonic() - since > self.patience:
                self.cause = "hang"
                return self.end()

    def culprit(self):
        """Returns the name of the test that killed the mutant."""
        return next((line.removeprefix("failed: ") for line in self.read() if line.startswith("failed: ")), self.name)


def reached_by(program, folder, suites, keys):
    """Returns the mutants that each suite reaches, and its duration. Omits suites that fail even without a mutant."""
    kept = folder / "reached.json"
    before = json.loads(kept.read_text()) if kept.exists() else {}
    known = before["suites"] if before.get("keys") == keys else {}
    lock = threading.Lock()
    waiting = [suite for suite in suites if suite not in known]
    if waiting:
        print(f"Finding out what {len(waiting)} suites reach …", flush=True)

    def lane():
        while True:
            with lock:
                if not waiting:
                    return
                suite = waiting.pop(0)
            note = pathlib.Path("/tmp") / f"mutants-reached-{suite}"
            note.write_bytes(bytes(1 << 16))
            note.chmod(0o666)
            trial = Trial([suite], f"reach-{suite}", 120, {"PIPELINED_REACHED": str(note)})
            cause = trial.run(program, folder, stops=False)
            marks = note.read_bytes()
            note.unlink()
            with lock:
                known[suite] = {
                    "seconds": trial.seconds, "fails": bool(cause), "mutants": [key for number, key in enumerate(keys, 1) if marks[number]]}
                whole = {suite: what for suite, what in known.items() if not what["fails"]}
                kept.write_text(json.dumps({"keys": keys, "suites": whole}))
                print(f"  {suite}: {len(known[suite]['mutants'])} in {trial.seconds:.0f} s{', FAILS' if cause else ''}", flush=True)

    together([lane] * LANES)
    return {suite: known[suite] for suite in suites if suite in known and not known[suite]["fails"]}


def together(functions):
    threads = [threading.Thread(target=function, daemon=True) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def sample(mutants, count, seed, pattern):
    """Chooses mutants from the files that match `pattern`, with about the same share of each file."""
    chance = random.Random(seed)
    files = {}
    for number, mutant in enumerate(mutants, 1):
        name = mutant["key"].split(":")[0]
        if re.search(pattern, name):
            files.setdefault(name, []).append(number)
    for numbers in files.values():
        chance.shuffle(numbers)
    # Take the next mutant from the file with the smallest share so far.
    taken = collections.Counter()
    chosen = []
    while len(chosen) < min(count, sum(map(len, files.values()))):
        name = min((name for name in files if taken[name] < len(files[name])), key=lambda name: ((taken[name] + 0.5) / len(files[name]), name))
        chosen.append(files[name][taken[name]])
        taken[name] += 1
    return chosen


def reasons():
    found = {}
    for line in REASONS.read_text(encoding="utf-8").splitlines() if REASONS.exists() else []:
        if line.strip() and not line.startswith("#"):
            key, _, reason = line.partition(" -- ")
            found[key.strip()] = reason.strip()
    return found


def inside(options):
    """Tests the mutants. Runs inside the namespace in which the copy has the path of the checkout."""
    os.nice(10)
    program, folder = ".build/debug/pipelinedPackageTests.xctest", pathlib.Path("runs")
    folder.mkdir(exist_ok=True)
    mutants = json.loads(pathlib.Path("mutants.json").read_text())
    known_times = json.loads(pathlib.Path("times.json").read_text()) if pathlib.Path("times.json").exists() else {}
    suites = [suite.name for suite in lanes.chosen(program, [r"^(PictureFilesTests|JobFlowTests|EndToEndTests)\."], [SLOW], known_times)]
    suites = [suite for suite in suites if not options.suites or re.search(options.suites, suite)]
    suites.sort(key=lambda name: (name.startswith("EndToEnd"), known_times.get(name, 20)))
    reach = reached_by(program, folder, suites, [mutant["key"] for mutant in mutants])
    results_file = pathlib.Path("results.jsonl")
    results = {}
    for line in results_file.read_text().splitlines() if results_file.exists() else []:
        result = json.loads(line)
        results[result["key"]] = result
    chosen = sample(mutants, options.count, options.seed, options.files)
    over = {"killed"} if options.again else {"killed", "survived", "unreached"}
    waiting = [number for number in chosen if results.get(mutants[number - 1]["key"], {}).get("end") not in over]
    total, lock = len(waiting), threading.Lock()

    def tried(number):
        mine = [suite for suite in reach if mutants[number - 1]["key"] in reach[suite]["mutants"]]
        unit = [suite for suite in mine if not suite.startswith("EndToEndTests")]
        if not mine:
            return "unreached", ""
        quick = [suite for suite in unit if reach[suite]["seconds"] < 5]
        slower = sorted((suite for suite in mine if suite not in quick), key=lambda suite: (suite not in unit, reach[suite]["seconds"]))
        spent = 0
        for group in ([quick] if quick else []) + [[suite] for suite in slower]:
            expected = sum(reach[suite]["seconds"] for suite in group)
            if group[0] not in unit and spent + expected > options.seconds:
                break
            trial = Trial(group, f"mutant-{number}", 20 + max(reach[suite]["seconds"] for suite in group), {"PIPELINED_MUTANT": str(number)})
            cause = trial.run(program, folder)
            if cause:
                return "killed", f"{cause} in {trial.culprit() if cause == 'issue' else trial.name}"
            spent += expected
        return "survived", ", ".join(mine)

    def lane():
        while True:
            with lock:
                if not waiting:
                    return
                number = waiting.pop(0)
            began = time.monotonic()
            end, by = tried(number)
            mutant = mutants[number - 1]
            with lock:
                results[mutant["key"]] = {"key": mutant["key"], "end": end, "by": by, "seconds": round(time.monotonic() - began, 1)}
                with open(results_file, "a") as file:
                    file.write(json.dumps(results[mutant["key"]], ensure_ascii=False) + "\n")
                print(f"[{total - len(waiting)}/{total}] {end:9} {mutant['key']} ({by[:150]})", flush=True)

    together([lane] * LANES)
    known = reasons()
    ends = collections.Counter()
    for number in chosen:
        result = results[mutants[number - 1]["key"]]
        ends[result["end"]] += 1
        if result["end"] != "killed":
            print(f"{result['end']}: {result['key']} (line {mutants[number - 1]['line']})\n    {known.get(result['key'], 'NO REASON is given')}")
    print(f"\n{len(chosen)} of {len(mutants)} mutants: " + ", ".join(f"{count} {end}" for end, count in ends.most_common()))
    unexplained = [n for n in chosen if results[mutants[n - 1]["key"]]["end"] != "killed" and mutants[n - 1]["key"] not in known]
    sys.exit(1 if 20 * len(unexplained) > len(chosen) else 0)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=90)
    parser.add_argument("--files", default="", help="only files in Sources that match, for example Publisher|Moving")
    parser.add_argument("--suites", default="")
    parser.add_argument("--again", action="store_true", help="run the survivors of before again")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--inside", action="store_true")
    options = parser.parse_args()
    if options.inside:
        return inside(options)
    if options.list:
        mutants = Mutants(set())
        for path in sources():
            mutants.rewrite(path)
        for mutant in mutants.all:
            print(mutant["key"])
        return
    copy()
    build()
    times = pathlib.Path(".build/tests/times.json")
    if times.exists():
        shutil.copy(times, COPY / "times.json")
    sys.exit(within([sys.executable, "Tests/mutants.py", "--inside", *sys.argv[1:]]).returncode)


main()
