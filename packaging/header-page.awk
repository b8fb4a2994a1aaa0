# Makes the manual page of a C header from its comments. The first comment is the description. A declaration is
# described by the comment above it, a member by the comment above or after it. Requires LC_ALL=C, and -v release=…, the
# text after the section in the page's title.

BEGIN { for (byte = 128; byte < 256; byte++) number[sprintf("%c", byte)] = byte }

# Escapes the characters that roff would interpret.
function escaped(text,    roff, i, c, code) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/'/, "\\(aq", text)
    gsub(/\^/, "\\(ha", text)
    gsub(/~/, "\\(ti", text)
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (c in number) {  # UTF-8 of two or three bytes
            code = number[c] >= 224 ? number[c] % 16 : number[c] % 32
            while (substr(text, i + 1, 1) in number && number[substr(text, i + 1, 1)] < 192)
                code = code * 64 + number[substr(text, ++i, 1)] % 64
            c = sprintf("\\[u%04X]", code)
        }
        roff = roff c
    }
    return roff
}

# roff would read a line that begins with a dot as an instruction.
function put(roff) { print (substr(roff, 1, 1) == "." ? "\\&" : "") roff }

# In a paragraph, text between backquotes is bold, and so are capitals at its beginning.
function fill(text,    parts, words, count, i, line) {
    count = split(escaped(text), parts, "`")
    text = parts[1]
    for (i = 2; i <= count; i++) text = text (i % 2 ? "\\fP" : "\\fB") parts[i]
    if (match(text, /^[A-Z][A-Z ]*[A-Z][. ]/))
        text = "\\fB" substr(text, 1, RLENGTH - 1) "\\fP" substr(text, RLENGTH)
    count = split(text, words, " ")
    line = words[1]
    for (i = 2; i <= count; i++) {
        if (length(line) + 1 + length(words[i]) <= 78) line = line " " words[i]
        else { put(line); line = words[i] }
    }
    put(line)
}

function literal(text) { gsub(/`/, "\\(ga", text); put(text) }

# --- The first comment

function endParagraph() {
    if (paragraph != "") fill(paragraph)
    paragraph = ""
}

function describe(line) {
    if (line == "") {
        endParagraph()
        if (inCode) print ".RE\n.fi"
        inCode = inItem = 0
    } else if (line ~ /^  - /) {
        endParagraph()
        print ".IP \\(bu 2"
        inItem = 1
        paragraph = substr(line, 5)
    } else if (line ~ /^    / && !inItem) {
        endParagraph()
        if (!inCode) print ".PP\n.nf\n.RS 4"
        inCode = 1
        literal(escaped(substr(line, 5)))
    } else {
        sub(/^ +/, "", line)
        if (paragraph == "") print ".PP"
        paragraph = paragraph (paragraph == "" ? "" : " ") line
    }
}

NR == 1 {
    name = $2
    sub(/:.*/, "", name)
    summary = $0
    sub(/^[^:]*: */, "", summary)
    sub(/\.$/, "", summary)
    print ".TH " escaped(toupper(name)) " 3 " release
    print ".nh\n.ad l\n.SH NAME"
    print escaped(name " - " summary)
    print ".SH SYNOPSIS\n.nf"
    put("#include <" escaped(name) ">")
    print ".fi\n.SH DESCRIPTION"
    isFirst = inHead = 1
    next
}

inHead && /^ \*\// {
    describe("")
    print ".SH DECLARATIONS"
    inHead = 0
    next
}

inHead {
    line = $0
    sub(/^ \* ?/, "", line)
    # The heading has already begun a paragraph.
    if (isFirst && line == "") next
    if (isFirst) { isFirst = 0; paragraph = line; next }
    describe(line)
    next
}

# --- The declarations

function member() {
    gsub(/[ \t]+/, " ", declaration)
    gsub(/\( /, "(", declaration)
    sub(/^ /, "", declaration)
    sub(/ *[,;] *$/, "", declaration)
    print ".TP"
    print "\\fB" escaped(declaration) "\\fP"
    if (comment != "") fill(comment)
    declaration = comment = ""
}

# Handles a comment, or a part of one, and keeps the code beside it.
{
    line = $0
    if (inComment) {
        text = line
        sub(/^ *\* ?/, "", text)
        inComment = line !~ /\*\/ *$/
        sub(/ *\*\/ *$/, "", text)
        comment = comment " " text
        next
    }
    if (match(line, /\/\* .*/)) {
        text = substr(line, RSTART + 3)
        line = substr(line, 1, RSTART - 1)
        inComment = text !~ /\*\/ *$/
        sub(/ *\*\/ *$/, "", text)
        comment = (line ~ /[^ ]/ && comment != "" ? comment " " : "") text
        if (line !~ /[^ ]/) next
    }
}

/^#define/ && comment != "" {
    print ".SS " escaped($2)
    fill(comment)
    print ".PP\n.nf\n.RS 4"
    literal(escaped(line))
    print ".RE\n.fi"
    comment = ""
    next
}

/^#/ || /^extern / { comment = ""; next }

/^typedef .*\{/ {
    print ".SS " escaped($3)
    if (comment != "") fill(comment)
    comment = ""
    isInside = 1
    next
}

/^\}/ { if (isInside && declaration != "") member(); isInside = 0; comment = ""; next }

isInside {
    declaration = declaration line
    # Parameters continue on the next line; the last member of an enum has no comma.
    if (line ~ /[,;] *$/ && line !~ /[a-z],$/ || declaration ~ /= [0-9< ]+ *$/) member()
    next
}

line ~ /;/ {
    text = line
    sub(/\(.*/, "", text)
    sub(/;.*/, "", text)
    sub(/.*[ *]/, "", text)
    print ".SS " escaped(text)
    if (comment != "") fill(comment)
    print ".PP\n.nf\n.RS 4"
    literal(escaped(line))
    print ".RE\n.fi"
    comment = ""
}

END {
    print ".SH SEE ALSO"
    print "\\fBpipelined.recipe\\fP(5), \\fBpipectl\\fP(1), \\fBpipelined\\fP(8)"
}
