"""The benchmark nets, and the prototxt that brewc compiles for each."""

import re
from pathlib import Path

from prototxt import get, layer_texts, parse

FOLDER = Path(__file__).resolve().parent.parent / "nets"

# The nets in FOLDER and the shapes of their data tops.
NETS = {
    "lenet": {"data": (64, 1, 28, 28), "label": (64,)},
    "cifar10_quick": {"data": (100, 3, 32, 32), "label": (100,)},
    "alexnet": {"data": (128, 3, 227, 227), "label": (128,)},
    "googlenet": {"data": (128, 3, 224, 224), "label": (128,)},
    "vgg16": {"data": (64, 3, 224, 224), "label": (64,)},
    "resnet50": {"data": (128, 3, 224, 224), "label": (128,)},
    "squeezenet": {"data": (128, 3, 227, 227), "label": (128,)},
    "mobilenet": {"data": (128, 3, 224, 224), "label": (128,)},
}
# Truncated deep nets for comparisons in 16 bits: name -> (net, last layer, its top), followed
# by a classifier. The gradients of the full nets are chaotic: with random weights a change of
# 1e-6 in the images changes them by 3 % (ReLU masks flip), and a change of 4e-3 makes them
# unrelated.
STARTS = {"resnet50_start": ("resnet50", "relu_res2b", "res2b"),
          "mobilenet_start": ("mobilenet", "relu_conv3/sep", "conv3/sep")}
CLASSIFIER = """layer {{ name: "pool_end" type: "Pooling" bottom: "{top}" top: "pool_end"
  pooling_param {{ pool: AVE global_pooling: true }} }}
layer {{ name: "fc_end" type: "InnerProduct" bottom: "pool_end" top: "fc_end"
  inner_product_param {{ num_output: 10 weight_filler {{ type: "xavier" }} }} }}
layer {{ name: "loss" type: "SoftmaxWithLoss" bottom: "fc_end" bottom: "label" top: "loss" }}
"""
# Number of timed iterations: more for short ones.
STEPS = {"lenet": 50, "cifar10_quick": 50}
FEWER_STEPS = 20
# Batch size of the plans whose results are compared with the CPU's.
AGREE_BATCH = 8
PRECISIONS = ("f32", "tf32", "bf16")
MODES = ("train", "infer")
# PyTorch's ways to run a net, see torch_step.py. The first one is usually the fastest and does
# not take minutes to compile.
VARIANTS = ("compile_graph", "channels_last", "compile_autotune", "compile",
            "eager")

SOLVER = """net: "{net}"
base_lr: 0.001
momentum: 0.9
weight_decay: 0.0005
lr_policy: "fixed"
max_iter: 10
snapshot_after_train: false
random_seed: 1
"""
TEST_FIELDS = "test_iter: 1\ntest_interval: 1000000\n"


def prototxt_of(net):
    if net not in STARTS:
        return (FOLDER / (net + ".prototxt")).read_text()
    full_net, last, top = STARTS[net]
    layers = []
    for text in layer_texts(prototxt_of(full_net)):
        layers.append(text)
        if get(parse(text)["layer"][0], "name") == last:
            return "\n".join(layers + [CLASSIFIER.format(top=top)])
    raise ValueError("{} has no layer {}".format(full_net, last))


def shapes_of(net):
    """Returns the shapes of the net's data tops."""
    return NETS[STARTS[net][0] if net in STARTS else net]


def solver_of(net):
    """Returns the text of a solver for the net."""
    has_test = re.search(r"phase:\s*TEST", prototxt_of(net))
    return SOLVER.format(net=net + ".prototxt") + (TEST_FIELDS if has_test else "")


def steps_of(net):
    return STEPS.get(net, FEWER_STEPS)


def shapes_text(shapes):
    """Returns BLOB=d,d,... for each blob."""
    return ["{}={}".format(blob, ",".join(map(str, dims)))
            for blob, dims in shapes.items()]


def agree_shapes(net):
    """Returns the shapes of the net's data tops in a comparison with the CPU."""
    return {blob: (min(dims[0], AGREE_BATCH),) + dims[1:]
            for blob, dims in shapes_of(net).items()}


def shape_flags(net, shapes):
    """Returns brewc's flags that set `shapes`. DummyData layers define all dimensions but the
    batch."""
    flags = ["--batch={}".format(shapes["data"][0])]
    if "DummyData" not in prototxt_of(net):
        flags += ["--input-shape=" + text for text in shapes_text(shapes)]
    return flags
