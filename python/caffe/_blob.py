"""Blobs: data and diff, which other blobs may share."""
import sys

import numpy as np


#: In place of an address: memory that is the caller's own array, as MemoryData takes it.
CALLER_OWNED = -1

#: Bytes at a multiple of which sessions may use a blob's memory as it is.
_ALIGNMENT = 64


def _zeros(count):
    """Aligned floats, and the array that owns them."""
    owner = np.zeros(count + _ALIGNMENT // 4, dtype=np.float32)
    skipped = -owner.__array_interface__["data"][0] % _ALIGNMENT // 4
    return owner[skipped: skipped + count], owner


class Memory:
    """Room for floats, taken when it is first looked at. Blobs that share data or diff
    hold the same Memory; arrays made of it None=pin=None the array alive, not the Memory.

    ``pending``: what fills it when it is next looked at (its ``fill(memory)``), or None; ``address``: the address of
    the session's tensor that it is, or None; ``access_count``: how often it was looked at, or
    may have been written."""

    __slots__ = ("_array", "_root", "capacity", "pending", "address", "access_count")

    def __init__(self, capacity=0):
        self._array = self._root = None
        self.capacity = capacity
        self.pending = self.address = None
        self.access_count = 0

    def use_array(self, array, address=None):
        """Makes the memory that of an array, to which nobody else refers."""
        self._root = array  # what arrays made of it have for their base
        self._array = array.reshape(-1)
        self.capacity, self.address = array.size, address

    @property
    def array(self):
        """All of it, as one dimension."""
        self.access_count += 1
        if self.pending is not None:
            source, self.pending = self.pending, None
            source.fill(self)
        return self._room()

    def _room(self):
        if self._array is None:
            self._array, self._root = _zeros(self.capacity)
        return self._array

    def can_rebind(self, count):
        """Whether it can become other memory of so many values: nobody would miss what it was."""
        return self.capacity == count and self.address != CALLER_OWNED and not self.is_referenced()

    def move(self, array, address):
        """Becomes the memory of a session's tensor, with the values that are there."""
        self.pending = None
        self.access_count += 1
        self.use_array(array, address)

    def take(self, values):
        """Overwrites all of it; fresh memory is that of the values."""
        self.pending = None
        self.access_count += 1
        if self._array is None and values.size == self.capacity and values.flags.c_contiguous \
                and values.flags.writeable and values.dtype == np.float32:
            self.use_array(values)
        else:
            self._room()[: values.size] = values.reshape(-1)

    def is_referenced(self):
        """Whether somebody has an array of it."""
        return self._root is not None and self._references() > _UNHELD

    def _references(self):
        return sys.getrefcount(self._root)


def _references_of_unheld():
    memory = Memory(1)
    memory._room()
    return memory._references()


# How many there are to a memory's array where nobody else has one; interpreters differ.
_UNHELD = _references_of_unheld()


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
        """Makes the memory of an array of the caller's the blob's data."""
        self._data = Memory()
        self._data.use_array(array, CALLER_OWNED)

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
