#!/usr/bin/python3
"""Measures the share of a render's time after the last pixel: see Sources/RenderWorker/Stages/SaveStage.swift.

    VIPS_CONCURRENCY=1 Benchmarks/encoding-share.py PICTURE 'o.webp[Q=80]' 'o.avif[Q=55]'

Needs the package libvips-tools. Each result is written into the working folder.
"""

import subprocess
import sys
import time

for result in sys.argv[2:]:
    begin = last = time.monotonic()
    command = ["vips", "copy", sys.argv[1], result, "--vips-progress"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0) as process:
        while words := process.stdout.read(4096):
            if b"% complete" in words:
                last = time.monotonic()
    end = time.monotonic()
    print(f"{result}: {end - begin:.2f} s, of which {(end - last) / (end - begin):.2f} after the last pixel")
