"""Tensors of sessions that blobs take their values from."""
from . import _compiled
from ._blob import CALLER_OWNED


class BlobPort(_compiled.Port):
    """A tensor that a Memory takes its values from when it is looked at."""

    __slots__ = ("target",)

    def __init__(self, session, kind, name, index, target):
        super().__init__(session, kind, name, index)
        self.target = target  # Blob

    def defer(self, memory):
        if memory.is_referenced():
            memory.pending = None
            self.fill(memory)
        else:
            memory.pending = self

    def move(self, memory):
        """Makes the tensor's memory the blob's from now on, which has its values, unless
        somebody has an array of the blob's own."""
        if self.address is not None and memory.address not in (self.address, CALLER_OWNED) and memory.capacity == self.view.size \
                and not memory.is_referenced():
            memory.use_array(self.memory(), self.address)

    def fill(self, memory):
        values = self.get().reshape(-1)  # of the shape that the blob had
        memory._room()[: values.size] = values
