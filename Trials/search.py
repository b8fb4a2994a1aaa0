"""search.py PROGRAM READER MINUTES: looks for inputs that a reader of strangers' bytes does not bear, with libFuzzer.

PROGRAM is the tests' bundle, built for libFuzzer. The search begins with the reader's inputs in Tests/FuzzTests/Corpus, and leaves the
fewest there that reach as much of its code. An input at which the reader crashes joins them, so that a test fails until the reader is
mended; this then ends with 1.
"""
import base64
import os
import pathlib
import shutil
import subprocess
import sys

# A run of a reader takes microseconds.
SECONDS, MEGABYTES = 20, 2048
LONGEST = 16384


def write(kept, inputs):
    # The shortest come first, in an order that does not depend on the search.
    inputs = sorted(set(inputs), key=lambda each: (len(each), each))
    kept.write_text("".join(base64.b64encode(each).decode() + "\n" for each in inputs))


def contents(folder):
    return [path.read_bytes() for path in folder.iterdir()]


def libfuzzer(program, reader, log, *options):
    """Runs the reader with libFuzzer's options, and returns the exit status."""
    words = [program, "--testing-library", "swift-testing", "--no-parallel", "--filter", "ReaderTests/search"]
    # Swift's own report of a crash would keep libFuzzer from saving the input.
    environment = {**os.environ, "PIPELINED_FUZZ": reader, "SWIFT_BACKTRACE": "enable=no"}
    with open(log, "w", encoding="utf-8") as output:
        return subprocess.run([*words, *options], env=environment, stdout=output, stderr=output).returncode


def main():
    program, reader, minutes = sys.argv[1], sys.argv[2], float(sys.argv[3])
    kept = pathlib.Path("Tests/FuzzTests/Corpus") / f"{reader}.base64"
    work = pathlib.Path(".build/fuzz/readers") / reader
    shutil.rmtree(work, ignore_errors=True)
    found, fewest, crashes = work / "found", work / "fewest", work / "crashes"
    for folder in (found, fewest, crashes):
        folder.mkdir(parents=True)
    for number, line in enumerate(kept.read_text().split()):
        (found / f"kept-{number}").write_bytes(base64.b64decode(line))
    print(f"Searching for {minutes:g} minutes; {work}/search.log has what libFuzzer says …", flush=True)
    status = libfuzzer(
        program, reader, work / "search.log", f"-max_total_time={round(minutes * 60)}", f"-timeout={SECONDS}",
        f"-rss_limit_mb={MEGABYTES}", f"-max_len={LONGEST}", "-use_value_profile=1", f"-dict={work}/words",
        f"-artifact_prefix={crashes}/", found)
    crashed = contents(crashes)
    if status != 0 and not crashed:
        sys.exit(f"libFuzzer ended with {status} and found nothing:\n{(work / 'search.log').read_text()[-2000:]}")
    if crashed:
        write(kept, [base64.b64decode(line) for line in kept.read_text().split()] + crashed)
        print((work / "search.log").read_text(errors="replace")[-4000:])
        sys.exit(f"The reader does not bear what is in {crashes}, and in {kept} now; ./run test --filter ReaderTests shows it.")
    # How often code runs makes many inputs for little.
    status = libfuzzer(
        program, reader, work / "merge.log", "-set_cover_merge=1", "-use_counters=0", f"-timeout={SECONDS}",
        f"-rss_limit_mb={MEGABYTES}", fewest, found)
    least = contents(fewest)
    if status != 0 or not least:
        sys.exit(f"libFuzzer can't choose among the inputs:\n{(work / 'merge.log').read_text()[-2000:]}")
    write(kept, least)
    print(f"The reader bears all that was tried. {len(least)} inputs, in {kept}, reach as much of its code as all that were found.")


main()
