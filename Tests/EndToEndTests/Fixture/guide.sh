#!/bin/bash
# guide.sh SOURCE PROGRAMS PICTURE WORK GUIDE…: runs the commands of guides unchanged, on a simulated machine where pipelined is installed
# and running. That machine is an overlay of this one, so all changes are temporary. All started processes end with the script.
set -euo pipefail
source=$1 programs=$2 picture=$3 work=$4

mount -t tmpfs guide "$work"
mkdir "$work"/{upper,work,root}
mount -t overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" overlay "$work/root"
# The overlay does not include other mounts of this machine. The toolchain, whose libraries the programs need, may be such a mount.
libraries=$(ldd "$programs/pipelined" | sed -n 's|.* => \(.*\)/libswiftCore.so .*|\1|p')
for folder in /proc /dev "$source" "$programs" $libraries; do
    mkdir -p "$work/root$folder" && mount --rbind "$folder" "$work/root$folder"
done
mount -t tmpfs run "$work/root/run"

cp "$picture" "$work/root/picture"
cat >"$work/root/machine.sh" <<'MACHINE'
set -euo pipefail
source=$1 programs=$2
export HOME=/root EDITOR=editor LC_ALL=C.UTF-8
bash "$source/packaging/install.sh" "$programs" /usr >/dev/null
# The daemon runs as root here, so its user gets root's number.
echo 'pipelined:x:0:' >>/etc/group
echo 'pipelined:x:0:0::/:/bin/false' >>/etc/passwd

stand_in() { # NAME, and its text
    { echo '#!/bin/bash' && cat; } >"/usr/local/bin/$1"
    chmod +x "/usr/local/bin/$1"
}
stand_in systemctl <<'END'
# systemctl start|stop|enable --now NAME…
verb=$1
for unit in "${@:2}"; do
    case $unit in
    pipelined | pipelined@*)
        name=${unit#pipelined}
        case $verb in
        start | enable)
            install -d /etc/pipelined$name/recipes.d
            : >/var/log/pipelined$name
            pipelined ${name:+--instance "${name#@}"} >>/var/log/pipelined$name 2>&1 &
            echo $! >/run/daemon$name
            grep -qm1 'is ready' < <(tail -n +1 -f --pid=$! /var/log/pipelined$name)
            ;;
        stop)
            kill "$(cat /run/daemon$name)"
            tail -f --pid="$(cat /run/daemon$name)" /dev/null
            ;;
        esac
        ;;
    esac
done
END
stand_in systemd-tmpfiles <<'END'
END
stand_in editor <<'END'
echo "# edited" >>"${@: -1}"
END
stand_in sudo <<'END'
exec "$@"
END
# Commands that would run until Ctrl-C end by themselves here.
stand_in pipectl <<'END'
[ "$*" != watch ] || set -- watch --until-idle
exec /usr/bin/pipectl "$@"
END
touch /var/log/gallery

# In a checkout, `./run pipectl` talks to this machine's daemon, and other commands of `./run` are refused.
mkdir -p /root/here /root/Pictures/lucerne /media/card/DCIM /var/lib/prometheus/node-exporter /srv/again /mnt
cat >/root/here/run <<'END'
#!/bin/bash
[ "$1" = pipectl ] && exec "$@"
echo "./run $1 is not run here" >&2 && exit 2
END
chmod +x /root/here/run
systemctl start pipelined
ln -s /var/lib/pipelined /root/here/var
for name in Pictures/{beach,harbour}.jpg Pictures/lucerne/{1..12}.jpg here/{beach,harbour}.jpg here/IMG_1.CR2; do
    cp /picture "/root/$name"
done
cp /picture /media/card/DCIM/1.NEF
# Create four batches. The first has twelve pictures.
pipectl add /root/Pictures/lucerne --wait
for _ in 2 3 4; do pipectl add /root/Pictures/{beach,harbour}.jpg --wait; done
pipelined-gallery --listen 127.0.0.1:8080 >/var/log/gallery 2>&1 &
grep -qm1 ' serves ' < <(tail -n +1 -f --pid=$! /var/log/gallery)

# Process a picture that a guide expects to have been dropped before.
pipectl recipes new web
pipectl reload
install -D /picture /var/lib/pipelined/inbox/web/rome/harbour.jpg
pipectl wait
rm /etc/pipelined/recipes.d/web.recipe

failed=0
for guide in "${@:3}"; do
    cd /root/here
    rm -f /etc/pipelined/recipes.d/*
    for recipe in web print; do pipectl recipes new $recipe >/dev/null; done
    pipectl reload
    # The recipe stays in use after its file is removed, and a guide may write the file again.
    rm /etc/pipelined/recipes.d/web.recipe
    python3 "$source/Tests/EndToEndTests/Fixture/guide.py" "$guide" >/commands
    bash /commands 2>&1 || { failed=1; echo "$guide FAILS"; }
done
exit $failed
MACHINE
exec chroot "$work/root" bash /machine.sh "$source" "$programs" "${@:5}"
