"""pictures.py PHOTOGRAPH FOLDER SET…: makes sets of pictures from one photograph. Each run makes the same pictures:
crops at seeded positions, with seeded noise. The noise is so strong that a JPEG of quality 85, 4:2:0, has about 1.35
bits per pixel, like a camera's. Existing pictures are kept.

A SET is FORMAT-SIZE-COUNT: jpeg-12-8 is eight JPEGs of 12 megapixels. The other formats are progressive, png, webp, heic and hdr, a JPEG
with a gain map by ISO 21496-1. The other sizes are 24 and 128 megapixels, and small and tiny, which give files of about 10 KB and 1 KB.
"""
import os
import random
import struct
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
    elif format == "hdr":
        with open(path, "wb") as file:
            file.write(with_gain_map(picture))
    else:
        picture.jpegsave(path, Q=85, subsample_mode="on", interlace=format == "progressive")


def with_gain_map(picture):
    """Returns a JPEG with a grey gain map at a quarter of the size, which brightens light areas by up to 2.5 stops."""
    def marker(content):
        return b"\xff\xe2" + struct.pack(">H", len(content) + 2) + content

    urn = b"urn:iso:std:iso:ts:21496:-1\0\0\0\0\0"
    numbers = [0, 2500, 0, 2500, 1000, 15, 15]
    described = marker(urn + b"\x40" + b"".join(struct.pack(">ii", number, 1000) for number in numbers))
    grey = picture.resize(0.25).colourspace("b-w").jpegsave_buffer(Q=90, strip=True)
    gains = grey[:2] + described + grey[2:]
    main = picture.jpegsave_buffer(Q=85, subsample_mode="on")
    announced = main[:2] + marker(urn)
    first = len(announced) + 90 + len(main) - 2
    tags = [(0xb000, 7, 4, b"0100"), (0xb001, 4, 1, struct.pack(">I", 2)), (0xb002, 7, 32, struct.pack(">I", 50))]
    index = b"MM\0*" + struct.pack(">IH", 8, 3) + b"".join(struct.pack(">HHI", *tag[:3]) + tag[3] for tag in tags) + bytes(4)
    index += struct.pack(">IIII", 0x30000, first, 0, 0) + struct.pack(">IIII", 0, len(gains), first - len(announced) - 8, 0)
    return announced + marker(b"MPF\0" + index) + main[2:] + gains


def crop(photograph, size, seed):
    """Returns a crop at a seeded position. Enlarges the photograph first if it is too small."""
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
    """Adds so much noise that a JPEG has about BITS_A_PIXEL bits per pixel."""
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
    suffix = {"jpeg": "jpg", "progressive": "jpg", "hdr": "jpg"}.get(format, format)
    for number in range(int(count)):
        place = f"{folder}/{format}-{size}"
        path = f"{place}/{number:03}.{suffix}"
        if os.path.exists(path):
            continue
        os.makedirs(place, exist_ok=True)
        picture = crop(photograph, SIZES[size], number)
        if size not in ("small", "tiny"):
            picture = as_from_a_camera(picture, number)
        # The rename makes the file appear as a whole. The temporary suffix `.new` does not tell pyvips the format, so
        # `write` names the saver.
        write(picture, format, path + ".new")
        os.rename(path + ".new", path)
        print(f"made {path}", file=sys.stderr)


if __name__ == "__main__":
    source, folder, *sets = sys.argv[1:]
    photograph = pyvips.Image.new_from_file(source).copy_memory()
    for name in sets:
        make(photograph, folder, name)
