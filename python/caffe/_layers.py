"""Layers of pycaffe's nets: set up once, reshaped before each pass, run one by one.

This module implements layers that only rearrange data or pass it to the user; the others are
compiled."""
import contextlib
import importlib
import sys

import numpy as np

from ._base import Layer, NetLayer, failure
from ._blob import RawBlobVec
from ._compiled import CompiledLayer
from ._sources import DummyDataLayer, SourceLayer, ViewLayer
from .proto import caffe_pb2

__all__ = ["CompiledLayer", "Layer", "MemoryDataLayer", "SplitLayer", "ViewLayer", "failure", "make"]


class InputLayer(NetLayer):
    """A blob that the caller writes."""

    def setup(self, bottom, top):
        shapes = self._param.input_param.shape
        if len(shapes) not in (0, 1, len(top)):
            raise failure(self._param, "it needs one shape, or one for each top")
        for i, blob in enumerate(top):
            if shapes:
                blob.reshape(*shapes[i if len(shapes) > 1 else 0].dim)


class SplitLayer(NetLayer):
    """One blob for several readers: tops share its data; their gradients are summed."""

    def reshape(self, bottom, top):
        for blob in top:
            blob.reshape(*bottom[0].shape)
            blob._share_data(bottom[0])

    def forward(self, bottom, top):
        for blob in top:
            blob._share_data(bottom[0])

    def backward(self, top, propagate_down, bottom):
        if not propagate_down[0]:
            return
        total = bottom[0]._gradient
        np.copyto(total, top[0]._gradient)
        for blob in top[1:]:
            total += blob._gradient


class ParameterLayer(NetLayer):
    """A parameter as a blob."""

    def setup(self, bottom, top):
        self.blobs.add_blob(*self._param.parameter_param.shape.dim)

    def reshape(self, bottom, top):
        top[0].reshape(*self.blobs[0].shape)
        top[0]._share_data(self.blobs[0])

    forward = reshape

    def backward(self, top, propagate_down, bottom):
        # Accumulate: layers may share the parameter, and an iteration may have several passes.
        if self.param_down[0]:
            diff = self.blobs[0]._gradient
            diff += top[0]._gradient


class MemoryDataLayer(NetLayer):
    """Batches of arrays that the caller provides."""

    def setup(self, bottom, top):
        p = self._param.memory_data_param
        self.batch, self.item = p.batch_size, (p.channels, p.height, p.width)
        if min((self.batch,) + self.item) < 1:
            raise failure(self._param, "batch_size, channels, height, and width must be specified and positive")
        self.values = None
        self.position = 0
        top[0].reshape(self.batch, *self.item)
        top[1].reshape(self.batch)

    def reset(self, data, labels):
        """Uses the caller's arrays without copying them."""
        if len(data) % self.batch:
            raise RuntimeError("the number of items must be a multiple of the batch size %d" % self.batch)
        self.values = data.reshape(-1), labels.reshape(-1)
        self.position = 0

    def forward(self, bottom, top):
        if self.values is None:
            raise failure(self._param, "it needs to be initialised by calling set_input_arrays")
        top[0].reshape(self.batch, *self.item)
        top[1].reshape(self.batch, 1, 1, 1)
        for blob, values in zip(top, self.values):
            size = blob.count // self.batch
            blob._adopt(values[self.position * size: (self.position + self.batch) * size])
        self.position = (self.position + self.batch) % len(self.values[1])


class SilenceLayer(NetLayer):
    """Consumes blobs so that they are not outputs of the net."""

    def backward(self, top, propagate_down, bottom):
        for wanted, blob in zip(propagate_down, bottom):
            if wanted:
                blob._gradient[...] = 0


class FilterLayer(NetLayer):
    """Passes the items whose selector, the last bottom, is not 0."""

    def setup(self, bottom, top):
        if len(top) != len(bottom) - 1:
            raise failure(self._param, "it needs a top for each bottom but the selector")
        self.passed_items = None

    def reshape(self, bottom, top):
        for blob in bottom[:-1]:
            if blob.shape[:1] != bottom[-1].shape[:1]:
                raise failure(self._param, "its bottoms must have as many items as the selector")
        if bottom[-1].count != bottom[-1].shape[0]:
            raise failure(self._param, "the selector must have one value for each item")
        # The selector is unknown before the first pass: assume all items.
        count = bottom[-1].shape[0] if self.passed_items is None else len(np.flatnonzero(bottom[-1]._values))
        for blob, source in zip(top, bottom):
            blob.reshape(count, *source.shape[1:])

    def forward(self, bottom, top):
        self.passed_items = np.flatnonzero(bottom[-1]._values)
        for blob, source in zip(top, bottom):
            blob.reshape(len(self.passed_items), *source.shape[1:])
            blob._values[...] = source._values[self.passed_items]

    def backward(self, top, propagate_down, bottom):
        if propagate_down[-1]:
            raise failure(self._param, "cannot backpropagate to filter selector inputs")
        for wanted, blob, source in zip(propagate_down, top, bottom):
            if wanted:
                diff = source._gradient
                diff[...] = 0
                diff[self.passed_items] = blob._gradient


class Phase(int):
    """A phase as a number. Its text is the phase's name, which layers of forks use as a key."""

    def __str__(self):
        return caffe_pb2.Phase.Name(self)


def _imported(module):
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if hasattr(error, "add_note"):
            error.add_note("%s does not find '%s': install it, or add its folder to PYTHONPATH"
                           % (sys.executable, error.name))
        raise


class PythonLayer(NetLayer):
    """A layer implemented by a class of the user."""

    def __init__(self, param, phase):
        super().__init__(param, phase)
        settings = param.python_param
        if not settings.module or not settings.layer:
            raise failure(param, "python_param must name a module and a layer")
        with self._noted("class"):
            layer_class = getattr(_imported(settings.module), settings.layer)
        with self._noted("__init__"):
            self.instance = layer_class(param)
        if not hasattr(self.instance, "blobs"):  # __init__ did not call super().__init__
            Layer.__init__(self.instance, param)
        self.instance.param_str = settings.param_str
        self.instance.param_str_ = settings.param_str  # the name in older versions
        self.instance.phase = Phase(phase)
        self.blobs = self.instance.blobs

    user = property(lambda self: self.instance)

    @contextlib.contextmanager
    def _noted(self, part):
        """Adds the layer's name to the user's exceptions (from Python 3.11 on)."""
        try:
            yield
        except Exception as error:
            if hasattr(error, "add_note"):
                error.add_note("in %s of layer '%s' (%s.%s)" % (part, self._param.name, self._param.python_param.module,
                                                                self._param.python_param.layer))
            raise

    def setup(self, bottom, top):
        with self._noted("setup()"):
            self.instance.setup(RawBlobVec(bottom), RawBlobVec(top))
        weight_blobs = self._param.blobs
        if weight_blobs and len(weight_blobs) != len(self.blobs):
            raise failure(self._param, "incorrect number of weight blobs")

    def reshape(self, bottom, top):
        with self._noted("reshape()"):
            self.instance.reshape(RawBlobVec(bottom), RawBlobVec(top))

    def forward(self, bottom, top):
        with self._noted("forward()"):
            self.instance.forward(RawBlobVec(bottom), RawBlobVec(top))

    def backward(self, top, propagate_down, bottom):
        with self._noted("backward()"):
            self.instance.backward(RawBlobVec(top), list(propagate_down), RawBlobVec(bottom))


_UNCOMPILED = {"Input": InputLayer, "Split": SplitLayer, "Parameter": ParameterLayer, "MemoryData": MemoryDataLayer,
               "Silence": SilenceLayer, "Filter": FilterLayer, "Python": PythonLayer}
_COMPILED = {"Reshape": ViewLayer, "Flatten": ViewLayer, "DummyData": DummyDataLayer}


def is_compiled(kind):
    """Whether layers of this type are compiled."""
    return kind not in _UNCOMPILED


def make(param, phase, folder):
    """Creates the layer of a LayerParameter."""
    if param.type in _UNCOMPILED:
        return _UNCOMPILED[param.type](param, phase)
    kind = _COMPILED.get(param.type) or (CompiledLayer if param.bottom else SourceLayer)
    return kind(param, phase, folder)
