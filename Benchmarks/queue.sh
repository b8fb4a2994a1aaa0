#!/bin/bash
# queue.sh PROGRAMS [COUNT]: what the supervisor costs. COUNT/10 small pictures go through the whole graph; then COUNT files (100,000),
# and as many URLs, are dropped while nothing begins, and cancelled. Each part has a daemon of its own.
set -euo pipefail
programs=$1
count=${2:-100000}
through=$((count < 10 ? 1 : count / 10))
folder=$(mktemp -d "${TMPDIR:-/tmp}/pipelined-bench.XXXXXX")
root=
daemon=
trap 'kill -9 "$daemon" 2>/dev/null || true; wait 2>/dev/null; rm -rf "$folder"' EXIT

pipectl() { "$programs/pipectl" --root "$root" "$@"; }
now() { date +%s%N; }
since() { echo $((($(now) - $1) / 1000000)); }
jobs() { pipectl status --json | sed -n "s/^ *\"$1\" : \([0-9]*\),*$/\1/p" | head -n 1; }
memory() { sed -n "s/^$1:[^0-9]*\([0-9]*\) kB/\1/p" "/proc/$daemon/status"; }
cpu() { awk -v hz="$(getconf CLK_TCK)" '{ print int(($14 + $15) * 1000 / hz) }' "/proc/$daemon/stat"; }
files() { find "$1" -type f 2>/dev/null | wc -l; }
larger() { echo $(($1 > $2 ? $1 : $2)); }

# What has been done of how much, as a bar; without arguments it goes away.
progress() {
    [ -t 2 ] || return 0
    printf '\r\033[K' >&2
    [ $# -gt 0 ] || return 0
    local bar
    bar=$(printf '%*s' $(($2 * 30 / $3)) '')
    printf '%-24s [%-30s] %s of %s' "$1" "${bar// /#}" "$2" "$3" >&2
}

row() { printf '%-62s %10s\n' "$@"; }

begin_daemon() {
    root=$folder/$1
    "$programs/pipelined" --root "$root" >/dev/null 2>"$root.log" &
    daemon=$!
    until pipectl status >/dev/null 2>&1; do kill -0 "$daemon"; sleep 0.05; done
}

end_daemon() {
    kill "$daemon"
    wait "$daemon" || true
}

# The slowest of some answers to `pipectl status`, in milliseconds, the process's own start included.
slowest_status() {
    local begin slowest=0
    for _ in $(seq 20); do
        begin=$(now)
        pipectl status --json >/dev/null
        slowest=$(larger "$(since "$begin")" "$slowest")
    done
    echo "$slowest"
}

# Files are claimed one by one; a list goes to the archive when all that is in it is durable.
files_taken() { [ "$(files "$root/inbox/dropped")" = 0 ]; }
URLs_taken() { [ "$(files "$root/archive")" = 1 ]; }

# Waits until all are taken in; prints the slowest status meanwhile.
take_in() {
    local slowest=0
    until [ "$(jobs waiting)" = "$count" ] && "$1_taken"; do
        progress "taking in $1" "$(jobs waiting)" "$count"
        slowest=$(larger "$(slowest_status)" "$slowest")
    done
    echo "$slowest"
}

# COUNT copies of a picture in a new folder.
copies() {
    mkdir -p "$3"
    # shellcheck disable=SC2016  # the inner shell expands them
    seq -f "$3/%06.0f.jpg" "$2" | xargs -n 5000 sh -c 'tee "$@" <"$0" >/dev/null' "$1"
}

# Two pictures, drawn by the project: about one kilobyte, and ten.
begin_daemon samples
"$programs/pipelined-samples" "$folder/drawn" >/dev/null
for width in 24 360; do
    pipectl add "$folder/drawn/plasma.webp" --wait --chain "resize width=$width | save format=jpeg quality=75" >/dev/null
    mv "$root/outbox/chain/plasma.jpg" "$folder/$width.jpg"
done
end_daemon

# From the drop until every result is published and every original lies in the archive.
for width in 24 360; do
    picture=$folder/$width.jpg
    begin_daemon "through-$width"
    copies "$picture" "$through" "$root/many"
    before=$(cpu)
    begin=$(now)
    mv "$root/many" "$root/inbox/many"
    until [ "$(jobs "done")" -ge "$through" ] && [ "$(files "$root/archive")" -ge "$through" ]; do
        progress "through the whole graph" "$(jobs "done")" "$through"
        sleep 0.5
    done
    took=$(since "$begin")
    spent=$(($(cpu) - before))
    progress
    row "$through files of $(stat -c %s "$picture") bytes, through the whole graph" "" \
        "  time for each job" "$((took * 1000 / through)) µs" \
        "  supervisor's CPU for each job" "$((spent * 1000 / through)) µs" \
        "  supervisor's memory, peak" "$(($(memory VmHWM) / 1024)) MB"
    end_daemon
done

worst=0

# What COUNT jobs cost that wait, and to cancel them. Called with what they are and the folder or list to be dropped.
wait_and_cancel() {
    local before idle begin busy settled spent took peak cancelling
    idle=$(memory VmRSS)
    before=$(cpu)
    begin=$(now)
    mv "$2" "$root/inbox/dropped"
    busy=$(take_in "$1")
    took=$(since "$begin")
    spent=$(($(cpu) - before))
    settled=$(slowest_status)
    begin=$(now)
    pipectl cancel-all >/dev/null
    cancelling=$(since "$begin")
    peak=$(memory VmHWM)
    worst=$(larger "$peak" "$worst")
    progress
    row "$count $1 queued" "" \
        "  supervisor's memory, idle" "$((idle / 1024)) MB" \
        "  supervisor's memory, peak (limit: 150 MB)" "$((peak / 1024)) MB" \
        "    for each, beyond idle" "$(((peak - idle) * 1024 / count)) B" \
        "  taking all in: time for each" "$((took * 1000 / count)) µs" \
        "  taking all in: supervisor's CPU for each" "$((spent * 1000 / count)) µs" \
        "  pipectl status, slowest answer while taking in" "$busy ms" \
        "  pipectl status, slowest answer with all queued" "$settled ms" \
        "  pipectl cancel-all (limit: 2000 ms)" "$cancelling ms"
}

begin_daemon files
pipectl pause render --reason bench >/dev/null
copies "$folder/24.jpg" "$count" "$root/many"
wait_and_cancel "files" "$root/many"
end_daemon

# One list: everything that is in it becomes durable together.
begin_daemon urls
pipectl pause download --reason bench >/dev/null
mkdir "$root/many"
seq -f "https://pictures.example.com/2026/a-longer-name-than-most-%06.0f.jpg" "$count" >"$root/many/list.urls"
wait_and_cancel "URLs" "$root/many"
end_daemon

[ $((worst / 1024)) -lt 150 ]
