"""What layers have in common."""
from ._blob import BlobVec


def failure(param, text):
    return RuntimeError("layer '%s' (%s): %s" % (param.name, param.type, text))


class Layer:
    """A layer of a net; the base of layers written in Python.

    Such a class has ``setup(bottom, top)``, ``reshape(bottom, top)``,
    ``forward(bottom, top)`` and ``backward(top, propagate_down, bottom)``. It finds its
    settings in ``param_str``, the net's phase in ``phase``, and keeps parameters that are
    learnt in ``blobs`` (``blobs.add_blob(*shape)``)."""

    type = "Python"

    def __init__(self, param=None):
        self.blobs = BlobVec()
        if param is not None:
            self._param = param
            self.type = param.type


class NetLayer(Layer):
    """What a net does with a layer.

    Before the first pass the net says in ``down`` which bottoms get a gradient, and in
    ``param_down`` which parameters do."""

    #: What users see of it.
    user = property(lambda self: self)
    down = ()
    #: Compiled forms by the shapes of bottoms.
    variants = None

    def __init__(self, param, phase):
        super().__init__(param)
        self.phase = phase
        self.param_down = []

    def setup(self, bottom, top):
        pass

    def reseed_reader(self, seed):
        """What reads records begins anew with a seed that all ranks have."""

    def fill(self, bottom):
        pass

    def reshape(self, bottom, top):
        pass

    def forward(self, bottom, top):
        pass

    def backward(self, top, propagate_down, bottom):
        pass
