#!/usr/bin/env python3
"""Trains SSD300 (VGG-16, 21 classes) from fillers on generated pictures with boxes.

Makes images like VOC's (up to four objects; each class has its own colour and pattern) and
their database with brew-data, compiles the net, trains it with brew-run, and prints the loss
at the beginning and at the end and the time of an iteration. Exits with status 1 if the loss
did not decrease. Requires only Brew, Python and numpy.
"""

import argparse
import re
import statistics
import struct
import sys
import zlib
from pathlib import Path

import numpy

import ssd_net
from process import run

ROOT = Path(__file__).resolve().parent.parent
LOSS = re.compile(r"Iteration (\d+).*, loss = (\S+)")
SPEED = re.compile(r"([\d.]+)s/(\d+) iters")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin",
                        help="folder of brewc, brew-run and brew-data")
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--rate", type=float, default=0.0005)
    parser.add_argument("--precision", default="f32", choices=("f32", "bf16"))
    parser.add_argument("--target", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--work-dir", type=Path,
                        default=ROOT / "build/benchmarks/ssd300")
    return parser.parse_args()


def encode_png(pixels):
    """Returns the PNG file of an image (height, width, 3)."""
    height, width = pixels.shape[:2]

    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data
                + struct.pack(">I", zlib.crc32(kind + data)))
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    return (b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


def draw_picture(random, colours):
    """Draws an image; returns (pixels, [(label, left, top, right, bottom)])."""
    width, height = (500, 375) if random.random() < 0.7 else (375, 500)
    ramps = numpy.linspace(60, 190, height)[:, None, None] \
        * random.uniform(0.7, 1.3, 3)
    pixels = numpy.broadcast_to(ramps, (height, width, 3)).copy()
    objects = []
    for _ in range(random.integers(1, 5)):
        label = int(random.integers(1, len(colours)))
        wide, high = random.integers(60, 240, 2)
        left, top = random.integers(0, width - wide), random.integers(0, height - high)
        stripes = (numpy.arange(high)[:, None] // (4 + label % 5)
                   + (label % 2) * (numpy.arange(wide) // 7)) % 2
        pixels[top:top + high, left:left + wide] = \
            colours[label] * (0.6 + 0.4 * stripes[..., None])
        objects.append((label, left, top, left + wide - 1, top + high - 1))
    pixels += random.normal(0, 8, pixels.shape)
    return pixels.clip(0, 255).astype(numpy.uint8), objects


def make_database(options, work):
    if (work / ("voc_%d_lmdb" % options.images)).exists():
        return
    random = numpy.random.default_rng(7)
    colours = random.uniform(0, 255, (ssd_net.CLASSES, 3))
    folder = work / "pictures"
    folder.mkdir(exist_ok=True)
    lines = []
    for number in range(options.images):
        pixels, objects = draw_picture(random, colours)
        (folder / ("%d.png" % number)).write_bytes(encode_png(pixels))
        (folder / ("%d.txt" % number)).write_text("".join(
            "%d %d %d %d %d\n" % annotation for annotation in objects))
        lines.append("%d.png %d.txt\n" % (number, number))
    (work / "list.txt").write_text("".join(lines))
    run([options.bin.resolve() / "brew-data", "annoset", "pictures/", "list.txt",
         "voc_%d_lmdb" % options.images], options.threads, work)


def train(options, work):
    """Trains the net. Returns two lists from the log: (iteration, loss), and seconds per
    iteration."""
    display = max(1, options.iterations // 50)
    (work / "net.prototxt").write_text(
        ssd_net.text("voc_%d_lmdb" % options.images, options.batch))
    (work / "solver.prototxt").write_text(
        'net: "net.prototxt" base_lr: %g lr_policy: "multistep" gamma: 0.1\n'
        'stepvalue: %d momentum: 0.9 weight_decay: 0.0005 display: %d max_iter: %d\n'
        'average_loss: %d snapshot_after_train: false random_seed: 1 type: "SGD"\n'
        'clip_gradients: 10\n'
        % (options.rate, options.iterations * 4 // 5, display,
           options.iterations + 1, display))
    run([options.bin.resolve() / "brewc", "solver.prototxt", "-o", "ssd300.plan",
         "--precision", options.precision, "--target", options.target],
        options.threads, work)
    done = run([options.bin.resolve() / "brew-run", "train", "ssd300.plan",
                "--threads", options.threads], options.threads, work, limit=12 * 3600)
    losses = [(int(number), float(loss)) for number, loss in LOSS.findall(done.stderr)]
    times = [float(spent) / int(count) for spent, count in SPEED.findall(done.stderr)
             if int(count)]
    return losses, times


def main():
    options = parse_arguments()
    work = options.work_dir.resolve()
    work.mkdir(parents=True, exist_ok=True)
    make_database(options, work)
    losses, times = train(options, work)
    if len(losses) < 4:
        sys.exit("ssd300.py: too few iterations in the log")
    part = max(1, len(losses) // 10)
    first = statistics.mean(loss for _, loss in losses[:part])
    last = statistics.mean(loss for _, loss in losses[-part:])
    print("SSD300, batch %d, %s: loss %.3f at iteration %d, %.3f at iteration %d; "
          "%.2f s an iteration" % (options.batch, options.precision, first, losses[0][0],
                                   last, losses[-1][0], statistics.median(times or [0])))
    sys.exit(0 if last < first else 1)


if __name__ == "__main__":
    main()
