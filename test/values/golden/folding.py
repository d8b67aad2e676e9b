#===- folding.py - Inference with and without folded layers --------------===#
"""Compiles nets for inference twice: with all blobs pinned, so that nothing can
be folded, and with normalisation folded into weights and sums into calls. Both
must compute the same outputs, from random weights in a file and from weights in
the plan."""

import argparse
import os
import sys
import tempfile

import h5py
import numpy as np

from tools import Mismatch, Tools, difference

TOLERANCE = 1e-5  # Measured: 6e-7. Both compute in f32, but in different order.

INPUT = 'layer { name: "in" type: "Input" top: "x" input_param { shape { %s } } }\n'
NORM = '''
layer { name: "%(n)sbn" type: "BatchNorm" bottom: "%(n)s" top: "%(n)s" }
layer { name: "%(n)sscale" type: "Scale" bottom: "%(n)s" top: "%(n)s"
  scale_param { bias_term: true } }
layer { name: "%(n)srelu" type: "ReLU" bottom: "%(n)s" top: "%(n)s" }
'''


def conv(name, bottom, settings):
    return ('layer { name: "%s" type: "Convolution" bottom: "%s" top: "%s" '
            'convolution_param { %s } }\n' % (name, bottom, name, settings))


IMAGE = INPUT % "dim: 2 dim: 4 dim: 7 dim: 6"
NETS = {
    "convolution": IMAGE + conv("y", "x", "num_output: 6 kernel_size: 3 bias_term: false")
    + NORM % {"n": "y"},
    "biased_group": IMAGE + conv("y", "x", "num_output: 6 kernel_size: 3 group: 2")
    + NORM % {"n": "y"},
    "depthwise": IMAGE + conv("d", "x", "num_output: 4 kernel_size: 3 pad: 1 group: 4")
    + NORM % {"n": "d"} + conv("y", "d", "num_output: 5 kernel_size: 1") + NORM % {"n": "y"},
    "norm_alone": IMAGE + conv("y", "x", "num_output: 6 kernel_size: 1") +
    'layer { name: "n" type: "BatchNorm" bottom: "y" top: "y" batch_norm_param { eps: 0.3 } }',
    "bias_only": IMAGE + conv("y", "x", "num_output: 6 kernel_size: 1 bias_term: false") +
    'layer { name: "n" type: "Bias" bottom: "y" top: "y" }',
    "before_convolution": IMAGE + NORM % {"n": "x"} + conv("y", "x", "num_output: 3 kernel_size: 3"),
    "read_twice": IMAGE + conv("c", "x", "num_output: 4 kernel_size: 1") +
    'layer { name: "n" type: "BatchNorm" bottom: "c" top: "n" }'
    'layer { name: "y" type: "Eltwise" bottom: "c" bottom: "n" top: "y" }',
    "inner_product": INPUT % "dim: 3 dim: 5" +
    'layer { name: "y" type: "InnerProduct" bottom: "x" top: "y" '
    'inner_product_param { num_output: 4 } }' + NORM % {"n": "y"},
    "transposed": INPUT % "dim: 3 dim: 5" +
    'layer { name: "y" type: "InnerProduct" bottom: "x" top: "y" '
    'inner_product_param { num_output: 4 transpose: true bias_term: false } }' + NORM % {"n": "y"},
    # A residual block: a convolution adds to its input in place.
    "residual": IMAGE + conv("a", "x", "num_output: 16 kernel_size: 3") + NORM % {"n": "a"} +
    conv("b", "a", "num_output: 16 kernel_size: 3 pad: 1") + NORM % {"n": "b"} +
    conv("c", "b", "num_output: 16 kernel_size: 1 bias_term: false") +
    'layer { name: "y" type: "Eltwise" bottom: "a" bottom: "c" top: "y" }'
    'layer { name: "yrelu" type: "ReLU" bottom: "y" top: "y" relu_param { negative_slope: 0.5 } }',
    "two_convolutions": IMAGE + conv("a", "x", "num_output: 16 kernel_size: 3") +
    conv("b", "x", "num_output: 16 kernel_size: 3 bias_term: false") +
    'layer { name: "y" type: "Eltwise" bottom: "b" bottom: "a" top: "y" }',
    # The other operand of the sum is the convolution's own bottom, is read
    # later, or is an input.
    "own_bottom": IMAGE + conv("a", "x", "num_output: 4 kernel_size: 3 pad: 1") +
    conv("b", "a", "num_output: 4 kernel_size: 3 pad: 1") +
    'layer { name: "y" type: "Eltwise" bottom: "a" bottom: "b" top: "y" }',
    "read_later": IMAGE + conv("a", "x", "num_output: 4 kernel_size: 3 pad: 1") +
    conv("b", "x", "num_output: 4 kernel_size: 3 pad: 1") +
    'layer { name: "s" type: "Eltwise" bottom: "a" bottom: "b" top: "s" }'
    'layer { name: "y" type: "Concat" bottom: "s" bottom: "a" top: "y" }',
    "input": IMAGE + conv("b", "x", "num_output: 8 kernel_size: 3 pad: 1") +
    conv("c", "b", "num_output: 4 kernel_size: 3 pad: 1") +
    'layer { name: "y" type: "Eltwise" bottom: "x" bottom: "c" top: "y" }',
    "of_an_image": IMAGE +
    'layer { name: "y" type: "InnerProduct" bottom: "x" top: "y" '
    'inner_product_param { num_output: 4 } }' + NORM % {"n": "y"},
}


def write_weights(path, shapes, random):
    import caffe_pb2  # generated from formats/caffe.proto by the build
    net = caffe_pb2.NetParameter()
    for layer, blobs in shapes.items():
        out = net.layer.add(name=layer)
        for i, dims in enumerate(blobs):
            values = random.uniform(-1, 1, dims)
            if len(blobs) == 3 and i:  # variance and weight of a BatchNorm
                values = random.uniform(0.5, 2, dims)
            blob = out.blobs.add()
            blob.shape.dim.extend(dims)
            blob.data.extend(values.ravel())
    with open(path, "wb") as file:
        file.write(net.SerializeToString())


def check(tools, name, text, scratch):
    import json
    import subprocess
    random = np.random.RandomState(len(name))

    def path(name):
        return os.path.join(scratch, name)

    with open(path("net.prototxt"), "w") as file:
        file.write(text)
    report = subprocess.run(
        [os.path.join(tools.folder, "brewc"), path("net.prototxt"), "--report=json"],
        capture_output=True, text=True, check=True).stdout
    program = json.loads(report)["programs"]["deploy"]
    write_weights(path("w.caffemodel"), program["params"], random)
    with h5py.File(path("in.h5"), "w") as file:
        file["/inputs/x"] = random.uniform(-1, 1, program["blobs"]["x"])
    results = {}
    for variant, flags, passes_weights in (
            ("unfolded", ["--keep", "all"], True),
            ("folded", ["--keep", "y"], True),
            ("embedded", ["--keep", "y", "--weights", path("w.caffemodel")], False)):
        tools.compile(path("net.prototxt"), "-o", path("net.plan"), *flags)
        tools.run("brew-run", "eval", path("net.plan"), "--inputs", path("in.h5"), "--outputs",
                  path("out.h5"), *(["--weights", path("w.caffemodel")] if passes_weights else []))
        with h5py.File(path("out.h5"), "r") as file:
            results[variant] = file["/data/y"][()]
    for variant in ("folded", "embedded"):
        error = difference(results["unfolded"], results[variant])
        if not error <= TOLERANCE:
            raise Mismatch("%s differs by %.2g of its size" % (variant, error))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", required=True, help="folder of the tools")
    parser.add_argument("--brewc-flags", default="", help="e.g. --no-library")
    options = parser.parse_args()
    tools = Tools(options.bin, options.brewc_flags.split())
    failed = 0
    for name, text in NETS.items():
        try:
            with tempfile.TemporaryDirectory() as scratch:
                check(tools, name, text, scratch)
        except Mismatch as mismatch:
            failed += 1
            print("FAIL %s: %s" % (name, mismatch))
    print("%d of %d nets agree" % (len(NETS) - failed, len(NETS)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
