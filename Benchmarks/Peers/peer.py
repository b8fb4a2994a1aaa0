"""peer.py LIBRARY WORK TABLE SUFFIX: does the same work with a library, in a long-lived process.

The first line of standard input names files, separated by tabs; each further line names a folder for their results. WORK describes the
results of each file: `half+noir`, or `1600,1024,640` for three results of these widths. Results are JPEGs or WebPs of quality 85, or PNGs,
according to SUFFIX: jpg, webp or png. TABLE is noir's table, as a PGM. OpenCV also knows pipelined's other filters: `1600+sepia`.
`peer.py versions` prints the installed versions.
"""
import sys

QUALITY = 85
LUMA = [0.299, 0.587, 0.114]


class Output:
    """A result: its size, and its filter, or "" without one."""

    def __init__(self, text):
        self.width, _, self.filter = text.partition("+")
        self.noir = self.filter == "noir"

    def size(self, width, height):
        if self.width == "half":
            return (width + 1) // 2, (height + 1) // 2
        return int(self.width), round(height * int(self.width) / width)


def shrink(width, target):
    """Returns the largest factor by which a JPEG decoder may shrink and still give at least the target's width."""
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
            # Truncating is cheaper than rounding, and makes the picture half a level darker.
            picture = picture.recomb([LUMA]).cast("uchar").maplut(lut)
        if path.endswith(".webp"):
            picture.webpsave(path, Q=QUALITY)
        elif path.endswith(".png"):
            picture.pngsave(path, compression=6)
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


# Filters that need only luma.
GREY = ["noir", "mono", "sepia", "duotone"]


def opencv_filters():
    """pipelined's filters with their defaults, as a user of OpenCV and numpy would write them for 8 bits. Data that depends only on the
    size is made once."""
    import cv2
    import numpy
    from functools import lru_cache
    steps = numpy.arange(256)

    def tones(function):
        return numpy.clip(numpy.rint(function(steps / 255) * 255), 0, 255).astype(numpy.uint8)

    def s_curve(contrast):
        steepness = 6 * contrast
        low, high = 1 / (1 + numpy.exp(steepness / 2)), 1 / (1 + numpy.exp(-steepness / 2))
        return lambda x: (1 / (1 + numpy.exp(-steepness * (x - 0.5))) - low) / (high - low)

    def three(*functions):
        return numpy.stack([tones(function) for function in functions], axis=1)[:, None, :]

    def keep_hues(picture, table):
        """Maps each pixel's extreme samples through a table. The middle sample keeps its relative position."""
        bands = cv2.split(picture)
        low = cv2.min(cv2.min(bands[0], bands[1]), bands[2])
        high = cv2.max(cv2.max(bands[0], bands[1]), bands[2])
        black, white = cv2.LUT(low, table), cv2.LUT(high, table)
        scale = cv2.divide(cv2.subtract(white, black), cv2.subtract(high, low), dtype=cv2.CV_32F)
        above = [cv2.multiply(cv2.subtract(band, low), scale, dtype=cv2.CV_32F) for band in bands]
        return cv2.merge([cv2.add(black, band, dtype=cv2.CV_8U) for band in above])

    inks = three(lambda x: 0.4 + 0.4 * x, lambda x: 0.1 + 0.8 * x, lambda x: 0.1 + 0.9 * x)
    film = three(lambda x: 0.1 + 0.8 * x, lambda x: x, lambda x: s_curve(0.5)(x))
    plain = tones(lambda x: x)
    chrome_curve = tones(s_curve(0.5))
    luma = numpy.array([0.114, 0.587, 0.299])
    pale = 0.825 * numpy.eye(3) + 0.175 * luma
    vivid = 1.3 * numpy.eye(3) - 0.3 * luma
    fading = numpy.hstack([0.895 * pale, numpy.full((3, 1), 0.08 * 255)])
    noise = cv2.GaussianBlur(numpy.random.default_rng(1).normal(0, 1, (512, 512)).astype(numpy.float32), (0, 0), 0.75)
    noise *= 0.04 * 255 / noise.std()
    weights = (4 * (steps / 255) * (1 - steps / 255)).astype(numpy.float32)

    def light_of(gain):
        linear = steps / 255
        linear = gain * numpy.where(linear <= 0.04045, linear / 12.92, ((linear + 0.055) / 1.055) ** 2.4)
        encoded = numpy.where(linear <= 0.0031308, 12.92 * linear, 1.055 * numpy.maximum(linear, 1e-9) ** (1 / 2.4) - 0.055)
        return numpy.clip(numpy.rint(encoded * 255), 0, 255).astype(numpy.uint8)

    # `lights` has a table for each band, blue first, with exposure 0.3 and temperature 0.2. `tone_curve` has contrast
    # 0.2 and shadows 0.3.
    lights = numpy.stack([light_of(2 ** 0.3 * 2 ** part) for part in (-0.1, 0, 0.1)], axis=1)[:, None, :]
    tone_curve = tones(lambda x: (lambda y: y + 0.2 * (s_curve(1)(y) - y))(x + 0.3 * x * (1 - x) ** 3))

    @lru_cache(maxsize=1)
    def light(height, width):
        y, x = numpy.mgrid[0:height, 0:width].astype(numpy.float32)
        away = numpy.sqrt((((2 * x + 1) / width - 1) ** 2 + ((2 * y + 1) / height - 1) ** 2) / 2)
        t = numpy.clip((away - 0.1) / 0.9, 0, 1)
        return numpy.repeat((1 - 0.3 * t * t * (3 - 2 * t))[:, :, None], 3, axis=2)

    @lru_cache(maxsize=1)
    def film_noise(height, width):
        return numpy.tile(noise, (height // 512 + 1, width // 512 + 1))[:height, :width]

    @lru_cache(maxsize=1)
    def softness(height, width):
        y = (numpy.arange(height, dtype=numpy.float32) + 0.5) / height
        t = numpy.clip((numpy.abs(y - 0.5) - 0.125) / 0.125, 0, 1)
        column = 2 * (t * t * (3 - 2 * t))[:, None]
        parts = [numpy.minimum(1, column), numpy.maximum(0, column - 1)]
        return [(numpy.repeat(part, width, axis=1), numpy.repeat(1 - part, width, axis=1)) for part in parts]

    @lru_cache(maxsize=1)
    def mark(width):
        scale = width * 0.2 / cv2.getTextSize("Ada", cv2.FONT_HERSHEY_DUPLEX, 1, 2)[0][0]
        (wide, high), base = cv2.getTextSize("Ada", cv2.FONT_HERSHEY_DUPLEX, scale, 2)
        mask = numpy.zeros((high + base, wide), numpy.uint8)
        cv2.putText(mask, "Ada", (0, high), cv2.FONT_HERSHEY_DUPLEX, scale, 255, 2)
        return (mask.astype(numpy.float32) * 0.5 / 255)[:, :, None]

    def autolevels(picture):
        most = picture.shape[0] * picture.shape[1] * 0.005
        blacks, whites = [], []
        for band in range(3):
            counts = cv2.calcHist([picture], [band], None, [256], [0, 256]).ravel().cumsum()
            blacks.append(int(numpy.searchsorted(counts, most, "right")))
            whites.append(int(numpy.searchsorted(counts, counts[-1] - most)))
        black, white = min(blacks) / 255, max(whites) / 255
        return cv2.LUT(picture, tones(lambda x: (x - black) / max(white - black, 1 / 255)))

    def sharpen(picture):
        grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
        edges = cv2.subtract(grey, cv2.GaussianBlur(grey, (0, 0), 1), dtype=cv2.CV_16S)
        size = numpy.abs(edges)
        edges = numpy.where(size > 2, 0.8 * numpy.sign(edges) * (size - 2.55), 0).astype(numpy.int16)
        return cv2.add(picture, cv2.merge([edges, edges, edges]), dtype=cv2.CV_8U)

    def grain(picture):
        grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
        grains = cv2.multiply(cv2.LUT(grey, weights), film_noise(*grey.shape))
        return cv2.add(picture, cv2.merge([grains, grains, grains]), dtype=cv2.CV_8U)

    def blur(picture):
        return cv2.GaussianBlur(picture, (0, 0), min(picture.shape[:2]) / 100)

    def tilt_shift(picture):
        (some, sharp), (much, little) = softness(*picture.shape[:2])
        light = cv2.multiply(picture, picture, dtype=cv2.CV_32F)
        sigma = min(picture.shape[:2]) / 100
        wide, narrow = cv2.GaussianBlur(light, (0, 0), sigma), cv2.GaussianBlur(light, (0, 0), sigma / 3)
        mixed = cv2.blendLinear(cv2.blendLinear(wide, narrow, much, little), light, some, sharp)
        return cv2.convertScaleAbs(cv2.sqrt(mixed))

    def watermark(picture):
        mask = mark(picture.shape[1])
        margin = min(picture.shape[:2]) // 50
        part = picture[-margin - mask.shape[0]:-margin, -margin - mask.shape[1]:-margin]
        part[:] = part + mask * (255.0 - part)
        return picture

    def crop(picture):
        height, width = picture.shape[:2]
        wide, high = min(width, height * 3 // 2), min(height, width * 2 // 3)
        return picture[(height - high) // 2:(height + high) // 2, (width - wide) // 2:(width + wide) // 2]

    def border(picture):
        width = round(min(picture.shape[:2]) * 0.03)
        return cv2.copyMakeBorder(picture, width, width, width, width, cv2.BORDER_CONSTANT, value=(255, 255, 255))

    def frame(picture):
        height, width = picture.shape[:2]
        side, strip = round(min(height, width) * 0.04), round(min(height, width) * 0.12)
        framed = cv2.copyMakeBorder(picture, side, strip, side, side, cv2.BORDER_CONSTANT, value=(255, 255, 255))
        scale = cv2.getFontScaleFromHeight(cv2.FONT_HERSHEY_DUPLEX, strip // 3)
        place = (side, side + height + strip * 2 // 3)
        return cv2.putText(framed, "Ada", place, cv2.FONT_HERSHEY_DUPLEX, scale, (64, 64, 64), 2, cv2.LINE_AA)

    def straighten(picture):
        height, width = picture.shape[:2]
        across, down = numpy.cos(numpy.radians(3)), numpy.sin(numpy.radians(3))
        part = min(width / (width * across + height * down), height / (width * down + height * across))
        wide, high = int(width * part), int(height * part)
        turn = cv2.getRotationMatrix2D((width / 2 - 0.5, height / 2 - 0.5), -3, 1)
        turn[:, 2] -= ((width - wide) / 2, (height - high) / 2)
        return cv2.warpAffine(picture, turn, (wide, high), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)

    def tone(picture):
        picture = cv2.LUT(picture, lights)
        bands = cv2.split(picture)
        low = cv2.min(cv2.min(bands[0], bands[1]), bands[2])
        high = cv2.max(cv2.max(bands[0], bands[1]), bands[2])
        factor = cv2.add(cv2.divide(low, high, scale=0.3, dtype=cv2.CV_32F), 1)
        grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
        away = [cv2.multiply(cv2.subtract(band, grey, dtype=cv2.CV_32F), factor) for band in bands]
        return keep_hues(cv2.merge([cv2.add(grey, band, dtype=cv2.CV_8U) for band in away]), tone_curve)

    from PIL import Image, ImageFilter
    look = ImageFilter.Color3DLUT.generate(17, lambda r, g, b: (r * r, (g + b) / 2, 1 - r * g))

    def lut(picture):
        # OpenCV has no tables of three dimensions; Pillow's is a loop in C.
        rgb = Image.fromarray(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)).filter(look)
        return cv2.cvtColor(numpy.asarray(rgb), cv2.COLOR_RGB2BGR)

    def toned(grey):
        return cv2.LUT(cv2.merge([grey, grey, grey]), inks)

    return {
        "autolevels": autolevels, "blur": blur, "border": border, "crop": crop, "grain": grain, "sharpen": sharpen,
        "tilt-shift": tilt_shift, "watermark": watermark, "sepia": toned, "duotone": toned,
        "mono": lambda grey: cv2.LUT(grey, plain),
        "instant": lambda picture: cv2.LUT(picture, film),
        "flip": lambda picture: cv2.flip(picture, 1),
        "rotate": lambda picture: cv2.rotate(picture, cv2.ROTATE_90_CLOCKWISE),
        "fade": lambda picture: cv2.transform(picture, fading),
        "chrome": lambda picture: keep_hues(cv2.transform(picture, vivid), chrome_curve),
        "frame": frame, "lut": lut, "straighten": straighten, "tone": tone,
        "vignette": lambda picture: cv2.multiply(picture, light(*picture.shape[:2]), dtype=cv2.CV_8U),
    }


def opencv(table):
    import cv2
    import numpy
    cv2.setNumThreads(1)
    filters = opencv_filters()
    lut = numpy.frombuffer(table, numpy.uint8)
    flags = {
        (True, 1): cv2.IMREAD_GRAYSCALE, (False, 1): cv2.IMREAD_COLOR,
        (True, 2): cv2.IMREAD_REDUCED_GRAYSCALE_2, (False, 2): cv2.IMREAD_REDUCED_COLOR_2,
        (True, 4): cv2.IMREAD_REDUCED_GRAYSCALE_4, (False, 4): cv2.IMREAD_REDUCED_COLOR_4,
        (True, 8): cv2.IMREAD_REDUCED_GRAYSCALE_8, (False, 8): cv2.IMREAD_REDUCED_COLOR_8,
    }
    # OpenCV can't return a picture's size without decoding it, so Pillow reads the size. A real caller would know it.
    from PIL import Image

    def render(source, outputs, results):
        with Image.open(source) as header:
            width, height = header.size
        sizes = [output.size(width, height) for output in outputs]
        grey = all(output.filter in GREY for output in outputs)
        picture = cv2.imread(source, flags[grey, shrink(width, max(sizes)[0])])
        for size, output, result in zip(sizes, outputs, results):
            small = picture
            if (small.shape[1], small.shape[0]) != size:
                small = cv2.resize(small, size, interpolation=cv2.INTER_AREA)
            if output.noir:
                small = cv2.LUT(small, lut)
            elif output.filter:
                small = filters[output.filter](small)
            if result.endswith(".png"):
                cv2.imwrite(result, small)
                continue
            key = cv2.IMWRITE_WEBP_QUALITY if result.endswith(".webp") else cv2.IMWRITE_JPEG_QUALITY
            cv2.imwrite(result, small, [key, QUALITY])
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
