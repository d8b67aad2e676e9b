#!/usr/bin/env python3
"""Prints the largest training batches of deep nets that fit in a machine's memory.

For Brew, the memory is what brewc plans: the arena, parameters, gradients and solver
history; nothing is run. For Caffe, it is data and diff of all blobs and of the parameters.
For PyTorch, it is the measured peak memory of a step with each of two small batches,
extrapolated linearly. See README.md in this folder.
"""

import argparse
import json
import re
import sys
from pathlib import Path

import brew_side
import deep
import tables
from process import MeasureError, run

ROOT = Path(__file__).resolve().parent.parent
HERE = Path(__file__).resolve().parent
LARGEST = re.compile(r"largest batch that fits is (\d+)")
# Batches for which PyTorch is measured, and a batch that is too large for every net.
SMALL_BATCHES, TOO_LARGE_BATCH = (2, 6), 2048


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin",
                        help="folder of brewc")
    parser.add_argument("--net", action="append", choices=sorted(deep.NETS),
                        help="may be repeated; default: all")
    parser.add_argument("--memory", type=float, default=24e9,
                        help="memory of the machine, in bytes (%(default)g)")
    parser.add_argument("--reserve", type=float, default=5e8,
                        help="part of the memory for programs and libraries, in bytes "
                             "(%(default)g)")
    parser.add_argument("--python", type=Path,
                        help="interpreter with PyTorch, to measure it too")
    parser.add_argument("--work-dir", type=Path,
                        default=ROOT / "build/benchmarks")
    parser.add_argument("--markdown", action="store_true")
    return parser.parse_args()


class Net:
    """Writes the files of a net and returns brewc's reports on them."""

    def __init__(self, options, compiler, name):
        self.options, self.compiler, self.name = options, compiler, name
        self.write(1)

    def write(self, batch):
        """Writes the prototxt and its solver. Returns the name of the prototxt."""
        net = "%s.prototxt" % self.name
        (self.compiler.work / net).write_text(deep.NETS[self.name](batch))
        brew_side.write_solver(self.compiler.work, self.name + "_solver.prototxt",
                               net, 1)
        return net

    def report(self, batch, *flags):
        """Returns brewc's report on the training program."""
        self.write(batch)
        completed = self.compiler.run("brewc", self.name + "_solver.prototxt",
                                      "--report=json", *flags)
        return json.loads(completed.stdout)["programs"]["forward_backward"]

    def available_bytes(self):
        """Returns the bytes that the parameters leave for activations, and the bytes of
        Caffe's blobs for one image."""
        memory = self.report(1)["memory"]
        fixed_bytes = sum(memory[part + "_bytes"] for part in ("param", "grad", "state"))
        return (int(self.options.memory - self.options.reserve - fixed_bytes),
                memory["caffe_bytes"])

    def required_bytes(self, batch):
        """Returns the bytes that --memory-limit limits: the arena and the known workspaces."""
        memory = self.report(batch)["memory"]
        return memory["arena_bytes"] + (memory["workspace_bytes"] or 0)

    def largest_planned(self, available):
        """Returns the largest batch that fits without rematerialization."""
        fitting, too_large = 0, 1
        while self.required_bytes(too_large) <= available:
            fitting, too_large = too_large, 2 * too_large
        while fitting + 1 < too_large:
            middle = (fitting + too_large) // 2
            fits = self.required_bytes(middle) <= available
            fitting, too_large = (middle, too_large) if fits else (fitting, middle)
        return fitting

    def largest_limited(self, available):
        """Returns the largest batch that fits at all, from brewc's error message."""
        try:
            self.report(TOO_LARGE_BATCH, "--memory-limit=%d" % available)
        except MeasureError as error:
            match = LARGEST.search(str(error))
            if match:
                return int(match.group(1))
            raise
        return TOO_LARGE_BATCH

    def seconds(self, batch, *flags):
        return self.report(batch, *flags)["roofline_seconds"]

    def torch_bytes(self, batch):
        """Returns the peak memory of a step in PyTorch."""
        completed = run([self.options.python, HERE / "gpu/torch_step.py",
                         self.write(batch), "--device=cpu", "--mode=train", "--foreach",
                         "--precision=f32", "--variant=channels_last", "--warm-up=0",
                         "--steps=2", "--input=data=%d,3,224,224" % batch,
                         "--input=label=%d" % batch], 2, self.compiler.work)
        return completed.peak_bytes

    def largest_torch(self):
        """Returns the largest batch of PyTorch, extrapolated from two small batches."""
        small, larger = (self.torch_bytes(batch) for batch in SMALL_BATCHES)
        bytes_per_image = (larger - small) / (SMALL_BATCHES[1] - SMALL_BATCHES[0])
        return int((self.options.memory - small) / bytes_per_image) + SMALL_BATCHES[0]


def rows_of(options, net):
    """Returns the rows of a net: the largest batch of each program."""
    available, caffe = net.available_bytes()
    rows = []

    def add(program, batch, note=""):
        rows.append([net.name if not rows else "", program, batch, note])
    planned, limited = net.largest_planned(available), net.largest_limited(available)
    slowdown = (net.seconds(limited, "--memory-limit=%d" % available) / limited
                / (net.seconds(planned) / planned) - 1)
    add("Brew", planned)
    add("Brew --memory-limit", limited,
        "%+.1f %% per image by the roofline" % (100 * slowdown))
    add("Caffe", available // caffe)
    if options.python:
        add("PyTorch", net.largest_torch())
    return rows


def main():
    options = parse_arguments()
    options.work_dir.mkdir(parents=True, exist_ok=True)
    compiler = brew_side.Brew(options.bin.resolve(), options.work_dir.resolve(), 2)
    rows = []
    for name in options.net or deep.NETS:
        try:
            rows += rows_of(options, Net(options, compiler, name))
        except MeasureError as error:
            sys.exit("largest_batch.py: %s: %s" % (name, error))
    print("\n".join(tables.render(["net", "program", "largest batch", ""], rows,
                                  options.markdown, left=2)))


if __name__ == "__main__":
    main()
