"""peer.py LIBRARY WORK TABLE SUFFIX: a library at the same work, in a process that lives long.

The first line of standard input names files, separated by tabs; each further line a folder for their results. WORK is what becomes
of each: `half+noir`, or `1600,1024,640`: three results, of those widths. All are of quality 85, and JPEGs or WebPs by
their SUFFIX, jpg or webp. TABLE is noir's, as a PGM.
`peer.py versions` says what is installed.
"""
import sys

QUALITY = 85
LUMA = [0.299, 0.587, 0.114]


class Output:
    """One result: its size, and whether it is noir."""

    def __init__(self, text):
        self.width, _, filter = text.partition("+")
        self.noir = filter == "noir"

    def size(self, width, height):
        if self.width == "half":
            return (width + 1) // 2, (height + 1) // 2
        return int(self.width), round(height * int(self.width) / width)


def shrink(width, target):
    """The largest that a JPEG decoder offers and that leaves at least the target."""
    return next(n for n in (8, 4, 2, 1) if (width + n - 1) // n >= target)


def read_table(path):
    with open(path, "rb") as file:
        return file.read()[-256:]


def pyvips_saver(table):
    import pyvips
    pyvips.cache_set_max(0)
    lut = pyvips.Image.new_from_memory(table, 256, 1, 1, "uchar")

    def save(picture, output, path):
        if output.noir:
            # Truncation is cheaper than rounding, and half a level darker.
            picture = picture.recomb([LUMA]).cast("uchar").maplut(lut)
        if path.endswith(".webp"):
            picture.webpsave(path, Q=QUALITY)
        else:
            picture.jpegsave(path, Q=QUALITY)
    return pyvips.Image, save


def pyvips_thumbnail(table):
    """The usual way: vips_thumbnail, once for each result."""
    Image, save = pyvips_saver(table)

    def render(source, outputs, results):
        for output, result in zip(outputs, results):
            header = Image.new_from_file(source, access="sequential")
            width, height = output.size(header.width, header.height)
            save(Image.thumbnail(source, width, height=height, size="force"), output, result)
    return render


def pyvips_shrink(table):
    """By hand: the decoder shrinks as far as it can, once for all results."""
    Image, save = pyvips_saver(table)

    def load(source, width):
        header = Image.new_from_file(source, access="sequential")
        n = shrink(header.width, width)
        if source.endswith(".webp"):
            return Image.webpload(source, scale=1 / n, access="sequential")
        return Image.jpegload(source, shrink=n, access="sequential")

    def render(source, outputs, results):
        header = Image.new_from_file(source, access="sequential")
        sizes = [output.size(header.width, header.height) for output in outputs]
        picture = load(source, max(width for width, _ in sizes))
        if len(outputs) > 1:
            picture = picture.copy_memory()
        for (width, height), output, result in zip(sizes, outputs, results):
            small = picture
            if picture.width != width:
                small = picture.resize(width / picture.width, vscale=height / picture.height)
            save(small, output, result)
    return render


def pillow(table):
    from PIL import Image

    def render(source, outputs, results):
        with Image.open(source) as picture:
            sizes = [output.size(*picture.size) for output in outputs]
            mode = "L" if all(output.noir for output in outputs) else "RGB"
            picture.draft(mode, max(sizes))
            drafted = picture if picture.mode == mode else picture.convert(mode)
            for size, output, result in zip(sizes, outputs, results):
                small = drafted
                if small.size != size:
                    small = small.resize(size, Image.Resampling.BICUBIC, reducing_gap=2.0)
                if output.noir:
                    small = small.convert("L").point(table)
                small.save(result, quality=QUALITY)
    return render


def opencv(table):
    import cv2
    import numpy
    cv2.setNumThreads(1)
    lut = numpy.frombuffer(table, numpy.uint8)
    flags = {
        (True, 1): cv2.IMREAD_GRAYSCALE, (False, 1): cv2.IMREAD_COLOR,
        (True, 2): cv2.IMREAD_REDUCED_GRAYSCALE_2, (False, 2): cv2.IMREAD_REDUCED_COLOR_2,
        (True, 4): cv2.IMREAD_REDUCED_GRAYSCALE_4, (False, 4): cv2.IMREAD_REDUCED_COLOR_4,
        (True, 8): cv2.IMREAD_REDUCED_GRAYSCALE_8, (False, 8): cv2.IMREAD_REDUCED_COLOR_8,
    }
    # OpenCV tells no size without decoding: its caller knows the sizes of these pictures.
    from PIL import Image

    def render(source, outputs, results):
        with Image.open(source) as header:
            width, height = header.size
        sizes = [output.size(width, height) for output in outputs]
        grey = all(output.noir for output in outputs)
        picture = cv2.imread(source, flags[grey, shrink(width, max(sizes)[0])])
        for size, output, result in zip(sizes, outputs, results):
            small = picture
            if (small.shape[1], small.shape[0]) != size:
                small = cv2.resize(small, size, interpolation=cv2.INTER_AREA)
            if output.noir:
                small = cv2.LUT(small, lut)
            cv2.imwrite(result, small, [cv2.IMWRITE_JPEG_QUALITY, QUALITY, cv2.IMWRITE_WEBP_QUALITY, QUALITY])
    return render


LIBRARIES = {"pyvips-thumbnail": pyvips_thumbnail, "pyvips-shrink": pyvips_shrink, "pillow": pillow, "opencv": opencv}


def versions():
    import cv2
    import PIL
    import pyvips
    from PIL import features
    vips = ".".join(str(pyvips.version(part)) for part in range(3))
    print(f"pyvips {pyvips.__version__} (libvips {vips})")
    print(f"Pillow {PIL.__version__} (libjpeg-turbo {features.version('libjpeg_turbo')})")
    print(f"OpenCV {cv2.__version__}")


def serve(render, outputs, suffix):
    files = sys.stdin.readline().rstrip("\n").split("\t")
    print("ready", flush=True)
    for line in sys.stdin:
        folder = line.rstrip("\n")
        for index, file in enumerate(files):
            render(file, outputs, [f"{folder}/{index}.{number}.{suffix}" for number in range(len(outputs))])
        print("done", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["versions"]:
        versions()
    else:
        library, work, table, suffix = sys.argv[1:]
        serve(LIBRARIES[library](read_table(table)), [Output(text) for text in work.split(",")], suffix)
