"""likeness.py FOLDER OTHER: compares each picture of a folder with the picture of the same name in another, and prints its PSNR in dB."""
import math
import os
import sys

import pyvips

folder, other = sys.argv[1:]
for name in sorted(name for name in os.listdir(folder) if not name.startswith(".")):
    one, two = (pyvips.Image.new_from_file(os.path.join(place, name)) for place in (folder, other))
    if (one.width, one.height, one.bands) != (two.width, two.height, two.bands):
        sys.exit(f"{name} is of another size, or has other bands, in {other}")
    error = ((one.cast("double") - two) ** 2).avg()
    print(10 * math.log10(255 * 255 / error) if error else math.inf)
