#!/bin/bash
# Makes an apt repository of the packages in a folder: repository.sh FOLDER [KEY]. `./run repository` calls it.
#
# The repository is FOLDER/apt, which any web server can serve unchanged. With KEY, a secret key of gpg's, it is signed,
# and its public key is apt/pipelined.gpg.
set -euo pipefail
folder=$1
key=${2-}
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=$(sed -n 's/.*version = "\(.*\)"/\1/p' "$scripts/../Sources/SystemCalls/Release.swift")
date=$(sed -n 's/.*date = "\(.*\)"/\1/p' "$scripts/../Sources/SystemCalls/Release.swift")

rm -rf "$folder/apt"
mkdir -p "$folder/apt"
cp "$folder"/*_"$version"-1_*.deb "$folder/apt/"
cd "$folder/apt"
apt-ftparchive packages . >Packages
gzip -9 --keep --no-name Packages
# Two runs over the same packages produce the same files, except for the signature.
apt-ftparchive -o APT::FTPArchive::Release::Origin=pipelined -o APT::FTPArchive::Release::Label=pipelined release . \
    | sed "s/^Date: .*/Date: $(LC_ALL=C date --utc --date "$date" '+%a, %d %b %Y %H:%M:%S UTC')/" >../Release.partial
mv ../Release.partial Release
[ -n "$key" ] || exit 0
gpg --batch --yes --local-user "$key" --digest-algo SHA256 --clear-sign --output InRelease Release
gpg --batch --yes --output pipelined.gpg --export "$key"
