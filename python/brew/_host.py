"""Layers of a net that classes of Python compute."""
import numpy as np

__all__ = ["HostLayer", "host_types"]


class HostBlob:
    """A bottom or top: ``data`` and ``diff``, arrays that are valid during the call, and
    ``shape``. While shapes are asked for, ``data`` are zeros."""

    __slots__ = ("shape", "_data", "_diff")

    def __init__(self, shape, data=None, diff=None):
        self.shape = tuple(int(d) for d in shape)
        self._data, self._diff = data, diff

    @property
    def data(self):
        if self._data is None:
            self._data = np.zeros(self.shape, np.float32)
        return self._data

    @property
    def diff(self):
        if self._diff is None:
            self._diff = np.zeros(self.shape, np.float32)
        return self._diff

    @property
    def count(self):
        return int(np.prod(self.shape, dtype=np.int64))

    def reshape(self, *shape):
        """Says what shape a top has."""
        shape = tuple(int(d) for d in shape)
        if shape != self.shape:
            self.shape, self._data, self._diff = shape, None, None

    def _extent(self, axis):
        return self.shape[axis] if axis < len(self.shape) else 1

    num = property(lambda self: self._extent(0))
    channels = property(lambda self: self._extent(1))
    height = property(lambda self: self._extent(2))
    width = property(lambda self: self._extent(3))


class HostLayer:
    """A type of layers written in Python, with the methods of pycaffe's; classes that
    derive from pycaffe's ``Layer``, or from nothing, serve as well.

    ``setup(bottom, top)`` is called once, ``reshape(bottom, top)`` gives each top its shape
    (``top[0].reshape(...)``), which the bottoms' shapes decide. ``forward(bottom, top)``
    reads ``bottom[i].data`` and writes all of ``top[i].data``; ``backward(top,
    propagate_down, bottom)`` reads ``top[i].diff`` and writes all of ``bottom[i].diff``
    where ``propagate_down[i]``. A class without ``backward`` passes no gradient.

    ``param_str`` has the layer's settings, ``name`` and ``type`` its name and type,
    ``phase`` its phase (0 TRAIN, 1 TEST, as ``caffe.TRAIN`` and ``caffe.TEST``),
    ``settings`` the prototxt's text."""

    param_str = name = type = settings = ""
    phase = 0

    def setup(self, bottom, top):
        pass

    def reshape(self, bottom, top):
        raise NotImplementedError("reshape(bottom, top) has to give each top its shape")

    def forward(self, bottom, top):
        raise NotImplementedError("forward(bottom, top) has to compute the tops")


class _Instance:
    """A layer of a net, as the library calls it."""

    def __init__(self, layer):
        self.layer = layer

    def _blobs(self, values, gradients=None):
        gradients = gradients or [None] * len(values)
        return [HostBlob(v.shape, v, g) for v, g in zip(values, gradients)]

    def forward(self, bottoms, tops):
        bottom, top = self._blobs(bottoms), self._blobs(tops)
        self.layer.forward(bottom, top)
        self._check(top, tops)

    def backward(self, bottoms, bottom_gradients, tops, top_gradients):
        bottom = self._blobs(bottoms, bottom_gradients)
        self.layer.backward(self._blobs(tops, top_gradients), [g is not None for g in bottom_gradients], bottom)

    def _check(self, blobs, arrays):
        for i, (blob, array) in enumerate(zip(blobs, arrays)):
            if blob._data is not array:
                raise ValueError("top %d took the shape %s during a run; a compiled net gives it %s"
                                 % (i, blob.shape, array.shape))


class _Type:
    """A class, as the library asks it for instances, which live as long as this."""

    def __init__(self, layer_class):
        self.instances = []
        self.layer_class = layer_class
        backward = getattr(layer_class, "backward", None)
        self.has_backward = backward is not None

    def _make(self, type, name, settings, param_str, test, bottoms, tops):
        """(instance, bottoms, tops) set up, with shapes and without values."""
        layer = self.layer_class()
        layer.param_str, layer.phase = param_str, int(test)
        layer.name, layer.settings = name, settings
        layer.type = type
        bottom = [HostBlob(shape) for shape in bottoms]
        top = [HostBlob(shape or ()) for shape in tops]
        if hasattr(layer, "setup"):
            layer.setup(bottom, top)
        if getattr(layer, "blobs", None):
            raise ValueError("a layer that learns parameters of its own runs in caffe.Net, not in a compiled plan")
        layer.reshape(bottom, top)
        return layer, bottom, top

    def shapes(self, **about):
        return [blob.shape for blob in self._make(**about)[2]]

    def create(self, **about):
        shapes = about["tops"]
        layer, _, top = self._make(**about)
        for i, (blob, shape) in enumerate(zip(top, shapes)):
            if blob.shape != tuple(shape):
                raise ValueError("top %d has the shape %s, and the plan was compiled for %s"
                                 % (i, blob.shape, tuple(shape)))
        self.instances.append(_Instance(layer))
        return self.instances[-1]


def host_types(given):
    """Name to what the library takes, of a dict of name to class."""
    if given is None:
        return {}
    if not hasattr(given, "items"):
        raise TypeError("host_layers is a dict: type of the layer (of Python layers 'MODULE.LAYER') to its class")
    types = {}
    for name, layer_class in given.items():
        if not callable(layer_class):
            raise TypeError("host_layers: %r is no class" % (layer_class,))
        types[str(name)] = _Type(layer_class)
    return types
