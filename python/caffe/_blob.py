"""Blobs: data and diff, which several blobs may share."""
import threading

import numpy as np

#: Nets that share parameters may run in several threads.
_filling = threading.RLock()

#: Alignment in bytes of memory that sessions can use directly.
_ALIGNMENT = 64


def aligned_zeros(count):
    """Returns an array of floats that sessions can use as a tensor's memory."""
    owner = np.zeros(count + _ALIGNMENT // 4, dtype=np.float32)
    skipped = -owner.__array_interface__["data"][0] % _ALIGNMENT // 4
    return owner[skipped: skipped + count]


class Memory:
    """Float storage, allocated at the first access; its address never changes. Blobs that share
    data or diff reference the same Memory.

    ``pending``: an object whose ``fill(memory)`` writes the values before the next access, or
    None; ``is_watched``: whether users may hold arrays of the storage, so that its values must
    always be current; ``is_callers``: whether it is an array of the caller; ``changes``: counts
    changes of a parameter that are not by a user's array."""

    __slots__ = ("_array", "capacity", "pending", "is_watched", "is_callers", "changes")

    def __init__(self, capacity=0, array=None):
        self._array, self.capacity = array, capacity
        self.pending, self.is_watched, self.is_callers, self.changes = None, False, array is not None, 0

    def room(self):
        """Returns the storage, whose values may be out of date."""
        if self._array is None:
            self._array = aligned_zeros(self.capacity)
        return self._array

    def values(self):
        """Returns the storage as a one-dimensional array."""
        if self.pending is not None:
            with _filling:
                if self.pending is not None:
                    self.pending.fill(self)
                    self.pending = None
                    self.changes += 1
        return self.room()

    def watched_values(self):
        """Like values(), for an array that a user may hold."""
        self.is_watched = True
        return self.values()

    def overwritten(self):
        """Returns the storage to a caller that overwrites all of its values."""
        self.pending = None
        self.changes += 1
        return self.room()

    def take(self, values):
        """Overwrites the first values of the storage."""
        self.changes += 1
        (self.overwritten() if values.size == self.capacity else self.values())[: values.size] = values.reshape(-1)


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
        self._data = Memory(array.size, array.reshape(-1))

    def _share_data(self, other):
        self._data = other._data

    def _share_diff(self, other):
        self._diff = other._diff

    @property
    def data(self):
        return self._data.watched_values()[: self._count].reshape(self._shape)

    @property
    def diff(self):
        return self._diff.watched_values()[: self._count].reshape(self._shape)

    # For code that keeps no array beyond its call.

    @property
    def _values(self):
        return self._data.values()[: self._count].reshape(self._shape)

    @property
    def _gradient(self):
        return self._diff.values()[: self._count].reshape(self._shape)

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
