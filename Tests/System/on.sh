#!/bin/bash
# Runs a command of this checkout on a Debian release: on.sh [--minimal | --bare] RELEASE COMMAND [ARGUMENT …]
#
# The command runs as root in this folder, in a root file system of that release with the packages of ./run setup. With --minimal, the
# root has only git, ca-certificates and the toolchain; with --bare, not even the toolchain. The toolchain is read-only. The checkout gets
# its own .build and dist, which are kept in .build/on/RELEASE. All other changes by the command are in memory, and vanish at its exit.
# The only network is loopback, through which apt-get reaches the mirror of this machine's packages. The exit status is the command's, or
# 125 if no root can be made. Roots are kept in ~/.cache/pipelined, and may be removed at any time.
# TOOLCHAIN is the folder that contains the toolchain's usr. WHEELS is a folder with the PyPI packages that the tests need.
set -euo pipefail

cannot() { printf 'on.sh: %s\n' "$*" >&2; exit 125; }
fail() { printf 'on.sh: %s\n' "$*" >&2; exit 1; }

kind=tools
case ${1-} in --minimal | --bare) kind=${1#--}; shift ;; esac
[ $# -ge 2 ] || { sed -n '2,9s/^# //p' "$0" >&2; exit 125; }
release=$1
shift
here=$PWD
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
toolchain=${TOOLCHAIN-}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/pipelined
minimal=$cache/$release.minimal
tools=$cache/$release.tools
mkdir -p "$cache/mount"
unshare --mount --pid --fork --net --ipc mount -t tmpfs on "$cache/mount" \
    || cannot "this machine lets nobody mount or make namespaces, as a container without privileges does: try podman run --privileged"

# shellcheck source=packaging/mirrors.sh
. "$scripts/../../packaging/mirrors.sh"

# --- The command's surroundings ----------------------------------------------------------------------------------------------------

# The script of the first process inside. It waits for the command, and all other processes end when it exits.
# shellcheck disable=SC2016 # The shell inside expands the variables.
inside='
set -eu
root=$1 lower=$2 kept=$3 here=$4 toolchain=$5 state=$6
shift 6
mount -n -t tmpfs -o mode=755 on "$root"
mkdir "$root/root"
if [ "$kept" = kept ]; then
    mount -n --bind "$lower" "$root/root"
else
    mkdir "$root/upper" "$root/work"
    # index and nfs_export let inotify and fanotify see changes in an overlay.
    mount -n -t overlay -o "lowerdir=$lower,upperdir=$root/upper,workdir=$root/work,index=on,nfs_export=on" overlay "$root/root"
fi
root=$root/root
mount -n -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount -n --rbind /sys "$root/sys"
mount -n --bind /dev "$root/dev"
mount -n -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$root/dev/pts"
mount -n -t tmpfs -o mode=1777,nosuid,nodev shm "$root/dev/shm"
mount -n -t tmpfs -o mode=755,nosuid,nodev run "$root/run"
mount -n -t tmpfs -o mode=1777 tmp "$root/tmp"
bring() { # FOLDER PLACE
    mkdir -p "$root$2"
    mount -n --bind "$1" "$root$2"
}
bring "$here" "$here"
bring "$state/build" "$here/.build"
bring "$state/dist" "$here/dist"
if [ -n "$toolchain" ]; then
    bring "$toolchain" "$toolchain"
    mount -n -o remount,bind,ro "$root$toolchain"
fi
if [ -n "${WHEELS-}" ]; then
    bring "$WHEELS" /run/wheels
    set -- PIP_NO_INDEX=1 PIP_FIND_LINKS=/run/wheels "$@"
fi
cd "$root"
mkdir -p .old
pivot_root . .old
umount -n -l /.old
rmdir /.old
cd "$here"
[ -z "$toolchain" ] || toolchain=:$toolchain/usr/bin
status=0
env -i HOME=/root TERM="${TERM-dumb}" LANG=C.UTF-8 PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin$toolchain" \
    "$@" || status=$?
exit $status
'

# Runs a command in one of the roots. With "kept", the command's changes to the root are kept.
enter() { # ROOT kept|lost TOOLCHAIN COMMAND…
    local lower=$1 kept=$2 usable=$3 state=$here/.build/on/$release
    shift 3
    mkdir -p "$state/build" "$state/dist" "$here/dist"
    setpriv --pdeathsig KILL python3 "$scripts/mirror.py" "$mirror" "$security" -- \
        setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child --ipc \
        bash -c "$inside" on "$cache/mount" "$lower" "$kept" "$here" "$usable" "$state" "$@"
}

# --- The roots ---------------------------------------------------------------------------------------------------------------------

make_minimal() {
    echo "Making a minimal root of $release …" >&2
    rm -rf --one-file-system "$minimal"
    # debootstrap runs in its own namespaces, so that an interruption leaves no processes and no mounts behind.
    setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child --mount-proc \
        debootstrap --variant=minbase --include=ca-certificates,git "$release" "$minimal.partial" "$mirror" >"$cache/log" 2>&1 \
        || { tail -n 20 "$cache/log" >&2; fail "debootstrap can't make a root of $release from $mirror"; }
    printf '%s\n' "deb $mirror $release main" "deb $mirror $release-updates main" "deb $security $release-security main" \
        >"$minimal.partial/etc/apt/sources.list"
    # mirror.py listens at this address.
    printf 'Acquire::%s;\n' 'http::Proxy "http://127.0.0.1:3142"' 'https::Proxy "http://127.0.0.1:3142"' 'Languages "none"' \
        >"$minimal.partial/etc/apt/apt.conf.d/90mirror"
    printf '%s\n' '127.0.0.1 localhost' "127.0.1.1 $(uname -n)" '::1 localhost ip6-localhost' >"$minimal.partial/etc/hosts"
    rm -f "$minimal.partial"/var/cache/apt/archives/*.deb
    mv "$minimal.partial" "$minimal"
}

# The root's name ends in a checksum of the packages that ./run installs.
make_tools() {
    echo "Installing what the build and the tests need …" >&2
    rm -rf --one-file-system "$cache/$release".tools*
    cp -a "$minimal" "$tools.partial"
    enter "$tools.partial" kept "$toolchain" ./run setup >&2 || fail "./run setup has failed on $release; see above"
    rm -rf "$tools.partial"/var/cache/apt/archives/*.deb
    mv "$tools.partial" "$tools"
}

tools+=.$(sed -n '/_packages+\?=(/,/)/p' run | cksum | cut -d ' ' -f 1)
exec {lock}>"$cache/$release.lock"
# A root that is older than a month is made again, to get the release's updates.
is_there() { [ -n "$(find "$1" -maxdepth 0 -mtime -30 2>/dev/null)" ]; }
missing() { ! is_there "$minimal" || { [ "$kind" = tools ] && ! is_there "$tools"; }; }
if missing; then
    flock --nonblock "$lock" || { echo "Waiting for the end of other commands on $release …" >&2; flock "$lock"; }
    if missing; then
        rm -rf --one-file-system "$cache/$release".*.partial
        is_there "$minimal" || make_minimal
        [ "$kind" != tools ] || is_there "$tools" || make_tools
    fi
fi
# The lock keeps other runs of on.sh from replacing the root while this command uses it.
flock --shared "$lock"

case $kind in
tools) enter "$tools" lost "$toolchain" "$@" ;;
minimal) enter "$minimal" lost "$toolchain" "$@" ;;
bare) enter "$minimal" lost "" "$@" ;;
esac
