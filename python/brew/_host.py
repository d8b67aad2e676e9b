"""Layers that are implemented in Python."""
import numpy as np

__all__ = ["HostLayer", "host_types"]


class HostBlob:
    """A bottom or top: ``shape`` and the arrays ``data`` and ``diff``, which are valid only
    during the call. While shapes are inferred, ``data`` is 0."""

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
        """Sets the shape of a top."""
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
    """Base class of layer types written in Python, with the methods of pycaffe's ``Layer``.
    Deriving from it is optional; classes derived from pycaffe's ``Layer`` work, too.

    ``setup(bottom, top)`` is called once. ``reshape(bottom, top)`` sets the shape of each top
    (``top[0].reshape(...)``), which may depend only on the shapes of the bottoms.
    ``forward(bottom, top)`` reads ``bottom[i].data`` and writes all of ``top[i].data``.
    ``backward(top, propagate_down, bottom)`` reads ``top[i].diff`` and writes all of
    ``bottom[i].diff`` if ``propagate_down[i]`` is set. A class without ``backward``
    propagates no gradient.

    ``param_str`` contains the layer's settings, ``name`` and ``type`` its name and type,
    ``phase`` its phase (0 TRAIN, 1 TEST, as ``caffe.TRAIN`` and ``caffe.TEST``), and
    ``settings`` the text of the layer in the prototxt."""

    param_str = name = type = settings = ""
    phase = 0

    def setup(self, bottom, top):
        pass

    def reshape(self, bottom, top):
        raise NotImplementedError("reshape(bottom, top) must set the shape of each top")

    def forward(self, bottom, top):
        raise NotImplementedError("forward(bottom, top) must compute the tops")


class _LayerInstance:
    """A layer of a net, called by the library."""

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
                raise ValueError("top %d changed its shape to %s during a run; the compiled net requires %s"
                                 % (i, blob.shape, array.shape))


class _LayerType:
    """A class that creates instances for the library and owns them."""

    def __init__(self, layer_class):
        self.instances = []
        self.layer_class = layer_class
        backward = getattr(layer_class, "backward", None)
        self.has_backward = backward is not None

    def _make(self, type, name, settings, param_str, test, bottoms, tops):
        """Returns (instance, bottoms, tops) after setup, with shapes and without values."""
        layer = self.layer_class()
        layer.param_str, layer.phase = param_str, int(test)
        layer.name, layer.settings = name, settings
        layer.type = type
        bottom = [HostBlob(shape) for shape in bottoms]
        top = [HostBlob(shape or ()) for shape in tops]
        if hasattr(layer, "setup"):
            layer.setup(bottom, top)
        if getattr(layer, "blobs", None):
            raise ValueError("a layer with its own learnable parameters needs caffe.Net; a compiled plan cannot run it")
        layer.reshape(bottom, top)
        return layer, bottom, top

    def shapes(self, **description):
        return [blob.shape for blob in self._make(**description)[2]]

    def create(self, **description):
        shapes = description["tops"]
        layer, _, top = self._make(**description)
        for i, (blob, shape) in enumerate(zip(top, shapes)):
            if blob.shape != tuple(shape):
                raise ValueError("top %d has the shape %s, but the plan was compiled for %s"
                                 % (i, blob.shape, tuple(shape)))
        self.instances.append(_LayerInstance(layer))
        return self.instances[-1]


def host_types(layer_classes):
    """Converts a dict of name to class to the objects that the library expects."""
    if layer_classes is None:
        return {}
    if not hasattr(layer_classes, "items"):
        raise TypeError("host_layers must be a dict of layer type (for Python layers 'MODULE.LAYER') to class")
    types = {}
    for name, layer_class in layer_classes.items():
        if not callable(layer_class):
            raise TypeError("host_layers: %r is not a class" % (layer_class,))
        types[str(name)] = _LayerType(layer_class)
    return types
