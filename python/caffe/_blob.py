"""Blobs: data and diff, which other blobs may share."""
import numpy as np


class Memory:
    """Room for floats, taken when it is first looked at. Blobs that share data or diff
    hold the same Memory; arrays made of it keep the array alive, not the Memory."""

    __slots__ = ("_array", "capacity")

    def __init__(self, capacity=0, array=None):
        self._array = array
        self.capacity = capacity if array is None else array.size

    @property
    def array(self):
        """All of it, as one dimension."""
        if self._array is None:
            self._array = np.zeros(self.capacity, dtype=np.float32)
        return self._array


def product(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


class Blob:
    """An array of float32 values with one of gradients, as in pycaffe.

    ``data`` and ``diff`` are writable views that live on when blob and net are gone."""

    __slots__ = ("_data", "_diff", "_shape", "_count", "__weakref__")

    def __init__(self, shape=()):
        self._shape, self._count = (), 0
        self._data = self._diff = Memory()
        self._resize(tuple(int(d) for d in shape))

    def _resize(self, shape):
        """Takes a shape. Values stay unless there is more room to be had."""
        count = product(shape)
        self._shape, self._count = shape, count
        if count > self._data.capacity:
            self._data = Memory(count)
        if count > self._diff.capacity:
            self._diff = Memory(count)
        elif self._diff is self._data:
            self._diff = Memory(count)

    def _adopt(self, array):
        """Makes an array of one dimension the blob's data."""
        self._data = Memory(array=array)

    def _share_data(self, other):
        self._data = other._data

    def _share_diff(self, other):
        self._diff = other._diff

    @property
    def data(self):
        return self._data.array[: self._count].reshape(self._shape)

    @property
    def diff(self):
        return self._diff.array[: self._count].reshape(self._shape)

    @property
    def shape(self):
        return self._shape

    @property
    def count(self):
        return self._count

    def reshape(self, *shape, **keywords):
        """Takes another shape; values stay where there is room for them."""
        if keywords:
            raise RuntimeError("reshape takes the extents one by one, and no keywords: %s" % ", ".join(keywords))
        shape = tuple(int(d) for d in shape)
        if any(d < 0 for d in shape):
            raise RuntimeError("a blob cannot have the shape %s" % (shape,))
        if len(shape) > 32:
            raise RuntimeError("a blob has at most 32 axes, not %d" % len(shape))
        self._resize(shape)

    def _legacy(self, index):
        if len(self._shape) > 4:
            raise RuntimeError("a blob of %d axes has no num, channels, height and width" % len(self._shape))
        return self._shape[index] if index < len(self._shape) else 1

    num = property(lambda self: self._legacy(0))
    channels = property(lambda self: self._legacy(1))
    height = property(lambda self: self._legacy(2))
    width = property(lambda self: self._legacy(3))


class BlobVec(list):
    """The parameters of a layer."""

    def add_blob(self, *shape, **keywords):
        """Adds a parameter of this shape, all zeros."""
        if keywords:
            raise RuntimeError("add_blob takes the extents one by one, and no keywords: %s" % ", ".join(keywords))
        self.append(Blob(shape))


class RawBlobVec:
    """The bottoms or tops of a layer written in Python. As in pycaffe they are named by
    their number, and cannot be iterated over."""

    __slots__ = ("_blobs",)
    __iter__ = None

    def __init__(self, blobs):
        self._blobs = blobs

    def __len__(self):
        return len(self._blobs)

    def __getitem__(self, index):
        found = self._blobs[index]
        return RawBlobVec(found) if isinstance(index, slice) else found
