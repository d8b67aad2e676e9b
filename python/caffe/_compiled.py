"""Layers that Brew compiles: each has one plan per combination of the bottoms' shapes.

The bottoms are inputs of the plan; the caller sets the gradients of the tops. The session
stores the layer's state between passes (masks, positions, statistics).
"""
import numpy as np

from brew import CompileError, Error
from brew._core import Kind, Pass, Session

from . import _graph, _plan_cache, _state
from ._base import NetLayer, failure
from ._blob import product
from ._graph import is_loss
from .proto import caffe_pb2


class Port:
    """A binding between a tensor of a session and the memory of a blob."""

    __slots__ = ("session", "name", "view", "address", "seen", "bound_array", "bind_count", "is_fixed")

    def __init__(self, session, kind, name, index=0):
        self.session, self.name = session, (kind, 0, name, index)
        self.view = session.view(*self.name)
        self.address = None if self.view is None else self.view.__array_interface__["data"][0]

        self.seen = None  # (memory, access count) of the last copied blob
        self.bound_array, self.bind_count = None, 0  # the bound array; number of bindings so far
        self.is_fixed = False  # whether it can be neither bound nor published

    def refresh(self, blob):
        """Copies a parameter to the tensor, unless it aliases the tensor or is unchanged."""
        memory = blob._data
        if self.holds(blob) or self.seen == (memory, memory.access_count) and not memory.is_referenced():
            return
        self.put(blob.data)
        self.seen = memory, memory.access_count

    def holds(self, blob):
        """Whether the blob's data aliases the tensor."""
        return self.address is not None and blob._data.address == self.address

    def shape(self):
        return self.view.shape if self.view is not None else self.session.shape(*self.name)

    def memory(self):
        """Returns the tensor's memory, for a blob to alias."""
        return self.session.view(*self.name)

    def put(self, array):
        if self.view is None:
            self.session.write(*self.name, np.ascontiguousarray(array, dtype=np.float32))
        elif self.view.shape == array.shape:
            np.copyto(self.view, array)
        else:  # a label with another shape
            self.view.reshape(-1)[...] = array.reshape(-1)

    def load(self, blob, own_addresses):
        """Loads the values of a bottom. Binds the tensor to the blob's memory, or copies the values
        if that memory is in ``own_addresses``, which the layer writes, or changes repeatedly."""
        values, memory = blob.data, blob._data
        if self.bound_array is not None and self.bound_array is memory._array:
            return
        if self.view is not None and self.view.size == values.size and memory.address not in own_addresses \
                and not self.is_fixed:
            self.bind_count += 1
            self.is_fixed = self.bind_count > self._MAX_BINDS or not self._bind(memory._array[: values.size])
            if not self.is_fixed:
                self.bound_array = memory._array
                return
        self.unbind()
        self.put(values)

    _MAX_BINDS = 4  # each binding costs some compilation

    def _bind(self, array):
        if array is not None and not array.flags.writeable:
            return False
        try:
            self.session.bind_memory(self.name[1], self.name[2], array)
        except Error:
            return False  # its memory is a view of another tensor
        return True

    def unbind(self):
        """Binds the tensor to the session's own memory again."""
        if self.bound_array is not None:
            self.session.bind_memory(self.name[1], self.name[2], None)
            self.bound_array = None

    def publish(self, blob):
        """Publishes the values to a top. The top aliases the tensor if no user holds its array."""
        memory = blob._data
        if self.address is not None and memory.address == self.address:
            memory.pending = None
            memory.access_count += 1
        elif self.address is not None and not self.is_fixed and memory.can_rebind(self.view.size):
            memory.move(self.memory(), self.address)
        else:
            np.copyto(blob.data, self.get().reshape(blob.shape))

    def get(self):
        return self.view if self.view is not None else self.session.read(*self.name)


class Variant:
    """A layer compiled for particular shapes of its bottoms, with its session."""

    def __init__(self, layer, shapes, first):
        """``first``: the layer's first variant, or None."""
        self.gradient_tops, wrapped, plan = layer.compiled(shapes)
        self.needs_data = plan.needs_data
        try:
            session = Session(plan._core, options=[("random-seed", str(layer.seed))], thread_pool=_state.thread_pool(),
                              share=layer.session_to_share(shapes), folder=layer.folder, **layer.reading())
            if layer.is_to_be_filled(first):
                session.initialise()
        except Error as error:
            raise failure(layer._param, str(error)) from error
        self.session = session
        self.bottoms = [Port(session, Kind.BLOB, ("in%d" if wrapped and layer.down[i] else "b%d") % i)
                        for i in range(len(shapes))]
        self.tops = [Port(session, Kind.BLOB, name) for name in layer.top_blobs]
        self._fix_aliased_tensors()
        self.own_addresses = {port.address for port in self.tops if port.address is not None}
        self.params = [Port(session, Kind.PARAMETER, name, index)
                       for name, index in session.names(Kind.PARAMETER) if name == "layer"]
        self.output_gradient_ports = [Port(session, Kind.OUTPUT_GRADIENT, "t%d" % i) for i in self.gradient_tops]
        self.gradients, self.param_gradients = {}, {}
        if self.gradient_tops:
            names = {name for name, _ in session.names(Kind.BLOB_GRADIENT)}
            self.gradients = {i: Port(session, Kind.BLOB_GRADIENT, "b%d" % i)
                              for i in range(len(shapes)) if "b%d" % i in names}
            self.param_gradients = {index: Port(session, Kind.PARAMETER_GRADIENT, name, index)
                                    for name, index in session.names(Kind.PARAMETER_GRADIENT) if name == "layer"}
        self.ran = False

    def _fix_aliased_tensors(self):
        """Prevents binding and publishing of tensors that share memory, as in layers that only
        create views."""
        ports = [port for port in self.bottoms + self.tops if port.view is not None]
        for i, port in enumerate(ports):
            for earlier in ports[:i]:
                if np.may_share_memory(port.view, earlier.view):
                    port.is_fixed = earlier.is_fixed = True


def has_empty_shape(shapes):
    return any(0 in shape for shape in shapes)


def is_in_place(blob, bottom):
    return any(blob is other for other in bottom)


class ParameterFilling:
    """Fills the parameters of a layer from the session of its first variant."""

    def __init__(self, layer, bottom):
        self.layer, self.shapes = layer, tuple(blob.shape for blob in bottom)
        # The blobs may later share the memory of others.
        self.memories = [blob._data for blob in layer.blobs]

    def is_due(self):
        return any(memory.pending is self for memory in self.memories)

    def fill(self, memory):
        layer = self.layer
        if layer.first is None:
            memory.pending = self  # so that is_due() includes it
            layer.variant_for(self.shapes)  # calls fill() again
            return
        index = next(i for i, own_memory in enumerate(self.memories) if own_memory is memory)
        port = layer.first.params[index]
        if memory._array is None and port.address is not None:
            memory.use_array(port.memory(), port.address)
        else:
            memory._room()[: layer.blobs[index].count] = port.get().reshape(-1)


class CompiledLayer(NetLayer):
    """A layer that Brew compiles."""

    filling = None
    keeps_statistics = False
    no_backward = "it has no backward pass"  # the reason as text: an exception would keep its frames alive

    _MAX_VARIANTS = 8  # maximum number of variants, each with its own memory

    def __init__(self, param, phase, folder=""):
        super().__init__(param, phase)
        # The content of files becomes part of the plan and may change later.
        self.reads_files = _graph.names_files(param)
        self.folder = folder if self.reads_files else ""
        # HDF5 sources look up datasets by the names of the tops.
        self.top_blobs = ["t%d" % i for i in range(len(param.top))] if param.bottom else list(param.top)
        self.variants, self.shapes = {}, {}
        self.first = self.current = None
        self.seed = self.draw_seed()

    def draw_seed(self):
        return _state.next_seed()

    def reading(self):
        """Returns the session's options for reading data."""
        return {}

    # --- compiling

    def message(self, shapes, gradient_tops, wrapped=False):
        """Returns the net of this layer alone, with the blobs b0, b1, ... and t0, t1, ...

        Inputs get gradients by force_backward, which some layers reject, e.g. for indices. With
        ``wrapped``, inputs that need a gradient (named in0, in1, ...) pass through a learnable
        layer instead."""
        force = any(self.down) and not wrapped
        net = caffe_pb2.NetParameter(force_backward=bool(gradient_tops) and force)
        for i, shape in enumerate(shapes):
            wrap = wrapped and self.down[i]
            name = ("in%d" if wrap else "b%d") % i
            source = net.layer.add(name=name, type="Input", top=[name])
            source.input_param.shape.add().dim.extend(shape)
            if wrap:
                bias = net.layer.add(name="wrap%d" % i, type="Bias", bottom=[name], top=["b%d" % i])
                bias.bias_param.axis = bias.bias_param.num_axes = 0
        layer = net.layer.add()
        layer.CopyFrom(self._param)
        for field in ("include", "exclude", "phase", "blobs", "param", "bottom", "top", "loss_weight"):
            layer.ClearField(field)
        layer.name = "layer"
        layer.bottom.extend("b%d" % i for i in range(len(shapes)))
        layer.top.extend(self.top_blobs)
        if is_loss(layer.type):
            layer.loss_weight.extend([0.0] * len(layer.top))
        if layer.type == "MultiBoxLoss":  # its loss depends on this field of the prototxt
            layer.propagate_down[:] = self._param.propagate_down or [True, True, False, False]
        elif gradient_tops:
            layer.propagate_down[:] = self.down
        if gradient_tops:
            for is_learned in self.param_down:
                layer.param.add(lr_mult=1.0 if is_learned else 0.0)
        return net

    def options(self, gradient_tops):
        options = dict(phase="test" if self.phase == caffe_pb2.TEST else "train", keep="all", layout="nchw",
                       without="fold-normalization,fuse-launches,prepare-weights", folder=self.folder or None)
        if gradient_tops:
            options.update(gradients=True, output_gradient=",".join("t%d" % i for i in gradient_tops))
        return options

    def compiled(self, shapes):
        """Returns (numbers of the tops with output gradients, whether bottoms are wrapped, plan)."""
        choices = [([], False)]
        if any(self.down) or any(self.param_down):
            # Some tops have no gradient, such as the probabilities of a loss layer.
            tops = list(range(len(self._param.top)))
            wrapping_choices = (False, True) if any(self.down) else (False,)
            choices = [(gradient_tops, wrapped) for gradient_tops in ([tops, [0]] if len(tops) > 1 else [tops])
                       for wrapped in wrapping_choices] + choices
        first_error = None
        for gradient_tops, wrapped in choices:
            if not gradient_tops and first_error is not None:
                self.no_backward = self.reason(first_error)
            try:
                plan = _plan_cache.plan(self.message(shapes, gradient_tops, wrapped), on_disk=not self.reads_files,
                                        **self.options(gradient_tops))
                return gradient_tops, wrapped, plan
            except CompileError as error:
                last_error, first_error = error, first_error or error
        raise self.refusal(last_error) from last_error

    @staticmethod
    def reason(error):
        first = error.errors[0].message if error.errors else str(error)
        if first.startswith("--output-gradient: no learnable parameter"):
            return "it has no gradient"
        return first.split(": ", 1)[-1] if first.startswith("layer '") else first

    def refusal(self, error):
        return failure(self._param, self.reason(error))

    def shapes_for(self, bottom):
        """Returns (shapes of tops, shapes of parameters) for these bottoms."""
        key = tuple(blob.shape for blob in bottom)
        if key not in self.shapes:
            self.shapes[key] = self._shapes_of_empty(key) if has_empty_shape(key) else self._shapes(key)
        return self.shapes[key]

    def _shapes(self, key):
        try:
            shapes_by_name = _plan_cache.shapes(self.message(key, []), on_disk=not self.reads_files, **self.options([]))
        except CompileError as error:
            raise self.refusal(error) from error
        return ([tuple(shapes_by_name["blobs"][name]) for name in self.top_blobs],
                [tuple(shape) for shape in shapes_by_name["params"].get("layer", [])])

    def _shapes_of_empty(self, key):
        """Returns the shapes for bottoms without items, such as an image without regions:
        extrapolates the extents that depend on the number of items to 0."""
        two_items, three_items = ([tuple(count if d == 0 else d for d in shape) for shape in key] for count in (2, 3))
        (tops, params), (larger, _) = self._shapes(two_items), self._shapes(three_items)
        return [tuple(d - 2 * (e - d) for d, e in zip(a, b)) for a, b in zip(tops, larger)], params

    def _is_empty(self, bottom, top):
        """Whether there is nothing to compute, because there are no items."""
        if not has_empty_shape([blob.shape for blob in bottom]):
            return False
        if any(blob.count for blob in top) and any(blob.count for blob in bottom):
            raise failure(self._param, "a bottom has no items, but tops have some")
        return True

    def variant(self, bottom):
        return self.variant_for(tuple(blob.shape for blob in bottom))

    def variant_for(self, key):
        """Returns the variant for bottoms of these shapes. Without items, returns one with items,
        for its parameters."""
        if has_empty_shape(key):
            key = tuple(tuple(d or 2 for d in shape) for shape in key)
        if key not in self.variants:
            if self._param.type == "HDF5Output" and self.variants:
                raise failure(self._param, "its bottoms have another shape than before; a file has only one shape")
            variant = Variant(self, key, self.first)
            while len(self.variants) >= self._MAX_VARIANTS:  # e.g. if all images differ in size
                del self.variants[next(iter(self.variants))]
            self.variants[key] = variant
            if self.first is None:
                self.first = variant
                for memory in self.filling.memories if self.filling else ():
                    if memory.pending is self.filling:
                        memory.array  # noqa: B018, takes over the values of the fillers
        return self.variants[key]

    def session_to_share(self, shapes):
        """Returns the session whose parameters a new variant shares, or None. The memory of a recurrent layer's
        parameters contains its state, whose size depends on the number of sequences."""
        if self._param.type not in _graph.RECURRENT:
            return self.first.session if self.first else None
        return next((variant.session for key, variant in self.variants.items() if key[0][1] == shapes[0][1]), None)

    def is_to_be_filled(self, first):
        """Whether the fillers must initialize a variant's parameters."""
        return not self.blobs or first is None and (self.filling is None or self.filling.is_due())

    # --- calls of the net

    def setup(self, bottom, top):
        for shape in self.shapes_for(bottom)[1]:
            self.blobs.add_blob(*shape)
        # Forward passes may write statistics, even in phase TEST (use_global_stats: false).
        self.keeps_statistics = bool(_graph.statistics(self._param, len(self.blobs)))

    def fill(self, bottom):
        """Fills the parameters at their first access, unless weights are loaded before."""
        if self.blobs:
            self.filling = ParameterFilling(self, bottom)
            for blob in self.blobs:
                blob._data.pending = self.filling

    def reshape(self, bottom, top):
        tops, params = self.shapes_for(bottom)
        for blob, shape in zip(self.blobs, params):
            if blob.count != product(shape):
                raise failure(self._param, "bottoms of shapes %s need parameters of shape %s, but the layer has %s"
                              % ([b.shape for b in bottom], shape, blob.shape))
        for blob, shape in zip(top, tops):
            if blob.shape != shape and not is_in_place(blob, bottom):
                blob.reshape(*shape)

    def _load_params(self, variant):
        for port, blob in zip(variant.params, self.blobs):
            port.refresh(blob)
        if self.blobs:
            variant.session.prepare()

    def _run_pass(self, variant, which):
        try:
            variant.session.run(0, which)
        except Error as error:
            raise failure(self._param, str(error)) from error

    def _forward(self, bottom, top):
        variant = self.current = self.variant(bottom)
        if variant.needs_data:  # random numbers; bound inputs are unaffected
            variant.session.feed(0)
        for port, blob in zip(variant.bottoms, bottom):
            if self._is_overwritten(blob, top):
                port.unbind()
                port.put(blob.data)
            else:
                port.load(blob, variant.own_addresses)
        self._load_params(variant)
        self._run_pass(variant, Pass.FORWARD)
        variant.ran = True
        return variant

    @staticmethod
    def _is_overwritten(blob, top):
        """Whether a bottom shares memory with a top that cannot be rebound."""
        return any(blob._data is other._data for other in top) and not blob._data.can_rebind(blob.count)

    def forward(self, bottom, top):
        if self._is_empty(bottom, top):
            for blob in top:  # losses and means over no items are 0, as in plans
                blob.data[...] = 0
            return
        variant = self._forward(bottom, top)
        for port, blob in zip(variant.tops, top):
            shape = tuple(port.shape())
            if shape != blob.shape and not is_in_place(blob, bottom):
                blob.reshape(*shape)
            port.publish(blob)
        if self.keeps_statistics:
            for port, blob in zip(variant.params, self.blobs):
                if port.holds(blob):
                    blob._data.access_count += 1  # layers that share it must reload it
                else:
                    np.copyto(blob.data, port.get())

    def backward(self, top, propagate_down, bottom):
        if not top:
            return
        if self._is_empty(bottom, top):
            for wanted, blob in zip(propagate_down, bottom):
                if wanted:
                    blob.diff[...] = 0
            return
        if not any(propagate_down) and not any(self.param_down):
            return
        variant = self.variant(bottom)
        if not variant.gradient_tops:
            raise failure(self._param, self.no_backward)
        if not variant.ran:
            self._forward(bottom, top)
        else:
            for port, blob in zip(variant.bottoms, bottom):
                if not is_in_place(blob, top):
                    port.load(blob, variant.own_addresses)
            self._load_params(variant)
        for i, port in zip(variant.gradient_tops, variant.output_gradient_ports):
            port.put(top[i].diff)
        self._run_pass(variant, Pass.BACKWARD)
        for i, wanted in enumerate(propagate_down):
            if wanted:
                bottom[i].diff[...] = variant.gradients[i].get().reshape(bottom[i].shape) if i in variant.gradients else 0
        for index, port in variant.param_gradients.items():
            if self.param_down[index]:
                diff = self.blobs[index].diff
                diff += port.get().reshape(diff.shape)
