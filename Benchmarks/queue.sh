#!/bin/bash
# queue.sh PROGRAMS [COUNT]: what a long queue costs. COUNT files (100,000) are dropped while rendering is paused; then 10,000 of
# them are rendered, and the rest is cancelled.
set -euo pipefail
programs=$1
count=${2:-100000}
rendered=$((count < 10000 ? count : 10000))
root=$(mktemp -d "${TMPDIR:-/tmp}/pipelined-bench.XXXXXX")
daemon=
trap 'kill -9 "$daemon" 2>/dev/null; wait 2>/dev/null; rm -rf "$root"' EXIT

pipectl() { "$programs/pipectl" --root "$root" "$@"; }
now() { date +%s%N; }
field() { sed -n "s/^ *\"$1\" : \([0-9]*\),*$/\1/p" | head -n 1; }
memory() { sed -n "s/^$1:[^0-9]*\([0-9]*\) kB/\1/p" "/proc/$daemon/status"; }
cpu() { awk -v hz="$(getconf CLK_TCK)" '{ print int(($14 + $15) * 1000 / hz) }' "/proc/$daemon/stat"; }
progress() { if [ -t 2 ]; then printf '\r\033[K%s' "$*" >&2; fi; }

# The slowest of some answers to `pipectl status`, in milliseconds, the process's own start included.
slowest_status() {
    local begin slowest=0 took
    for _ in $(seq 20); do
        begin=$(now)
        pipectl status --json >/dev/null
        took=$((($(now) - begin) / 1000000))
        [ "$took" -le "$slowest" ] || slowest=$took
    done
    echo "$slowest"
}

"$programs/pipelined" --root "$root" >/dev/null 2>"$root/log" &
daemon=$!
until pipectl pause render --reason bench >/dev/null 2>&1; do kill -0 "$daemon"; sleep 0.05; done
idle=$(memory VmRSS)

# One picture, drawn by the project, at about a kilobyte.
"$programs/pipelined-samples" "$root/samples" >/dev/null
pipectl add "$root/samples/plasma.webp" --chain 'resize width=48 | save format=jpeg quality=70' >/dev/null
pipectl resume >/dev/null
pipectl wait --all >/dev/null
pipectl pause render --reason bench >/dev/null
small=$(find "$root/outbox/chain" -name '*.jpg')

progress "making $count files …"
mkdir "$root/many"
# shellcheck disable=SC2016  # the inner shell expands them
seq -f "$root/many/%06.0f.jpg" "$count" | xargs -n 5000 sh -c 'tee "$@" <"$0" >/dev/null' "$small"
before=$(cpu)
begin=$(now)
mv "$root/many" "$root/inbox/many"
while_busy=0
until [ "$(pipectl status --json | field waiting)" = "$count" ]; do
    progress "taken in: $(find "$root/inbox/many" -type f | wc -l) left"
    took=$(slowest_status)
    [ "$took" -le "$while_busy" ] || while_busy=$took
done
intake=$((($(now) - begin) / 1000000))
intake_cpu=$(($(cpu) - before))
settled=$(slowest_status)

before=$(cpu)
done_before=$(pipectl status --json | field "done")
pipectl resume render >/dev/null
until [ "$(pipectl status --json | field "done")" -ge $((done_before + rendered)) ]; do
    progress "rendered: $(($(pipectl status --json | field "done") - done_before))"
    sleep 0.2
done
made=$(($(pipectl status --json | field "done") - done_before))
render_cpu=$(($(cpu) - before))
begin=$(now)
pipectl cancel-all >/dev/null
cancelling=$((($(now) - begin) / 1000000))
peak=$(memory VmHWM)
progress ""

printf '%s files of %s bytes in the inbox\n\n' "$count" "$(stat -c %s "$small")"
printf '%-58s %10s\n' \
    "supervisor's memory, idle" "$((idle / 1024)) MB" \
    "supervisor's memory, peak (limit: 150 MB)" "$((peak / 1024)) MB" \
    "  for each file, beyond idle" "$(((peak - idle) * 1024 / count)) B" \
    "taking all in: time for each file" "$((intake * 1000 / count)) µs" \
    "taking all in: supervisor's CPU for each file" "$((intake_cpu * 1000 / count)) µs" \
    "pipectl status, slowest answer while taking in" "$while_busy ms" \
    "pipectl status, slowest answer with all queued" "$settled ms" \
    "rendering $made: supervisor's CPU for each job" "$((render_cpu * 1000 / made)) µs" \
    "pipectl cancel-all of the other $((count - made))" "$cancelling ms"
[ $((peak / 1024)) -lt 150 ]
