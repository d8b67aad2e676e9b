#===- lenet_trajectory.py - LeNet's first hundred losses against Caffe's ----===#
"""Trains LeNet from recorded initial weights and compares the losses.

Both sides read the same batches, so at first their losses agree up to rounding.
They cannot agree for long: a difference of one unit in the last place flips a
ReLU at zero or the winner of a pooling window near a tie, after which the two
runs are different, equally good trajectories. (An f64 plan and its f32 version
diverge likewise.) Therefore the first iterations have a tight limit, which a
wrong gradient or update would exceed at once. The mean of the later iterations
has a wider limit.

With activations in 16 bits (--rounding) a loss is the mean over rounded scores:
the first losses may differ by one rounding. Flips and ties are even more
frequent then, but the limit on the mean stays the same.
"""

import argparse
import os
import re
import shutil
import sys
import tempfile

from tools import Mismatch, Tools

ITERATIONS = 100
TIGHT_ITERATIONS = 10
TIGHT_TOLERANCE = 1e-4
MEAN_TOLERANCE = 2e-2

LOSS = re.compile(r"\] Iteration (\d+) \(.*\), loss = (\S+)$", re.MULTILINE)


def recorded_losses(path):
    with open(path) as file:
        return {int(iteration): float(loss)
                for iteration, loss in map(str.split, file)}


def train(tools, recorded, mnist, iterations, scratch):
    for name in ("lenet_solver.prototxt", "lenet_train_test.prototxt",
                 "init.caffemodel"):
        shutil.copy(os.path.join(recorded, name), scratch)
    for database, prefix in (("mnist_train_lmdb", "train"),
                             ("mnist_test_lmdb", "t10k")):
        tools.run("brew-data", "mnist",
                  os.path.join(mnist, prefix + "-images-idx3-ubyte.gz"),
                  os.path.join(mnist, prefix + "-labels-idx1-ubyte.gz"),
                  database, cwd=scratch)
    tools.compile("lenet_solver.prototxt", "-o", "lenet.plan", cwd=scratch)
    log = tools.run("brew-run", "train", "lenet.plan", "--weights",
                    "init.caffemodel", "--max-iter", str(iterations),
                    "--display", "1", "--test-interval", "0",
                    "--snapshot-after-train", "false", cwd=scratch)
    return {int(iteration): float(loss) for iteration, loss in LOSS.findall(log)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", required=True, help="folder of the tools")
    parser.add_argument("--recorded", required=True,
                        help="folder with the nets, init.caffemodel, losses.txt")
    parser.add_argument("--mnist", required=True, help="folder with the four IDX files")
    parser.add_argument("--brewc-flags", default="", help="e.g. --no-library")
    parser.add_argument("--rounding", type=float, default=0,
                        help="relative error of a rounded activation")
    parser.add_argument("--iterations", type=int, default=ITERATIONS,
                        help="fewer than %(default)s for a slow target")
    options = parser.parse_args()

    expected = recorded_losses(os.path.join(options.recorded, "losses.txt"))
    tools = Tools(options.bin, options.brewc_flags.split())
    try:
        with tempfile.TemporaryDirectory() as scratch:
            losses = train(tools, os.path.abspath(options.recorded),
                           os.path.abspath(options.mnist), options.iterations,
                           scratch)
    except Mismatch as mismatch:
        print("FAIL: %s" % mismatch)
        return 1
    missing = [i for i in range(options.iterations) if i not in losses]
    if missing:
        print("FAIL: the log has no loss of iterations %s" % missing)
        return 1

    tight = max(TIGHT_TOLERANCE, options.rounding)
    errors = [abs(losses[i] - expected[i]) / expected[i] for i in range(options.iterations)]
    first_error = max(errors[:TIGHT_ITERATIONS])
    later_errors = errors[TIGHT_ITERATIONS:] or [0]
    mean = sum(later_errors) / len(later_errors)
    print("largest relative difference, iterations 0-%d: %.2g (limit %g)" %
          (TIGHT_ITERATIONS - 1, first_error, tight))
    print("mean relative difference, iterations %d-%d: %.2g (limit %g)" %
          (TIGHT_ITERATIONS, options.iterations - 1, mean, MEAN_TOLERANCE))
    has_fallen = losses[options.iterations - 1] < losses[0]
    print("loss from %g to %g" % (losses[0], losses[options.iterations - 1]))
    return 0 if first_error <= tight and mean <= MEAN_TOLERANCE and has_fallen else 1


if __name__ == "__main__":
    sys.exit(main())
