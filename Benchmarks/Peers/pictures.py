"""pictures.py PHOTOGRAPH FOLDER SET…: makes sets of pictures from one photograph, the same each time: crops from seeded places, with seeded
noise, so much that a JPEG of quality 85, 4:2:0, takes about 1.35 bits a pixel, as a camera's do. A set that is there stays.

A SET is FORMAT-SIZE-COUNT: jpeg-12-8 are eight of 12 megapixels; progressive, png, webp and heic are further formats, small and tiny
are sizes of about 10 and 1 KB, 128 is one of 128 megapixels.
"""
import os
import random
import sys

import pyvips

BITS_A_PIXEL = 1.35
SIZES = {"12": (4000, 3000), "24": (6000, 4000), "128": (16000, 8000), "small": (296, 222),
         "tiny": (24, 18)}


def write(picture, format, path):
    if format == "png":
        picture.pngsave(path, compression=6)
    elif format == "webp":
        picture.webpsave(path, Q=85)
    elif format == "heic":
        picture.heifsave(path, Q=50, compression="hevc", effort=2)
    else:
        picture.jpegsave(path, Q=85, subsample_mode="on", interlace=format == "progressive")


def crop(photograph, size, seed):
    """A part of it, enlarged as far as that takes, from a place that the seed chooses."""
    width, height = size
    places = random.Random(seed)
    if width < photograph.width / 4:
        photograph = photograph.thumbnail_image(width * 3)
    factor = max(width / photograph.width, height / photograph.height) * 1.1
    large = photograph.resize(factor) if factor > 1 else photograph
    left, top = places.randint(0, large.width - width), places.randint(0, large.height - height)
    return large.crop(left, top, width, height).copy_memory()


def noisy(picture, sigma, seed):
    noise = pyvips.Image.gaussnoise(picture.width, picture.height, mean=0, sigma=sigma, seed=seed)
    return (picture + noise).rint().cast("uchar").copy_memory()


def as_from_a_camera(picture, seed):
    """With as much noise as gives the wanted bits a pixel."""
    low, high = 0.0, 24.0
    part = min(picture.width, 2000), min(picture.height, 1500)
    sample = picture.crop((picture.width - part[0]) // 2, (picture.height - part[1]) // 2, *part)
    for _ in range(6):
        sigma = (low + high) / 2
        length = len(noisy(sample, sigma, seed).jpegsave_buffer(Q=85, subsample_mode="on"))
        if length * 8 / (sample.width * sample.height) < BITS_A_PIXEL:
            low = sigma
        else:
            high = sigma
    return noisy(picture, (low + high) / 2, seed)


def make(photograph, folder, name):
    format, size, count = name.split("-")
    suffix = {"jpeg": "jpg", "progressive": "jpg"}.get(format, format)
    for number in range(int(count)):
        place = f"{folder}/{format}-{size}"
        path = f"{place}/{number:03}.{suffix}"
        if os.path.exists(path):
            continue
        os.makedirs(place, exist_ok=True)
        picture = crop(photograph, SIZES[size], number)
        if size not in ("small", "tiny"):
            picture = as_from_a_camera(picture, number)
        # The rename brings a file whole or not at all. The suffix says nothing, so the saver is named.
        write(picture, format, path + ".new")
        os.rename(path + ".new", path)
        print(f"made {path}", file=sys.stderr)


if __name__ == "__main__":
    source, folder, *sets = sys.argv[1:]
    photograph = pyvips.Image.new_from_file(source).copy_memory()
    for name in sets:
        make(photograph, folder, name)
