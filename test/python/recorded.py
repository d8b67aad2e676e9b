"""Runs recorded layers through caffe.Net, layer by layer and fused, and compares all blobs,
gradients and parameters. usage: recorded.py DIR [NAME ...]

DIR contains NAME.prototxt, NAME.h5 (inputs and Caffe's results) and, for layers with parameters,
NAME.caffemodel. Values may differ by 2e-4 of the largest magnitude. The scalar gradient of
`wrap_x` is the sum of another gradient, whose elements nearly cancel: it may differ by 2e-5."""
import os
import sys
import warnings

import caffe
import h5py
import numpy as np

RTOL = 2e-4


def off(want, got, floor=1e-3):
    want, got = np.asarray(want, np.float64), np.asarray(got, np.float64)
    if want.size != got.size:
        return "shape %s, want %s" % (got.shape, want.shape)
    if not want.size:
        return ""
    error = np.max(np.abs(want.ravel() - got.ravel())) / max(np.max(np.abs(want)), floor)
    return "" if error <= RTOL else "relative error %.3g" % error


def run(base, whole):
    """Runs a recorded layer, fused or layer by layer; yields the differences."""
    with h5py.File(base + ".h5", "r") as want:
        phase = getattr(caffe, want.attrs["phase"])
        net = caffe.Net(base + ".prototxt", phase)
        if os.path.exists(base + ".caffemodel"):
            net.copy_from(base + ".caffemodel")
        if not whole:
            net.before_forward(lambda i: None)
        for name, values in want.get("inputs", {}).items():
            net.blobs[name].reshape(*values.shape)
            net.blobs[name].data[...] = values
        net.forward()
        found = {"data": lambda n: net.blobs[n].data}
        if want.attrs["gradients"]:
            net.backward()
            found["diff"] = lambda n: net.blobs[n].diff
        for kind, of in found.items():
            for name, values in want.get(kind, {}).items():
                difference = off(values, of(name))
                if difference:
                    yield "%s/%s: %s" % (kind, name, difference)
        for kind, part in (("param_diff", "diff"), ("param_after", "data")):
            for layer, group in want.get(kind, {}).items():
                for i, values in group.items():
                    floor = 0.1 if layer.startswith("wrap_") and part == "diff" else 1e-3
                    difference = off(values, getattr(net.params[layer][int(i)], part), floor)
                    if difference:
                        yield "%s/%s/%s: %s" % (kind, layer, i, difference)


def main():
    warnings.simplefilter("ignore")
    folder = sys.argv[1]
    names = sys.argv[2:] or sorted(f[:-3] for f in os.listdir(folder) if f.endswith(".h5"))
    passed = failed = 0
    for name in names:
        for whole in (False, True):
            try:
                differences = list(run(os.path.join(folder, name), whole))
            except Exception as failure:
                differences = ["%s: %s" % (type(failure).__name__, failure)]
            if differences:
                failed += 1
                print("FAIL %s (%s): %s" % (name, "whole" if whole else "by layers", "; ".join(differences)[:300]))
            else:
                passed += 1
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
