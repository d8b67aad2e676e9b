#===- targets.py - The targets against each other --------------------------===#
"""Compares the same nets on the CPU and on the CUDA simulator. Values that must
not depend on the target are compared bit for bit: images from the data layers,
random draws of layers, initial weights. Sums are compared with the tolerances
of recorded cases."""

import argparse
import os
import random
import sys
import tempfile

import h5py
import numpy as np

from tools import Mismatch, Tools, difference

SIMULATOR = ["--target", "cuda", "--gpu-arch", "sim"]
TOLERANCE = 1e-5
EXACT = ("--precision=f64", "--no-library")  # flags of a reference on the CPU


class Case:
    """A folder in which nets are compiled and run for each target."""

    def __init__(self, folder, scratch):
        self.tools, self.scratch = Tools(folder), scratch

    def file(self, name):
        return os.path.join(self.scratch, name)

    def write(self, name, text):
        with open(self.file(name), "w") as file:
            file.write(text)

    def run(self, *arguments):
        return self.tools.run(*arguments, cwd=self.scratch)

    def evaluate(self, net, target, *flags, phase="train", gradients=False,
                 inputs=None, arguments=()):
        """Returns {dataset: values} of one run."""
        self.write("net.prototxt", net)
        backward = ["--gradients"] if gradients else []
        self.run("brewc", "net.prototxt", "--phase", phase, "--keep", "all",
                 *backward, *target, *flags, "-o", "net.plan")
        with h5py.File(self.file("in.h5"), "w") as file:
            for name, values in (inputs or {}).items():
                file["/inputs/" + name] = values
        self.run("brew-run", "eval", "net.plan", "--inputs", "in.h5",
                 "--outputs", "out.h5", "--random-seed", "5", *backward,
                 *arguments)
        datasets = {}
        with h5py.File(self.file("out.h5"), "r") as file:
            file.visititems(lambda name, item: datasets.update(
                {name: item[()]} if isinstance(item, h5py.Dataset) else {}))
        return datasets


def require_equal(label, expected, actual):
    if expected.keys() != actual.keys() or not expected:
        raise Mismatch("%s: %s against %s" % (label, sorted(expected), sorted(actual)))
    for name, values in expected.items():
        if not np.array_equal(values, actual[name]):
            raise Mismatch("%s: %s differs in %d elements" %
                           (label, name, np.sum(values != actual[name])))


#===-----------------------------------------------------------------------===#
# Images
#===-----------------------------------------------------------------------===#

DATA = """
layer { name: "in" type: "Data" top: "data" top: "label" transform_param { %s }
  data_param { source: "db" batch_size: %d backend: LMDB } }
layer { name: "abs" type: "AbsVal" bottom: "data" top: "abs" }
"""

TRANSFORMS = (
    "",
    "scale: 0.00390625",
    "scale: 0.017 mean_value: 33.3",
    "mean_value: 101.5 mean_value: 116.25 mean_value: 123.1 mirror: true",
    "crop_size: 27 mirror: true scale: 0.3",
    "mean_file: 'mean.binaryproto' scale: 0.1",
    "mean_file: 'mean.binaryproto' crop_size: 21 mirror: true scale: 0.7",
    "mean_file: 'mean.binaryproto' crop_size: 29 mirror: true scale: 0.7",
    "crop_size: 9 mirror: true mean_value: 4.5",
    "mean_value: 1 mean_value: 2 mean_value: 3 crop_size: 32",
)


def make_database(case, records):
    draw = random.Random(1)
    with open(case.file("batch.bin"), "wb") as file:
        for i in range(records):
            file.write(bytes([i % 10]) + draw.randbytes(3 * 32 * 32))
    case.run("brew-data", "cifar10", "batch.bin", "-o", "db")
    case.run("brew-data", "mean", "db", "mean.binaryproto")


def images(case):
    """Compares the host's and the device's conversion of pixels."""
    make_database(case, 5)
    for transform in TRANSFORMS:
        for flags in ([], ["--precision", "f64"]):
            for phase in ("train", "test"):
                label = "'%s', %s%s" % (transform, phase, " f64" if flags else "")
                net = DATA % (transform, 7)
                host, device = (case.evaluate(net, target, *flags, phase=phase)
                                for target in ((), SIMULATOR))
                require_equal(label, host, device)
        if not np.any(host["data/data"]):
            raise Mismatch("there are no images to compare")
    # The kernel can also write the blob in another layout.
    net = DATA % (TRANSFORMS[7], 3)
    require_equal("nhwc", case.evaluate(net, [], "--layout=nhwc"),
                  case.evaluate(net, SIMULATOR, "--layout=nhwc"))
    case.run("brewc", "net.prototxt", "--phase", "train", *SIMULATOR,
             "--emit=kernels", "--dump-dir", "kernels")
    names = os.listdir(case.file("kernels"))
    if "in_pixels.cu" not in names:
        raise Mismatch("no kernel converts pixels: %s" % names)
    with open(case.file("kernels/in_pixels.cu")) as file:
        if "pixels, %d)" % (3 * 3 * 32 * 32) not in file.read():
            raise Mismatch("the kernel does not read full records")


#===-----------------------------------------------------------------------===#
# Random draws
#===-----------------------------------------------------------------------===#

MASKS = """
layer { name: "in" type: "Input" top: "x" input_param { shape {
  dim: 5 dim: 7 dim: 9 dim: 11 } } }
layer { name: "a" type: "Dropout" bottom: "x" top: "a" }
layer { name: "b" type: "Dropout" bottom: "x" top: "b"
  dropout_param { dropout_ratio: 0.2 } }
"""


def masks(case):
    """Compares the masks of Dropout on one thread, on two, and on the
    simulator."""
    ones = {"x": np.ones((5, 7, 9, 11))}

    def evaluate_masks(target, *arguments):
        return case.evaluate(MASKS, target, inputs=ones, arguments=arguments)

    one_thread = evaluate_masks([], "--threads", "1")
    for name in ("data/a", "data/b"):
        if not 0 < np.mean(one_thread[name] != 0) < 1:
            raise Mismatch("%s keeps all or nothing" % name)
    require_equal("two threads", one_thread, evaluate_masks([], "--threads", "2"))
    require_equal("simulator", one_thread, evaluate_masks(SIMULATOR))


FILLERS = ('type: "constant" value: 0.3', 'type: "uniform" min: -1 max: 2',
           'type: "gaussian" std: 0.2', 'type: "gaussian" std: 1 sparse: 3',
           'type: "positive_unitball"', 'type: "xavier"',
           'type: "msra" variance_norm: AVERAGE')


def fillers(case):
    """Compares initial weights, which a run without iterations writes."""
    net = """layer { name: "in" type: "DummyData" top: "x" top: "y"
      dummy_data_param { shape { dim: 2 dim: 3 dim: 9 dim: 9 } shape { dim: 2 } } }
    """
    for i, filler in enumerate(FILLERS):
        net += """layer { name: "ip%d" type: "InnerProduct" bottom: "x" top: "t%d"
          inner_product_param { num_output: 6 weight_filler { %s } } }
        layer { name: "s%d" type: "Reduction" bottom: "t%d" top: "l%d"
          loss_weight: 1 }
        """ % (i, i, filler, i, i, i)
    net += """layer { name: "up" type: "Deconvolution" bottom: "x" top: "up"
      convolution_param { num_output: 3 group: 3 kernel_size: 4 stride: 2
        bias_term: false weight_filler { type: "bilinear" } } }
    layer { name: "l" type: "Reduction" bottom: "up" top: "l" loss_weight: 1 }
    layer { name: "q" type: "Silence" bottom: "y" }"""
    case.write("net.prototxt", net)
    case.write("solver.prototxt", 'net: "net.prototxt" base_lr: 0.1 '
               'lr_policy: "fixed" max_iter: 0 snapshot_prefix: "snap" '
               'random_seed: 9')

    def initial_weights(*flags):
        case.run("brewc", "solver.prototxt", *flags, "-o", "solver.plan")
        case.run("brew-run", "train", "solver.plan")
        with open(case.file("snap_iter_0.caffemodel"), "rb") as file:
            return file.read()

    if initial_weights() != initial_weights(*SIMULATOR):
        raise Mismatch("initial weights differ")


#===-----------------------------------------------------------------------===#
# Calls
#===-----------------------------------------------------------------------===#

SLOPES = """
layer { name: "in" type: "Input" top: "x" top: "y" input_param {
  shape { dim: 3 dim: 2 dim: 6 dim: 5 } shape { dim: 3 dim: 4 } } }
layer { name: "conv" type: "Convolution" bottom: "x" top: "c" convolution_param {
  num_output: 3 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "leaky1" type: "ReLU" bottom: "c" top: "c"
  relu_param { negative_slope: 0.1 } }
layer { name: "ip1" type: "InnerProduct" bottom: "c" top: "h" inner_product_param {
  num_output: 5 weight_filler { type: "xavier" } } }
layer { name: "leaky2" type: "ReLU" bottom: "h" top: "h"
  relu_param { negative_slope: 0.25 } }
layer { name: "ip2" type: "InnerProduct" bottom: "h" top: "o" inner_product_param {
  num_output: 4 weight_filler { type: "xavier" } } }
layer { name: "leaky3" type: "ReLU" bottom: "o" top: "o"
  relu_param { negative_slope: -0.5 } }
layer { name: "loss" type: "EuclideanLoss" bottom: "o" bottom: "y" top: "loss" }
"""


SPACES = """
layer { name: "in" type: "Input" top: "x" top: "z" top: "p" input_param {
  shape { dim: 2 dim: 4 dim: 13 } shape { dim: 2 dim: 2 dim: 5 dim: 6 dim: 7 }
  shape { dim: 2 dim: 4 dim: 8 dim: 9 } } }
layer { name: "same" type: "Convolution" bottom: "p" top: "p1" convolution_param {
  num_output: 6 kernel_size: 3 stride: 2 pad_type: 1 group: 2
  weight_filler { type: "xavier" } bias_filler { value: 0.1 } } }
layer { name: "relu3" type: "ReLU" bottom: "p1" top: "p1" }
layer { name: "sides" type: "Deconvolution" bottom: "p1" top: "p2" convolution_param {
  num_output: 3 kernel_size: 4 stride: 2 pad_l: 1 pad_r: 0 pad_t: 0 pad_b: 2
  weight_filler { type: "xavier" } } }
layer { name: "before" type: "Convolution" bottom: "p2" top: "p3" convolution_param {
  num_output: 2 kernel_size: 2 dilation: 2 pad_l: 3 pad_r: 0 pad_t: 2 pad_b: 1
  weight_filler { type: "xavier" } } }
layer { name: "c" type: "Reduction" bottom: "p3" top: "c" loss_weight: 1
  reduction_param { operation: SUMSQ } }
layer { name: "line" type: "Convolution" bottom: "x" top: "l" convolution_param {
  num_output: 6 kernel_size: 3 pad: 2 dilation: 2 stride: 2 group: 2
  weight_filler { type: "xavier" } bias_filler { value: 0.1 } } }
layer { name: "relu" type: "ReLU" bottom: "l" top: "l" }
layer { name: "line2" type: "Deconvolution" bottom: "l" top: "l2" convolution_param {
  num_output: 3 kernel_size: 4 stride: 2 pad: 1 weight_filler { type: "xavier" } } }
layer { name: "space" type: "Convolution" bottom: "z" top: "s" convolution_param {
  num_output: 4 kernel_size: 3 kernel_size: 2 kernel_size: 3 pad: 1 pad: 0 pad: 2
  stride: 2 stride: 1 stride: 1 weight_filler { type: "xavier" }
  bias_filler { value: -0.1 } } }
layer { name: "relu2" type: "ReLU" bottom: "s" top: "s"
  relu_param { negative_slope: 0.2 } }
layer { name: "space2" type: "Convolution" bottom: "s" top: "s2" convolution_param {
  num_output: 2 kernel_size: 2 weight_filler { type: "xavier" } } }
layer { name: "a" type: "Reduction" bottom: "l2" top: "a" loss_weight: 1
  reduction_param { operation: SUMSQ } }
layer { name: "b" type: "Reduction" bottom: "s2" top: "b" loss_weight: 1
  reduction_param { operation: SUMSQ } }
"""


SUMS = """
layer { name: "in" type: "Input" top: "x" top: "y" top: "flat" input_param {
  shape { dim: 16 dim: 4 dim: 128 dim: 130 } shape { dim: 16 dim: 4 dim: 128 dim: 130 }
  shape { dim: 1048583 } } }
layer { name: "bn" type: "BatchNorm" bottom: "x" top: "n" }
layer { name: "scale" type: "Scale" bottom: "n" top: "z"
  scale_param { bias_term: true filler { value: 1.5 } bias_filler { value: 0.2 } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "z" bottom: "y" top: "loss" }
layer { name: "all" type: "Reduction" bottom: "n" top: "all" loss_weight: 0.001
  reduction_param { operation: SUMSQ } }
layer { name: "line" type: "Reduction" bottom: "flat" top: "line" loss_weight: 0.001
  reduction_param { operation: ASUM } }
"""

CHANNEL_SUMS = """
layer { name: "in" type: "Input" top: "x" input_param {
  shape { dim: %d dim: %d dim: %d dim: %d } } }
layer { name: "slope" type: "PReLU" bottom: "x" top: "s" }
layer { name: "bn" type: "BatchNorm" bottom: "s" top: "n" }
layer { name: "scale" type: "Scale" bottom: "n" top: "z"
  scale_param { bias_term: true filler { value: 1.5 } bias_filler { value: 0.2 } } }
layer { name: "relu" type: "ReLU" bottom: "z" top: "z" }
layer { name: "loss" type: "Reduction" bottom: "z" top: "loss" loss_weight: 0.001
  reduction_param { operation: SUMSQ } }
"""


def slopes(case):
    """Compares ReLUs with a slope after convolutions and inner products."""
    draw = np.random.RandomState(3)
    compare(case, SLOPES, {"x": draw.randn(3, 2, 6, 5), "y": draw.randn(3, 4)})


def spaces(case):
    """Compares convolutions over one and three dimensions, and with uneven padding."""
    draw = np.random.RandomState(5)
    inputs = {"x": draw.randn(2, 4, 13), "z": draw.randn(2, 2, 5, 6, 7),
              "p": draw.randn(2, 4, 8, 9)}
    for layout in ("nchw", "nhwc"):
        compare(case, SPACES, inputs, "--layout=" + layout)


def sums(case):
    """Compares sums that are so long that a GPU adds them in two stages, the second
    one in the last thread block."""
    draw = np.random.RandomState(4)
    shape = (16, 4, 128, 130)
    compare(case, SUMS, {"x": draw.randn(*shape) + 0.5, "y": draw.randn(*shape),
                         "flat": draw.randn(1048583)})
    # With channels last, adjacent threads process adjacent channels: fewer than
    # a warp, more than one warp, and several tiles of a warp. Terms nearly
    # cancel, and a CPU thread adds more of them one by one (an error of 1e-4),
    # so the reference is f64.
    for shape in (shape, (16, 40, 42, 43), (8, 96, 37, 39)):
        net, inputs = CHANNEL_SUMS % shape, {"x": draw.randn(*shape) + 0.5}
        actual = compare(case, net, inputs, "--layout=nhwc", reference=EXACT)
        # Results must not depend on the order in which blocks run.
        os.environ["CUDASIM_BLOCK_ORDER"] = "4711"
        reordered = case.evaluate(net, SIMULATOR, "--layout=nhwc", gradients=True, inputs=inputs)
        del os.environ["CUDASIM_BLOCK_ORDER"]
        for name, values in actual.items():
            if not np.array_equal(values, reordered[name]):
                raise Mismatch("%s depends on the order of blocks" % name)


def compare(case, net, inputs, *flags, reference=()):
    """Compares all blobs, gradients and parameters of a training step. Returns
    the simulator's values."""
    expected, actual = (case.evaluate(net, target, *flags, gradients=True, inputs=inputs)
                        for target in (reference, SIMULATOR))
    if expected.keys() != actual.keys():
        raise Mismatch("%s against %s" % (sorted(expected), sorted(actual)))
    for name, values in expected.items():
        error = difference(values, actual[name])
        if not error <= TOLERANCE:
            raise Mismatch("%s differs by %.2g of its size" % (name, error))
    return actual


def main():
    cases = {case.__name__: case for case in (images, masks, fillers, slopes, spaces, sums)}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="folder of the tools")
    parser.add_argument("case", choices=sorted(cases))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        try:
            cases[options.case](Case(options.bin, scratch))
        except Mismatch as mismatch:
            print("FAIL %s: %s" % (options.case, mismatch))
            return 1
    print("ok   %s" % options.case)
    return 0


if __name__ == "__main__":
    sys.exit(main())
