"""Reports the coverage of the tests: python3 Tests/coverage.py TOOLS BUILD PROFILES

TOOLS is the folder of llvm-cov, BUILD the folder of the programs, and PROFILES the folder of the counters that the programs wrote while
they ran. All processes of a program share a mapped file of counters, so a killed process is counted as well.

The script prints the covered lines and functions of each module. For the modules that touch pictures and the ledger, it also lists the
functions that no test reaches.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys

# The modules in which a mistake can lose a picture.
TOUCHING = ["PictureFiles", "JobFlow", "PipelineDaemon", "JobLedger", "InboxWatching", "SystemCalls", "RenderWorker", "WorkerPools"]
# Functions that the compiler generates, and parts of other functions.
PARTS = ("closure #", "implicit closure", "default argument", "variable initialization expression", "autoclosure")


def programs(build):
    for path in sorted(build.iterdir()):
        if path.suffix in ("", ".xctest") and path.is_file() and os.access(path, os.X_OK):
            yield path


def counted(tools, build, profiles):
    profile = profiles / "all.profdata"
    raw = [str(path) for path in profiles.glob("*.profraw")]
    subprocess.run([tools / "llvm-profdata", "merge", "-sparse", "-failure-mode=all", "-o", profile, *raw], check=True)
    first, *others = programs(build)
    command = [tools / "llvm-cov", "export", "-skip-expansions", "-instr-profile", profile, first]
    for other in others:
        command += ["-object", other]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["data"][0]


def module(path):
    """Returns the module of a source file, or None."""
    parts = pathlib.Path(path).parts
    return parts[parts.index("Sources") + 1] if "Sources" in parts else None


def table(files):
    sums = collections.defaultdict(collections.Counter)
    for file in files:
        name = module(file["filename"])
        if name is None:
            continue
        for kind in ("lines", "functions"):
            for word in ("count", "covered"):
                sums[name][kind, word] += file["summary"][kind][word]
    print(f"{'module':22} {'lines':>7} {'reached':>8} {'functions':>10} {'reached':>8}")
    for name, sum in sorted(sums.items()):
        shares = [100 * sum[kind, "covered"] / max(1, sum[kind, "count"]) for kind in ("lines", "functions")]
        print(f"{name:22} {sum['lines', 'count']:7} {shares[0]:6.1f} % {sum['functions', 'count']:10} {shares[1]:6.1f} %")


def unreached(functions):
    """Yields file, line and name of each function that no test calls. Calls of specialisations count for their generic function."""
    calls = collections.Counter()
    for each in functions:
        name = each["name"].rsplit(":", 1)[-1]
        calls[each["filenames"][0], each["regions"][0][0], name] += each["count"]
    places = [place for place, count in sorted(calls.items()) if count == 0 and module(place[0]) in TOUCHING]
    names = "\n".join(name for _, _, name in places)
    words = subprocess.run(
        ["swift", "demangle", "--simplified"], input=names, check=True, stdout=subprocess.PIPE, text=True).stdout
    for (file, line, _), name in zip(places, words.splitlines()):
        if not any(part in name for part in PARTS):
            yield file, line, name


def main():
    tools, build, profiles = map(pathlib.Path, sys.argv[1:])
    data = counted(tools, build, profiles)
    print()
    table(data["files"])
    print("\nReached by no test:")
    for file, line, name in unreached(data["functions"]):
        print(f"  {file.split('/Sources/')[-1]}:{line} {name}")


if __name__ == "__main__":
    main()
