#!/usr/bin/env python3
"""Writes digits of MNIST as PNG files, one folder per class.

usage: make_pictures.py IMAGES.gz LABELS.gz FOLDER [--count N] [--classes N]

Writes the first N (default 100) digits of each of the classes 0 to N - 1 (default: all ten) to
FOLDER/CLASS/NUMBER.png, grey, 28 x 28 pixels. Needs no packages.
"""
import argparse
import gzip
import os
import struct
import zlib


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of(pixels, height, width):
    """Returns the bytes of a PNG file of 8-bit grey pixels, given row by row."""
    # Each row begins with a byte for its filter: 0, none.
    rows = b"".join(b"\0" + pixels[width * row:width * (row + 1)] for row in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) +
            png_chunk(b"IDAT", zlib.compress(rows)) + png_chunk(b"IEND", b""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("images", help="IDX file of images, gzipped")
    parser.add_argument("labels", help="IDX file of their labels, gzipped")
    parser.add_argument("folder", help="folder to write to")
    parser.add_argument("--count", type=int, default=100, help="digits of each class (100)")
    parser.add_argument("--classes", type=int, default=10, help="classes, beginning with 0 (10)")
    options = parser.parse_args()
    with gzip.open(options.images) as file:
        _, image_count, height, width = struct.unpack(">IIII", file.read(16))
        pixels = file.read()
    with gzip.open(options.labels) as file:
        labels = file.read()[8:]
    written = [0] * options.classes
    for number in range(image_count):
        label = labels[number]
        if label >= options.classes or written[label] == options.count:
            continue
        written[label] += 1
        folder = os.path.join(options.folder, str(label))
        os.makedirs(folder, exist_ok=True)
        image = pixels[height * width * number:height * width * (number + 1)]
        with open(os.path.join(folder, f"{number:05}.png"), "wb") as file:
            file.write(png_of(image, height, width))
    print(f"{sum(written)} pictures in {options.classes} folders of {options.folder}")


if __name__ == "__main__":
    main()
