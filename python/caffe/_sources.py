"""Compiled layers with passes of their own: views of their bottom, and data sources."""
from . import _state
from ._compiled import CompiledLayer
from .proto import caffe_pb2


class ViewLayer(CompiledLayer):
    """Reshape and Flatten: the top is a view of the bottom with another shape."""

    def reshape(self, bottom, top):
        super().reshape(bottom, top)
        self._share(bottom, top)

    def forward(self, bottom, top):
        self._share(bottom, top)

    def _share(self, bottom, top):
        if top[0] is not bottom[0]:
            top[0]._share_data(bottom[0])
            top[0]._share_diff(bottom[0])

    def backward(self, top, propagate_down, bottom):
        pass


class SourceLayer(CompiledLayer):
    """A layer that reads batches from files; each forward pass reads the next one. The ranks
    divide the records among themselves.

    In batches of one, each image may have its own size. As in Caffe, the tops first have the shape of the
    first image, and then that of the last batch."""

    shape_options, plan_options = {"image_sizes": "first"}, {"image_sizes": "any"}
    batch_shapes = None  # of the tops in the last batch

    def draw_seed(self):
        return _state.next_reader_seed()

    def reading(self):
        if self.phase == caffe_pb2.TEST:
            return {}
        return dict(reader_rank=_state.solver_rank(), reader_ranks=_state.solver_count())

    def reseed_reader(self, seed):
        self.seed = seed + _state.solver_rank()
        for program in self.programs.values():
            program.session.set_seed(self.seed)

    def shapes_for(self, bottom):
        tops, params = super().shapes_for(bottom)
        return self.batch_shapes or tops, params

    def forward(self, bottom, top):
        self._read_batch(range(len(top)), top)

    def backward(self, top, propagate_down, bottom):
        pass

    def _read_batch(self, indices, top):
        self.program(()).read(top, indices)
        self.batch_shapes = [blob.shape for blob in top]


class DummyDataLayer(SourceLayer):
    """A DummyData layer. Constant tops are filled once, random ones before every pass."""

    def setup(self, bottom, top):
        super().setup(bottom, top)
        fillers = self._param.dummy_data_param.data_filler
        kinds = [f.type for f in fillers] or ["constant"]
        if len(kinds) == 1:
            kinds *= len(top)
        self.random_tops = [i for i, kind in enumerate(kinds) if kind != "constant"]
        self.reshape(bottom, top)
        self._read_batch(range(len(top)), top)

    def forward(self, bottom, top):
        if self.random_tops:
            self._read_batch(self.random_tops, top)
