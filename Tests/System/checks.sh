#!/bin/bash
# Checks the installed daemon under a real systemd. The checks run as root on a machine that is booted only for them,
# because they create users, and repeatedly empty /etc/pipelined and /var/lib/pipelined. The programs are in /usr, and
# the units are in the folders that systemd searches.
#
#   Tests/System/checks.sh [CHECK ...]     runs all checks or the named ones, and prints a line for each; exits with 1 if a check fails
#
# PACKAGES is a folder with the Debian packages, which are installed first. Without PACKAGES, the programs and units must
# be installed already.
#
# Each check is a function whose name says what it shows.
# shellcheck disable=SC2317,SC2086 # Checks are called by their names, and the paths contain no spaces.
set -uo pipefail

unit=pipelined.service
data=/var/lib/pipelined
settings=/etc/pipelined
dropins=/run/systemd/system/$unit.d
# The folder is not in /tmp, because the daemon has its own private /tmp.
scratch=$(mktemp -d /srv/pipelined-checks.XXXXXX)
chmod 755 "$scratch"
trap 'rm -rf "$scratch"' EXIT

# --- Helpers of the checks ---------------------------------------------------------------------------------------------------------

skip() {
    echo "$*" > "$scratch/reason"
    exit 77
}

# Runs a command ten times per second until it succeeds, for at most SECONDS. Checks use it for states that no event
# reports.
eventually() { # SECONDS COMMAND…
    local tries=$(($1 * 10))
    shift
    for ((; tries > 0; tries--)); do
        if "$@"; then return 0; fi
        sleep 0.1
    done
    echo "never came true: $*"
    return 1
}

property() { systemctl show "$unit" -p "$1" --value; }
has_property() { [[ $(property "$1") == *"$2"* ]]; }
status_is() { [[ $(property StatusText) == "$1" ]]; }
main_process() { property MainPID; }

# Waits until the unit's journal contains these words.
logged() { # WORDS
    local journal reader status=0
    exec {journal}< <(exec timeout 60 journalctl -u "$unit" -o cat --no-tail --follow)
    reader=$!
    grep -qF -m 1 -- "$1" <&"$journal" || status=1
    kill "$reader" 2>/dev/null || true
    exec {journal}<&-
    if [ $status != 0 ]; then echo "never logged: $1"; fi
    return $status
}

as() { # USER COMMAND…
    local user=$1
    shift
    runuser -u "$user" -- "$@"
}

drop_in() { # LINE…
    mkdir -p "$dropins"
    printf '%s\n' '[Service]' "$@" > "$dropins/check.conf"
    systemctl daemon-reload
}

configure() { printf '%s\n' "$@" > "$settings/pipelined.conf"; }

recipe() { # NAME LINE…
    local name=$1
    shift
    mkdir -p "$settings/recipes.d"
    printf '%s\n' '[Recipe]' "$@" > "$settings/recipes.d/$name.recipe"
}

# Removes everything that the previous check left behind.
fresh() {
    systemctl stop pipelined.socket "$unit" 2>/dev/null
    rm -rf "$dropins" "${settings:?}"/* "${data:?}"/*
    systemctl daemon-reload
    systemctl reset-failed "$unit" 2>/dev/null
    systemd-tmpfiles --create pipelined.conf
    journalctl --rotate --vacuum-time=1us -q 2>/dev/null
    mkdir -p "$settings"
}

# Makes a picture of noise, whose render takes a moment.
picture() { # FILE [SIDE]
    vips gaussnoise "$scratch/noise.v" "${2:-600}" "${2:-600}" --mean 128 --sigma 40
    vips cast "$scratch/noise.v" "$1" uchar
    chmod 644 "$1"
}

# Copies a file to the inbox's disk, and moves it into the inbox. The daemon takes such a file at once.
drop() { # FILE NAME
    install -o pipelined -g pipelined -m 640 "$1" "$data/.dropped"
    mv "$data/.dropped" "$data/inbox/$2"
}

# Starts the daemon with pictures that render so slowly that a check can find one of them running.
start_with_slow_pictures() { # SIDE NAME…
    recipe slow "Inbox=slow" '[Output]' 'Chain=blur radius=40 | sharpen | blur radius=40 | save format=png'
    systemctl start "$unit"
    picture "$scratch/slow.jpg" "$1"
    shift
    local name
    for name in "$@"; do drop "$scratch/slow.jpg" "slow/$name.jpg"; done
    eventually 20 is_running
}

archived() { test "$(find "$data/archive/$1" -type f | wc -l)" = "$2"; } # RECIPE COUNT

is_running() { [[ $(pipectl list --state running --json) == *'"state"'* ]]; }
is_waiting() { [[ $(pipectl list --state waiting --json) == *'"state"'* ]]; }

# --- The units ---------------------------------------------------------------------------------------------------------------------

the_units_are_without_mistakes() {
    systemd-analyze verify --man=no --recursive-errors=yes "$unit" pipelined.socket
}

the_exposure_is_small() {
    systemd-analyze security --offline=true --no-pager --threshold=13 "$(systemctl show "$unit" -p FragmentPath --value)"
}

# --- Start -------------------------------------------------------------------------------------------------------------------------

systemctl_start_returns_when_the_daemon_is_ready() {
    systemctl start "$unit"
    pipectl status
    picture "$scratch/a.jpg"
    drop "$scratch/a.jpg" a.jpg
    pipectl wait --all
    test -f $data/outbox/noir/a.jpg
}

settings_that_were_never_right_exit_with_78_and_a_start_follows_when_they_are_mended() {
    configure '[Queues]' 'Render=many'
    systemctl start --no-block "$unit"
    eventually 20 has_property SubState stop-post
    test "$(property ExecMainStatus)" = 78
    logged "$settings/pipelined.conf:2:"
    has_property StatusText "$settings/pipelined.conf:2:"
    configure '[Queues]' 'Render=3'
    eventually 60 has_property ActiveState active
    [[ $(pipectl settings | grep -w Render) == *3* ]]
}

mistakes_that_have_come_since_keep_no_daemon_down_after_a_kill() {
    configure '[Queues]' 'Render=3'
    recipe web '[Output]' 'Chain=save format=png'
    recipe shop '[Output]' 'Chain=save format=png'
    drop_in RestartSec=100ms
    systemctl start "$unit"
    configure '[Queues]' 'Render=many'
    recipe web '[Output]' 'Chain=niro'
    if systemctl reload "$unit"; then return 1; fi
    kill -KILL "$(main_process)"
    eventually 60 has_property NRestarts 1
    eventually 60 has_property ActiveState active
    [[ $(pipectl settings | grep -w Render) == *3* ]]
    picture "$scratch/a.jpg"
    drop "$scratch/a.jpg" web/a.jpg
    drop "$scratch/a.jpg" shop/a.jpg
    eventually 20 test -f $data/outbox/shop/a.png
    eventually 20 has_property StatusText "web.recipe:3: unknown stage 'niro'"
    test -f $data/inbox/web/a.jpg
    if pipectl status --check; then return 1; fi
    if pipelined --check; then return 1; fi
    # A restart, as by an upgrade, succeeds with the broken recipe as well.
    systemctl restart "$unit"
    configure '[Queues]' 'Render=4'
    recipe web '[Output]' 'Chain=save format=png'
    systemctl reload "$unit"
    pipectl wait --all
    test -f $data/outbox/web/a.png
    pipectl status --check
}

a_check_by_root_judges_as_the_units_user() {
    printf '#!/bin/sh\n' > "$scratch/hook"
    chmod 700 "$scratch/hook"
    recipe web "Hook=$scratch/hook" '[Output]' 'Chain=save format=png'
    if pipelined --check > "$scratch/check" 2>&1; then return 1; fi
    cat "$scratch/check"
    grep -q "$scratch/hook can't be run by user pipelined: Permission denied" "$scratch/check"
    systemctl start "$unit"
    if pipectl reload --check > "$scratch/check" 2>&1; then return 1; fi
    grep -q "$scratch/hook can't be run by user pipelined: Permission denied" "$scratch/check"
    chmod 755 "$scratch/hook"
    pipelined --check
    pipectl reload --check
    chmod 640 "$settings/recipes.d/web.recipe"
    if pipelined --check; then return 1; fi
}

the_settings_of_each_daemon_are_roots_and_read_only_to_it() {
    local name folder
    for name in pipelined pipelined@web; do
        folder=/etc/$name
        rm -rf "${folder:?}"
        systemctl start "$name.service"
        test "$(stat -c '%U %a' "$folder" "$folder/recipes.d" | sort -u)" = "root 755"
        nsenter -t "$(systemctl show "$name.service" -p MainPID --value)" -m findmnt -no OPTIONS -T "$folder" > "$scratch/options"
        grep -qw ro "$scratch/options"
        # The daemon uses a recipe that belongs to root.
        printf '%s\n' '[Recipe]' '[Output]' 'Chain=save format=png' > "$folder/recipes.d/shop.recipe"
        systemctl reload "$name.service"
        [[ $(pipectl --socket "/run/$name/control.sock" recipes) == *shop* ]]
    done
    systemctl stop pipelined@web.service
    rm -rf /etc/pipelined@web /var/lib/pipelined@web
}

workers_are_confined_in_every_way() {
    configure '[Daemon]' 'Sandbox=required'
    systemctl start "$unit"
    picture "$scratch/a.jpg"
    drop "$scratch/a.jpg" a.jpg
    pipectl wait --all
    test -f $data/outbox/noir/a.jpg
}

an_inbox_without_permission_is_named_with_user_folder_and_mode() {
    mkdir -p "$scratch/closed"
    chmod 700 "$scratch/closed"
    recipe closed "Inbox=$scratch/closed" '[Output]' 'Chain=noir'
    drop_in "ReadWritePaths=$scratch"
    systemctl start "$unit"
    local line
    line=$(journalctl -u "$unit" RECIPE=closed -o cat --no-pager) || true
    echo "$line"
    [[ $(pipectl status) == *"$scratch/closed"*"user pipelined"* ]]
}

# --- Status, reload ----------------------------------------------------------------------------------------------------------------

status_says_what_waits_and_why() {
    systemctl start "$unit"
    pipectl pause --reason "printing posters"
    picture "$scratch/a.jpg"
    drop "$scratch/a.jpg" a.jpg
    eventually 20 has_property StatusText "1 waits: paused: printing posters"
    pipectl resume
    pipectl wait --all
    eventually 20 has_property StatusText "nothing to do"
}

status_counts_what_has_failed_today() {
    systemctl start "$unit"
    head -c 5000 /dev/urandom > "$scratch/broken.jpg"
    drop "$scratch/broken.jpg" broken.jpg
    pipectl wait --all || true
    eventually 20 has_property StatusText "1 failed today"
}

systemctl_reload_returns_when_new_settings_are_in_force() {
    systemctl start "$unit"
    for limit in 3 5 7 2; do
        configure '[Queues]' "Render=$limit"
        systemctl reload "$unit"
        [[ $(pipectl settings | grep -w Render) == *"$limit"* ]]
    done
    test "$(property ActiveState)" = active
}

a_reload_with_wrong_settings_keeps_the_old_ones_and_says_so() {
    configure '[Queues]' 'Render=3'
    systemctl start "$unit"
    local process
    process=$(main_process)
    configure '[Queues]' 'Render=many'
    if systemctl reload "$unit"; then return 1; fi
    eventually 20 has_property StatusText "$settings/pipelined.conf:2:"
    logged "nothing was changed by the reload"
    test "$(property ActiveState)" = active
    test "$(main_process)" = "$process"
    [[ $(pipectl settings | grep -w Render) == *3* ]]
    configure '[Queues]' 'Render=4'
    systemctl reload "$unit"
    eventually 20 status_is "nothing to do"
}

sighup_reloads_as_well() {
    systemctl start "$unit"
    configure '[Queues]' 'Render=3'
    systemctl kill --kill-who=main -s HUP "$unit"
    logged "configuration and plugins were read again"
    eventually 20 has_property ActiveState active
    [[ $(pipectl settings | grep -w Render) == *3* ]]
}

# --- Crashes, and stopping ---------------------------------------------------------------------------------------------------------

a_frozen_daemon_is_ended_by_the_watchdog_and_the_next_goes_on() {
    drop_in WatchdogSec=2s RestartSec=100ms
    start_with_slow_pictures 4000 a
    kill -STOP "$(main_process)"
    eventually 60 has_property NRestarts 1
    eventually 60 has_property ActiveState active
    logged "Watchdog timeout"
    pipectl wait --all
    test -f $data/outbox/slow/a.png
}

a_daemon_whose_event_loop_is_stuck_is_ended_by_the_watchdog() {
    command -v python3 > /dev/null || skip "there is no python3 to stop single threads with"
    drop_in WatchdogSec=2s RestartSec=100ms
    systemctl start "$unit"
    # While this program runs, it stops the threads that wait for events, and no others.
    cat > "$scratch/stopper" <<'END'
import ctypes, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
process = sys.argv[1]
stopped = 0
for thread in map(int, os.listdir(f"/proc/{process}/task")):
    number = open(f"/proc/{process}/task/{thread}/syscall").read().split()[0]
    if number in ("232", "281", "22"):  # epoll_wait, epoll_pwait on x86-64; epoll_pwait on arm64
        stopped += libc.ptrace(0x4206, thread, None, None) == 0 and libc.ptrace(0x4207, thread, None, None) == 0
if stopped:
    print(stopped, "stopped", flush=True)
    signal.alarm(90)
    signal.pause()
END
    local process stopped stopper
    process=$(main_process)
    exec {stopped}< <(exec python3 "$scratch/stopper" "$process")
    stopper=$!
    read -r <&"$stopped" || skip "single threads can't be stopped here"
    logged "Watchdog timeout"
    kill "$stopper"
    eventually 60 has_property NRestarts 1
    eventually 60 has_property ActiveState active
    pipectl status
}

a_busy_daemon_is_not_ended_by_the_watchdog() {
    drop_in WatchdogSec=1s
    start_with_slow_pictures 4000 a b c d
    pipectl wait --all
    test "$(property NRestarts)" = 0
    test -f $data/outbox/slow/d.png
}

a_killed_daemon_goes_on_where_it_was() {
    drop_in RestartSec=100ms
    start_with_slow_pictures 4000 a b c
    kill -KILL "$(main_process)"
    eventually 60 has_property NRestarts 1
    eventually 60 has_property ActiveState active
    pipectl wait --all
    test "$(find $data/outbox/slow -maxdepth 1 -name '*.png' | wc -l)" = 3
    eventually 20 archived slow 3
}

a_daemon_that_keeps_crashing_comes_back_more_slowly_and_never_stays_down() {
    systemctl start "$unit"
    local number before
    for number in 1 2 3 4 5 6 7; do
        before=$(main_process)
        kill -KILL "$before"
        eventually 60 has_property NRestarts "$number"
        eventually 90 has_property ActiveState active
        [[ $(main_process) != "$before" ]]
    done
    logged "it has ended unexpectedly 2 times in a row, and begins in 1s"
    logged "it has ended unexpectedly 7 times in a row, and begins in 32s"
    pipectl status
    # After a regular stop, the next start is not delayed.
    systemctl restart "$unit"
    test ! -e $data/state/comeback || [[ $(cut -d " " -f 1 $data/state/comeback) == 0 ]]
}

a_start_that_fails_is_tried_again_slowly_until_it_succeeds() {
    local line
    for line in ExecStart=/nonexistent ReadOnlyPaths=$data; do
        if [ "${line#ExecStart}" != "$line" ]; then drop_in ExecStart= "$line"; else drop_in "$line"; fi
        systemctl start --no-block "$unit"
        eventually 20 has_property SubState stop-post
        [[ $(property ExecMainStatus) = 203 || $(property ExecMainStatus) = 1 ]]
        drop_in RestartSec=100ms
        eventually 60 has_property ActiveState active
        systemctl stop "$unit"
        test "$(property Result)" = success
    done
}

systemctl_stop_lets_work_finish() {
    start_with_slow_pictures 4000 a
    systemctl stop "$unit"
    test "$(property Result)" = success
    test -f $data/outbox/slow/a.png
    logged "stopping: 1 running"
    logged "stopped"
}

a_drain_that_takes_longer_than_the_unit_allows_asks_for_more() {
    drop_in TimeoutStopSec=1s
    start_with_slow_pictures 4000 a
    systemctl stop "$unit"
    test "$(property Result)" = success
    test -f $data/outbox/slow/a.png
}

what_takes_longer_than_drain_timeout_is_begun_again_by_the_next() {
    configure '[Daemon]' 'DrainTimeout=0s'
    start_with_slow_pictures 4000 a
    systemctl stop "$unit"
    test "$(property Result)" = success
    test ! -e $data/outbox/slow/a.png
    systemctl start "$unit"
    pipectl wait --all
    test -f $data/outbox/slow/a.png
}

memory_max_ends_a_worker_and_not_the_daemon() {
    configure '[Daemon]' 'MemoryBudget=20G' 'Retries=0'
    recipe whole 'Inbox=whole' '[Output]' 'Chain=resize width=200 | save format=png'
    drop_in MemoryMax=160M MemorySwapMax=0
    systemctl start "$unit"
    local process
    process=$(main_process)
    # An interlaced picture is decoded as a whole, which takes 300 MB.
    vips black "$scratch/black.v" 10000 10000 --bands 3
    vips pngsave "$scratch/black.v" "$scratch/black.png" --interlace --compression 1
    drop "$scratch/black.png" whole/black.png
    pipectl wait --all || true
    pipectl list
    test "$(main_process)" = "$process"
    test "$(property NRestarts)" = 0
    if [ -f $data/outbox/whole/black.png ]; then skip "no memory controller ends processes here"; fi
    logged "the render worker of black.png was ended by signal 9"
    [[ $(pipectl list --failed) == *black.png* ]]
    picture "$scratch/a.jpg"
    drop "$scratch/a.jpg" a.jpg
    pipectl wait --all
    test -f $data/outbox/noir/a.jpg
}

# --- The journal -------------------------------------------------------------------------------------------------------------------

the_journal_tells_a_jobs_story() {
    systemctl start "$unit"
    picture "$scratch/a.jpg"
    drop "$scratch/a.jpg" a.jpg
    pipectl wait --all
    head -c 5000 /dev/urandom > "$scratch/broken.jpg"
    drop "$scratch/broken.jpg" broken.jpg
    pipectl wait --all || true
    local story
    story=$(journalctl -u "$unit" JOB=1 -o json --no-pager)
    [[ $story == *'"RECIPE":"noir"'* && $story == *'"INPUT":"a.jpg"'* && $story != *broken* ]]
    story=$(journalctl -u "$unit" JOB=2 -p err -o json --no-pager)
    [[ $story == *'"STAGE":"open"'* && $story == *'"INPUT":"broken.jpg"'* && $story == *'"SYSLOG_IDENTIFIER":"pipelined"'* ]]
}

with_log_operations_the_journal_tells_each_step() {
    configure '[Daemon]' 'Log=operations'
    systemctl start "$unit"
    picture "$scratch/a.jpg"
    drop "$scratch/a.jpg" a.jpg
    pipectl wait --all
    systemctl stop "$unit"
    local story
    story=$(journalctl -u "$unit" JOB=1 -o cat --no-pager)
    echo "$story"
    for step in "render job 1: executing" "render job 1: finished" "publish job 1: finished" "announce job 1: finished"; do
        [[ $story == *"$step"* ]]
    done
}

the_journal_names_who_asks() {
    systemctl start "$unit"
    as check-member pipectl pause
    pipectl resume
    logged "paused by user check-member"
}

# --- Socket activation -------------------------------------------------------------------------------------------------------------

the_socket_unit_starts_the_daemon_and_keeps_callers_over_a_restart() {
    systemctl start pipelined.socket
    test "$(property ActiveState)" = inactive
    pipectl status
    test "$(property ActiveState)" = active
    local before
    before=$(stat -c %i /run/pipelined/control.sock)
    # Clients that call during a restart get an answer.
    systemctl restart "$unit" &
    local failures=0
    for _ in 1 2 3 4 5 6 7 8; do pipectl status > /dev/null || failures=$((failures + 1)); done
    wait
    test $failures = 0
    systemctl stop "$unit"
    test "$(stat -c %i /run/pipelined/control.sock)" = "$before"
    pipectl status
    test "$(stat -c '%U %G %a' /run/pipelined/control.sock)" = "pipelined pipelined 660"
}

# --- Users and their files ---------------------------------------------------------------------------------------------------------

who_is_not_in_the_group_is_refused() {
    systemctl start "$unit"
    as check-member pipectl status
    if as check-stranger pipectl status > "$scratch/refusal" 2>&1; then return 1; fi
    cat "$scratch/refusal"
    grep -q "members of the group 'pipelined'" "$scratch/refusal"
    local status=0
    as check-stranger pipectl status --check || status=$?
    test $status = 3
    if as check-stranger ls $data/outbox; then return 1; fi
    if as check-stranger touch $data/inbox/a.jpg; then return 1; fi
}

members_of_pipelined_look_look_and_change_nothing() {
    systemctl start "$unit"
    test "$(stat -c '%U %a' /run/pipelined/look.sock)" = "pipelined 660"
    if as check-stranger pipectl status; then return 1; fi
    as check-looker pipectl status
    as check-looker pipectl list
    if as check-looker pipectl pause > "$scratch/refusal" 2>&1; then return 1; fi
    cat "$scratch/refusal"
    grep -q "members of the group 'pipelined-look' may look" "$scratch/refusal"
    grep -q "join the group 'pipelined'" "$scratch/refusal"
    if as check-looker ls $data/outbox; then return 1; fi
    if as check-stranger pipectl status; then return 1; fi
}

an_album_copied_under_umask_022_is_processed() {
    systemctl start "$unit"
    mkdir -p "$scratch/album/sub"
    picture "$scratch/album/a.jpg"
    cp "$scratch/album/a.jpg" "$scratch/album/sub/b.jpg"
    chmod 755 "$scratch/album" "$scratch/album/sub"
    as check-member bash -c "umask 022; cp -r '$scratch/album' $data/inbox/"
    eventually 20 test -f $data/outbox/noir/album/sub/b.jpg
    pipectl wait --all
    test -f $data/outbox/noir/album/a.jpg
    # Each picture is taken only once, even after a restart.
    systemctl restart "$unit"
    pipectl wait --all
    test "$(find $data/outbox/noir -type f -name '*.jpg' | wc -l)" = 2
}

a_folder_made_in_the_inbox_is_emptied() {
    systemctl start "$unit"
    picture "$scratch/a.jpg"
    as check-member bash -c "umask 022; mkdir $data/inbox/mine && cp '$scratch/a.jpg' $data/inbox/mine/"
    eventually 20 test -f $data/outbox/noir/mine/a.jpg
    pipectl wait --all
    test ! -e $data/inbox/mine/a.jpg
    eventually 20 test -f $data/archive/noir/mine/a.jpg
}

a_picture_that_a_member_still_writes_is_left_alone() {
    systemctl start "$unit"
    picture "$scratch/a.jpg"
    # Half of the file is written now, and the rest once a later file is done.
    exec 9> $data/inbox/slow.jpg
    chown check-member $data/inbox/slow.jpg
    head -c 20000 "$scratch/a.jpg" >&9
    cp "$scratch/a.jpg" $data/inbox/quick.jpg
    eventually 20 test -f $data/outbox/noir/quick.jpg
    test -f $data/inbox/slow.jpg
    tail -c +20001 "$scratch/a.jpg" >&9
    exec 9>&-
    eventually 20 test -f $data/outbox/noir/slow.jpg
    test "$(pipectl list --failed | wc -l)" = "$(pipectl list --cancelled | wc -l)"
}

a_file_that_may_not_be_read_stays_and_is_told_of() {
    systemctl start "$unit"
    picture "$scratch/a.jpg"
    install -o check-member -m 600 "$scratch/a.jpg" /var/tmp/secret.jpg
    as check-member mv /var/tmp/secret.jpg $data/inbox/secret.jpg
    logged "secret.jpg: the file can't be read by user pipelined (its mode is 600)"
    test -f $data/inbox/secret.jpg
    [[ $(pipectl explain $data/inbox/secret.jpg) == *"can't be read by user pipelined"* ]]
}

nobody_can_put_a_folder_in_the_place_of_the_daemons_own() {
    recipe deep 'Inbox=deep/er' '[Output]' 'Chain=save format=png'
    systemctl start "$unit"
    test "$(stat -c '%U %a' $data/inbox)" = "pipelined 3770"
    test "$(stat -c '%U %a' $data/inbox/.pipelined)" = "pipelined 2700"
    local folder
    for folder in $data/inbox $data/inbox/deep/er; do
        if as check-member mv $folder/.pipelined $folder/away; then return 1; fi
        if as check-member mv $data/inbox/deep $data/inbox/away; then return 1; fi
        if as check-member ls $folder/.pipelined; then return 1; fi
    done
    # The daemon still takes pictures that members drop.
    picture "$scratch/a.jpg"
    as check-member cp "$scratch/a.jpg" $data/inbox/a.jpg
    as check-member cp "$scratch/a.jpg" $data/inbox/deep/er/b.jpg
    eventually 20 test -f $data/outbox/noir/a.jpg
    eventually 20 test -f $data/outbox/deep/b.png
    pipectl wait --all
    eventually 20 test -f $data/archive/noir/a.jpg
    # The daemon refuses a folder .pipelined that a member made beforehand.
    systemctl stop "$unit"
    as check-member mkdir -p $data/inbox/theirs/.pipelined/test
    as check-member ln -s $data/failed $data/inbox/theirs/.pipelined/test/0
    recipe theirs 'Inbox=theirs' '[Output]' 'Chain=save format=png'
    systemctl start "$unit"
    logged "$data/inbox/theirs/.pipelined belongs to user check-member, not to pipelined"
    as check-member cp "$scratch/a.jpg" $data/inbox/theirs/c.jpg
    drop "$scratch/a.jpg" d.jpg
    eventually 20 test -f $data/outbox/noir/d.jpg
    test -f $data/inbox/theirs/c.jpg
    test -z "$(find $data/failed -type f)"
}

results_are_for_the_group_to_read() {
    systemctl start "$unit"
    picture "$scratch/a.jpg"
    drop "$scratch/a.jpg" a.jpg
    pipectl wait --all
    as check-member cat $data/outbox/noir/a.jpg > "$scratch/read.jpg"
    cmp "$scratch/read.jpg" $data/outbox/noir/a.jpg
    if as check-member ls $data/state; then return 1; fi
}

# --- Work that the hardening has to permit
# -----------------------------------------------------------------------------------------

downloads_work() {
    command -v python3 > /dev/null || skip "there is no python3 for a server"
    configure '[Download]' 'AllowPrivateHosts=localhost'
    systemctl start "$unit"
    mkdir -p "$scratch/web"
    picture "$scratch/web/a.jpg"
    ip link set lo up 2> /dev/null || true
    python3 -u -m http.server --bind 127.0.0.1 --directory "$scratch/web" 0 > "$scratch/server" 2>&1 &
    local server=$!
    eventually 20 grep -q "port [0-9]" "$scratch/server"
    local port
    port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' "$scratch/server" | head -1)
    local status=0
    pipectl add "http://localhost:$port/a.jpg" --wait || status=$?
    kill $server
    test $status = 0
    test -f $data/outbox/noir/a.jpg
}

filters_that_draw_text_find_the_fonts() {
    recipe signed 'Inbox=signed' '[Output]' 'Chain=watermark text="Ada" | save format=png'
    systemctl start "$unit"
    picture "$scratch/a.jpg"
    drop "$scratch/a.jpg" signed/a.jpg
    pipectl wait --all
    test -f $data/outbox/signed/a.png
}

a_backup_of_a_running_daemon_is_restored_as_the_guide_says() {
    systemctl start "$unit"
    picture "$scratch/a.jpg"
    drop "$scratch/a.jpg" done.jpg
    pipectl wait --all
    pipectl pause render
    drop "$scratch/a.jpg" paused.jpg
    eventually 20 is_waiting
    pipectl backup "$scratch/backup"
    systemctl stop pipelined.socket "$unit"
    rm -rf "${settings:?}"/* "${data:?}"/*
    sed -n '/^## Restore/,/^## Move/ s/^    //p' "$folder/../../docs/backup-and-moving.md" \
        | sed "s|/mnt/backup/pipelined|$scratch/backup|" | bash -ex
    is_waiting
    pipectl resume render
    pipectl wait --all
    test -f $data/outbox/noir/done.jpg
    test "$(stat -c %U:%G $data/outbox/noir/paused.jpg $data/archive/noir/*.jpg | sort -u)" = pipelined:pipelined
    archived noir 2
    pipectl status --check
}

an_inbox_elsewhere_and_a_hook_need_a_drop_in_and_no_more() {
    mkdir -p "$scratch/srv/in" "$scratch/srv/out"
    printf '#!/bin/sh\ncat > %s/told\n' "$scratch/srv" > "$scratch/hook"
    chmod 755 "$scratch/hook"
    chown -R pipelined:pipelined "$scratch/srv"
    recipe away "Inbox=$scratch/srv/in" "Outbox=$scratch/srv/out" "Hook=$scratch/hook" '[Output]' 'Chain=noir'
    drop_in "ReadWritePaths=$scratch/srv" "BindPaths=$scratch"
    systemctl start "$unit"
    picture "$scratch/a.jpg"
    install -o pipelined -g pipelined -m 640 "$scratch/a.jpg" "$scratch/srv/a.jpg"
    mv "$scratch/srv/a.jpg" "$scratch/srv/in/a.jpg"
    eventually 30 test -s "$scratch/srv/told"
    test -f "$scratch/srv/out/a.jpg"
}

# --- Running them ------------------------------------------------------------------------------------------------------------------

folder=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=Tests/System/package.sh
. "$folder/package.sh"

checks=$(sed -n 's/^\([a-z][a-z_0-9]*_[a-z_0-9]*\)() {$/\1/p' "${BASH_SOURCE[0]}" "$folder/package.sh" \
    | grep -vxE 'has_property|status_is|main_process|drop_in|start_with_slow_pictures|is_running|are_claimed|start_with_jobs_in_every_state|later_package|with_package')
[ $# -gt 0 ] && checks=$*

if [ -n "${PACKAGES-}" ]; then
    with_package > "$scratch/words" 2>&1 || { cat "$scratch/words"; echo "FAIL - the package is installed"; exit 1; }
fi
for user in check-member check-stranger check-looker; do id $user > /dev/null 2>&1 || useradd --system --user-group $user; done
usermod -aG pipelined check-member
usermod -aG pipelined-look check-looker
command -v vips > /dev/null || { echo "FAIL - vips makes the pictures for these checks: install libvips-tools"; exit 1; }

failed=0
for check in $checks; do
    fresh > /dev/null 2>&1
    # The check must not run as a condition, because that would disable `set -e`.
    (
        set -e
        "$check"
    ) > "$scratch/words" 2>&1
    status=$?
    name=${check//_/ }
    case $status in
    0) echo "ok - $name" ;;
    77) echo "skipped - $name ($(cat "$scratch/reason"))" ;;
    *)
        echo "FAIL - $name"
        failed=1
        {
            tail -n 20 "$scratch/words"
            echo "--- the journal:"
            journalctl -u "$unit" --no-pager -o cat | tail -n 20
        } | sed 's/^/    /' >&2
        ;;
    esac
done
fresh > /dev/null 2>&1
exit $failed
