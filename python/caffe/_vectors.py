"""The types of pycaffe's lists: Python's list under the names of the extension module."""


class LayerVec(list):
    """A list of layers."""


class NetVec(list):
    """A list of nets."""


class StringVec(list):
    """A list of names."""


class IntVec(list):
    """A list of blob numbers."""


class DtypeVec(list):
    """A list of loss weights."""


class BoolVec(list):
    """A list of truth values."""
