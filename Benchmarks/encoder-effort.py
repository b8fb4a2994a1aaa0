#!/usr/bin/python3
"""Measures the effect of effort= for a format: processor time, bytes and similarity, with pictures fitted into 1600 pixels.

    Benchmarks/encoder-effort.py 'avif[Q=55,bitdepth=8]' 4 PICTURE…
    Benchmarks/encoder-effort.py 'jxl[Q=85]' 7 PICTURE…

Needs the package libvips-tools. Figures are sums over the pictures, as ratios to the named effort; the similarity is the mean PSNR.
"""

import math
import os
import resource
import subprocess
import sys
import tempfile


def vips(*words):
    return subprocess.run(["vips", "--vips-concurrency=1", *words], check=True, capture_output=True, text=True).stdout


def seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def likeness(one, other, folder):
    difference = f"{folder}/difference.v"
    vips("subtract", one, other, difference)
    square = float(vips("deviate", difference)) ** 2 + float(vips("avg", difference)) ** 2
    return 10 * math.log10(255**2 / square) if square else math.inf


with tempfile.TemporaryDirectory() as folder:
    suffix, options = sys.argv[1].rstrip("]").split("[")
    base = int(sys.argv[2])
    made = f"{folder}/made.{suffix}"
    pictures = []
    for place, picture in enumerate(sys.argv[3:]):
        pictures.append(f"{folder}/{place}.v")
        vips("thumbnail", picture, f"{folder}/{place}.png", "1600")
        vips("extract_band", f"{folder}/{place}.png", pictures[-1], "0", "--n", "3")
    figures = {}
    for effort in range(10):
        time, size, like = 0, 0, 0
        try:
            for picture in pictures:
                begin = seconds()
                vips("copy", picture, f"{made}[{options},effort={effort}]")
                time += seconds() - begin
                size += os.path.getsize(made)
                like += likeness(picture, made, folder)
        except subprocess.CalledProcessError:
            # The format does not have this effort level.
            continue
        figures[effort] = (time, size, like / len(pictures))
    print("| effort | processor time | bytes | likeness |\n|---|---|---|---|")
    for effort, (time, size, like) in figures.items():
        print(f"| {effort} | {time / figures[base][0]:.2f} | {size / figures[base][1]:.3f} | {like:.2f} dB |")
