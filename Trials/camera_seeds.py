"""Pictures in formats that `vips` does not write, of red, green and blue bytes: a camera's file as DNG, and BMP."""
import struct


def dng(width, height, rgb, preview):
    """Samples behind a mosaic of red, green, green and blue, and a JPEG of the same size as preview."""
    samples = b"".join(
        struct.pack("<H", rgb[(y * width + x) * 3 + (x & 1) + (y & 1)] * 257) for y in range(height) for x in range(width))
    matrix = [3.24, -1.54, -0.5, -0.97, 1.88, 0.04, 0.06, -0.2, 1.06]
    fractions = struct.pack("<18i", *(part for value in matrix for part in (round(value * 100), 100)))
    white = struct.pack("<6I", 1, 2, 1, 1, 7, 10)
    file = bytearray(struct.pack("<2sHI", b"II", 42, 0)) + preview + b"\0" * (len(preview) % 2)

    def append(entries):
        places = []
        for *_, value in entries:
            places.append(len(file))
            if len(value) > 4:
                file.extend(value + b"\0" * (len(value) % 2))
        start = len(file)
        file.extend(struct.pack("<H", len(entries)))
        for (tag, kind, count, value), place in zip(entries, places):
            file.extend(struct.pack("<HHI", tag, kind, count))
            file.extend(struct.pack("<I", place) if len(value) > 4 else value.ljust(4, b"\0"))
        file.extend(bytes(4))
        return start

    def short(tag, *values):
        return tag, 3, len(values), struct.pack(f"<{len(values)}H", *values)

    def long(tag, *values):
        return tag, 4, len(values), struct.pack(f"<{len(values)}I", *values)

    below = append([
        long(254, 1), long(256, width), long(257, height), short(258, 8, 8, 8), short(259, 7), short(262, 6),
        long(273, 8), short(277, 3), long(278, height), long(279, len(preview))])
    strip = len(file)
    file += samples
    first = append([
        long(254, 0), long(256, width), long(257, height), short(258, 16), short(259, 1), short(262, 32803),
        (271, 2, 4, b"Ada\0"), (272, 2, 7, b"Engine\0"), long(273, strip), short(274, 6), short(277, 1),
        long(278, height), long(279, len(samples)), long(330, below), short(33421, 2, 2), (33422, 1, 4, bytes([0, 1, 1, 2])),
        (50706, 1, 4, bytes([1, 4, 0, 0])), (50708, 2, 11, b"Ada Engine\0"), long(50717, 65535),
        (50721, 10, 9, fractions), (50728, 5, 3, white), short(50778, 21)])
    file[4:8] = struct.pack("<I", first)
    return bytes(file)


def bitmaps(width, height, rgb):
    """BMP of 24 bits, of 32 with masks for all colours and alpha, and of 8 in runs."""
    rows = [[rgb[(y * width + x) * 3:(y * width + x) * 3 + 3] for x in range(width)] for y in reversed(range(height))]

    def file(bits, compression, pixels, more=b"", length=40, palette=b""):
        header = struct.pack("<IiiHHIIiiII", length, width, height, 1, bits, compression, len(pixels), 2835, 2835,
                             len(palette) // 4, 0) + more
        start = 14 + len(header) + len(palette)
        return struct.pack("<2sIII", b"BM", start + len(pixels), 0, start) + header + palette + pixels

    plain = b"".join(b"".join(pixel[::-1] for pixel in row) + b"\0" * (-3 * width % 4) for row in rows)
    masked = b"".join(pixel[::-1] + b"\xc0" for row in rows for pixel in row)
    masks = struct.pack("<4I", 0xff0000, 0xff00, 0xff, 0xff000000) + bytes(108 - 56)
    runs = b"".join(b"".join(bytes([1, pixel[1]]) for pixel in row) + b"\0\0" for row in rows) + b"\0\1"
    greys = b"".join(bytes([value, value, value, 0]) for value in range(256))
    return [file(24, 0, plain), file(32, 3, masked, masks, 108), file(8, 1, runs, palette=greys)]
