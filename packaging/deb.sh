#!/bin/bash
# Makes Debian packages of a build: deb.sh BUILDFOLDER DESTINATION. `./run deb` calls it.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
programs=$(cd "$1" && pwd)
mkdir -p "$2"
destination=$(cd "$2" && pwd)
version=$(sed -n 's/.*version = "\(.*\)"/\1/p' "$source/Sources/SystemCalls/Release.swift")
date=$(sed -n 's/.*date = "\(.*\)"/\1/p' "$source/Sources/SystemCalls/Release.swift")
maintainer=$(sed -n 's/^Maintainer: //p' "$source/packaging/debian/control")
swift=$(swift -print-target-info | sed -n '/"runtimeLibraryPaths"/,/\]/s/^ *"\(\/.*\)".*/\1/p' | head -n 1)

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cp -R "$source/packaging/debian" "$tree/debian"
# debian/copyright requires the text of a licence to be indented, with a dot on empty lines.
sed '1,/^Copyright/d; /./!s/^$/./; s/^/ /' "$source/LICENSE" | sed '1d' > "$tree/licence"
sed -i -e "/^@LICENSE@$/{r $tree/licence
d}" "$tree/debian/copyright"
cat > "$tree/debian/changelog" <<END
pipelined ($version-1) unstable; urgency=medium

  * What is new: /usr/share/doc/pipelined/changelog.gz.

 -- $maintainer  $(date --utc --rfc-email --date "$date")
END

cd "$tree"
# A second build of the same commit produces the same file.
SOURCE_DATE_EPOCH=$(date --utc --date "$date" +%s)
export SOURCE_DATE_EPOCH PROJECT=$source PROGRAMS=$programs SWIFT=$swift DESTINATION=$destination
export DEB_BUILD_OPTIONS=noautodbgsym
if ! fakeroot debian/rules binary > "$tree/log" 2>&1; then
    cat "$tree/log" >&2
    exit 1
fi
ls "$destination"/*_"$version"-1_*.deb
