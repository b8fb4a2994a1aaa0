#!/bin/bash
# Installs a build below a prefix: packaging/install.sh BUILDFOLDER PREFIX. DESTDIR is put before the prefix, but no
# installed file contains it.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$1 prefix=$2 to=${DESTDIR:-}$2
version=$("$build/pipelined" --version | sed 's/^pipelined //')

put() { # MODE FOLDER FILE…
    local mode=$1 folder=$2
    shift 2
    install -d "$to/$folder"
    install -m "$mode" "$@" "$to/$folder/"
}

put 755 bin "$build"/{pipelined,pipectl,pipelined-gallery}
put 755 libexec/pipelined "$build"/pipelined-{render,filters,fetch,fleet}
install -d "$to/lib/pipelined/plugins"
for plugin in "$build"/lib*.so; do
    if grep -q pipeline_filter "$plugin"; then
        name=$(basename "$plugin")
        install -m 644 "$plugin" "$to/lib/pipelined/plugins/${name#lib}"
    fi
done

put 644 include/pipelined "$source"/Sources/CPipelinePlugin/*.h
# Without -fno-math-errno, compilers don't vectorise loops with square roots.
install -d "$to/lib/pkgconfig"
cat > "$to/lib/pkgconfig/pipelined.pc" <<END
prefix=$prefix
includedir=\${prefix}/include/pipelined
# The folder for filters, and the program that tests them.
plugindir=\${prefix}/lib/pipelined/plugins
filters=\${prefix}/libexec/pipelined/pipelined-filters

Name: pipelined
Description: the contract with filters of pipelined
Version: $version
Requires: vips
Cflags: -I\${includedir} -fno-math-errno
END

kit=share/pipelined/PluginKit
put 644 $kit "$source/packaging/PluginKit/Package.swift"
put 644 $kit/Sources/PluginKit "$source"/Sources/PluginKit/*.swift
put 644 $kit/Sources/CVips "$source"/Sources/CVips/*
put 644 $kit/Sources/CPipelinePlugin "$source"/Sources/CPipelinePlugin/*
put 644 share/pipelined/examples "$source"/Sources/Plugins/*/*.c
# Examples of hooks, recipes and settings, which users copy and change.
put 755 share/pipelined/hooks "$source"/packaging/hooks/*
put 644 share/pipelined/proxy "$source"/packaging/proxy/*
put 755 share/pipelined/clients "$source"/packaging/clients/send.py
put 644 share/pipelined/clients "$source"/packaging/clients/send.go
put 644 share/pipelined/monitoring "$source"/packaging/monitoring/pipelined.{rules.yml,dashboard.json}
install -d "$to/share/pipelined/recipes"
for kind in web archive square print noir; do
    "$build/pipectl" recipes new $kind --from $kind --to "$to/share/pipelined/recipes" > /dev/null
    chmod 644 "$to/share/pipelined/recipes/$kind.recipe"
done
"$build/pipelined" --settings > "$to/share/pipelined/pipelined.conf"
chmod 644 "$to/share/pipelined/pipelined.conf"
# The pages keep their relative places, so that their links work.
put 644 share/doc/pipelined "$source"/{README,CHANGELOG,CONTRIBUTING,SECURITY}.md "$source/LICENSE"
for folder in docs docs/design; do put 644 share/doc/pipelined/$folder "$source/$folder"/*.md; done
put 644 share/doc/pipelined/docs/pictures "$source"/docs/pictures/*

# The units contain the programs' paths.
units=$source/packaging/systemd
put 644 lib/sysusers.d "$units/sysusers.d/pipelined.conf"
put 644 lib/tmpfiles.d "$units/tmpfiles.d/pipelined.conf"
put 644 lib/systemd/system "$units"/pipelined.{service,socket} "$units"/pipelined-gallery.{service,socket} \
    "$units"/pipelined-metrics{,@}.socket
derive() { # FROM TO SED-ARGUMENT…
    sed "${@:3}" "$units/$1" > "$to/lib/systemd/system/$2"
    chmod 644 "$to/lib/systemd/system/$2"
}
# A separate process serves a port, so that the port can be opened while the other process runs. It has neither logins
# nor tokens.
at_port=(-e 's/^Description=.*/& at a port/' -e '/^# The logins/d' -e '/^StateDirectory/d')
derive pipelined-gallery.service pipelined-metrics.service "${at_port[@]}"
# Each of several daemons, and its gallery, has the same units, with its name in every folder.
named=(-E -e 's#^Description=.*#& %i#' -e 's#=/usr/bin/pipe[a-z-]*#& --instance %i#' -e 's#/run/pipelined/#/run/pipelined@%i/#'
    -e 's#^(State|Runtime)Directory=pipelined(-gallery)?$#&@%i#' -e 's#/etc/pipelined#&@%i#g')
for kind in service socket; do
    derive pipelined.$kind pipelined@.$kind "${named[@]}"
    derive pipelined-gallery.$kind pipelined-gallery@.$kind "${named[@]}"
done
derive pipelined-gallery.service pipelined-metrics@.service "${named[@]}" "${at_port[@]}"
sed -i "s|=/usr/bin/|=$prefix/bin/|" "$to"/lib/systemd/system/pipelined*

completions=$source/packaging/completions
install -D -m 644 "$completions/pipectl.bash" "$to/share/bash-completion/completions/pipectl"
put 644 share/zsh/site-functions "$completions/_pipectl"
put 644 share/fish/vendor_completions.d "$completions/pipectl.fish"

# Each program prints its own pages. The page of the plugin contract is made from the header's comments.
page() { # NAME SECTION COMMAND…
    local file=$to/share/man/man$2/$1.$2
    install -d "${file%/*}"
    "${@:3}" > "$file"
    chmod 644 "$file"
}

page pipectl 1 "$build/pipectl" help --man
page pipelined 8 "$build/pipelined" --man pipelined
page pipelined-gallery 8 "$build/pipelined-gallery" --man
page pipelined.conf 5 "$build/pipelined" --man pipelined.conf
page pipelined.recipe 5 "$build/pipelined" --man pipelined.recipe
# Gives the page of the plugin contract the same version and date in its title as the other pages.
release=$(sed -n '1s/^.TH [^ ]* 1 //p' "$to/share/man/man1/pipectl.1")
page pipeline_plugin.h 3 env LC_ALL=C awk -v release="$release" -f "$source/packaging/header-page.awk" \
    "$source/Sources/CPipelinePlugin/pipeline_plugin.h"
