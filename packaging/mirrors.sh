# Sets `mirror` and `security` to the URLs from which this machine gets its packages, found by the labels of the package
# lists. Other scripts source this file.
# shellcheck shell=bash disable=SC2034 # Those that read this use them.
mirror_of() { # LABEL
    ! command -v apt-get >/dev/null \
        || apt-get indextargets --format "\$(LABEL)|\$(REPO_URI)" 'Created-By: Packages' 2>/dev/null | sed -n "s/^$1|//p" | sed -n 1p
}
mirror=${DEBIAN_MIRROR:-$(mirror_of Debian)}
security=${DEBIAN_SECURITY:-$(mirror_of Debian-Security)}
if [ -z "$mirror" ] || [ -z "$security" ]; then
    echo "apt-get knows no mirror of Debian and of its security updates here: apt-get update may help; or set DEBIAN_MIRROR and DEBIAN_SECURITY" >&2
    exit 125
fi
