"""Caffe's rules for nets as messages of caffe_pb2: which layers a state includes, where blobs
split, which bottoms get gradients."""
import os
import re
from collections import OrderedDict

from google.protobuf import text_format

import brew

from . import _plan_cache
from .proto import caffe_pb2


def read_net(path):
    """Reads a prototxt in any syntax version as a NetParameter. Raises RuntimeError."""
    return _read(path, caffe_pb2.NetParameter())


def read_solver(path):
    """Reads a prototxt in any syntax version as a SolverParameter. Raises RuntimeError."""
    return _read(path, caffe_pb2.SolverParameter())


def _read(path, message):
    path = os.fspath(path)
    if not isinstance(path, str):
        path = path.decode()
    if not os.path.isfile(path):
        raise RuntimeError("Could not open file %s" % path)
    try:
        return _plan_cache.parsed(path, message)
    except brew.Error as failure:
        raise RuntimeError(str(failure)) from failure
    except text_format.ParseError as failure:
        text = str(failure)
        if failure.GetLine() is not None:
            text = text.split(" : ", 1)[-1]  # the location refers to the upgraded text
        raise RuntimeError("%s: %s" % (path, text)) from failure


def is_loss(kind):
    """Whether a layer type is a loss, whose first top has the default weight 1."""
    return kind.endswith(("Loss", "LossOHEM"))


def names_files(layer):
    """Whether a layer's settings name a file to read."""
    return any(field.message_type is not None and hasattr(value, "HasField")
               and any(name in field.message_type.fields_by_name and value.HasField(name)
                       for name in ("source", "mean_file"))
               for field, value in layer.ListFields())


def loss_weights(layer):
    """Returns the loss weights of a layer's tops."""
    weights = list(layer.loss_weight)
    if not weights and is_loss(layer.type) and layer.top:
        weights = [1.0]
    return weights + [0.0] * (len(layer.top) - len(weights))


def meets(rule, state, layer):
    """Whether a net state meets an include or exclude rule of a layer."""
    if rule.HasField("phase") and rule.phase != state.phase:
        return False
    if rule.HasField("min_level") and state.level < rule.min_level:
        return False
    if rule.HasField("max_level") and state.level > rule.max_level:
        return False
    stages = set(state.stage)
    return all(s in stages for s in rule.stage) and not any(s in stages for s in rule.not_stage)


def filtered(net):
    """Returns the net with the layers that its state includes."""
    result = caffe_pb2.NetParameter()
    result.CopyFrom(net)
    del result.layer[:]
    for layer in net.layer:
        if layer.include and layer.exclude:
            raise RuntimeError("layer '%s': specify either include rules or exclude rules, not both" % layer.name)
        is_included = not layer.include
        if is_included and any(meets(rule, net.state, layer) for rule in layer.exclude):
            is_included = False
        if not is_included and any(meets(rule, net.state, layer) for rule in layer.include):
            is_included = True
        if is_included:
            result.layer.add().CopyFrom(layer)
    return result


def _bottom_error(layer, blob):
    return RuntimeError("layer '%s' (%s): Unknown bottom blob '%s'" % (layer.name, layer.type, blob))


#: Numbers, names in quotes, and words of a formula (caffe/expression/Lexer.cpp).
_OPERANDS = re.compile(r"""[\d.]+(?:[eE][-+]?\d+)?|'[^']*'|"[^"]*"|`[^`]*`|[A-Za-z_]\w*\b(?!\s*\()""")


def _by_position(formula, bottoms):
    """Replaces names of bottoms in a formula by ``bottom(N)``, because splits rename bottoms."""
    def position(match):
        word = match.group()
        name = word[1:-1] if word[0] in "'\"`" else word
        return "bottom(%d)" % bottoms.index(name) if name in bottoms else word

    return _OPERANDS.sub(position, formula)


def with_splits(net):
    """Returns the net with a Split layer after each top with several readers. A nonzero loss weight
    counts as a reader."""
    source, readers, weights = {}, OrderedDict(), {}
    producers = {}
    for i, layer in enumerate(net.layer):
        for j, blob in enumerate(layer.bottom):
            if blob not in producers:
                raise _bottom_error(layer, blob)
            source[i, j] = producers[blob]
            readers[producers[blob]] = readers.get(producers[blob], 0) + 1
        for j, blob in enumerate(layer.top):
            producers[blob] = (i, j)
        for j, weight in list(enumerate(layer.loss_weight))[: len(layer.top)]:
            weights[i, j] = weight
            if weight:
                readers[i, j] = readers.get((i, j), 0) + 1

    result = caffe_pb2.NetParameter()
    result.CopyFrom(net)
    del result.layer[:]
    used_splits = {}
    for i, layer in enumerate(net.layer):
        copy = result.layer.add()
        copy.CopyFrom(layer)
        if layer.type == "Expression":
            copy.expression_param.expr = _by_position(layer.expression_param.expr, list(layer.bottom))
        for j, blob in enumerate(layer.bottom):
            top = source[i, j]
            if readers[top] > 1:
                copy.bottom[j] = split_blob(net.layer[top[0]].name, blob, top[1], used_splits.get(top, 0))
                used_splits[top] = used_splits.get(top, 0) + 1
        for j, blob in enumerate(layer.top):
            count = readers.get((i, j), 0)
            if count <= 1:
                continue
            split = result.layer.add()
            split.name = "%s_%s_%d_split" % (blob, layer.name, j)
            split.type = "Split"
            split.bottom.append(blob)
            split.top.extend(split_blob(layer.name, blob, j, k) for k in range(count))
            if weights.get((i, j)):
                if len(layer.top) == 1:
                    copy.ClearField("loss_weight")
                else:  # the other tops keep theirs
                    copy.loss_weight[j] = 0
                split.loss_weight.extend([weights[i, j]] + [0.0] * (count - 1))
                used_splits[i, j] = 1
    return result


def split_blob(layer, blob, top, index):
    return "%s_%s_%d_split_%d" % (blob, layer, top, index)


# The number of leading bottoms that get gradients, for layers that support only these.
DIFFERENTIATED = {"ROIPooling": 1, "PSROIPooling": 1, "ROIAlign": 1, "SmoothL1Loss": 2, "ContrastiveLoss": 2}


def statistics(layer, count):
    """Returns the indices of the running statistics among a layer's ``count`` parameters."""
    if layer.type == "BatchNorm":
        return range(3)
    if layer.type == "BN" and count == 4:  # as in PSPNet; SegNet's BN has two parameters
        return range(2, 4)
    return ()


def imposed_multiplier(layer, index, count):
    """Returns the number that some layers of Caffe forks use as both lr_mult and decay_mult of a
    parameter, regardless of the prototxt; None for other layers and parameters."""
    if layer.type == "BatchNorm" and count == 5:  # as in NVIDIA Caffe
        return 0.0 if index in statistics(layer, count) else 1.0
    if layer.type == "BN" and (index in statistics(layer, count) or count == 4 and layer.bn_param.frozen):
        return 0.0
    return None


# Types whose backward pass always computes the gradients of all parameters, the sequence and the
# static input, as Caffe's unrolled nets do.
RECURRENT = ("LSTM", "RNN")


def allows_forced_backward(kind, bottom):
    """Whether ``force_backward`` applies to a bottom of a layer type: not to labels and the like."""
    if kind == "EuclideanLoss":
        return True
    if kind == "SmoothL1Loss":
        return bottom < 2
    if kind == "ContrastiveLoss":
        return bottom != 2
    if is_loss(kind):
        return bottom != 1
    if kind == "LSTMUnit":
        return bottom != 2
    if kind in RECURRENT:
        return bottom != 1
    return True
