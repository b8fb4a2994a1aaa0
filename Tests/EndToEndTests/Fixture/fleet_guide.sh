#!/bin/bash
# fleet_guide.sh PROGRAMS NATS_SERVER GUIDE WORK: runs the commands of the guide unchanged. The machines are folders of
# WORK. The script has its own network, and all started processes end when it exits.
set -euo pipefail
programs=$1 nats=$2 guide=$3 work=$4
nodes=(darkroom attic cellar)
mkdir -p "$work"/{bin,here,fleet.example.org}
python3 - <<'END'
import fcntl, socket, struct
# Enable the loopback interface.
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sH14x", b"lo", 0x49))
END
# This test gets its own /etc, with the group that the server's package creates.
mkdir "$work/layers"
mount -t tmpfs layers "$work/layers"
mkdir "$work"/layers/{upper,work}
mount -t overlay -o "lowerdir=/etc,upperdir=$work/layers/upper,workdir=$work/layers/work" overlay /etc
echo "127.0.0.1 localhost fleet.example.org ${nodes[*]} loft" >/etc/hosts
echo 'nats:x:0:' >>/etc/group

stand_in() { # NAME, and its text
    { echo '#!/bin/bash' && cat; } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}
stand_in scp <<END
[ "\$1" != -r ] || shift
cp -r "\$1" "$work/\${2%%:*}/\${2#*:}"
END
stand_in ssh <<END
[ "\$1" != -t ] || shift
cd "$work/\$1" && HOST=\$1 bash -c "\$2"
END
stand_in sudo <<'END'
exec "$@"
END
stand_in says <<'END'
# says TEXT LOG PROCESS: waits until the log of a process contains the text; fails if the process ends first.
grep -qm1 "$1" < <(tail -n +1 -f --pid="$3" "$2")
END
stand_in nats-server <<END
exec "$nats" "\$@"
END
stand_in systemctl <<'END'
[ "$1" = restart ] || exit 0
unit=/etc/systemd/system/nats-server.service.d/pipelined.conf
: >"$WORK/nats.log"
cd "$(sed -n 's/^WorkingDirectory=//p' $unit)"
$(sed -n 's/^ExecStart=\(.\)/\1/p' $unit) >"$WORK/nats.log" 2>&1 &
says 'Server is ready' "$WORK/nats.log" $!
END
stand_in pipectl <<END
exec "$programs/pipectl" \${HOST:+--root "$work/\$HOST/root"} "\$@"
END
export WORK=$work PATH=$work/bin:$PATH

for node in "${nodes[@]}" loft; do
    mkdir -p "$work/$node/root/etc"
    : >"$work/$node/log"
    "$programs/pipelined" --root "$work/$node/root" >"$work/$node/log" 2>&1 &
    says 'is ready' "$work/$node/log" $!
done

commands() { sed -n '/^## From nothing/,/^On a server without Debian/s/^    //p' "$guide"; }
cd "$work/here"
commands >"$work/commands"
cat "$work/commands"
bash -e "$work/commands"
knows() { # NUMBER OF OTHER NODES
    until [ "$(ssh attic 'pipectl fleet --json' | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["nodes"]))')" = "$1" ]; do :; done
}
knows 2
ssh attic 'pipectl fleet'
# Add one more node, which the server does not know yet.
sed -n '/^## Add and remove/,$s/^    pipectl fleet add/pipectl fleet add/p' "$guide" >"$work/more"
[ "$(wc -l <"$work/more")" = 2 ]
bash -e "$work/more"
scp fleet/loft.join loft:
ssh loft 'pipectl fleet join loft.join && rm loft.join'
knows 3
ls fleet/rented-2.join
stat -c %a "$work/attic/root/etc/fleet/node.creds"
! ls "$work/attic/attic.join" 2>/dev/null
