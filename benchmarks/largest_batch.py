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
FEW, MANY = (2, 6), 2048


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
                        help="part of it for programs and libraries, in bytes (%(default)g)")
    parser.add_argument("--python", type=Path,
                        help="interpreter with PyTorch, to measure it too")
    parser.add_argument("--work-dir", type=Path,
                        default=ROOT / "build/benchmarks")
    parser.add_argument("--markdown", action="store_true")
    return parser.parse_args()


class Net:
    """The files of a net and brewc's reports on them."""

    def __init__(self, options, compiler, name):
        self.options, self.compiler, self.name = options, compiler, name
        self.write(1)

    def write(self, batch):
        """Writes the prototxt; returns the name of the file."""
        net = "%s.prototxt" % self.name
        (self.compiler.work / net).write_text(deep.NETS[self.name](batch))
        brew_side.write_solver(self.compiler.work, self.name + "_solver.prototxt",
                          net, 1)
        return net

    def report(self, batch, *words):
        self.write(batch)
        done = self.compiler.run("brewc", self.name + "_solver.prototxt",
                                 "--report=json", *words)
        return json.loads(done.stdout)["programs"]["forward_backward"]

    def room(self):
        """Returns the bytes that the parameters leave for activations, and the bytes of
        Caffe's blobs for one image."""
        memory = self.report(1)["memory"]
        kept = sum(memory[part + "_bytes"] for part in ("param", "grad", "state"))
        return (int(self.options.memory - self.options.reserve - kept),
                memory["caffe_bytes"])

    def need(self, batch):
        """Returns the bytes that --memory-limit limits: the arena and the known workspaces."""
        memory = self.report(batch)["memory"]
        return memory["arena_bytes"] + (memory["workspace_bytes"] or 0)

    def largest_planned(self, room):
        """Returns the largest batch that fits without rematerialization."""
        good, bad = 0, 1
        while self.need(bad) <= room:
            good, bad = bad, 2 * bad
        while good + 1 < bad:
            middle = (good + bad) // 2
            fits = self.need(middle) <= room
            good, bad = (middle, bad) if fits else (good, middle)
        return good

    def largest_limited(self, room):
        """Returns the largest batch that fits at all, from brewc's error message."""
        try:
            self.report(MANY, "--memory-limit=%d" % room)
        except MeasureError as error:
            found = LARGEST.search(str(error))
            if found:
                return int(found.group(1))
            raise
        return MANY

    def seconds(self, batch, *words):
        return self.report(batch, *words)["roofline_seconds"]

    def torch_bytes(self, batch):
        done = run([self.options.python, HERE / "gpu/torch_step.py",
                    self.write(batch), "--device=cpu", "--mode=train", "--foreach",
                    "--precision=f32", "--variant=channels_last", "--warm-up=0",
                    "--steps=2", "--input=data=%d,3,224,224" % batch,
                    "--input=label=%d" % batch], 2, self.compiler.work)
        return done.peak_bytes

    def largest_torch(self):
        few, more = (self.torch_bytes(batch) for batch in FEW)
        each = (more - few) / (FEW[1] - FEW[0])
        return int((self.options.memory - few) / each) + FEW[0]


def rows_of(options, net):
    room, caffe = net.room()
    rows = []

    def add(program, batch, note=""):
        rows.append([net.name if not rows else "", program, batch, note])
    planned, limited = net.largest_planned(room), net.largest_limited(room)
    slower = (net.seconds(limited, "--memory-limit=%d" % room) / limited
              / (net.seconds(planned) / planned) - 1)
    add("Brew", planned)
    add("Brew --memory-limit", limited,
        "%+.1f %% per image by the roofline" % (100 * slower))
    add("Caffe", room // caffe)
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
