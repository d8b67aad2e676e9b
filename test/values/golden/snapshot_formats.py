#===- snapshot_formats.py - Snapshots in both formats, with gradients -------===#
"""Trains the recorded solvers with snapshots after every iteration.

In HDF5 the files must have Caffe's layout and its recorded values, and a run
resumed from one must continue like the uninterrupted run. With snapshot_diff,
the gradient of a blob must be the update that the iteration subtracted from the
blob, in both formats. A run from weights in an HDF5 file of another program must
equal a run from the same weights in a binary file.
"""

import argparse
import os
import shutil
import sys
import tempfile

import h5py
import numpy as np

from tools import Mismatch, Tools, difference, read_weights

SOLVERS = {  # case: history tensors per parameter
    "sgd_l1_step": 1, "nesterov": 1, "adagrad": 1, "rmsprop": 1, "adadelta": 2,
    "adam": 2}
TOLERANCE = 5e-5  # as in recorded_cases.py


def expect(condition, text):
    if not condition:
        raise Mismatch(text)


def read_hdf5(path, group):
    """Returns {"LAYER/INDEX": values} of a group."""
    values = {}
    with h5py.File(path, "r") as file:
        file[group].visititems(
            lambda name, item: values.update({name: item[()]})
            if isinstance(item, h5py.Dataset) else None)
    return values


def require_close(label, expected, actual, tolerance=TOLERANCE):
    expect(sorted(expected) == sorted(actual),
           "%s has %s, not %s" % (label, sorted(actual), sorted(expected)))
    for name in expected:
        error = difference(np.ravel(expected[name]), np.ravel(actual[name]))
        expect(error <= tolerance,
               "%s: %s differs by %.2g" % (label, name, error))


def compile_variant(tools, work, name, fields):
    """Compiles the case's solver with additional fields, and with a snapshot after
    each iteration."""
    with open(os.path.join(work, "solver.prototxt")) as file:
        text = file.read().replace("snapshot: 5", "snapshot: 1")
    with open(os.path.join(work, name + ".prototxt"), "w") as file:
        file.write(text + fields)
    tools.compile(name + ".prototxt", "-o", name + ".plan", cwd=work)


def check_state(path, weights, slots):
    with h5py.File(path, "r") as file:
        expect(file["iter"].shape == (1,) and file["iter"][0] == 5, "iter")
        expect(file["current_step"].shape == (1,), "current_step")
        expect(file["learned_net"][()].decode() == "snap_iter_5.caffemodel.h5",
               "learned_net")
        expect(len(file["history"]) == slots * len(weights),
               "%d history tensors" % len(file["history"]))
        shapes = [values.shape for values in weights.values()] * slots
        for i, shape in enumerate(shapes):
            expect(file["history/%d" % i].shape == shape, "history/%d" % i)


def check_diffs(label, weights, diffs):
    """Checks that each iteration subtracts its gradient."""
    for before, after, diff in zip(weights, weights[1:], diffs[1:]):
        require_close(label, {name: before[name] - after[name] for name in after}, diff,
                      tolerance=2e-3)  # differences of close numbers are inexact


def check_solver(tools, folder, slots, scratch):
    work = os.path.join(scratch, "solver")
    shutil.copytree(folder, work)

    def work_path(name):
        return os.path.join(work, name)

    with h5py.File(work_path("init.caffemodel.h5"), "w") as init:
        for name, values in read_weights(work_path("init.caffemodel")).items():
            init["data/" + name] = values.astype(np.float32)

    compile_variant(tools, work, "hdf5",
                    "snapshot_format: HDF5 snapshot_diff: true")
    tools.run("brew-run", "train", "hdf5.plan", "--weights",
              "init.caffemodel.h5", cwd=work)
    models = [work_path("snap_iter_%d.caffemodel.h5" % i) for i in range(1, 11)]
    weights = [read_hdf5(path, "data") for path in models]
    for iteration in (5, 10):
        recorded = read_weights(work_path("iter_%d.caffemodel" % iteration))
        require_close("iteration %d" % iteration, recorded, weights[iteration - 1])
    with h5py.File(models[0], "r") as model:
        # Layers without parameters are empty groups.
        expect(len(model["data"]) > len({p.split("/")[0] for p in weights[0]}),
               "layers without parameters are missing")
    check_diffs("HDF5", weights, [read_hdf5(path, "diff") for path in models])
    check_state(work_path("snap_iter_5.solverstate.h5"), weights[0], slots)

    os.remove(models[9])
    tools.run("brew-run", "train", "hdf5.plan", "--snapshot",
              "snap_iter_5.solverstate.h5", cwd=work)
    require_close("resumed", weights[9], read_hdf5(models[9], "data"), tolerance=0)

    compile_variant(tools, work, "binary", "snapshot_diff: true")
    tools.run("brew-run", "train", "binary.plan", "--weights",
              "init.caffemodel", cwd=work)
    models = [work_path("snap_iter_%d.caffemodel" % i) for i in range(1, 11)]
    require_close("binary", weights[9], read_weights(models[9]), tolerance=0)
    check_diffs("binary", [read_weights(path) for path in models],
                [read_weights(path, "diff") for path in models])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", required=True, help="folder of the tools")
    parser.add_argument("--reference", required=True, help="test/reference")
    parser.add_argument("--brewc-flags", default="", help="e.g. --no-library")
    parser.add_argument("cases", nargs="*", help="default: one of each solver")
    options = parser.parse_args()
    tools = Tools(options.bin, options.brewc_flags.split())

    failed = 0
    for name in options.cases or SOLVERS:
        folder = os.path.join(options.reference, "solvers", name)
        try:
            with tempfile.TemporaryDirectory() as scratch:
                check_solver(tools, folder, SOLVERS[name], scratch)
        except Mismatch as mismatch:
            failed += 1
            print("FAIL %s: %s" % (name, mismatch))
        else:
            print("ok   %s" % name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
