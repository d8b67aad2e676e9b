"""Layers as Caffe's nets have them: set up once, reshaped before each pass, run one by one.

A layer of Brew's is a plan of its own, compiled for the shapes of its bottoms: bottoms are
the plan's inputs, gradients of tops come from outside. What a layer keeps between its passes
(masks, positions, statistics) its session keeps. Layers that only rearrange what blobs hold
are Python here.
"""
import importlib

import numpy as np

from brew import CompileError, Error
from brew._core import Kind, Pass, Session

from . import _plans, _state
from ._blob import BlobVec, RawBlobVec, product
from ._graph import is_loss
from .proto import caffe_pb2


def failure(param, text):
    return RuntimeError("layer '%s' (%s): %s" % (param.name, param.type, text))


class Layer:
    """A layer of a net; the base of layers written in Python.

    Such a class has ``setup(bottom, top)``, ``reshape(bottom, top)``,
    ``forward(bottom, top)`` and ``backward(top, propagate_down, bottom)``. It finds its
    settings in ``param_str``, the net's phase in ``phase``, and keeps parameters that are
    learnt in ``blobs`` (``blobs.add_blob(*shape)``)."""

    type = "Python"

    def __init__(self, param=None):
        self.blobs = BlobVec()
        if param is not None:
            self._param = param
            self.type = param.type


class NetLayer(Layer):
    """What a net does with a layer.

    Before the first pass the net says in ``down`` which bottoms get a gradient, and in
    ``param_down`` which parameters do."""

    #: What users see of it.
    user = property(lambda self: self)
    down = ()

    def __init__(self, param, phase):
        super().__init__(param)
        self.phase = phase
        self.param_down = []

    def setup(self, bottom, top):
        pass

    def fill(self, bottom):
        pass

    def reshape(self, bottom, top):
        pass

    def forward(self, bottom, top):
        pass

    def backward(self, top, propagate_down, bottom):
        pass


class InputLayer(NetLayer):
    """Holds what the caller writes."""

    def setup(self, bottom, top):
        shapes = self._param.input_param.shape
        if len(shapes) not in (0, 1, len(top)):
            raise failure(self._param, "it needs one shape, or one for each top")
        for i, blob in enumerate(top):
            if shapes:
                blob.reshape(*shapes[i if len(shapes) > 1 else 0].dim)


class SplitLayer(NetLayer):
    """One blob for several readers: they share its data, and their gradients are added up."""

    def reshape(self, bottom, top):
        for blob in top:
            blob.reshape(*bottom[0].shape)
            blob._share_data(bottom[0])

    def forward(self, bottom, top):
        for blob in top:
            blob._share_data(bottom[0])

    def backward(self, top, propagate_down, bottom):
        if not propagate_down[0]:
            return
        total = bottom[0].diff
        np.copyto(total, top[0].diff)
        for blob in top[1:]:
            total += blob.diff


class ParameterLayer(NetLayer):
    """A parameter as a blob."""

    def setup(self, bottom, top):
        self.blobs.add_blob(*self._param.parameter_param.shape.dim)

    def reshape(self, bottom, top):
        top[0].reshape(*self.blobs[0].shape)
        top[0]._share_data(self.blobs[0])
        top[0]._share_diff(self.blobs[0])

    forward = reshape


class MemoryDataLayer(NetLayer):
    """Batches of arrays that the caller gives."""

    def setup(self, bottom, top):
        p = self._param.memory_data_param
        self.batch, self.item = p.batch_size, (p.channels, p.height, p.width)
        if min((self.batch,) + self.item) < 1:
            raise failure(self._param, "batch_size, channels, height, and width must be specified and positive")
        self.values = None
        self.position = 0
        top[0].reshape(self.batch, *self.item)
        top[1].reshape(self.batch)

    def reset(self, data, labels):
        """Takes the arrays, which stay the caller's and are not copied."""
        if len(data) % self.batch:
            raise RuntimeError("the number of items must be a multiple of the batch size %d" % self.batch)
        self.values = data.reshape(-1), labels.reshape(-1)
        self.position = 0

    def forward(self, bottom, top):
        if self.values is None:
            raise failure(self._param, "it needs to be initialised by calling set_input_arrays")
        top[0].reshape(self.batch, *self.item)
        top[1].reshape(self.batch, 1, 1, 1)
        for blob, values in zip(top, self.values):
            size = blob.count // self.batch
            blob._adopt(values[self.position * size: (self.position + self.batch) * size])
        self.position = (self.position + self.batch) % len(self.values[1])


class SilenceLayer(NetLayer):
    """Reads blobs so that they are no outputs."""

    def backward(self, top, propagate_down, bottom):
        for wanted, blob in zip(propagate_down, bottom):
            if wanted:
                blob.diff[...] = 0


class FilterLayer(NetLayer):
    """Lets those items through whose selector, the last bottom, is not zero."""

    def setup(self, bottom, top):
        if len(top) != len(bottom) - 1:
            raise failure(self._param, "it needs a top for each bottom but the selector")
        self.kept = None

    def reshape(self, bottom, top):
        for blob in bottom[:-1]:
            if blob.shape[:1] != bottom[-1].shape[:1]:
                raise failure(self._param, "its bottoms must have as many items as the selector")
        if bottom[-1].count != bottom[-1].shape[0]:
            raise failure(self._param, "the selector must have one value for each item")
        # Nothing is known of the selector before the first pass: all of them.
        count = bottom[-1].shape[0] if self.kept is None else len(np.flatnonzero(bottom[-1].data))
        for blob, source in zip(top, bottom):
            blob.reshape(count, *source.shape[1:])

    def forward(self, bottom, top):
        self.kept = np.flatnonzero(bottom[-1].data)
        for blob, source in zip(top, bottom):
            blob.reshape(len(self.kept), *source.shape[1:])
            blob.data[...] = source.data[self.kept]

    def backward(self, top, propagate_down, bottom):
        if propagate_down[-1]:
            raise failure(self._param, "cannot backpropagate to filter selector inputs")
        for wanted, blob, source in zip(propagate_down, top, bottom):
            if wanted:
                diff = source.diff
                diff[...] = 0
                diff[self.kept] = blob.diff


class PythonLayer(NetLayer):
    """A layer whose class is the user's own."""

    def __init__(self, param, phase):
        super().__init__(param, phase)
        settings = param.python_param
        made = getattr(importlib.import_module(settings.module), settings.layer)
        self.instance = made(param)
        if not hasattr(self.instance, "blobs"):  # __init__ without super's
            Layer.__init__(self.instance, param)
        self.instance.param_str = settings.param_str
        self.instance.phase = phase
        self.blobs = self.instance.blobs

    user = property(lambda self: self.instance)

    def setup(self, bottom, top):
        self.instance.setup(RawBlobVec(bottom), RawBlobVec(top))
        given = self._param.blobs
        if given and len(given) != len(self.blobs):
            raise failure(self._param, "incorrect number of weight blobs")

    def reshape(self, bottom, top):
        self.instance.reshape(RawBlobVec(bottom), RawBlobVec(top))

    def forward(self, bottom, top):
        self.instance.forward(RawBlobVec(bottom), RawBlobVec(top))

    def backward(self, top, propagate_down, bottom):
        self.instance.backward(RawBlobVec(top), list(propagate_down), RawBlobVec(bottom))


class Port:
    """A tensor of a session and the memory it lies in."""

    __slots__ = ("session", "name", "view", "home", "seen")

    def __init__(self, session, kind, name, index=0):
        self.session, self.name = session, (kind, 0, name, index)
        self.view = session.view(*self.name)
        self.home = None if self.view is None else self.view.__array_interface__["data"][0]

        self.seen = None  # the memory that was put last, and how often it had been looked at

    def refresh(self, blob):
        """Puts a parameter, unless it lies here or nobody can have written it since."""
        memory = blob._data
        if self.holds(blob) or self.seen == (memory, memory.looks) and not memory.is_held():
            return
        self.put(blob.data)
        self.seen = memory, memory.looks

    def holds(self, blob):
        """Whether the blob's data lie here."""
        return self.home is not None and blob._data.home == self.home

    def memory(self):
        """The tensor's memory, for a blob to lie in."""
        return self.session.view(*self.name)

    def put(self, array):
        if self.view is None:
            self.session.write(*self.name, np.ascontiguousarray(array, dtype=np.float32))
        elif self.view.shape == array.shape:
            np.copyto(self.view, array)
        else:  # a label of another form
            self.view.reshape(-1)[...] = array.reshape(-1)

    def get(self):
        return self.view if self.view is not None else self.session.read(*self.name)


class Variant:
    """A layer compiled for certain shapes of bottoms, with its session."""

    def __init__(self, layer, shapes, first):
        """``first``: the layer's first variant, whose parameters this one shares."""
        self.seeds, wrapped, plan = layer.compiled(shapes)
        self.fed = plan.fed
        try:
            session = Session(plan._core, seed=_state.next_seed(), pool=_state.pool(),
                              share=first.session if first else None, folder=layer.folder)
            if not first:
                session.initialise()
        except Error as error:
            raise failure(layer._param, str(error)) from error
        self.session = session
        self.bottoms = [Port(session, Kind.BLOB, ("in%d" if wrapped and layer.down[i] else "b%d") % i)
                        for i in range(len(shapes))]
        self.tops = [Port(session, Kind.BLOB, name) for name in layer.top_blobs]
        self.params = [Port(session, Kind.PARAMETER, name, index)
                       for name, index in session.names(Kind.PARAMETER) if name == "layer"]
        self.seed_ports = [Port(session, Kind.GRADIENT_SEED, "t%d" % i) for i in self.seeds]
        self.gradients, self.param_gradients = {}, {}
        if self.seeds:
            names = {name for name, _ in session.names(Kind.BLOB_GRADIENT)}
            self.gradients = {i: Port(session, Kind.BLOB_GRADIENT, "b%d" % i)
                              for i in range(len(shapes)) if "b%d" % i in names}
            self.param_gradients = {index: Port(session, Kind.PARAMETER_GRADIENT, name, index)
                                    for name, index in session.names(Kind.PARAMETER_GRADIENT) if name == "layer"}
        self.ran = False


def is_in_place(blob, bottom):
    return any(blob is other for other in bottom)


class CompiledLayer(NetLayer):
    """A layer that Brew compiles."""

    # Layers whose forward pass changes parameters: running statistics.
    _STATISTICS = ("BatchNorm",)

    def __init__(self, param, phase, folder=""):
        super().__init__(param, phase)
        text = str(param)
        # What a file says is part of the plan, and may be another thing tomorrow.
        self.reads_files = "source:" in text or "mean_file:" in text
        self.folder = folder if self.reads_files else ""
        # Sources of HDF5 files find their data by the names of tops.
        self.top_blobs = ["t%d" % i for i in range(len(param.top))] if param.bottom else list(param.top)
        self.variants, self.shapes = {}, {}
        self.first = self.current = None
        self.keeps_statistics = param.type in self._STATISTICS and phase == caffe_pb2.TRAIN

    # --- compiling

    def text(self, shapes, seeds, wrapped=False):
        """The net of this layer alone: blobs b0, b1, ... and t0, t1, ...

        Inputs get gradients by force_backward, which some layers refuse for indices and the
        like; with ``wrapped`` those that want one come (as in0, in1, ...) through a layer
        that learns."""
        force = any(self.down) and not wrapped
        net = caffe_pb2.NetParameter(force_backward=bool(seeds) and force)
        for i, shape in enumerate(shapes):
            wrap = wrapped and self.down[i]
            name = ("in%d" if wrap else "b%d") % i
            made = net.layer.add(name=name, type="Input", top=[name])
            made.input_param.shape.add().dim.extend(shape)
            if wrap:
                bias = net.layer.add(name="wrap%d" % i, type="Bias", bottom=[name], top=["b%d" % i])
                bias.bias_param.num_axes = 0
        layer = net.layer.add()
        layer.CopyFrom(self._param)
        for field in ("include", "exclude", "phase", "blobs", "param", "bottom", "top", "loss_weight",
                      "propagate_down"):
            layer.ClearField(field)
        layer.name = "layer"
        layer.bottom.extend("b%d" % i for i in range(len(shapes)))
        layer.top.extend(self.top_blobs)
        if is_loss(layer.type):
            layer.loss_weight.extend([0.0] * len(layer.top))
        if seeds:
            layer.propagate_down.extend(self.down)
            for learnt in self.param_down:
                layer.param.add(lr_mult=1.0 if learnt else 0.0)
        return str(net)

    def options(self, seeds):
        options = dict(phase="test" if self.phase == caffe_pb2.TEST else "train", keep="all", layout="nchw",
                       without="fold-normalization,prepare-weights", folder=self.folder or None)
        if seeds:
            options.update(gradients=True, seed=",".join("t%d" % i for i in seeds))
        return options

    def compiled(self, shapes):
        """(numbers of the tops that gradients come from, whether bottoms are wrapped, plan)."""
        choices = [([], False)]
        if any(self.down) or any(self.param_down):
            # Some tops have no gradient, as the probabilities beside a loss.
            tops = list(range(len(self._param.top)))
            ways = (False, True) if any(self.down) else (False,)
            choices = [(seeds, wrapped) for seeds in ([tops, [0]] if len(tops) > 1 else [tops])
                       for wrapped in ways] + choices
        for seeds, wrapped in choices:
            try:
                return seeds, wrapped, _plans.plan(self.text(shapes, seeds, wrapped), lasting=not self.reads_files,
                                                   **self.options(seeds))
            except CompileError as error:
                failed = error
        raise self.refusal(failed) from failed

    def refusal(self, error):
        first = error.errors[0].message if error.errors else str(error)
        return failure(self._param, first.split(": ", 1)[-1] if first.startswith("layer '") else first)

    def shapes_for(self, bottom):
        """(shapes of tops, shapes of parameters) for these bottoms."""
        key = tuple(blob.shape for blob in bottom)
        if key not in self.shapes:
            try:
                found = _plans.shapes(self.text(key, []), lasting=not self.reads_files, **self.options([]))
            except CompileError as error:
                raise self.refusal(error) from error
            self.shapes[key] = ([tuple(found["blobs"][name]) for name in self.top_blobs],
                                [tuple(shape) for shape in found["params"].get("layer", [])])
        return self.shapes[key]

    def variant(self, bottom):
        key = tuple(blob.shape for blob in bottom)
        if key not in self.variants:
            self.variants[key] = Variant(self, key, self.first)
        return self.variants[key]

    # --- a net's calls

    def setup(self, bottom, top):
        for shape in self.shapes_for(bottom)[1]:
            self.blobs.add_blob(*shape)

    def fill(self, bottom):
        """Makes the first variant, and its parameters the layer's."""
        if not self.blobs:
            return
        self.first = self.variant(bottom)
        for port, blob in zip(self.first.params, self.blobs):
            if port.view is not None:
                blob._adopt(port.memory(), port.home)
            else:
                blob.data[...] = port.get()

    def reshape(self, bottom, top):
        tops, params = self.shapes_for(bottom)
        for blob, shape in zip(self.blobs, params):
            if blob.count != product(shape):
                raise failure(self._param, "with bottoms of shapes %s it would have parameters of shape %s, and has %s"
                              % ([b.shape for b in bottom], shape, blob.shape))
        for blob, shape in zip(top, tops):
            if blob.shape != shape and not is_in_place(blob, bottom):
                blob.reshape(*shape)

    def _give_params(self, variant):
        for port, blob in zip(variant.params, self.blobs):
            port.refresh(blob)
        if self.blobs:
            variant.session.prepare()

    def _pass(self, variant, which):
        try:
            variant.session.run(0, which)
        except Error as error:
            raise failure(self._param, str(error)) from error

    def _forward(self, bottom):
        variant = self.current = self.variant(bottom)
        if variant.fed:  # with random numbers; bottoms come thereafter
            variant.session.feed(0)
        for port, blob in zip(variant.bottoms, bottom):
            port.put(blob.data)
        self._give_params(variant)
        self._pass(variant, Pass.FORWARD)
        variant.ran = True
        return variant

    def forward(self, bottom, top):
        variant = self._forward(bottom)
        for port, blob in zip(variant.tops, top):
            values = port.get()
            if values.shape != blob.shape and not is_in_place(blob, bottom):
                blob.reshape(*values.shape)
            np.copyto(blob.data, values.reshape(blob.shape))
        if self.keeps_statistics:
            for port, blob in zip(variant.params, self.blobs):
                if not port.holds(blob):
                    np.copyto(blob.data, port.get())

    def backward(self, top, propagate_down, bottom):
        variant = self.variant(bottom)
        if not variant.seeds:
            raise failure(self._param, "it has no backward pass")
        if not variant.ran:
            self._forward(bottom)
        else:
            for port, blob in zip(variant.bottoms, bottom):
                if not is_in_place(blob, top):
                    port.put(blob.data)
            self._give_params(variant)
        for i, port in zip(variant.seeds, variant.seed_ports):
            port.put(top[i].diff)
        self._pass(variant, Pass.BACKWARD)
        for i, wanted in enumerate(propagate_down):
            if wanted:
                bottom[i].diff[...] = variant.gradients[i].get().reshape(bottom[i].shape) if i in variant.gradients else 0
        for index, port in variant.param_gradients.items():
            if self.param_down[index]:
                diff = self.blobs[index].diff
                diff += port.get().reshape(diff.shape)


class ViewLayer(CompiledLayer):
    """Reshape and Flatten: the top is the bottom's memory in another form."""

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
    """A layer that reads its batches from files: each forward pass brings the next."""

    def forward(self, bottom, top):
        self._next(range(len(top)), top)

    def backward(self, top, propagate_down, bottom):
        pass

    def _next(self, which, top):
        variant = self.variant(())
        try:
            variant.session.feed(0)
            variant.session.run(0, Pass.FORWARD)
        except Error as error:
            raise failure(self._param, str(error)) from error
        for i in which:
            values = variant.tops[i].get()
            if values.shape != top[i].shape:
                top[i].reshape(*values.shape)
            np.copyto(top[i].data, values)


class DummyDataLayer(SourceLayer):
    """Constant tops are filled once, at random ones before every pass."""

    def setup(self, bottom, top):
        super().setup(bottom, top)
        fillers = self._param.dummy_data_param.data_filler
        kinds = [f.type for f in fillers] or ["constant"]
        if len(kinds) == 1:
            kinds *= len(top)
        self.refilled = [i for i, kind in enumerate(kinds) if kind != "constant"]
        self.reshape(bottom, top)
        self._next(range(len(top)), top)

    def forward(self, bottom, top):
        if self.refilled:
            self._next(self.refilled, top)


_OWN = {"Input": InputLayer, "Split": SplitLayer, "Parameter": ParameterLayer, "MemoryData": MemoryDataLayer,
        "Silence": SilenceLayer, "Filter": FilterLayer, "Python": PythonLayer}
_COMPILED = {"Reshape": ViewLayer, "Flatten": ViewLayer, "DummyData": DummyDataLayer}


def make(param, phase, folder):
    """The layer that a LayerParameter describes."""
    if param.type in _OWN:
        return _OWN[param.type](param, phase)
    kind = _COMPILED.get(param.type) or (CompiledLayer if param.bottom else SourceLayer)
    return kind(param, phase, folder)
