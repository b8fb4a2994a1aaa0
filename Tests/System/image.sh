#!/bin/bash
# Tests an image that ./run image has made: image.sh IMAGE. Podman runs the image as a NAS would. The exit status is 125
# if Podman can't run the image here. Needs root, and leaves nothing behind.
set -euo pipefail
image=$1
before=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/docs/pictures/before.webp
work=$(mktemp -d /tmp/pipelined-image.XXXXXX)
chmod 755 "$work"
# The user does not exist in the image. The limits are low, because some machines allow nobody to raise limits.
user=12345:23456
options=(--read-only --user "$user" --network none --ulimit nofile=4096:4096 --ulimit nproc=4096:4096)
podman=(podman --root "$work/storage" --runroot "$work/run" --storage-driver vfs --log-level fatal)

finish() {
    trap '' INT TERM
    "${podman[@]}" rm --all --force --time 1 >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 143' INT TERM

check() { # WHAT COMMAND…
    local what=$1
    shift
    if "$@" >"$work/said" 2>&1; then
        echo "ok      $what"
    else
        echo "FAILED  $what"
        cat "$work/said"
        "${podman[@]}" logs tried || true
        exit 1
    fi
}

begin() { # OPTION…
    rm -rf "$work/pictures"
    mkdir -p "$work/pictures/etc/recipes.d"
    printf '%s\n' '[Recipe]' 'Inbox=marked' '[Output]' 'Chain=resize width=300 | watermark text="© Ada" | save format=avif' \
        >"$work/pictures/etc/recipes.d/marked.recipe"
    chown -R "$user" "$work/pictures"
    "${podman[@]}" run --detach --name tried "${options[@]}" --volume "$work/pictures:/pictures" \
        --health-cmd 'pipectl --root /pictures status' "$@" "$id" >/dev/null
    logged "is ready"
}
# Waits until the container has written these words to standard output.
logged() {
    local log reader
    exec {log}< <(exec timeout 120 "${podman[@]}" logs --follow tried 2>/dev/null)
    reader=$!
    grep -qF -m 1 -- "$1" <&"$log" || { echo "never logged: $1"; return 1; }
    kill "$reader" 2>/dev/null || true
    exec {log}<&-
}
drop() { install -m 644 "$before" "$work/pictures/$1/before.webp"; }
rendered() {
    drop inbox
    drop inbox/marked
    "${podman[@]}" exec tried pipectl --root /pictures wait --all
    file_begins "$work/pictures/outbox/noir/before.jpg" 'ff d8 ff'
    file_begins "$work/pictures/outbox/marked/before.avif" '00 00 00'
}
file_begins() { [ "$(od -An -tx1 -N3 "$1")" = " $2" ]; }
theirs() { [ "$(stat --format %u:%g "$work/pictures/outbox/noir/before.jpg")" = "$user" ]; }
confined() { ! "${podman[@]}" logs tried 2>&1 | grep 'confined in part'; }
healthy() { "${podman[@]}" healthcheck run tried; }
silent() { [ -z "$("${podman[@]}" logs tried 2>&1 >/dev/null)" ]; }
stops() {
    "${podman[@]}" stop --time 60 tried
    [ "$("${podman[@]}" inspect --format '{{.State.ExitCode}}' tried)" = 0 ]
    "${podman[@]}" logs tried 2>/dev/null | tail -n 1 | grep stopped
}

id=$("${podman[@]}" load --quiet --input "$image" | sed -n 's/^Loaded image: *//p')
can=
for runtime in crun runc; do
    command -v $runtime >/dev/null || continue
    if "${podman[@]}" --runtime $runtime run --rm --entrypoint /bin/true "${options[@]}" "$id" >"$work/said" 2>&1; then
        podman+=(--runtime "$runtime")
        can=yes
        break
    fi
    cat "$work/said" >&2
done
[ -n "$can" ] || exit 125

begin
check "it renders a JPEG and an AVIF with text, read-only, as user $user" rendered
check "results belong to that user" theirs
check "its workers are confined in every way" confined
check "it is healthy" healthy
check "it logs to standard output alone" silent
check "it stops cleanly on SIGTERM" stops
"${podman[@]}" rm tried >/dev/null
echo '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["landlock_create_ruleset"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1}]}' \
    >"$work/profile.json"
begin --security-opt "seccomp=$work/profile.json"
check "a profile that refuses Landlock is told what to allow" logged "allow landlock_create_ruleset"
