#!/bin/bash
# Makes an OCI image of Debian packages, the daemon's package first: image.sh DESTINATION PACKAGE…. `./run
# image` calls it, as root.
#
# The image contains the packages, the libraries that their programs load, a shell and the certificates. It has no
# toolchain, apt or perl, and no way to log in.
set -euo pipefail
destination=$1
shift
mapfile -t packages < <(readlink -f "$@")
package=${packages[0]}
# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
version=$(dpkg-deb --field "$package" Version)
architecture=$(dpkg-deb --field "$package" Architecture)
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
image=$destination/pipelined-image_${version}_$architecture.tar
date=$(sed -n 's/.*date = "\(.*\)"/\1/p' "$scripts/../Sources/SystemCalls/Release.swift")
created=$(date --utc --date "$date" +%Y-%m-%dT%H:%M:%SZ)

work=$(mktemp -d "$destination/.image.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 143' INT TERM
root=$work/root

# --- The files ---------------------------------------------------------------------------------------------------------------------

# shellcheck source=packaging/mirrors.sh
. "$scripts/mirrors.sh"
also=(ca-certificates fonts-dejavu-core systemd-standalone-sysusers)
options=()
for path in share/doc share/info share/locale share/lintian share/man 'lib/*/gconv'; do
    options+=("--dpkgopt=path-exclude=/usr/$path/*")
done
for path in 'share/doc/*/copyright' 'lib/*/gconv/gconv-modules*' 'lib/*/gconv/UTF-*' 'lib/*/gconv/ISO8859-1.so'; do
    options+=("--dpkgopt=path-include=/usr/$path")
done
# If this machine gets its packages through a proxy, so does the image.
proxy=
eval "$(apt-config shell proxy Acquire::http::Proxy)"
[ -z "$proxy" ] || options+=("--aptopt=Acquire::http::Proxy \"$proxy\"")
# The mounts disappear when the command ends, even if it fails.
unshare --mount --propagation private \
    mmdebstrap --quiet --mode=root --variant=essential "${options[@]}" \
    --hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount \
    --include="$(IFS=,; echo "${also[*]}")" "${packages[@]/#/--include=}" "$release" "$root" \
    "deb $mirror $release main" "deb $mirror $release-updates main" "deb $security $release-security main"

# Keeps packages that provide a loaded file. Includes what filters and libheif's plugins load, which the programs' own
# dependencies don't list.
loaded() {
    # shellcheck disable=SC2016 # The shell inside expands it.
    chroot "$root" sh -c 'for file in /usr/bin/pipelined /usr/bin/pipectl /usr/libexec/pipelined/* /usr/lib/pipelined/plugins/* \
        /usr/lib/*/vips-modules-*/vips-heif.so /usr/lib/*/vips-modules-*/vips-jxl.so /usr/lib/*/libheif/plugins/* /bin/sh /bin/ls /bin/grep /bin/sed; do
        [ ! -e "$file" ] || ldd "$file"
    done' \
        | sed -n 's/.* => \(\/[^ ]*\).*/\1/p' | sort -u
}
stay=(base-files base-passwd coreutils dash debianutils grep libc-bin sed pipelined pipelined-fleet fontconfig-config "${also[@]}")
# dpkg may know a file in /lib as a file in /usr/lib.
mapfile -t -O ${#stay[@]} stay < <(loaded | sed 'p; s,^/usr/lib,/lib,; t; s,^/lib,/usr/lib,' \
    | xargs dpkg --root="$root" -S 2>/dev/null | sed 's/:.*//' | sort -u)
mapfile -t leave < <(dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${Package}\n' | grep -v ^libheif-plugin- | grep -vxF "$(printf '%s\n' "${stay[@]}")")
# Their scripts would need perl and dpkg, which are removed as well.
rm -f "$root"/var/lib/dpkg/info/*.{prerm,postrm,triggers}
dpkg --root="$root" --purge --force-depends --force-remove-essential --force-remove-protected --no-triggers "${leave[@]}" >"$work/log" 2>&1 \
    || { cat "$work/log" >&2; exit 1; }
# Finds missing libraries here, before a picture fails because of them. ldd needs bash, which has been removed.
# shellcheck disable=SC2016 # The shell inside expands them.
chroot "$root" sh -euc 'export LD_TRACE_LOADED_OBJECTS=1
    for file in /usr/bin/pipelined /usr/bin/pipectl /usr/libexec/pipelined/*; do "$file"; done
    for file in /usr/lib/pipelined/plugins/*; do LD_PRELOAD=$file /usr/libexec/pipelined/pipelined-render; done' >"$work/loaded" 2>&1 \
    || { cat "$work/loaded" >&2; exit 1; }
if grep 'not found' "$work/loaded" >&2; then
    echo "image.sh: these libraries are missing in the image" >&2
    exit 1
fi
# Keeps the list of installed packages, because image scanners read it. Nobody installs further packages.
find "$root/var/lib/dpkg" -mindepth 1 -maxdepth 1 ! -name status -exec rm -rf {} +
rm -rf "$root"/var/lib/apt "$root"/var/cache/* "$root"/var/log/* "$root"/var/lib/systemd "$root"/etc/systemd "$root/lib/systemd/system" \
    "$root"/usr/share/{bash-completion,fish,zsh,mime,X11,applications} "$root"/etc/{apt,dpkg,machine-id} "$root"/etc/hostname "$root"/etc/resolv.conf
# 1000 is the first ordinary user of most machines, so their folders have the right owner.
sed -i 's/^\(pipelined:x\):[0-9]*:[0-9]*:/\1:1000:1000:/' "$root/etc/passwd"
sed -i 's/^\(pipelined:x\):[0-9]*:/\1:1000:/' "$root/etc/group"
install -d -o 1000 -g 1000 "$root/pictures"
find "$root" -xdev -newermt "$created" -exec touch --no-dereference --date "$created" {} +
python3 "$scripts/contents.py" "$work/contents.json" --image "$root"
megabytes=$(du -s --block-size=1000000 "$root" | cut -f 1)

# --- The image ---------------------------------------------------------------------------------------------------------------------

layout=$work/layout
umoci init --layout "$layout"
umoci new --image "$layout:$version"
umoci insert --image "$layout:$version" --history.created "$created" --history.created_by "pipelined $version on $release" "$root" /
# SIGTERM goes to the daemon, which is the first process. It logs to standard error, but container tools expect both
# streams, so 2>&1 joins them.
# shellcheck disable=SC2016 # The shell inside expands it.
umoci config --image "$layout:$version" --no-history --created "$created" --author "The pipelined authors" \
    --architecture "$architecture" --os linux \
    --config.user 1000:1000 --config.workingdir /pictures --config.volume /pictures --config.stopsignal SIGTERM \
    --config.env PATH=/usr/bin:/bin --config.env LANG=C.UTF-8 --config.env SWIFT_BACKTRACE=enable=no \
    --config.entrypoint /bin/sh --config.entrypoint -c --config.entrypoint 'exec pipelined --root /pictures "$@" 2>&1' \
    --config.entrypoint pipelined \
    --config.label org.opencontainers.image.title=pipelined --config.label "org.opencontainers.image.version=$version" \
    --config.label org.opencontainers.image.licenses=MIT
umoci gc --layout "$layout"
python3 "$scripts/image-index.py" "$layout" "localhost/pipelined:$version"
tar --create --file "$work/image.tar" --sort=name --mtime "$created" --owner=0 --group=0 --numeric-owner -C "$layout" .
mv "$work/image.tar" "$image"
mv "$work/contents.json" "${image%.tar}.spdx.json"
echo "$image"
echo "$megabytes MB unpacked, $(($(stat --format %s "$image") / 1000000)) MB packed"
