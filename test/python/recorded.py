"""Runs recorded layers through caffe.Net, layer by layer and fused, and compares all blobs,
gradients and parameters. usage: recorded.py DIR [NAME ...]

DIR contains NAME.prototxt, NAME.h5 (inputs and Caffe's results) and, for layers with parameters,
NAME.caffemodel. Values may differ by 2e-4 of the largest magnitude in their array. The scalar
gradient of `wrap_x` is a sum whose terms nearly cancel, so it may differ by 2e-5."""
import os
import sys
import warnings

import caffe
import h5py
import numpy as np

RTOL = 2e-4


def describe_difference(expected, actual, min_magnitude=1e-3):
    """Returns a description of the difference between two arrays, empty if they agree.

    Errors are relative to the largest expected magnitude, but at least to `min_magnitude`."""
    expected, actual = np.asarray(expected, np.float64), np.asarray(actual, np.float64)
    if expected.size != actual.size:
        return "shape %s, expected %s" % (actual.shape, expected.shape)
    if not expected.size:
        return ""
    error = np.max(np.abs(expected.ravel() - actual.ravel())) / max(np.max(np.abs(expected)), min_magnitude)
    return "" if error <= RTOL else "relative error %.3g" % error


def run(base, is_fused):
    """Runs the layer recorded in the files with the path prefix `base`; yields the differences."""
    with h5py.File(base + ".h5", "r") as recorded:
        phase = getattr(caffe, recorded.attrs["phase"])
        net = caffe.Net(base + ".prototxt", phase)
        if os.path.exists(base + ".caffemodel"):
            net.copy_from(base + ".caffemodel")
        if not is_fused:
            net.before_forward(lambda i: None)
        for name, values in recorded.get("inputs", {}).items():
            net.blobs[name].reshape(*values.shape)
            net.blobs[name].data[...] = values
        net.forward()
        getters = {"data": lambda n: net.blobs[n].data}
        if recorded.attrs["gradients"]:
            net.backward()
            getters["diff"] = lambda n: net.blobs[n].diff
        for kind, get in getters.items():
            for name, values in recorded.get(kind, {}).items():
                difference = describe_difference(values, get(name))
                if difference:
                    yield "%s/%s: %s" % (kind, name, difference)
        for kind, attribute in (("param_diff", "diff"), ("param_after", "data")):
            for layer, group in recorded.get(kind, {}).items():
                for i, values in group.items():
                    min_magnitude = 0.1 if layer.startswith("wrap_") and attribute == "diff" else 1e-3
                    difference = describe_difference(values, getattr(net.params[layer][int(i)], attribute),
                                                     min_magnitude)
                    if difference:
                        yield "%s/%s/%s: %s" % (kind, layer, i, difference)


def main():
    warnings.simplefilter("ignore")
    folder = sys.argv[1]
    names = sys.argv[2:] or sorted(f[:-3] for f in os.listdir(folder) if f.endswith(".h5"))
    passed = failed = 0
    for name in names:
        for is_fused in (False, True):
            try:
                differences = list(run(os.path.join(folder, name), is_fused))
            except Exception as failure:
                differences = ["%s: %s" % (type(failure).__name__, failure)]
            if differences:
                failed += 1
                print("FAIL %s (%s): %s" % (name, "fused" if is_fused else "layer by layer",
                                            "; ".join(differences)[:300]))
            else:
                passed += 1
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
