#!/bin/bash
# Lays out a build below a prefix: packaging/install.sh BUILDFOLDER PREFIX. DESTDIR comes before the prefix, and no
# installed file names it.
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
Cflags: -I\${includedir}
END

kit=share/pipelined/PluginKit
put 644 $kit "$source/packaging/PluginKit/Package.swift"
put 644 $kit/Sources/PluginKit "$source"/Sources/PluginKit/*.swift
put 644 $kit/Sources/CVips "$source"/Sources/CVips/*
put 644 $kit/Sources/CPipelinePlugin "$source"/Sources/CPipelinePlugin/*
put 644 share/pipelined/examples "$source"/Sources/Plugins/*/*.c
# Hooks, recipes and settings to begin with: users copy them, and change them.
put 755 share/pipelined/hooks "$source"/packaging/hooks/*
put 644 share/pipelined/monitoring "$source"/packaging/monitoring/pipelined.{rules.yml,dashboard.json}
install -d "$to/share/pipelined/recipes"
for kind in web archive square print noir; do
    "$build/pipectl" recipes new $kind --from $kind --to "$to/share/pipelined/recipes" > /dev/null
    chmod 644 "$to/share/pipelined/recipes/$kind.recipe"
done
"$build/pipelined" --settings > "$to/share/pipelined/pipelined.conf"
chmod 644 "$to/share/pipelined/pipelined.conf"
# The pages keep their places, so their links hold.
put 644 share/doc/pipelined "$source"/{README,CHANGELOG,CONTRIBUTING,SECURITY}.md "$source/LICENSE"
for folder in docs docs/design docs/decisions; do put 644 share/doc/pipelined/$folder "$source/$folder"/*.md; done
put 644 share/doc/pipelined/docs/pictures "$source"/docs/pictures/*

# The units name the programs by their paths.
units=$source/packaging/systemd
put 644 lib/sysusers.d "$units/sysusers.d/pipelined.conf"
put 644 lib/tmpfiles.d "$units/tmpfiles.d/pipelined.conf"
put 644 lib/systemd/system "$units"/pipelined.{service,socket} "$units"/pipelined-{gallery.service,gallery.socket,metrics.socket}
# A port is served by a process of its own, so that it can be opened while the other runs.
sed 's/^Description=.*/& at a port/' "$units/pipelined-gallery.service" > "$to/lib/systemd/system/pipelined-metrics.service"
chmod 644 "$to/lib/systemd/system/pipelined-metrics.service"
# A daemon of several has the same unit, with its name behind each of its folders.
for kind in service socket; do
    sed -E -e 's#^Description=.*#& %i#' -e 's#=/usr/bin/pipe[a-z]*#& --instance %i#' \
        -e 's#^(State|Runtime)Directory=pipelined$#&@%i#' -e 's#/etc/pipelined#&@%i#g' -e 's#=/run/pipelined/#=/run/pipelined@%i/#' \
        "$units/pipelined.$kind" > "$to/lib/systemd/system/pipelined@.$kind"
    chmod 644 "$to/lib/systemd/system/pipelined@.$kind"
done
sed -i "s|=/usr/bin/|=$prefix/bin/|" "$to"/lib/systemd/system/pipelined*

completions=$source/packaging/completions
install -D -m 644 "$completions/pipectl.bash" "$to/share/bash-completion/completions/pipectl"
put 644 share/zsh/site-functions "$completions/_pipectl"
put 644 share/fish/vendor_completions.d "$completions/pipectl.fish"

# Each program prints its own pages; the header's comments make the contract's page.
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
# The title of the contract's page ends like those of the other pages.
release=$(sed -n '1s/^.TH [^ ]* 1 //p' "$to/share/man/man1/pipectl.1")
page pipeline_plugin.h 3 env LC_ALL=C awk -v release="$release" -f "$source/packaging/header-page.awk" \
    "$source/Sources/CPipelinePlugin/pipeline_plugin.h"
