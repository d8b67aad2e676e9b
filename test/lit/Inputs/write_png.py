"""Writes a PNG image of one colour: write_png.py FILE HEIGHT WIDTH VALUE [VALUE VALUE]; the
values are red, green and blue, or all equal."""

import struct
import sys
import zlib


def chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data
            + struct.pack(">I", zlib.crc32(kind + data)))


path, height, width = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
values = [int(text) for text in sys.argv[4:]]
pixel = bytes(values if len(values) == 3 else values * 3)
with open(path, "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n"
               + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
               + chunk(b"IDAT", zlib.compress((b"\0" + pixel * width) * height))
               + chunk(b"IEND", b""))
