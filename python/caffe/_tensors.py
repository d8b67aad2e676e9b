"""Tensors of sessions whose values are in the memory of blobs.

A session on the CPU computes in the memory of the blobs, to which its tensors are bound. Tensors
that are views of others, that have another layout, or that are on a GPU are copied instead."""
import numpy as np

from brew import Error
from brew._core import Kind

from ._blob import product


class Tensor:
    """A tensor of a session.

    ``key``: (kind, program, name, index); ``memory``: the Memory to which it is bound, or None;
    ``can_be_bound``: whether it can be; ``size``: its number of elements, at most."""

    __slots__ = ("session", "key", "memory", "can_be_bound", "size", "_view", "_has_view", "_loaded")

    def __init__(self, session, kind, program, name, index=0):
        self.session, self.key = session, (kind, program, name, index)
        self._view = session.view(*self.key)
        self.memory = self._loaded = None
        self.can_be_bound = self._has_view = self._view is not None
        self.size = product(self._view.shape if self._has_view else self.shape())

    @property
    def view(self):
        """The values as an array without a copy; None if that is not possible."""
        if self._view is None and self._has_view:
            self._view = self.session.view(*self.key)
        return self._view

    def shape(self):
        return self.session.shape(*self.key)

    def get(self):
        """Returns the values; with a layout other than Caffe's, a copy."""
        view = self.view
        return view if view is not None else self.session.read(*self.key)

    def put(self, values):
        """Writes the first values of an array of any shape."""
        values, view = values.reshape(-1)[: self.size], self.view
        if view is not None:
            view.reshape(-1)[...] = values
        else:
            self.session.write(*self.key, np.ascontiguousarray(values, dtype=np.float32))

    def load(self, memory):
        """Copies the values of a Memory. Skips those of parameters that have not changed since the last
        call: they are large, and few places change them."""
        values = memory.values()
        if self.key[0] == Kind.PARAMETER and not memory.is_watched and self._loaded == (memory, memory.changes):
            return
        self.put(values)
        self._loaded = memory, memory.changes

    def store(self, memory):
        """Makes values that a run has changed those of a Memory."""
        if self.is_in(memory):
            memory.changes += 1
        else:
            memory.take(self.get())

    def is_in(self, memory):
        """Whether the tensor's values are in a Memory."""
        return self.memory is memory

    def fill(self, memory):
        """Copies the values to a Memory, which may belong to a blob of another shape now."""
        values = self.get().reshape(-1)
        memory.room()[: values.size] = values[: memory.capacity]

    def defer(self, memory):
        """Fills a Memory at its next access, or now if a user may hold an array of it."""
        if memory.is_watched:
            memory.pending = None
            self.fill(memory)
        else:
            memory.pending = self


def keep_views_unbound(tensors):
    """Marks tensors of one session that share memory as impossible to bind."""
    known = [t for t in tensors if t.view is not None]
    ranges = [(t.view.__array_interface__["data"][0], t.view.nbytes) for t in known]
    for i, (begin, size) in enumerate(ranges):
        for j in range(i):
            if begin < ranges[j][0] + ranges[j][1] and ranges[j][0] < begin + size:
                known[i].can_be_bound = known[j].can_be_bound = False


def bind(session, wanted):
    """Binds tensors of a session to memories, as far as possible. ``wanted``: (Tensor, Memory or
    None for the session's own memory)."""
    moved = [(tensor, memory) for tensor, memory in wanted if tensor.memory is not memory and tensor.can_be_bound]
    if not moved:
        return
    try:
        session.bind_memory([tensor.key + (0, None if memory is None else memory.room()[: tensor.size])
                             for tensor, memory in moved])
    except Error:
        for tensor, memory in moved:
            if len(moved) > 1:
                bind(session, [(tensor, memory)])
            else:
                tensor.can_be_bound = False
                if tensor.memory is not None:
                    session.bind_memory([tensor.key + (0, None)])
                    tensor.memory = tensor._view = None
        return
    for tensor, memory in moved:
        tensor.memory, tensor._view = memory, None
