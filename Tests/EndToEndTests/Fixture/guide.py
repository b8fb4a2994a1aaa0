"""guide.py GUIDE: prints the commands of a guide as one script, in their order.

A block of commands is indented by four spaces, or fenced without a language, and begins with the name of a program. An HTML comment
directly above a block, which readers of the page don't see, says why the block is not run unchanged:

    <!-- not run: REASON -->        the block needs a second machine, systemd, the web, …
    <!-- run by Suite.test -->      this test runs the block
    <!-- shown -->                  the block is the output of a program
    <!-- examples -->               each line runs separately, and may be refused (status 1) or name a missing job (status 4)
"""
import pathlib, re, shlex, sys

PROGRAM = re.compile(r"([A-Z_]+=\S+ )*(\./)?[a-z$][a-zA-Z0-9_.-]*( .*|$)|[a-z]+=\$\(")
NOT_A_PROGRAM = re.compile(r"(\./)?[a-z][a-zA-Z0-9_.-]*:")
# Several spaces between words mean a table or a drawing, unless a comment follows them.
COLUMNS = re.compile(r"\S {2,}[^ #]")
MARKER = re.compile(r"<!-- (not run: .+|run by \w+\.\w+|shown|examples) -->$")


def blocks(text):
    """Yields the number of the first line, the marker and the lines of each block."""
    lines = text.split("\n")
    marker, at = "", 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("<!--"):
            if not MARKER.match(line):
                sys.exit(f"line {at + 1}: this comment is no marker: {line}")
            marker, at = line[5:-4], at + 1
            continue
        if line.startswith("```"):
            end = at + 1
            while not lines[end].startswith("```"):
                end += 1
            if line == "```":
                yield at + 2, marker, lines[at + 1 : end]
            marker, at = "", end + 1
            continue
        is_code = line.startswith("    ") and (at == 0 or not lines[at - 1].strip() or lines[at - 1].startswith("<!--"))
        if not is_code:
            if line.strip():
                marker = ""
            at += 1
            continue
        end = at
        while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
            end += 1
        body = "\n".join(line[4:] for line in lines[at:end]).rstrip("\n").split("\n")
        yield at + 1, marker, body
        marker, at = "", end


def main():
    guide = pathlib.Path(sys.argv[1])
    print("set -eE")
    for number, marker, lines in blocks(guide.read_text()):
        first = next((line for line in lines if not line.startswith("#")), "")
        if not PROGRAM.match(first) or NOT_A_PROGRAM.match(first) or COLUMNS.search(first):
            continue
        place = shlex.quote(f"--- {guide.name}:{number}" + (f" ({marker})" if marker else ""))
        print(f"echo {place}; trap 'echo \"{guide.name}:{number}: this block fails\"' ERR")
        if marker == "examples":
            for line in filter(str.strip, lines):
                print(f"( set +e; {line.split('  #')[0]} ) || case $? in 1|4) ;; *) false ;; esac")
        elif not marker:
            print("\n".join(lines))


main()
