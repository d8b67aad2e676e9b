#!/usr/bin/env python3
"""Draws images with edges, gradients and grain. Their JPEG files are about as large as those of
photographs.

    pictures.py COUNT

Creates small/ (256x256), large/ (320x240) and list.txt in the working directory.
"""

import sys
from pathlib import Path

import numpy
from PIL import Image


def picture(random, width, height):
    coarse = random.uniform(0, 255, (6, 8, 3)).astype(numpy.uint8)
    image = Image.fromarray(coarse).resize((width, height), Image.BICUBIC)
    pixels = numpy.asarray(image).astype(numpy.float32)
    for _ in range(6):  # shapes with edges
        left, top = random.integers(0, width - 40), random.integers(0, height - 40)
        pixels[top:top + random.integers(20, 120),
               left:left + random.integers(20, 120)] = random.uniform(0, 255, 3)
    pixels += random.normal(0, 6, pixels.shape)
    return Image.fromarray(pixels.clip(0, 255).astype(numpy.uint8))


def main():
    count = int(sys.argv[1])
    random = numpy.random.default_rng(1)
    lines = []
    for number in range(count):
        name = "%05d.jpg" % number
        for folder, size in (("small", (256, 256)), ("large", (320, 240))):
            Path(folder).mkdir(exist_ok=True)
            picture(random, *size).save(Path(folder) / name, quality=90)
        lines.append("%s %d\n" % (name, number % 1000))
    Path("list.txt").write_text("".join(lines))


if __name__ == "__main__":
    main()
