"""Tensors of sessions whose values blobs read lazily."""
from . import _compiled
from ._blob import CALLER_OWNED


class BlobPort(_compiled.Port):
    """A tensor that fills a Memory at its next access."""

    __slots__ = ("target",)

    def __init__(self, session, kind, name, index, target):
        super().__init__(session, kind, name, index)
        self.target = target  # Blob

    def defer(self, memory):
        """Fills the memory at its next access, or now if a user holds an array of it."""
        if memory.is_referenced():
            memory.pending = None
            self.fill(memory)
        else:
            memory.pending = self

    def move(self, memory):
        """Makes the blob alias the tensor's memory, which already has its values, unless a user
        holds an array of the blob."""
        if self.address is not None and memory.address not in (self.address, CALLER_OWNED) \
                and memory.capacity == self.view.size and not memory.is_referenced():
            memory.use_array(self.memory(), self.address)

    def fill(self, memory):
        values = self.get().reshape(-1)  # the blob may have another shape now
        memory._room()[: values.size] = values
