#!/bin/bash
# filters.sh PROGRAMS: measures each filter. A worker reads, filters and writes a JPEG of 10.7 megapixels. The table has
# the processor time in milliseconds, the least of five runs, and its ratio to noir's.
set -euo pipefail
programs=$1
folder=$(mktemp -d "${TMPDIR:-/tmp}/pipelined-bench.XXXXXX")
trap 'rm -rf "$folder"' EXIT
TIMEFORMAT='%U %S'

"$programs/pipelined-samples" "$folder" >/dev/null

# Some filters have required parameters.
declare -A arguments=([crop]='ratio=3:2' [watermark]='text=Ada')

cost() { # FILTER
    local least=999999 took
    for _ in 1 2 3 4 5; do
        took=$({ time "$programs/pipelined-filters" try "$programs/lib$1.so" ${arguments[$1]:+"${arguments[$1]}"} \
            "$folder/morning-hills.jpg" "$folder/made.jpg" >/dev/null; } 2>&1 | awk '{ print int(($1 + $2) * 1000) }')
        [ "$took" -ge "$least" ] || least=$took
    done
    echo "$least"
}

noir=$(cost noir)
printf '%-12s %6s %6s\n' filter ms noir=1
for plugin in "$programs"/lib*.so; do
    grep -q pipeline_filter "$plugin" || continue
    name=$(basename "$plugin" .so)
    name=${name#lib}
    took=$(cost "$name")
    printf '%-12s %6d %6s\n' "$name" "$took" "$(awk -v a="$took" -v b="$noir" 'BEGIN { printf "%.1f", a / b }')"
done
