# Checks that install, upgrade, remove and purge the Debian package. They are part of checks.sh. PACKAGES is the folder with the .deb files.
# shellcheck shell=bash disable=SC2086,SC2154,SC2317 # checks.sh defines the helpers and variables, and calls the checks.

apt() { apt-get -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "$@"; }
package() { echo "$PACKAGES"/pipelined_*.deb; }

# Makes a package with the same contents and a later version.
later_package() { # TO
    dpkg-deb -R "$(package)" "$scratch/later"
    sed -i 's/^Version: .*/&+later/' "$scratch/later/DEBIAN/control"
    dpkg-deb -Znone -b "$scratch/later" "$1"
    rm -r "$scratch/later"
}

with_package() {
    [ -n "${PACKAGES-}" ] || skip "installed without a package"
    [ "$(dpkg-query -W -f '${db:Status-Abbrev}' pipelined 2>/dev/null)" = "ii " ] || apt install "$(package)"
}

nothing_of_swift_is_needed_but_what_the_package_has() {
    with_package
    if command -v swift; then return 1; fi
    local program
    for program in /usr/bin/pipelined /usr/bin/pipectl /usr/libexec/pipelined/*; do
        ldd "$program" > "$scratch/libraries"
        if grep "not found" "$scratch/libraries"; then return 1; fi
        grep -q " => /usr/lib/pipelined/swift/libswiftCore.so" "$scratch/libraries"
    done
}

an_example_is_built_against_the_dev_package_and_is_used_after_a_reload() {
    with_package
    apt install "$PACKAGES"/pipelined-dev_*.deb
    local plugins=/usr/local/lib/pipelined/plugins
    mkdir -p $plugins
    sed 's/\.name = "sepia"/.name = "tea"/' /usr/share/pipelined/examples/sepia.c > "$scratch/tea.c"
    # shellcheck disable=SC2046 # pkg-config prints several words.
    cc -shared -fPIC -O2 $(pkg-config --cflags pipelined) "$scratch/tea.c" -o $plugins/tea.so $(pkg-config --libs vips) -lm
    pipectl plugins check $plugins/tea.so
    systemctl start "$unit"
    recipe tea 'Inbox=tea' '[Output]' 'Chain=tea | save format=jpeg'
    systemctl reload "$unit"
    picture "$scratch/a.jpg"
    drop "$scratch/a.jpg" tea/a.jpg
    pipectl wait --all
    rm $plugins/tea.so
    test -f $data/outbox/tea/a.jpg
    apt remove pipelined-dev
}

figures_are_served_at_a_port_and_to_the_group_by_processes_that_see_nothing() {
    with_package
    apt install "$PACKAGES"/pipelined-gallery_*.deb
    local units=(pipelined-gallery.service pipelined-metrics.service pipelined-gallery.socket pipelined-metrics.socket)
    systemd-analyze verify --man=no "${units[@]}"
    systemd-analyze security --offline=true --no-pager --threshold=10 "$(systemctl show "${units[0]}" -p FragmentPath --value)"
    for socket in "${units[@]:2}"; do test "$(systemctl is-enabled "$socket")" = disabled; done
    systemctl start "$unit"
    systemctl enable --now "${units[@]:2}"
    local port=http://127.0.0.1:9188 group=/run/pipelined/gallery.sock
    test "$(systemctl is-active "${units[0]}")" = inactive
    curl -sf --noproxy '*' $port/metrics | grep '^pipelined_jobs{state="done"} '
    test "$(as check-member curl -sf --unix-socket $group http://localhost/healthz)" = ok
    if as check-stranger curl -s --unix-socket $group http://localhost/healthz; then return 1; fi
    if as check-stranger pipectl gallery 2> "$scratch/words"; then return 1; fi
    grep -q "members of the group 'pipelined'" "$scratch/words"
    # A member of the group gets the page, and the page's actions reach the daemon.
    as check-member curl -sf --unix-socket $group http://localhost/ | grep -q '<title>pipelined'
    picture "$scratch/page.jpg"
    as check-member curl -sf --unix-socket $group -X PUT --data-binary @- 'http://localhost/upload?name=page.jpg' <"$scratch/page.jpg" | grep -q '"page.jpg"'
    pipectl wait --all
    as check-member curl -sf --unix-socket $group 'http://localhost/pictures/1/1?width=320' | file - | grep -qE 'Web/P|JPEG'
    # The page gets a port only if the administrator configures it, and requires a code there.
    mkdir -p /etc/systemd/system/pipelined-gallery.socket.d
    printf '[Socket]\nListenStream=127.0.0.1:8088\n' >/etc/systemd/system/pipelined-gallery.socket.d/port.conf
    systemctl stop "${units[0]}" "${units[2]}"
    systemctl daemon-reload
    systemctl start "${units[2]}"
    test "$(curl -s --noproxy '*' -o "$scratch/words" -w '%{http_code}' http://127.0.0.1:8088/)" = 401
    curl -s --noproxy '*' -o "$scratch/words" -w '%{http_code}' "$(as check-member pipectl gallery)" | grep -q 303
    # Each service is a process of its own, does not run as root, and has no network.
    local service process
    for service in "${units[@]:0:2}"; do
        test "$(systemctl is-active "$service")" = active
        process=$(systemctl show "$service" -p MainPID --value)
        test "$(stat -c %U "/proc/$process")" != root
        test "$(readlink "/proc/$process/ns/net")" != "$(readlink /proc/1/ns/net)"
    done
    systemctl stop "$unit"
    test "$(curl -s --noproxy '*' -o "$scratch/words" -w '%{http_code}' $port/healthz)" = 503
    grep -q 'no daemon answers' "$scratch/words"
    if grep -q /run "$scratch/words"; then return 1; fi
    systemctl start "$unit"
    test "$(curl -sf --noproxy '*' $port/healthz)" = ok
    # A token stays valid after a restart of both services, and is refused as soon as it is revoked.
    local token place=http://127.0.0.1:8088/call/Status
    token=$(as check-member pipectl gallery token make program)
    systemctl restart "${units[@]:0:2}"
    curl -sf --noproxy '*' -H "Authorization: Bearer $token" -d '{}' $place | grep '"cursor"'
    as check-member pipectl gallery token revoke program
    if curl -sf --noproxy '*' -H "Authorization: Bearer $token" -d '{}' $place; then return 1; fi
    # Another instance of the daemon has its own page, metrics and tokens.
    sed "s|/var/lib/pipelined|&@web|" /usr/lib/tmpfiles.d/pipelined.conf > /etc/tmpfiles.d/pipelined@web.conf
    systemd-tmpfiles --create
    systemctl start pipelined@web.service pipelined-gallery@web.socket pipelined-metrics@web.socket
    test "$(as check-member curl -sf --unix-socket /run/pipelined@web/gallery.sock http://localhost/healthz)" = ok
    as check-member curl -sf --unix-socket /run/pipelined@web/metrics.sock http://localhost/metrics | grep '^pipelined_jobs{state="done"} 0$'
    as check-member pipectl --instance web gallery token make program
    test "$(as check-member pipectl --instance web gallery token --json | grep -c program)" = 1
    test "$(as check-member pipectl gallery token)" = 'no tokens'
    apt purge pipelined-gallery
    test ! -e /run/pipelined@web/gallery.sock && test ! -e /var/lib/private/pipelined-gallery@web
    systemctl stop pipelined@web.service
    rm -rf /etc/pipelined@web /var/lib/pipelined@web /etc/tmpfiles.d/pipelined@web.conf
    test ! -e $group
    if curl -s --noproxy '*' $port/healthz; then return 1; fi
    systemctl is-active "$unit"
}

installing_starts_nothing_and_enabling_starts_it_at_boot() {
    with_package
    test "$(systemctl is-enabled "$unit")" = disabled
    test "$(property ActiveState)" = inactive
    test ! -e /run/pipelined/control.sock
    systemctl enable "$unit"
    systemctl start multi-user.target
    test "$(property ActiveState)" = active
    systemctl disable --now "$unit"
    # The unit starts after the units that create its user's folders, and after the units that mount file systems.
    [[ $(property After) == *systemd-tmpfiles-setup.service* || $(property After) == *sysinit.target* ]]
    [[ $(property After) == *remote-fs.target* ]]
}

several_daemons_have_each_their_own_folders() {
    with_package
    local name
    for name in web print; do
        sed "s|/var/lib/pipelined|&@$name|" /usr/lib/tmpfiles.d/pipelined.conf > "/etc/tmpfiles.d/pipelined@$name.conf"
    done
    systemd-tmpfiles --create
    mkdir -p /etc/pipelined@web/recipes.d
    printf '%s\n' '[Recipe]' '[Output]' 'Chain=save format=png' > /etc/pipelined@web/recipes.d/noir.recipe
    # The daemon accepts the example settings unchanged.
    cp /usr/share/pipelined/pipelined.conf /etc/pipelined@web/
    systemctl start "$unit" pipelined@web.socket pipelined@print.service
    picture "$scratch/a.jpg"
    drop "$scratch/a.jpg" a.jpg
    for name in web print; do
        install -o pipelined -g pipelined -m 640 "$scratch/a.jpg" "$data@$name/.dropped"
        mv "$data@$name/.dropped" "$data@$name/inbox/a.jpg"
        # The first call starts the instance `web` through its socket.
        pipectl --instance $name wait --all
        test -f "$data@$name/archive/noir/a.jpg"
        systemctl reload pipelined@$name
    done
    pipectl wait --all
    test -f $data/outbox/noir/a.jpg
    test -f $data@web/outbox/noir/a.png
    test -f $data@print/outbox/noir/a.jpg
    # When the package is removed, the originals that an instance has claimed return to its inbox.
    pipectl -i print pause
    install -o pipelined -g pipelined -m 640 "$scratch/a.jpg" "$data@print/.dropped"
    mv "$data@print/.dropped" "$data@print/inbox/again.jpg"
    eventually 20 is_claimed_by_print
    apt remove pipelined
    test -f $data@print/inbox/again.jpg
    apt install "$(package)"
    apt purge pipelined
    test ! -e /etc/pipelined@web && test ! -e $data@web/state
    test -f $data@web/archive/noir/a.jpg
    rm -rf $data@* /etc/tmpfiles.d/pipelined@*
    apt install "$(package)"
}

is_claimed_by_print() { test -n "$(find $data@print/inbox -path '*/.pipelined/*' -name again.jpg)"; }

an_upgrade_under_load_loses_nothing() {
    with_package
    later_package "$scratch/later.deb"
    picture "$scratch/a.jpg" 1500
    start_with_slow_pictures 4000 1 2 3 4 5
    local number
    for number in $(seq 60); do drop "$scratch/a.jpg" "$number.jpg"; done
    local process
    process=$(main_process)
    apt install "$scratch/later.deb"
    test "$(property ActiveState)" = active
    test "$(main_process)" != "$process"
    pipectl wait --all
    test "$(find $data/outbox/noir -name '*.jpg' | wc -l)" = 60
    test "$(find $data/archive/noir -name '*.jpg' | wc -l)" = 60
    test "$(find $data/outbox/slow -maxdepth 1 -name '*.png' | wc -l)" = 5
    test "$(find $data/archive/slow -name '*.jpg' | wc -l)" = 5
    apt install --allow-downgrades "$(package)"
    test "$(property ActiveState)" = active
}

# Starts the daemon with a job in every state. The checks below look for the originals where a user would.
start_with_jobs_in_every_state() {
    drop_in "ReadWritePaths=$scratch"
    rm -rf "$scratch/away"
    mkdir -p "$scratch/away/in"
    chown -R pipelined:pipelined "$scratch/away"
    recipe away "Inbox=$scratch/away/in" '[Output]' 'Chain=save format=png'
    recipe stuck 'Inbox=stuck' '[Output]' 'Chain=save format=png'
    # A file occupies the path of the recipe's archive folder.
    as pipelined touch $data/archive/stuck
    systemctl start "$unit"
    picture "$scratch/a.jpg"
    drop "$scratch/a.jpg" stuck/disposed.jpg
    # The original can't be moved, so the job is not over.
    eventually 20 test -f $data/outbox/stuck/disposed.png
    eventually 20 has_property StatusText "its original stays"
    pipectl pause
    pipectl add "$scratch/a.jpg"
    pipectl add --chain 'barrier | save format=png' "$scratch/a.jpg" "$scratch/a.jpg"
    drop "$scratch/a.jpg" claimed.jpg
    install -d -o pipelined -g pipelined -m 2770 $data/inbox/album
    drop "$scratch/a.jpg" "album/deep claimed.jpg"
    install -o pipelined -g pipelined -m 640 "$scratch/a.jpg" "$scratch/away/a.jpg"
    mv "$scratch/away/a.jpg" "$scratch/away/in/away.jpg"
    eventually 20 are_claimed 4
    # This file is still being written.
    exec 9> $data/inbox/settling.jpg
    cat "$scratch/a.jpg" >&9
}

are_claimed() { test "$(find $data/inbox "$scratch/away" -path '*/.pipelined/*' -type f | wc -l)" = "$1"; } # COUNT

removing_leaves_every_original_where_a_person_finds_it() {
    with_package
    start_with_jobs_in_every_state
    apt remove pipelined > "$scratch/removed" 2>&1
    exec 9>&-
    cat "$scratch/removed"
    cmp "$scratch/a.jpg" $data/inbox/claimed.jpg
    cmp "$scratch/a.jpg" "$data/inbox/album/deep claimed.jpg"
    cmp "$scratch/a.jpg" $data/inbox/settling.jpg
    cmp "$scratch/a.jpg" "$scratch/away/in/away.jpg"
    cmp "$scratch/a.jpg" $data/recovered/stuck/disposed.jpg
    test -z "$(find $data "$scratch/away" -path '*/.pipelined/*' -type f)"
    # The removal keeps originals that exist only in the daemon's folders, and prints their paths.
    test "$(find $data/state/spool -type f -name a.jpg | wc -l)" = 3
    grep -q "a.jpg, which was downloaded or added, waits in $data/state/spool/" "$scratch/removed"
    grep -q "2 pictures are back in $data/inbox" "$scratch/removed"
    # After the package is installed again, the daemon finishes all jobs.
    apt install "$(package)"
    systemctl start "$unit"
    pipectl resume
    pipectl wait --all
    test -f $data/outbox/noir/claimed.jpg
    test -f $data/outbox/noir/a.jpg
}

purging_leaves_every_original_where_a_person_finds_it() {
    with_package
    start_with_jobs_in_every_state
    # The ledger has no job for this claimed file.
    install -d -o pipelined -g pipelined $data/inbox/stuck/.pipelined/other-root/3/sub
    cp "$scratch/a.jpg" "$data/inbox/stuck/.pipelined/other-root/3/sub/strange.jpg"
    chown pipelined: "$data/inbox/stuck/.pipelined/other-root/3/sub/strange.jpg"
    apt purge pipelined > "$scratch/purged" 2>&1
    exec 9>&-
    cat "$scratch/purged"
    cmp "$scratch/a.jpg" $data/inbox/claimed.jpg
    cmp "$scratch/a.jpg" "$data/inbox/album/deep claimed.jpg"
    cmp "$scratch/a.jpg" $data/inbox/settling.jpg
    cmp "$scratch/a.jpg" "$scratch/away/in/away.jpg"
    cmp "$scratch/a.jpg" $data/recovered/stuck/disposed.jpg
    cmp "$scratch/a.jpg" $data/recovered/sub/strange.jpg
    # All three files of the same name are kept under that name, in separate folders.
    test "$(find $data/recovered -name a.jpg | wc -l)" = 3
    grep -q "kept $data/recovered/a.jpg" "$scratch/purged"
    grep -q "$data/recovered contains files, so it stays" "$scratch/purged"
    test ! -e $data/state
    test -z "$(find $data -name .pipelined)"
    with_package
}

removing_keeps_the_queue_and_the_pictures() {
    with_package
    systemctl start "$unit"
    pipectl pause
    picture "$scratch/a.jpg"
    drop "$scratch/a.jpg" a.jpg
    eventually 20 test ! -e $data/inbox/a.jpg -o -s $data/state/ledger.sqlite
    eventually 20 has_property StatusText "1 waits"
    apt remove pipelined
    if systemctl is-active "$unit"; then return 1; fi
    test -s $data/state/ledger.sqlite
    apt install "$(package)"
    systemctl start "$unit"
    pipectl resume
    pipectl wait --all
    test -f $data/outbox/noir/a.jpg
}

purging_forgets_all_but_pictures_and_names_their_folders() {
    with_package
    systemctl start "$unit"
    picture "$scratch/a.jpg"
    drop "$scratch/a.jpg" a.jpg
    pipectl wait --all
    configure '[Queues]' 'Render=1'
    apt purge pipelined > "$scratch/purged" 2>&1
    cat "$scratch/purged"
    grep -q "$data/outbox contains files, so it stays" "$scratch/purged"
    grep -q "$data/archive contains files, so it stays" "$scratch/purged"
    if grep -q "$data/inbox holds" "$scratch/purged"; then return 1; fi
    test -f $data/outbox/noir/a.jpg
    test ! -e $data/state
    test ! -e $data/inbox
    test ! -e $settings
    with_package
    rm -r $data/outbox/noir $data/archive/noir
    apt purge pipelined
    test ! -e $data
    with_package
}

a_signed_repository_offers_the_packages_and_a_changed_one_is_refused() {
    with_package
    local place=$scratch/repository own file
    mkdir -p "$place" "$scratch/keys"
    chmod 700 "$scratch/keys"
    cp "$PACKAGES"/*.deb "$place"
    export GNUPGHOME=$scratch/keys
    gpg --batch --quiet --passphrase '' --quick-generate-key 'a test <test@example.org>' default default never
    bash "$(dirname "$PACKAGES")/packaging/repository.sh" "$place" test@example.org
    cp -r "$place/apt" "$scratch/first"
    bash "$(dirname "$PACKAGES")/packaging/repository.sh" "$place"
    for file in Packages Packages.gz Release; do cmp "$scratch/first/$file" "$place/apt/$file"; done
    rm -r "$place/apt"
    mv "$scratch/first" "$place/apt"
    echo "deb [signed-by=$place/apt/pipelined.gpg] file:$place/apt ./" >"$scratch/own.list"
    own=(-o "Dir::Etc::SourceList=$scratch/own.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$scratch/lists"
        -o APT::Sandbox::User=root)
    mkdir -p "$scratch/lists/partial"
    apt "${own[@]}" update
    apt-cache "${own[@]}" policy pipelined-gallery | grep -F "file:$place/apt"
    echo >>"$place/apt/Packages"
    rm -r "$scratch"/lists/*_* "$place/apt/Packages.gz"
    if apt "${own[@]}" --error-on=any update; then return 1; fi
    gpgconf --kill all
}
