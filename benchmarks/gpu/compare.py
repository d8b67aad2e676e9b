"""Compares what two plans compute from the same inputs.

The error of a dataset is the norm of the difference over the norm of the reference. How
large it may be is learnt from a CPU plan of the same precision (the yardstick), which
rounds as often as the GPU's.
"""

import math
import statistics

# How many times the yardstick's error is accepted.
ACCEPTED = 3
# Errors below are never a reason to fail: sums of f32 in another order.
NEGLIGIBLE = 1e-6


class Disagreement(Exception):
    """Results differ, or there is nothing to compare. `details`: of the worst one."""

    def __init__(self, message, details=None):
        super().__init__(message)
        self.details = details or {}


def write_inputs(path, inputs):
    """The same random numbers on every machine for BLOB=d,d,... texts; labels are 0
    or 1."""
    import h5py
    import numpy
    random = numpy.random.default_rng(1)
    with h5py.File(path, "w") as file:
        for text in inputs:
            blob, dims = text.split("=")
            shape = [int(dim) for dim in dims.split(",")]
            file["inputs/" + blob] = (random.random(shape) if len(shape) > 1
                                      else random.integers(0, 2, shape))


def datasets(path):
    """Name -> values, without the inputs."""
    import h5py
    found = {}

    def add(name, item):
        if isinstance(item, h5py.Dataset) and not name.startswith("inputs/"):
            found[name] = item[()].astype("float64")
    with h5py.File(path, "r") as file:
        file.visititems(add)
    return found


def errors(path, reference):
    """Dataset -> error of what `path` has against `reference`. Raises Disagreement if a
    name is missing, a shape differs, a value is not finite, or there is nothing."""
    import numpy
    values, wanted = datasets(path), datasets(reference)
    if not wanted:
        raise Disagreement("nothing was compared: the reference has no results")
    missing = sorted(set(wanted) ^ set(values))
    if missing:
        raise Disagreement("only one side has " + ", ".join(missing[:5]))
    result = {}
    for name, want in wanted.items():
        have = values[name]
        if have.shape != want.shape:
            raise Disagreement("{} has the shape {} and not {}".format(
                name, have.shape, want.shape))
        if not (numpy.all(numpy.isfinite(have)) and numpy.all(numpy.isfinite(want))):
            raise Disagreement(name + " has values that are not finite",
                               first_values(name, have, want))
        norm = float(numpy.linalg.norm(want))
        difference = float(numpy.linalg.norm(have - want))
        result[name] = difference / norm if norm else (math.inf if difference
                                                       else 0.0)
    return result


def first_values(name, have, want):
    return {"blob": name, "first": have.ravel()[:6].tolist(),
            "expected": want.ravel()[:6].tolist()}


def judge(found, yardstick):
    """The worst of the errors `found` (dataset -> error), as {"blob", "error",
    "expected_error", "ratio"}. Raises Disagreement if it is more than ACCEPTED times the
    yardstick's. A yardstick that is small by chance counts as the median of all."""
    if set(found) - set(yardstick):
        raise Disagreement("there is no yardstick for "
                           + ", ".join(sorted(set(found) - set(yardstick))[:5]))
    median = statistics.median(yardstick.values())
    worst = None
    for name, error in found.items():
        expected = max(yardstick[name], median, NEGLIGIBLE)
        ratio = error / expected
        if worst is None or ratio > worst["ratio"]:
            worst = {"blob": name, "error": error, "expected_error": expected,
                     "ratio": ratio}
    worst["compared"] = len(found)
    if not worst["ratio"] <= ACCEPTED:
        raise Disagreement(
            "{blob} has an error of {error:.2g}, {ratio:.1f} times what a CPU plan of "
            "this precision has ({expected_error:.2g})".format(**worst), worst)
    return worst
