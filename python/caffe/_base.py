"""Base classes of layers, and errors."""
import contextlib

from brew import Error

from ._blob import BlobVec

_UNAVAILABLE = 3  # the status of files that cannot be read or written


@contextlib.contextmanager
def runtime_errors(unavailable=RuntimeError):
    """Raises Brew's errors as RuntimeError, as pycaffe does; those about missing files and full disks
    as ``unavailable``."""
    try:
        yield
    except Error as error:
        kind = unavailable if getattr(error, "status", None) == _UNAVAILABLE else RuntimeError
        raise kind(str(error)) from error


def failure(param, text):
    return RuntimeError("layer '%s' (%s): %s" % (param.name, param.type, text))


class Layer:
    """A layer of a net; the base class of layers written in Python.

    Derived classes implement ``setup(bottom, top)``, ``reshape(bottom, top)``,
    ``forward(bottom, top)`` and ``backward(top, propagate_down, bottom)``. ``param_str``
    contains the layer's settings, ``phase`` the net's phase, and ``blobs`` the learnable
    parameters (``blobs.add_blob(*shape)``)."""

    type = "Python"

    def __init__(self, param=None):
        self.blobs = BlobVec()
        if param is not None:
            self._param = param
            self.type = param.type


class NetLayer(Layer):
    """The interface between a net and its layers.

    Before the first pass the net sets ``down``, whether each bottom gets a gradient, and
    ``param_down``, whether each parameter gets one."""

    #: The object that users see.
    user = property(lambda self: self)
    down = ()
    #: Whether forward passes may write parameters, even in phase TEST. Set before setup().
    keeps_statistics = False

    def __init__(self, param, phase):
        super().__init__(param)
        self.phase = phase
        self.param_down = []

    def setup(self, bottom, top):
        pass

    def reseed_reader(self, seed):
        """Restarts a data reader with a seed that is common to all ranks."""

    def reshape(self, bottom, top):
        pass

    def forward(self, bottom, top):
        pass

    def backward(self, top, propagate_down, bottom):
        pass
