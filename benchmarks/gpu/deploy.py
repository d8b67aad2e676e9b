"""Nets for inference, made of those that are trained.

Brew folds BatchNorm and Scale into the weights of a net without a loss only, and
that is what one would run.
"""

from prototxt import get, layer_texts, layers_of, parse

DATA_LAYERS = ("Data", "ImageData", "Input", "DummyData", "HDF5Data",
               "MemoryData")
# Layers of the TEST phase and others that compute nothing worth timing.
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
    """The data tops that a mode reads: inference has no labels."""
    return {blob: dims for blob, dims in shapes.items()
            if mode == "train" or not is_label(blob)}


def deploy_text(text, shapes, scores=False):
    """The net with inputs of `shapes` in place of data layers, and with
    probabilities in place of the loss, or only the scores that they are made of."""
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
    """Weights for BatchNorm layers that have seen nothing yet: statistics with
    which they pass on what they are given. Their fillers' are zeros, and so
    would be all that is computed behind them."""
    import h5py
    import numpy
    with h5py.File(path, "w") as file:
        for layer, count in channels.items():
            for i, blob in enumerate((numpy.zeros(count), numpy.ones(count),
                                      numpy.ones(1))):
                file["data/{}/{}".format(layer, i)] = blob.astype("float32")


def statistics_of(net):
    """Channels of every BatchNorm layer of a parsed net, by its name. What they
    read comes from a convolution, with or without a layer in between."""
    channels, found = {}, {}
    for layer in layers_of(net, "TEST"):
        if "bottom" not in layer:
            continue
        kind, count = get(layer, "type"), channels.get(layer["bottom"][0])
        if kind == "Convolution":
            count = get(get(layer, "convolution_param"), "num_output")
        elif kind == "BatchNorm":
            found[get(layer, "name")] = count
        for top in layer.get("top", []):
            channels[top] = count
    return found
