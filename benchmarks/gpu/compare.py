"""Compares the results of two plans on the same inputs.

The error of a dataset is the norm of the difference divided by the norm of the reference.
The expected error is the error of a CPU plan of the same precision, which rounds as often as
the GPU plan.
"""

import math
import statistics

# Largest accepted ratio of an error to the expected error.
ACCEPTED = 3
# Errors that are always accepted: for single numbers, such as losses, the expected error may
# be small by chance.
NEGLIGIBLE = {"f32": 1e-5, "tf32": 1e-3, "f16": 5e-4, "bf16": 2e-3}
# Datasets with a larger expected error are not compared: even zeros would pass.
INFORMATIVE = 0.25


class Disagreement(Exception):
    """Results differ, or there is nothing to compare. `details` describes the dataset with
    the largest ratio."""

    def __init__(self, message, details=None):
        super().__init__(message)
        self.details = details or {}


def write_inputs(path, inputs):
    """Writes an HDF5 file with random values for BLOB=d,d,... texts, the same on every
    machine; labels are 0 or 1."""
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
    """Returns name -> values of an HDF5 file, without the inputs."""
    import h5py
    result = {}

    def add(name, item):
        if isinstance(item, h5py.Dataset) and not name.startswith("inputs/"):
            result[name] = item[()].astype("float64")
    with h5py.File(path, "r") as file:
        file.visititems(add)
    return result


def errors(path, reference):
    """Returns dataset -> error of the file `path` against `reference`. Raises Disagreement
    if a name is missing, a shape differs, a value is not finite, or `reference` is empty."""
    import numpy
    values, expected_values = datasets(path), datasets(reference)
    if not expected_values:
        raise Disagreement("nothing was compared: the reference has no results")
    missing = sorted(set(expected_values) ^ set(values))
    if missing:
        raise Disagreement("only one side has " + ", ".join(missing[:5]))
    result = {}
    for name, expected_array in expected_values.items():
        array = values[name]
        if array.shape != expected_array.shape:
            raise Disagreement("{} has the shape {} and not {}".format(
                name, array.shape, expected_array.shape))
        if not (numpy.all(numpy.isfinite(array)) and numpy.all(numpy.isfinite(expected_array))):
            raise Disagreement(name + " has values that are not finite",
                               first_values(name, array, expected_array))
        norm = float(numpy.linalg.norm(expected_array))
        difference = float(numpy.linalg.norm(array - expected_array))
        result[name] = difference / norm if norm else (math.inf if difference
                                                       else 0.0)
    return result


def first_values(name, array, expected_array):
    return {"blob": name, "first": array.ravel()[:6].tolist(),
            "expected": expected_array.ravel()[:6].tolist()}


def groups_of(expected_errors):
    """Returns group (data, param_diff, ...) -> dataset -> expected error, for informative
    datasets. Raises Disagreement if these are less than half of a group."""
    groups = {}
    for name, error in expected_errors.items():
        groups.setdefault(name.split("/")[0], {})[name] = error
    for group, group_errors in groups.items():
        informative = {name: error for name, error in group_errors.items()
                       if error <= INFORMATIVE}
        if 2 * len(informative) < len(group_errors):
            raise Disagreement("only {} of {} datasets in {} have an expected error of at "
                               "most {}".format(len(informative), len(group_errors), group,
                                           INFORMATIVE))
        groups[group] = informative
    return groups


def judge(measured_errors, expected_errors, precision):
    """Compares `measured_errors` (dataset -> error) with the expected errors. Returns the
    dataset with the largest ratio as {"blob", "error", "expected_error", "ratio",
    "compared"}. Raises Disagreement if the ratio exceeds ACCEPTED. An expected error that is
    small by chance is replaced by the median of its group, without zeros (parameters that no
    step has changed)."""
    if set(measured_errors) != set(expected_errors):
        raise Disagreement("there are no expected errors for " + ", ".join(
            sorted(set(measured_errors) ^ set(expected_errors))[:5]))
    worst = {"ratio": -1.0, "compared": 0}
    for group in groups_of(expected_errors).values():
        rounded = [error for error in group.values() if error]
        usual = statistics.median(rounded) if rounded else 0.0
        for name in group:
            expected = max(group[name], usual, NEGLIGIBLE[precision])
            ratio = measured_errors[name] / expected
            worst["compared"] += 1
            if ratio > worst["ratio"]:
                worst.update(blob=name, error=measured_errors[name], expected_error=expected,
                             ratio=ratio)
    if not worst["ratio"] <= ACCEPTED:
        raise Disagreement(
            "{blob} has an error of {error:.2g}, {ratio:.1f} times the error of a CPU plan "
            "of this precision ({expected_error:.2g})".format(**worst), worst)
    return worst
