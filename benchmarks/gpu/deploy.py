"""Converts training nets to nets for inference.

Brew folds BatchNorm and Scale into weights only in nets without a loss, as users deploy
them.
"""

from prototxt import get, layer_texts, layers_of, parse

DATA_LAYERS = ("Data", "ImageData", "Input", "DummyData", "HDF5Data",
               "MemoryData")
# Layers that are not timed: metrics of the TEST phase and layers that compute nothing.
UNTIMED_LAYERS = ("Accuracy", "Silence")
INPUT = """layer {{ name: "{blob}" type: "Input" top: "{blob}"
  input_param {{ shape {{ {dims} }} }} }}
"""
SOFTMAX = """layer {{ name: "prob" type: "Softmax" bottom: "{scores}" top: "prob"
  softmax_param {{ axis: {axis} }} }}
"""


def is_label(blob):
    return blob == "label"


def inputs_of(shapes, mode):
    """Returns the data tops that a mode reads: inference has no labels."""
    return {blob: dims for blob, dims in shapes.items()
            if mode == "train" or not is_label(blob)}


def deploy_text(text, shapes, scores=False):
    """Returns the net with Input layers of `shapes` instead of data layers, and with Softmax
    instead of the loss; with `scores`, without Softmax."""
    result = "".join(
        INPUT.format(blob=blob, dims=" ".join("dim: %d" % dim for dim in dims))
        for blob, dims in inputs_of(shapes, "infer").items())
    for layer_text in layer_texts(text):
        for layer in layers_of(parse(layer_text), "TEST"):
            kind = get(layer, "type")
            if kind == "SoftmaxWithLoss":
                axis = get(get(layer, "softmax_param", {}), "axis", 1)
                result += "" if scores else SOFTMAX.format(
                    scores=layer["bottom"][0], axis=axis)
            elif kind not in DATA_LAYERS + UNTIMED_LAYERS:
                result += layer_text + "\n"
    return result


def write_statistics(path, channels):
    """Writes BatchNorm statistics of mean 0 and variance 1, which make the layers pass on
    their input. The fillers' statistics are zeros, which would make all later values
    zeros."""
    import h5py
    import numpy
    with h5py.File(path, "w") as file:
        for layer, count in channels.items():
            for i, blob in enumerate((numpy.zeros(count), numpy.ones(count),
                                      numpy.ones(1))):
                file["data/{}/{}".format(layer, i)] = blob.astype("float32")


def statistics_of(net):
    """Returns the channels of every BatchNorm layer of a parsed net, by name. Their inputs
    must derive from convolutions, directly or through layers that keep the channels of their
    first bottom."""
    channels, norm_channels = {}, {}
    for layer in layers_of(net, "TEST"):
        if "bottom" not in layer:
            continue
        kind, count = get(layer, "type"), channels.get(layer["bottom"][0])
        if kind == "Convolution":
            count = get(get(layer, "convolution_param"), "num_output")
        elif kind == "BatchNorm":
            norm_channels[get(layer, "name")] = count
        for top in layer.get("top", []):
            channels[top] = count
    return norm_channels
