# Where this machine has its packages from, by what their lists call themselves: sets mirror and security. Read by others.
# shellcheck shell=bash disable=SC2034 # Those that read this use them.
mirror_of() { # LABEL ELSE
    local found=
    if command -v apt-get >/dev/null; then
        found=$(apt-get indextargets --format "\$(LABEL)|\$(REPO_URI)" 'Created-By: Packages' 2>/dev/null | sed -n "s/^$1|//p" | head -n 1)
    fi
    echo "${found:-$2}"
}
mirror=$(mirror_of Debian http://deb.debian.org/debian/)
security=$(mirror_of Debian-Security http://deb.debian.org/debian-security/)
