#!/bin/bash
# demo.sh PROGRAMS: draws twelve pictures, drops them into the inbox of a daemon of its own, and shows the results.
set -euo pipefail
programs=$1
root=$(mktemp -d "${TMPDIR:-/tmp}/pipelined-demo.XXXXXX")
daemon=
say() { printf '%s\n' "$*"; }

stop() {
    if [ -n "$daemon" ]; then
        kill "$daemon" 2>/dev/null || true
        wait "$daemon" 2>/dev/null || true
        daemon=
    fi
}
trap stop EXIT
trap 'exit 130' INT TERM

pipectl() { "$programs/pipectl" --root "$root" "$@"; }

say ""
say "1. Twelve pictures are drawn"
"$programs/pipelined-samples" "$root/before"
say ""
say "2. The daemon starts: pipelined --root $root"
"$programs/pipelined" --root "$root" 2>"$root/daemon.log" &
daemon=$!
until pipectl status >/dev/null 2>&1; do
    kill -0 "$daemon" 2>/dev/null || { cat "$root/daemon.log"; exit 1; }
    sleep 0.05
done
say ""
say "3. They are dropped into its inbox: cp before/* inbox/"
cp "$root"/before/* "$root/inbox/"
pipectl watch --until-idle
say ""
say "4. The results: pipectl list --long"
pipectl list --long
failed=0
[ -z "$(pipectl list --failed --json)" ] || failed=1
stop
mv "$root/outbox/noir" "$root/after"
say ""
say "Before:  $root/before"
say "After:   $root/after"
say ""
say "The daemon has been stopped. Your own pictures next, on a page in your browser: ./run gallery"
exit $failed
