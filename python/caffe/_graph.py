"""Reads nets and solvers, and describes nets as Caffe sets them up."""
import contextlib
import json
import os

from google.protobuf import text_format

import brew
from brew import _core

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


@contextlib.contextmanager
def located_errors(path, net, phase):
    """Replaces errors of setting up ``net``, the content of a file, by those of brewc, which name lines of
    the file. Other errors stay as they are."""
    try:
        yield
    except RuntimeError:
        text = _errors_in(path, net, phase)
        if not text:
            raise
        raise RuntimeError(text) from None


def _errors_in(path, net, phase):
    if any(layer.type == "Python" for layer in net.layer):
        return ""  # only caffe runs it
    try:
        brew.compile(path, phase=caffe_pb2.Phase.Name(phase).lower(), level=net.state.level,
                     stage=",".join(net.state.stage) or None, check_only=True)
    except brew.CompileError as error:
        return str(error)
    return ""


def is_loss(kind):
    """Whether a layer type is a loss, whose first top has the default weight 1."""
    return kind.endswith(("Loss", "LossOHEM")) or kind == "Yolov3"


def names_files(layer):
    """Whether a layer's settings name a file to read."""
    return any(field.message_type is not None and hasattr(value, "HasField")
               and any(name in field.message_type.fields_by_name and value.HasField(name)
                       for name in ("source", "mean_file"))
               for field, value in layer.ListFields())


class Description:
    """A net as Caffe sets it up; see brew_describe_net() in brew/compiler.h.

    ``plain``: the net with the layers that its state includes; ``net``: with Split layers;
    ``layers``: properties of each layer of ``net``; ``params``: those of each parameter."""

    def __init__(self, net, phase, param_counts=()):
        """``param_counts``: [(name of a Python layer, number of its parameters), ...]. Raises
        RuntimeError."""
        compilation = describe(net, phase, param_counts)
        if compilation.status:
            raise RuntimeError("\n".join(d.message for d in compilation.diagnostics if d.severity == "error"))
        self.plain = caffe_pb2.NetParameter.FromString(compilation.net)
        self.net = caffe_pb2.NetParameter.FromString(compilation.split_net)
        properties = json.loads(compilation.report)
        self.layers, self.params = properties["layers"], properties["params"]


def describe(net, phase, param_counts=()):
    """Returns the Compilation of a description, whose attribute ``net`` is valid even if it failed."""
    return _core.describe_net(net.SerializeToString(), net.name, [("phase", caffe_pb2.Phase.Name(phase).lower())],
                              list(param_counts))
