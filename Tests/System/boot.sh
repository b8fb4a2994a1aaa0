#!/bin/bash
# Boots this machine's systemd in a container for one command: boot.sh COMMAND [ARGUMENT …]
#
# The command runs as root in this folder, in a container whose first process is systemd. It sees this machine's files.
# Its changes are in memory, and vanish at its exit; it can't change this folder. The only network is loopback. The exit
# status is the command's, or 125 if systemd does not start. BOOT_HIDE lists folders that are empty in the container.
# boot.sh needs root, systemd, dbus, util-linux and procps. It leaves nothing behind.
set -euo pipefail

[ "$(id -u)" = 0 ] || { echo "boot.sh: only root can boot a container" >&2; exit 125; }
[ $# -gt 0 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 125; }
shopt -s nullglob

here=$PWD
work=$(mktemp -d /tmp/boot.XXXXXX)
groups=()
container='' init='' command=''

# Ends the command first, and then the container. systemd sends SIGSTOP to all processes when it shuts down. nsenter
# stops itself when its child is stopped, so this function has to continue nsenter.
# shellcheck disable=SC2317 # The trap calls this function.
finish() {
    trap - EXIT
    trap '' INT TERM
    set +e
    if [ -n "$command" ]; then pkill -KILL -P "$command" && kill -CONT "$command" 2>/dev/null; fi
    if [ -n "$container" ]; then
        if [ -n "$init" ]; then timeout 5 nsenter -t "$init" -a systemctl exit 0 >/dev/null 2>&1; fi
        for ((tries = 200; tries > 0; tries--)); do
            [ -d "/proc/$container" ] || break
            [ -z "$command" ] || kill -CONT "$command" 2>/dev/null
            sleep 0.05
        done
        kill -KILL "$container" 2>/dev/null
        wait
    fi
    for group in "${groups[@]}"; do
        for ((tries = 20; tries > 0; tries--)); do
            find "$group" -depth -type d -exec rmdir {} + 2>/dev/null
            [ -d "$group" ] || break
            sleep 0.1
        done
    done
    rm -rf --one-file-system "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# --- Control groups: our own child group in each hierarchy ----------------------------------------------------------------------------

# Read the list before the first group is created, because creating a group changes the list.
memberships=$(cat /proc/self/cgroup)
old=()
unified=
while IFS=: read -r _ controllers path; do
    case $controllers in
    '') mount=$(findmnt -n -f -t cgroup2 -o TARGET) ;;
    memory | pids | cpu | cpuacct | cpu,cpuacct | devices | blkio | name=systemd) mount=$(findmnt -n -f -t cgroup -O "$controllers" -o TARGET) ;;
    *) continue ;;
    esac || continue
    group=${mount}${path%/}/boot.$$
    mkdir "$group" || { echo "boot.sh: no control group can be made in $mount" >&2; exit 125; }
    groups+=("$group")
    if [ -n "$controllers" ]; then old+=("$controllers"); else unified=$group; fi
done <<<"$memberships"
[ -n "$unified" ] || { echo "boot.sh: there is no cgroup2 here" >&2; exit 125; }
# If the memory controller is in the new hierarchy, the old hierarchies are not needed.
if grep -qw memory "$unified/cgroup.controllers"; then old=(); fi

# --- The container, up to its systemd -------------------------------------------------------------------------------------------------

cat > "$work/init" <<'INIT'
set -eu
work=$1 old=$2 hidden=$3 here=$4
quiet() { mount -n "$@"; }
quiet -t tmpfs -o mode=755 boot "$work"
mkdir "$work/upper" "$work/work" "$work/root"
root=$work/root
# index and nfs_export let inotify and fanotify see changes in an overlay.
quiet -t overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work,index=on,nfs_export=on" overlay "$root"
quiet -t proc -o nosuid,nodev,noexec proc "$root/proc"
quiet --bind "$root/proc/sys" "$root/proc/sys"
quiet -o remount,bind,ro "$root/proc/sys"
# With a read-only /sys, systemd does not manage devices.
quiet -t sysfs -o ro,nosuid,nodev,noexec sysfs "$root/sys"
quiet -t tmpfs -o mode=755,nosuid dev "$root/dev"
while read -r name major minor; do mknod -m 666 "$root/dev/$name" c "$major" "$minor"; done <<END
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
END
mkdir "$root/dev/pts" "$root/dev/shm"
quiet -t tmpfs -o mode=1777,nosuid,nodev shm "$root/dev/shm"
quiet -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/0 "$root/dev/stdin"
ln -s /proc/self/fd/1 "$root/dev/stdout"
ln -s /proc/self/fd/2 "$root/dev/stderr"
quiet -t tmpfs -o mode=755,nosuid,nodev run "$root/run"
groups=$root/sys/fs/cgroup
if [ -z "$old" ]; then
    quiet -t cgroup2 cgroup2 "$groups"
else
    quiet -t tmpfs -o mode=755 cgroup "$groups"
    mkdir "$groups/unified"
    quiet -t cgroup2 cgroup2 "$groups/unified"
    for controllers in $old; do
        options=$controllers
        case $controllers in name=*) options=none,$controllers ;; esac
        mkdir "$groups/${controllers#name=}"
        quiet -t cgroup -o "$options" cgroup "$groups/${controllers#name=}"
    done
fi
# This folder may lie on another disk, which the overlay does not include.
mkdir -p "$root$here"
quiet --bind "$here" "$root$here"
quiet -o remount,bind,ro "$root$here"
for folder in $hidden; do quiet -t tmpfs -o mode=755 hidden "$root$folder"; done
# Only systemd's own units start automatically. Units that concern a whole machine are masked below.
rm -rf "$root"/etc/systemd/system/*.wants "$root"/var/log/journal/* "$root/.dockerenv" "$root/etc/machine-id"
# If this machine is itself a container, its policy may forbid packages to start services. Allow that here.
rm -f "$root/usr/sbin/policy-rc.d"
for unit in sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount sys-fs-fuse-connections.mount dev-hugepages.mount \
    systemd-journald-audit.socket systemd-remount-fs.service systemd-tmpfiles-clean.timer systemd-sysctl.service \
    systemd-update-utmp.service systemd-sysusers.service; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
# tmp.conf would empty /tmp, which may contain this checkout.
ln -sf /dev/null "$root/etc/tmpfiles.d/tmp.conf"
tr -d - < /proc/sys/kernel/random/uuid > "$root/etc/machine-id"
cd "$root"
mkdir -p .old
pivot_root . .old
umount -n -l /.old
rmdir /.old
mount -n --make-rshared /
exec env -i container=boot PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    setpriv --bounding-set -sys_module,-sys_time,-sys_rawio \
    /lib/systemd/systemd --system --log-target=journal --show-status=0 systemd.unit=basic.target < /dev/null
INIT

mkdir "$work/mount"
(
    for group in "${groups[@]}"; do echo "$BASHPID" > "$group/cgroup.procs"; done
    exec setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --ipc --uts --net --cgroup \
        bash "$work/init" "$work/mount" "${old[*]-}" "${BOOT_HIDE-}" "$here"
) > "$work/log" 2>&1 &
container=$!
for ((tries = 300; tries > 0; tries--)); do
    [ -d "/proc/$container" ] || break
    candidate=$(pgrep -P "$container" || true)
    if [ -n "$candidate" ] && [ -S "/proc/$candidate/root/run/systemd/private" ] \
        && [ "$(cat "/proc/$candidate/comm" 2>/dev/null)" = systemd ]; then
        init=$candidate
        break
    fi
    sleep 0.02
done
inside=(nsenter -t "$init" -a env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
state=none
if [ -n "$init" ]; then state=$(timeout 60 "${inside[@]}" systemctl is-system-running --wait) || true; fi
case $state in
running | degraded) ;;
*)
    echo "boot.sh: systemd does not come up ($state):" >&2
    cat "$work/log" >&2
    exit 125
    ;;
esac

status=0
# shellcheck disable=SC2016 # The shell inside expands the variables.
"${inside[@]}" bash -c 'cd "$1" && shift && exec "$@"' boot "$here" "$@" < /dev/null &
command=$!
wait "$command" || status=$?
command=
exit $status
