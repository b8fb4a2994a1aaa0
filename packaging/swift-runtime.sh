#!/bin/bash
# Copies the libraries of the Swift runtime that programs need, directly or indirectly: swift-runtime.sh FROM TO
# PROGRAM…
set -euo pipefail
from=$1 to=$2
shift 2
install -d "$to"
queue=("$@")
while [ ${#queue[@]} -gt 0 ]; do
    file=${queue[0]}
    queue=("${queue[@]:1}")
    while read -r library; do
        if [ -e "$from/$library" ] && [ ! -e "$to/$library" ]; then
            install -m 644 "$from/$library" "$to/"
            queue+=("$to/$library")
        fi
    done < <(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
done
