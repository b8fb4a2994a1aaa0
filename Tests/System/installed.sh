#!/bin/bash
# Installs the package in dist/ on a Debian without further packages, and renders a picture with it, as JPEG, as WebP, and as AVIF with text.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if command -v swift; then
    echo "installed.sh: this machine has a toolchain, so nothing would be shown" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes
apt-get update -qq
packages=("$here"/dist/pipelined_*.deb)
apt-get install -y -qq "${packages[0]}" >/dev/null

root=$(mktemp -d)
mkdir -p "$root/etc/recipes.d" "$root/inbox"
cat >"$root/etc/recipes.d/all.recipe" <<'END'
[Recipe]
Inbox=all
[Output]
Chain=resize scale=0.5 | noir | save format=jpeg
[Output small]
Chain=resize width=200 | save format=webp
[Output marked]
Chain=resize width=300 | watermark text="© Ada" | save format=avif
END
pipelined --root "$root" 2>"$root/log" &
daemon=$!
trap 'kill $daemon 2>/dev/null || true; wait; cat "$root/log"; rm -rf "$root"' EXIT
grep -q 'is ready' < <(tail -n +1 --pid=$daemon -f "$root/log")
cp "$here/docs/pictures/before.webp" "$root/inbox/all/"
pipectl --root "$root" wait --all
begins() { # FILE BYTES OFFSET LENGTH
    local bytes
    bytes=$(od -An -tx1 -j "$3" -N "$4" "$root/outbox/all/$1" | tr -d ' ')
    if [ "$bytes" != "$2" ]; then
        echo "installed.sh: $1 begins with $bytes, not $2" >&2
        return 1
    fi
}
begins before.jpg ffd8ff 0 3
begins before.small.webp 57454250 8 4
begins before.marked.avif 6674797061766966 4 8
kill $daemon
wait $daemon
echo "The package is installed, has rendered a picture in three ways, and has stopped."
