"""Reads JPEGs with gain maps through third-party libraries: hdr_reader.py FILE…. Prints a JSON list with an element for
each file. The element contains the kind of gain map that gainmap-audit finds, and the picture that libultrahdr shows on
a screen with unlimited headroom: the size, and linear red, green and blue at GRID × GRID places."""
import json
import sys

import gainmap_audit.detect
import imagecodecs

GRID = 8


def read(path):
    with open(path, "rb") as file:
        picture = imagecodecs.ultrahdr_decode(file.read())
    height, width = picture.shape[:2]
    places = [(x * width // GRID + width // 16, y * height // GRID + height // 16) for y in range(GRID) for x in range(GRID)]
    light = [{"x": x, "y": y, "light": [float(value) for value in picture[y, x, :3]]} for x, y in places]
    return {"kind": gainmap_audit.detect.classify(path).state, "width": width, "height": height, "places": light}


print(json.dumps([read(path) for path in sys.argv[1:]]))
