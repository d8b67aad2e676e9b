#===- recorded_cases.py - Layers and solvers against values of Caffe -------===#
"""Compiles and runs the recorded cases of test/reference that supported.txt
names, and compares every recorded value.

layers/NAME.prototxt is one layer with its inputs in NAME.h5 and its parameters,
if any, in NAME.caffemodel. NAME.h5 also contains the blobs, the gradients and
the parameters after the pass (/data, /diff, /param_diff, /param_after). All of
them must agree.

solvers/NAME is a training run of ten iterations with snapshots after five and
ten. The run itself must agree, and two resumed runs: from the run's own
snapshot, which continues at the position in the data (recorded: iter_10), and
from Caffe's, which restarts at the first record (recorded: resumed_10).
"""

import argparse
import glob
import os
import re
import shutil
import sys
import tempfile

import h5py

from tools import Mismatch, Tools, difference, read_weights

# Both sides compute in f32 but add in different order: a sum of n products
# differs by about sqrt(n) * 6e-8 of its size, n is at most a few thousand here,
# and ten iterations compound it. Measured: at most 6e-7, and 2e-5 for a
# gradient whose contributions nearly cancel. A wrong formula is off by 1e-2 and
# more.
TOLERANCE = 5e-5

# With activations in 16 bits every value between two layers is rounded, relative
# to its size by at most half the distance of neighbouring numbers: 2^-9 in bf16,
# 2^-12 in f16 (--rounding). A case has up to four such roundings in a row (of the
# added number, the layer's top, its gradient and the bottom's), and two more for the
# operands of a product; recurrent layers round in each time step. The layers are well
# conditioned, so twelve roundings bound the difference. In ten iterations of a solver,
# rounding flips a value at a ReLU or the winner of a pooling window, which changes a
# gradient by one sample's share, in either type.
ROUNDINGS = 12
ROUNDED_SOLVER_TOLERANCE = 5e-2
# Rounding can make different values equal, and the first of equal values wins a
# pooling window; then the entire gradient goes to another element.
TIES = ("pool_max_3x2", "pool_max_mask", "pool_max_pad", "spp")


class Limits:
    """Allowed differences."""

    def __init__(self, rounding):
        self.rounding = rounding
        self.layer = max(TOLERANCE, ROUNDINGS * rounding)
        self.solver = ROUNDED_SOLVER_TOLERANCE if rounding else TOLERANCE

    def should_compare(self, case, name):
        ties = self.rounding and os.path.basename(case) in TIES
        return not (ties and name.split("/")[0] in ("diff", "param_diff"))


# Layers that a vendor's library computes; all others use the same code with
# --no-library.
LIBRARY_CALL = re.compile(
    r'type: *"(Convolution|Deconvolution|InnerProduct|LSTM|RNN)"')


def add_selection(parser):
    parser.add_argument("--reference", required=True, help="test/reference")
    parser.add_argument("--library-calls", action="store_true",
                        help="only cases with layers that a library computes")
    parser.add_argument("--chunk", default="0/1",
                        help="I/N: every N-th case, from the I-th on")
    parser.add_argument("cases", nargs="*", help="default: supported.txt")


def selected_names(options):
    names = options.cases or supported_names()
    if options.library_calls:
        names = [name for name in names if LIBRARY_CALL.search(
            net_text(find_case(options.reference, name)[1]))]
    first, step = map(int, options.chunk.split("/"))
    return names[first::step]


def supported_names():
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "supported.txt")) as file:
        lines = (line.split("#")[0].strip() for line in file)
        return [line for line in lines if line]


def net_text(base):
    """Returns a layer's net, or all prototxts of a solver's folder."""
    paths = glob.glob(os.path.join(base, "*.prototxt")) or [base + ".prototxt"]
    text = ""
    for path in paths:
        with open(path) as file:
            text += file.read()
    return text


def compare_file(expected, actual, case, limits):
    """Compares every dataset of `expected` outside /inputs."""
    compared = []

    def visit(name, item):
        if not isinstance(item, h5py.Dataset) or name.startswith("inputs/"):
            return
        if not limits.should_compare(case, name):
            return
        if name not in actual:
            raise Mismatch("/%s was not written" % name)
        check_values("/" + name, item[()], actual[name][()], limits.layer,
                     sum_scale(expected, name, limits))
        compared.append(name)

    expected.visititems(visit)
    if not compared:
        raise Mismatch("nothing is recorded to compare with")


def sum_scale(expected, name, limits):
    """Returns the size of a sum that may cancel: a wrap_BLOB layer adds one
    number, whose gradient is the sum of the blob's gradient. For exact terms
    this is the largest term; errors of rounded terms add up like random
    numbers."""
    parts = name.split("/")
    if parts[0] != "param_diff" or not parts[1].startswith("wrap_"):
        return 0
    terms = "diff/" + parts[1][len("wrap_"):]
    if terms not in expected:
        return 0
    values = abs(expected[terms][()])
    count = values.size if limits.rounding else 1
    return values.max() * count ** 0.5


def check_values(name, expected, actual, tolerance, scale=0):
    try:
        error = difference(expected, actual, scale)
    except Mismatch as mismatch:
        raise Mismatch("%s %s" % (name, mismatch)) from None
    if not error <= tolerance:
        raise Mismatch("%s differs by %.2g of its size" % (name, error))


def run_layer_case(tools, base, scratch, limits):
    plan = os.path.join(scratch, "layer.plan")
    outputs = os.path.join(scratch, "outputs.h5")
    with h5py.File(base + ".h5", "r") as recorded:
        gradients = ["--gradients"] if recorded.attrs["gradients"] else []
        tools.compile(base + ".prototxt", "--phase",
                      str(recorded.attrs["phase"]).lower(), "--keep", "all",
                      *gradients, "-o", plan)
        weights = base + ".caffemodel"
        weight_flags = ["--weights", weights] if os.path.exists(weights) else []
        tools.run("brew-run", "eval", plan, "--inputs", base + ".h5",
                  "--outputs", outputs, *weight_flags, *gradients)
        with h5py.File(outputs, "r") as computed:
            compare_file(recorded, computed, base, limits)


def compare_weights(recorded, computed, limits):
    expected, actual = read_weights(recorded), read_weights(computed)
    if set(expected) != set(actual) or not expected:
        raise Mismatch("%s has the blobs %s, recorded are %s" %
                       (computed, sorted(actual), sorted(expected)))
    for name, values in expected.items():
        # The error of a bias that has just left 0 is relative to its layer's
        # weights.
        weights = abs(expected[name.split("/")[0] + "/0"]).max()
        check_values("%s of %s" % (name, os.path.basename(computed)), values, actual[name],
                     limits.solver, weights if limits.rounding else 0)


def run_solver_case(tools, folder, scratch, limits):
    work = os.path.join(scratch, "solver")
    shutil.copytree(folder, work)

    def work_path(name):
        return os.path.join(work, name)

    tools.compile("solver.prototxt", "-o", "solver.plan", cwd=work)
    tools.run("brew-run", "train", "solver.plan", "--weights",
              "init.caffemodel", cwd=work)
    for iteration in (5, 10):
        compare_weights(work_path("iter_%d.caffemodel" % iteration),
                        work_path("snap_iter_%d.caffemodel" % iteration), limits)

    def resume(state, recorded):
        os.remove(work_path("snap_iter_10.caffemodel"))
        tools.run("brew-run", "train", "solver.plan", "--snapshot", state,
                  cwd=work)
        compare_weights(work_path(recorded), work_path("snap_iter_10.caffemodel"), limits)

    resume("snap_iter_5.solverstate", "iter_10.caffemodel")
    # Caffe's state names its weights snap_iter_5.caffemodel.
    shutil.copy(work_path("iter_5.caffemodel"), work_path("snap_iter_5.caffemodel"))
    resume("iter_5.solverstate", "resumed_10.caffemodel")


def find_case(reference, name):
    layer = os.path.join(reference, "layers", name)
    solver = os.path.join(reference, "solvers", name)
    if os.path.exists(layer + ".prototxt"):
        return run_layer_case, layer
    if os.path.exists(os.path.join(solver, "solver.prototxt")):
        return run_solver_case, solver
    raise Mismatch("is not in " + reference)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", required=True, help="folder of the tools")
    add_selection(parser)
    parser.add_argument("--brewc-flags", default="", help="e.g. --no-library")
    parser.add_argument("--rounding", type=float, default=0,
                        help="relative error of a rounded activation")
    options = parser.parse_args()

    names = selected_names(options)
    tools = Tools(options.bin, options.brewc_flags.split())
    limits = Limits(options.rounding)

    failed = 0
    for name in names:
        try:
            run_case, path = find_case(options.reference, name)
            with tempfile.TemporaryDirectory() as scratch:
                run_case(tools, path, scratch, limits)
        except Mismatch as mismatch:
            failed += 1
            print("FAIL %s: %s" % (name, mismatch))
        else:
            print("ok   %s" % name)
    print("%d of %d cases agree with Caffe" % (len(names) - failed, len(names)))
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
