#!/bin/bash
# jpeg-decoder.sh PROGRAMS: compares the worker's own JPEG decoder with TurboJPEG, on drawn pictures, on noise and on a
# smooth picture, of 8 to 12 megapixels. The table has the processor time in milliseconds: the lowest of fifteen rounds
# in which both take turns. It fails if a sample differs.
set -euo pipefail
programs=$1
sources=$(dirname "$0")/../Sources/CJPEGPlanes
folder=$(mktemp -d "${TMPDIR:-/tmp}/pipelined-bench.XXXXXX")
trap 'rm -rf "$folder"' EXIT

"$programs/pipelined-samples" "$folder" >/dev/null
clang -O2 -I "$sources/include" "$(dirname "$0")/jpeg-decoder.c" "$sources"/*.c -o "$folder/compare" -lturbojpeg
"$folder/compare" "$folder"/{morning-hills,sunset-at-sea}.jpg
