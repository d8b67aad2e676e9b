"""Net and the solvers with the interface of pycaffe."""
import importlib
import os
from collections import OrderedDict
from itertools import zip_longest

import numpy as np

from . import _graph
from ._layers import Layer
from ._net import NetCore
from .proto import caffe_pb2

__all__ = ["Layer", "Net"]


def __getattr__(name):
    """Returns the names that pycaffe's module takes from its extension module: solvers, NCCL, Timer."""
    if name in ("SGDSolver", "NesterovSolver", "AdaGradSolver", "RMSPropSolver", "AdaDeltaSolver", "AdamSolver", "NCCL",
                "Timer"):
        return getattr(importlib.import_module("._caffe", __package__), name)
    raise AttributeError("module 'caffe.pycaffe' has no attribute '%s'" % name)


def _cached_property(function):
    """Decorator for a property that is computed at its first access, as in pycaffe."""
    name = "_made_" + function.__name__

    def get(self):
        value = self.__dict__.get(name)
        if value is None:
            value = self.__dict__[name] = function(self)
        return value

    return property(get, doc=function.__doc__)


class Net(NetCore):
    """A net: ``Net(file, phase, level=0, stages=None, weights=None)``, or the older form
    ``Net(file, weights, phase)``.

    Its layers run one by one, each as a compiled plan, on blobs that users may read and
    write in between. Raises RuntimeError for files that are missing or wrong."""

    def __init__(self, network_file, *args, **keywords):
        phase, level, stages, weights = self._arguments(*args, **keywords)
        net = _graph.read_net(network_file)
        net.state.level = level
        net.state.stage.extend(stages or [])
        with _graph.located_errors(network_file, net, phase):
            self._build(net, phase, os.path.dirname(os.fspath(network_file)))
        if weights is not None:
            self.copy_from(weights)

    @staticmethod
    def _arguments(*args, **keywords):
        """Returns (phase, level, stages, weights) for both forms of the constructor."""
        if args and isinstance(args[0], (str, bytes, os.PathLike)):

            def old_form(weights, phase):
                return phase, 0, None, weights

            if len(args) < 2 and "phase" not in keywords:
                raise TypeError("Net takes (file, phase) or (file, weights, phase); a phase is caffe.TRAIN or "
                                "caffe.TEST")
            return old_form(*args, **keywords)

        def new_form(phase, level=0, stages=None, weights=None):
            return phase, level, stages, weights

        phase, level, stages, weights = new_form(*args, **keywords)
        if phase not in (caffe_pb2.TRAIN, caffe_pb2.TEST):
            raise ValueError("a phase is caffe.TRAIN or caffe.TEST, not %r" % (phase,))
        return int(phase), int(level), stages, weights

    @classmethod
    def _of_message(cls, net, phase, folder=""):
        result = cls.__new__(cls)
        result._build(net, phase, folder)
        return result

    # --- properties

    @_cached_property
    def blobs(self):
        """Dict of name to Blob, in the order of creation."""
        return OrderedDict(zip(self._blob_names, self._blobs))

    @_cached_property
    def blob_loss_weights(self):
        """Dict of blob name to loss weight."""
        return OrderedDict(zip(self._blob_names, self._blob_loss_weights))

    @_cached_property
    def params(self):
        """Dict of layer name to its parameters: weights, then biases."""
        return OrderedDict((p.name, layer.blobs) for p, layer in zip(self._params, self._layers) if len(layer.blobs))

    @_cached_property
    def layer_dict(self):
        """Dict of name to layer."""
        return OrderedDict(zip(self._layer_names, self.layers))

    @_cached_property
    def inputs(self):
        """Names of the tops of Input layers."""
        return [self._blob_names[i] for i in self._inputs]

    @_cached_property
    def outputs(self):
        """Sorted names of the blobs that no layer reads."""
        return [self._blob_names[i] for i in self._outputs]

    @_cached_property
    def top_names(self):
        """Dict of layer name to the names of its tops."""
        return OrderedDict((p.name, [self._blob_names[i] for i in ids])
                           for p, ids in zip(self._params, self._top_index))

    @_cached_property
    def bottom_names(self):
        """Dict of layer name to the names of its bottoms."""
        return OrderedDict((p.name, [self._blob_names[i] for i in ids])
                           for p, ids in zip(self._params, self._bottom_index))

    # --- running

    def _layer_number(self, layer):
        return self._layer_names.index(layer)

    def forward(self, blobs=None, start=None, end=None, **inputs):
        """Runs the layers from ``start`` to ``end`` (names, both included).

        ``inputs``: arrays for the net's inputs, all of them or none. Returns a dict of name to data
        of the net's outputs, or of the tops of ``end``, and of ``blobs``. The arrays are the
        blobs' memory, not copies."""
        first = 0 if start is None else self._layer_number(start)
        last = len(self._layers) - 1 if end is None else self._layer_number(end)
        returned_names = list(self.outputs) if end is None else self.top_names[end]
        returned_names = dict.fromkeys(returned_names + list(blobs or []))
        net_blobs = self.blobs
        if inputs:
            if set(inputs) != set(self.inputs):
                raise Exception("Input blob arguments do not match net inputs.")
            for name, values in inputs.items():
                if values.shape[0] != net_blobs[name].shape[0]:
                    raise Exception("Input is not batch sized")
                net_blobs[name].data[...] = values
        self._forward(first, last)
        return {name: net_blobs[name].data for name in returned_names}

    def backward(self, diffs=None, start=None, end=None, **tops):
        """Runs the backward pass from ``start`` back to ``end`` (names, both included).

        ``tops``: gradients of the net's outputs, all of them or none. Returns a dict of name to diff
        of the net's inputs, or of the bottoms of ``end``, and of ``diffs``. The arrays are the
        blobs' memory, not copies."""
        first = len(self._layers) - 1 if start is None else self._layer_number(start)
        last = 0 if end is None else self._layer_number(end)
        returned_names = list(self.inputs) if end is None else self.bottom_names[end]
        returned_names = dict.fromkeys(returned_names + list(diffs or []))
        net_blobs = self.blobs
        if tops:
            if set(tops) != set(self.outputs):
                raise Exception("Top diff arguments do not match net outputs.")
            for name, values in tops.items():
                if values.shape[0] != net_blobs[name].shape[0]:
                    raise Exception("Diff is not batch sized")
                net_blobs[name].diff[...] = values
        self._backward(first, last)
        return {name: net_blobs[name].diff for name in returned_names}

    def forward_all(self, blobs=None, **inputs):
        """Like forward() for any number of items, batch by batch; pads the last batch with
        zeros. Returns copies."""
        collected = {name: [] for name in dict.fromkeys(list(self.outputs) + list(blobs or []))}
        for batch in self._batches(inputs):
            for name, values in self.forward(blobs=blobs, **batch).items():
                collected[name].extend(values.copy())
        return _to_arrays(collected, inputs)

    def forward_backward_all(self, blobs=None, diffs=None, **arrays):
        """Like forward() and backward() for any number of items. Returns two dicts of copies."""
        data = {name: arrays[name] for name in self.inputs if name in arrays}
        gradients = {name: arrays[name] for name in self.outputs if name in arrays}
        outs = {name: [] for name in dict.fromkeys(list(self.outputs) + list(blobs or []))}
        grads = {name: [] for name in dict.fromkeys(list(self.inputs) + list(diffs or []))}
        for values, diff in zip_longest(self._batches(data), self._batches(gradients), fillvalue={}):
            for name, item_values in self.forward(blobs=blobs, **values).items():
                outs[name].extend(item_values.copy())
            for name, item_values in self.backward(diffs=diffs, **diff).items():
                grads[name].extend(item_values.copy())
        return _to_arrays(outs, arrays), _to_arrays(grads, arrays)

    def _batches(self, arrays):
        """Yields dicts of arrays with the batch size of the net's first input."""
        if not arrays:
            return
        size = next(iter(self.blobs.values())).shape[0]
        count = len(next(iter(arrays.values())))
        for begin in range(0, count, size):
            batch = {name: np.asarray(values[begin: begin + size]) for name, values in arrays.items()}
            missing = size - min(count - begin, size)
            if missing:
                batch = {name: np.concatenate([values, np.zeros((missing,) + values.shape[1:], values.dtype)])
                         for name, values in batch.items()}
            yield batch

    def set_input_arrays(self, data, labels):
        """Sets the items of a net whose first layer is MemoryData. Does not copy the arrays."""
        if labels.ndim == 1:
            labels = np.ascontiguousarray(labels[:, np.newaxis, np.newaxis, np.newaxis])
        self._set_input_arrays(data, labels)


def _to_arrays(lists, arrays):
    """Returns arrays of the items without the padding of the last batch."""
    count = len(next(iter(arrays.values()))) if arrays else None
    return {name: np.asarray(values)[:count] for name, values in lists.items()}
