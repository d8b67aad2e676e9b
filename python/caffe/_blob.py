"""Blobs: data and diff, which several blobs may share."""
import sys

import numpy as np


#: Pseudo-address of memory that is an array of the caller, as for MemoryData.
CALLER_OWNED = -1

#: Alignment in bytes at which sessions can use a blob's memory directly.
_ALIGNMENT = 64


def _zeros(count):
    """Returns an aligned float array and the array that owns its memory."""
    owner = np.zeros(count + _ALIGNMENT // 4, dtype=np.float32)
    skipped = -owner.__array_interface__["data"][0] % _ALIGNMENT // 4
    return owner[skipped: skipped + count], owner


class Memory:
    """Float storage, allocated at the first access. Blobs that share data or diff reference
    the same Memory; arrays that users hold keep the underlying array alive, not the Memory.

    ``pending``: an object whose ``fill(memory)`` fills the storage at the next access, or None;
    ``address``: the address of the session's tensor that the storage aliases, or None;
    ``access_count``: the number of accesses, each of which may have written the storage."""

    __slots__ = ("_array", "_root", "capacity", "pending", "address", "access_count")

    def __init__(self, capacity=0):
        self._array = self._root = None
        self.capacity = capacity
        self.pending = self.address = None
        self.access_count = 0

    def use_array(self, array, address=None):
        """Uses an array as the storage; there must be no other reference to it."""
        self._root = array  # the base of all derived arrays
        self._array = array.reshape(-1)
        self.capacity, self.address = array.size, address

    @property
    def array(self):
        """The complete storage as a one-dimensional array."""
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
        """Whether other storage of `count` values can replace it: no user holds an array of it."""
        return self.capacity == count and self.address != CALLER_OWNED and not self.is_referenced()

    def move(self, array, address):
        """Aliases the memory of a session's tensor and takes over its values."""
        self.pending = None
        self.access_count += 1
        self.use_array(array, address)

    def take(self, values):
        """Overwrites the storage. Unallocated storage uses the array of the values."""
        self.pending = None
        self.access_count += 1
        if self._array is None and values.size == self.capacity and values.flags.c_contiguous \
                and values.flags.writeable and values.dtype == np.float32:
            self.use_array(values)
        else:
            self._room()[: values.size] = values.reshape(-1)

    def is_referenced(self):
        """Whether a user holds an array of the storage."""
        return self._root is not None and self._reference_count() > _UNREFERENCED_COUNT

    def _reference_count(self):
        return sys.getrefcount(self._root)


def _unreferenced_count():
    memory = Memory(1)
    memory._room()
    return memory._reference_count()


# Reference count of a Memory's array if no user holds an array of it. Depends on the interpreter.
_UNREFERENCED_COUNT = _unreferenced_count()


def product(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


class Blob:
    """An array of float32 values with one of gradients, as in pycaffe.

    ``data`` and ``diff`` are writable views that outlive the blob and the net."""

    __slots__ = ("_data", "_diff", "_shape", "_count", "__weakref__")

    def __init__(self, shape=()):
        self._shape, self._count = (), 0
        self._data = self._diff = Memory()
        self._resize(tuple(int(d) for d in shape))

    def _resize(self, shape):
        """Sets the shape. Values are preserved unless the storage must grow."""
        count = product(shape)
        self._shape, self._count = shape, count
        if count > self._data.capacity:
            self._data = Memory(count)
        if count > self._diff.capacity:
            self._diff = Memory(count)
        elif self._diff is self._data:
            self._diff = Memory(count)

    def _adopt(self, array):
        """Uses an array of the caller as the blob's data."""
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
        """Changes the shape. Values are preserved unless the storage must grow."""
        if keywords:
            raise RuntimeError("reshape takes the extents one by one, and no keywords: %s" % ", ".join(keywords))
        shape = tuple(int(d) for d in shape)
        if any(d < 0 for d in shape):
            raise RuntimeError("a blob cannot have the shape %s" % (shape,))
        if len(shape) > 32:
            raise RuntimeError("a blob has at most 32 axes, not %d" % len(shape))
        self._resize(shape)

    def _extent(self, index):
        if len(self._shape) > 4:
            raise RuntimeError("a blob of %d axes has no num, channels, height and width" % len(self._shape))
        return self._shape[index] if index < len(self._shape) else 1

    num = property(lambda self: self._extent(0))
    channels = property(lambda self: self._extent(1))
    height = property(lambda self: self._extent(2))
    width = property(lambda self: self._extent(3))


class BlobVec(list):
    """The list of parameters of a layer."""

    def add_blob(self, *shape, **keywords):
        """Adds a parameter of this shape, initialized to 0."""
        if keywords:
            raise RuntimeError("add_blob takes the extents one by one, and no keywords: %s" % ", ".join(keywords))
        self.append(Blob(shape))


class RawBlobVec:
    """The bottoms or tops of a layer written in Python. As in pycaffe, they support indexing
    but not iteration."""

    __slots__ = ("_blobs",)
    __iter__ = None

    def __init__(self, blobs):
        self._blobs = blobs

    def __len__(self):
        return len(self._blobs)

    def __getitem__(self, index):
        selected = self._blobs[index]
        return RawBlobVec(selected) if isinstance(index, slice) else selected
