"""Common code of the soak scripts: the tools, and generated nets and data."""

import argparse
import random
import struct
import subprocess
import sys
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin",
                        help="folder of brewc, brew-run and brew-data")
    parser.add_argument("--work-dir", type=Path,
                        help="folder for plans, data and snapshots (default: a temporary one)")
    parser.add_argument("--brewc-flags", default="", help="options for every call of brewc")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1, help="seed of the script's random numbers")
    return parser


class Tools:
    """Runs Brew's programs in a folder."""

    def __init__(self, options, folder):
        self.bin, self.folder = options.bin.resolve(), folder
        self.brewc_flags = options.brewc_flags.split()

    def tool(self, name):
        return str(self.bin / name)

    def run(self, name, *words):
        """Runs a tool. Ends the script if the tool fails."""
        completed = subprocess.run([self.tool(name), *map(str, words)], cwd=self.folder,
                                   capture_output=True, text=True)
        if completed.returncode:
            sys.exit("%s %s: status %d\n%s" % (name, " ".join(map(str, words)),
                                               completed.returncode, completed.stderr[-2000:]))
        return completed

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def compile(self, solver, plan):
        self.run("brewc", solver, "-o", plan, *self.brewc_flags)


def write_png(path, width, height, pixels):
    """Writes a PNG file. `pixels`: consecutive rows of RGB bytes."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(
            ">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + pixels[3 * width * y:3 * width * (y + 1)] for y in range(height))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(
        b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(
            b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_digits(folder, name, count, random_numbers):
    """Writes the two files of a data set in MNIST's format, with random images."""
    (folder / (name + "-images")).write_bytes(
        struct.pack(">IIII", 2051, count, 28, 28) + random_numbers.randbytes(count * 784))
    (folder / (name + "-labels")).write_bytes(
        struct.pack(">II", 2049, count) + bytes(random_numbers.randrange(10) for _ in range(count)))


def randomness(options):
    return random.Random(options.seed)
