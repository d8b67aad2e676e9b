#===- loss_scale.py - f16 updates are skipped when gradients overflow ------===#
"""Trains a layer whose top gradient equals the loss scale in every element, and
checks which updates change the weights.

The largest f16 number is 65504, so a scale of 2^16 overflows and 2^15 does not.
An overflow must leave weights and history unchanged and halve the scale; a
window of good iterations must double it. A resumed run must continue with the
scale and the count of the uninterrupted run.
"""

import argparse
import os
import sys
import tempfile

import h5py
import numpy as np

from tools import Mismatch, Tools, read_weights

NET = """
name: "scaled"
layer { name: "data" type: "DummyData" top: "x"
  dummy_data_param { shape { dim: 2 dim: 3 } data_filler { value: 1 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y"
  inner_product_param { num_output: 2 bias_term: false
    weight_filler { type: "constant" value: 0.5 } } }
layer { name: "sum" type: "Reduction" bottom: "y" top: "loss" loss_weight: 1 }
"""

SOLVER = """
net: "net.prototxt"
base_lr: 0.0078125
lr_policy: "fixed"
momentum: %s
max_iter: %d
snapshot: 1
snapshot_prefix: "snap"
iter_size: %d
"""

# (flags, momentum, iter_size, whether each update changes the weights)
CASES = (
    # An explicit loss scale applies from the first iteration.
    ("--loss-scale=1024", 0, 1, "11111111"),
    # Nine overflows halve the scale from 2^24 to 2^15.
    ("--loss-scale=16777216", 0, 1, "000000000111"),
    # The history stays unchanged too: otherwise it would continue to change the
    # weights.
    ("--loss-scale=262144", 0.9, 1, "000111"),
    # The scale is doubled after every window of good iterations, and halved after
    # every overflow.
    ("--loss-scale=8192 --loss-scale-window=1", 0, 1, "11101010"),
    ("--loss-scale=16384 --loss-scale-window=3", 0, 1, "11111101110"),
    # A fixed scale that overflows never learns; its updates are skipped, too.
    ("--loss-scale=65536 --loss-scale-window=0", 0, 1, "0000"),
    # If one of an update's batches overflows, the entire update is skipped.
    ("--loss-scale=262144", 0, 2, "000111"),
)
STEP = 0.0078125 * 2  # rate (0.0078125) times the gradient, a sum over two rows of ones


def check(tools, flags, momentum, iter_size, pattern, scratch):
    with open(os.path.join(scratch, "net.prototxt"), "w") as file:
        file.write(NET)
    with open(os.path.join(scratch, "solver.prototxt"), "w") as file:
        file.write(SOLVER % (momentum, len(pattern), iter_size))
    tools.compile("solver.prototxt", "--precision=f16", *flags.split(), "-o",
                  "solver.plan", cwd=scratch)
    tools.run("brew-run", "train", "solver.plan", cwd=scratch)
    value, history = 0.5, 0.0
    for iteration, changes in enumerate(pattern, 1):
        if changes == "1":
            history = momentum * history + STEP
            value -= history
        path = os.path.join(scratch, "snap_iter_%d.caffemodel" % iteration)
        weights = read_weights(path)["ip/0"]
        # Sums and rates are exact in f32; momentum is not.
        if not np.allclose(weights, value, rtol=1e-6, atol=0):
            raise Mismatch("after iteration %d of %s the weights are %s, not %g" %
                           (iteration, pattern, weights.ravel()[:3], value))


def snapshot_content(path):
    """Returns the bytes of a snapshot; for an HDF5 file, the bytes of each
    dataset."""
    if path.endswith(".h5"):
        datasets = {}
        with h5py.File(path, "r") as file:
            file.visititems(lambda name, item: datasets.update(
                {name: np.asarray(item[()]).tobytes()}
                if isinstance(item, h5py.Dataset) else {}))
        return datasets
    with open(path, "rb") as file:
        return file.read()


def check_resumed(tools, flags, momentum, iter_size, pattern, scratch, suffix):
    """Checks that a run resumed at any iteration writes the same snapshots as the
    uninterrupted run, bit for bit."""
    fields = "snapshot_format: HDF5" if suffix else ""
    with open(os.path.join(scratch, "net.prototxt"), "w") as file:
        file.write(NET)
    with open(os.path.join(scratch, "solver.prototxt"), "w") as file:
        file.write(SOLVER % (momentum, len(pattern), iter_size) + fields)
    tools.compile("solver.prototxt", "--precision=f16", *flags.split(), "-o",
                  "solver.plan", cwd=scratch)
    tools.run("brew-run", "train", "solver.plan", cwd=scratch)

    def snapshot(iteration):
        names = ["snap_iter_%d.%s%s" % (iteration, kind, suffix)
                 for kind in ("caffemodel", "solverstate")]
        return [snapshot_content(os.path.join(scratch, name)) for name in names]

    original = {i: snapshot(i) for i in range(1, len(pattern) + 1)}
    for start in range(1, len(pattern)):
        tools.run("brew-run", "train", "solver.plan", "--snapshot",
                  "snap_iter_%d.solverstate%s" % (start, suffix), cwd=scratch)
        for iteration in range(start + 1, len(pattern) + 1):
            if snapshot(iteration) != original[iteration]:
                raise Mismatch("resumed at %d, iteration %d differs" %
                               (start, iteration))
    # A scale of 2^24 overflows again, from any state.
    tools.run("brew-run", "train", "solver.plan", "--loss-scale", "16777216",
              "--snapshot", "snap_iter_%d.solverstate%s" %
              (len(pattern) - 1, suffix), cwd=scratch)
    if snapshot(len(pattern)) == original[len(pattern)]:
        raise Mismatch("another scale changes nothing")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", required=True, help="folder of the tools")
    parser.add_argument("--brewc-flags", default="", help="e.g. --target cuda")
    options = parser.parse_args()
    tools = Tools(options.bin, options.brewc_flags.split())
    failed = 0
    for case, suffix in ((CASES[4], ""), (CASES[2], ".h5"), (CASES[6], "")):
        try:
            with tempfile.TemporaryDirectory() as scratch:
                check_resumed(tools, *case, scratch, suffix)
        except Mismatch as mismatch:
            failed += 1
            print("FAIL resumed, %s%s: %s" % (case[0], suffix, mismatch))
        else:
            print("ok   resumed, %s%s" % (case[0], suffix))
    for case in CASES:
        try:
            with tempfile.TemporaryDirectory() as scratch:
                check(tools, *case, scratch)
        except Mismatch as mismatch:
            failed += 1
            print("FAIL %s, momentum %s, iter_size %s: %s" % (*case[:3], mismatch))
        else:
            print("ok   %s, momentum %s, iter_size %s" % case[:3])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
