"""Builds a PyTorch module from a Caffe net, to time the same prototxt.

Supports only the layers of the benchmark nets; any other layer is an error.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from deploy import DATA_LAYERS, UNTIMED_LAYERS, is_label
from prototxt import get, layers_of


class Unsupported(Exception):
    """A layer or setting that is not supported."""


def pair(parameter, name, default):
    """Returns (height, width) of a field such as kernel_size: 3, kernel_size: 3 kernel_size: 5,
    or kernel_h and kernel_w."""
    short = {"kernel_size": "kernel", "stride": "stride", "pad": "pad"}.get(name)
    if short and short + "_h" in parameter:
        return (get(parameter, short + "_h"), get(parameter, short + "_w"))
    values = parameter.get(name, [default])
    return (values[0], values[-1])


def convolution(layer, channels):
    p = get(layer, "convolution_param", {})
    return nn.Conv2d(channels, get(p, "num_output"),
                     pair(p, "kernel_size", None), pair(p, "stride", 1),
                     pair(p, "pad", 0), pair(p, "dilation", 1),
                     get(p, "group", 1), get(p, "bias_term", True))


class Pooling(nn.Module):
    """Caffe's pooling: windows may reach over the border (ceil)."""

    def __init__(self, p):
        super().__init__()
        self.is_global = get(p, "global_pooling", False)
        self.average = get(p, "pool", "MAX") == "AVE"
        if not self.is_global:
            self.kernel = pair(p, "kernel_size", None)
            self.stride = pair(p, "stride", 1)
            self.pad = pair(p, "pad", 0)

    def forward(self, x):
        if self.is_global:
            return (x.mean((2, 3), keepdim=True) if self.average
                    else x.amax((2, 3), keepdim=True))
        pool = F.avg_pool2d if self.average else F.max_pool2d
        return pool(x, self.kernel, self.stride, self.pad, ceil_mode=True)


class Channelwise(nn.Module):
    """Scale: y = x * weight + bias, per channel."""

    def __init__(self, channels, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels)) if bias else None

    def forward(self, x):
        shape = (1, -1) + (1,) * (x.dim() - 2)
        y = x * self.weight.view(shape)
        return y if self.bias is None else y + self.bias.view(shape)


class Lstm(nn.Module):
    """An LSTM over full sequences with an initial state of zeros: Caffe's LSTM with `cont` 0 at
    the first step and 1 at all others."""

    def __init__(self, p, features):
        super().__init__()
        self.lstm = nn.LSTM(features, get(p, "num_output"))

    def forward(self, x, cont):
        return self.lstm(x)[0]


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def eltwise(p):
    operation = get(p, "operation", "SUM")
    if operation == "SUM" and "coeff" not in p:
        return lambda a, b, *more: sum(more, a + b)
    raise Unsupported("Eltwise " + operation)


def inner_product(layer, shape):
    p = get(layer, "inner_product_param", {})
    axis = get(p, "axis", 1)
    linear = nn.Linear(math.prod(shape[axis:]), get(p, "num_output"),
                       get(p, "bias_term", True))
    return nn.Sequential(nn.Flatten(axis), linear)


def relu(layer):
    """Returns a ReLU, in place if it is in place in the prototxt."""
    slope = get(get(layer, "relu_param", {}), "negative_slope", 0)
    in_place = layer["bottom"] == layer["top"]
    return (nn.LeakyReLU(slope, in_place) if slope else nn.ReLU(in_place))


def batch_norm(layer, channels, affine):
    p = get(layer, "batch_norm_param", {})
    return nn.BatchNorm2d(channels, get(p, "eps", 1e-5),
                          1 - get(p, "moving_average_fraction", 0.999), affine)


def softmax_axis(layer):
    return get(get(layer, "softmax_param", {}), "axis", 1)


def cross_entropy(axis):
    def loss(scores, labels):
        # Caffe only requires the right number of labels, in any shape.
        scores = scores.movedim(axis, -1)
        return F.cross_entropy(scores.flatten(0, -2), labels.flatten())
    return loss


def scaled_norms(layers):
    """Returns the indices of BatchNorm layers that only a Scale layer with weight and bias
    reads, directly after them: PyTorch's affine BatchNorm computes both."""
    indices = set()
    for i, (norm, scale) in enumerate(zip(layers, layers[1:])):
        if (get(norm, "type"), get(scale, "type")) != ("BatchNorm", "Scale"):
            continue
        p, norm_tops = get(scale, "scale_param", {}), norm["top"]
        is_only_reader = (scale["top"] == norm_tops or not any(
            norm_tops[0] in layer.get("bottom", []) for layer in layers[i + 2:]))
        if (scale["bottom"] == norm_tops and is_only_reader and get(p, "bias_term", False)
                and get(p, "axis", 1) == 1 and get(p, "num_axes", 1) == 1):
            indices.add(i)
    return indices


def build(layer, shapes):
    """Returns the module of a layer whose bottoms have `shapes`."""
    kind = get(layer, "type")
    shape = shapes[0]
    if kind == "Convolution":
        return convolution(layer, shape[1])
    if kind == "InnerProduct":
        return inner_product(layer, shape)
    if kind == "LSTM":
        return Lstm(get(layer, "recurrent_param"), shape[2])
    if kind == "Pooling":
        return Pooling(get(layer, "pooling_param", {}))
    if kind == "ReLU":
        return relu(layer)
    if kind == "Sigmoid":
        return nn.Sigmoid()
    if kind == "TanH":
        return nn.Tanh()
    if kind == "LRN":
        p = get(layer, "lrn_param", {})
        if get(p, "norm_region", "ACROSS_CHANNELS") != "ACROSS_CHANNELS":
            raise Unsupported("LRN within a channel")
        return nn.LocalResponseNorm(get(p, "local_size", 5),
                                    get(p, "alpha", 1.0), get(p, "beta", 0.75),
                                    get(p, "k", 1.0))
    if kind == "Dropout":
        return nn.Dropout(get(get(layer, "dropout_param", {}),
                              "dropout_ratio", 0.5))
    if kind == "BatchNorm":
        return batch_norm(layer, shape[1], affine=False)
    if kind == "Scale":
        return Channelwise(shape[1],
                           get(get(layer, "scale_param", {}), "bias_term",
                               False))
    if kind == "Concat":
        axis = get(get(layer, "concat_param", {}), "axis", 1)
        return Function(lambda *inputs: torch.cat(inputs, axis))
    if kind == "Eltwise":
        return Function(eltwise(get(layer, "eltwise_param", {})))
    if kind == "Flatten":
        return nn.Flatten(1)
    if kind == "Softmax":
        return nn.Softmax(softmax_axis(layer))
    if kind == "SoftmaxWithLoss":
        return Function(cross_entropy(softmax_axis(layer)))
    raise Unsupported("layer '%s' is of type %s" % (get(layer, "name"), kind))


def with_small_batch(inputs):
    """Returns the shapes with a batch of at most 2, which suffices to infer all others."""
    return {name: (min(shape[0], 2),) + tuple(shape[1:])
            for name, shape in inputs.items()}


class CaffeNet(nn.Module):
    """The layers of one phase in order.

    forward() takes the tops of data layers by name and returns the total loss,
    or without a loss the last top.
    """

    def __init__(self, net, phase, inputs):
        """`inputs` maps every data top to its shape."""
        super().__init__()
        self.steps = []
        self.modules_by_name = nn.ModuleList()
        self.losses = []
        blobs = {name: torch.zeros(shape, dtype=torch.long if is_label(name)
                                   else torch.float32)
                 for name, shape in with_small_batch(inputs).items()}
        layers = list(layers_of(net, phase))
        norms = scaled_norms(layers)
        with torch.no_grad():
            for i, layer in enumerate(layers):
                if i - 1 in norms:
                    continue
                self.add(layer, blobs, layers[i + 1] if i in norms else None)

    def add(self, layer, blobs, scale):
        """Adds a layer. `scale` is a Scale layer that is fused into a BatchNorm layer."""
        kind = get(layer, "type")
        if kind in DATA_LAYERS + UNTIMED_LAYERS:
            return
        bottoms, tops = layer["bottom"], layer["top"]
        shapes = [tuple(blobs[name].shape) for name in bottoms]
        if scale:
            module, tops = batch_norm(layer, shapes[0][1], affine=True), scale["top"]
        else:
            module = build(layer, shapes)
        blobs[tops[0]] = module(*[blobs[name] for name in bottoms])
        self.modules_by_name.append(module)
        self.steps.append((module, tuple(bottoms), tops[0]))
        if kind == "SoftmaxWithLoss":
            self.losses.append((tops[0], get(layer, "loss_weight", 1.0)))

    def forward(self, inputs):
        blobs = dict(inputs)
        for module, bottoms, top in self.steps:
            blobs[top] = module(*[blobs[name] for name in bottoms])
        if not self.losses:
            return blobs[self.steps[-1][2]]
        return sum(blobs[name] * weight for name, weight in self.losses)
