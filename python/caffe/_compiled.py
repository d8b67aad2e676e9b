"""Layers that Brew compiles: each has one program per combination of its bottoms' shapes.

The programs of many layers are compiled together, to one plan (``brewc --stepwise``). The session
of the plan stores the state of the layers between passes (masks, positions, statistics)."""
from brew import CompileError, Error
from brew._core import Kind, Pass, Session, fill

from . import _graph, _plan_cache, _state
from ._base import NetLayer, failure
from ._blob import product
from ._graph import is_loss
from ._tensors import Tensor, bind, keep_views_unbound
from .proto import caffe_pb2


class Filling:
    """Fills the memory of a parameter at its first access, unless weights are loaded before."""

    def __init__(self, layer, index, filler, shape):
        self.layer, self.index, self.filler, self.shape = layer, index, filler, shape

    def fill(self, memory):
        try:
            fill(self.filler, memory.room()[: product(self.shape)].reshape(self.shape), self.layer.seed,
                 "%s/%d" % (self.layer._param.name, self.index))
        except Error as error:
            raise failure(self.layer._param, str(error)) from error


class LayerProgram:
    """The program of a layer for particular shapes of its bottoms."""

    def __init__(self, layer, plan, session, prefix):
        name = layer.program_name(prefix)
        number = plan.programs.index("layer:" + name)
        self.layer, self.session, self.number = layer, session, number
        self.needs_data = plan.needs_data_in(number)
        self.no_backward = _without_layer(plan._core.no_backward(number))
        self.has_run = False
        names = {kind: {name for name, _ in session.names(kind, number)}
                 for kind in (Kind.BLOB, Kind.BLOB_GRADIENT, Kind.OUTPUT_GRADIENT)}

        def tensor(kind, name, index=0):
            return Tensor(session, kind, number, name, index)

        # By number. Lacks bottoms that the layer does not read, such as labels that matter only in training.
        self.bottoms = {i: tensor(Kind.BLOB, "%sb%d" % (prefix, i)) for i in range(len(layer._param.bottom))
                        if "%sb%d" % (prefix, i) in names[Kind.BLOB]}
        self.tops = [tensor(Kind.BLOB, name) for name in layer.top_blobs(prefix)]
        self.params = [tensor(Kind.PARAMETER, name, i) for i in range(len(layer.blobs))]
        self.bottom_gradients = {i: tensor(Kind.BLOB_GRADIENT, t.key[2]) for i, t in self.bottoms.items()
                                 if t.key[2] in names[Kind.BLOB_GRADIENT]}
        self.top_gradients = {i: tensor(Kind.OUTPUT_GRADIENT, t.key[2]) for i, t in enumerate(self.tops)
                              if t.key[2] in names[Kind.OUTPUT_GRADIENT]}
        gradients = session.names(Kind.PARAMETER_GRADIENT, number)
        self.param_gradients = {i: tensor(Kind.PARAMETER_GRADIENT, name, i) for i in range(len(layer.blobs))
                                if (name, i) in gradients}
        self.states = [tensor(Kind.PERSISTENT_STATE, state) for state, _ in session.names(Kind.PERSISTENT_STATE)
                       if state.startswith(name + ".")]
        forward, backward = plan.blobs_read(number)
        # Bottoms and tops whose values the backward pass needs although other layers overwrite them.
        self.kept_bottoms = {i for i, t in self.bottoms.items()
                             if layer.overwritten_bottoms[i] and t.key[2] in backward}
        self.kept_tops = [overwritten and t.key[2] in backward
                          for t, overwritten in zip(self.tops, layer.overwritten_tops)]
        self.read_tops = [t.key[2] in backward for t in self.tops]
        self.works_in_place = layer._param.type in _ELEMENTWISE \
            and sum("%sb0" % prefix in names for names in forward) <= 1 and "%sb0" % prefix not in backward
        keep_views_unbound([*self.bottoms.values(), *self.tops])
        keep_views_unbound([*self.bottom_gradients.values(), *self.top_gradients.values()])

    def release(self):
        """Returns to the session's own memory, since the session may outlive the memory of the blobs."""
        tensors = [*self.bottoms.values(), *self.tops, *self.params, *self.bottom_gradients.values(),
                   *self.top_gradients.values()]
        bind(self.session, [(tensor, None) for tensor in tensors])

    def _run(self, which):
        try:
            self.session.run(self.number, which)
        except Error as error:
            raise failure(self.layer._param, str(error)) from error

    def _bind(self, inputs, outputs):
        """Binds tensors to memories, given as (Tensor, Memory, whether it may be bound). Copies the
        values of the other inputs. The caller copies the other outputs after the run."""
        bind(self.session, [(t, m if may_be_bound and not m.is_callers else None)
                            for t, m, may_be_bound in inputs + outputs])
        for tensor, memory, _ in inputs:
            if tensor.is_in(memory):
                memory.values()
            else:
                tensor.load(memory)
        for tensor, memory, _ in outputs:
            if tensor.is_in(memory):
                memory.overwritten()

    def _feed(self):
        try:
            self.session.feed(self.number)
        except Error as error:
            raise failure(self.layer._param, str(error)) from error

    def read(self, top, indices):
        """Reads a batch of a layer without bottoms, and copies those tops whose ``indices`` are given."""
        self._feed()
        self._run(Pass.FORWARD)
        for i in indices:
            values = self.tops[i].get()
            if values.shape != top[i].shape:
                top[i].reshape(*values.shape)
            top[i]._data.take(values)

    def _take_state(self):
        """Continues from the recurrent state of the layer's last run, if that had as many sequences."""
        last, self.layer.last_program = self.layer.last_program, self
        if last not in (None, self):
            for state, other in zip(self.states, last.states):
                if state.size == other.size:
                    state.put(other.get())

    def forward(self, bottom, top):
        if self.needs_data:
            self._feed()
        if self.states:
            self._take_state()
        # The inputs must keep their values while the outputs are written.
        written = set() if self.works_in_place else {id(blob._data) for blob in top}
        inputs = [(t, bottom[i]._data, i not in self.kept_bottoms and id(bottom[i]._data) not in written)
                  for i, t in self.bottoms.items()]
        inputs += [(t, b._data, True) for t, b in zip(self.params, self.layer.blobs)]
        self._bind(inputs, [(t, b._data, not is_kept) for t, b, is_kept in zip(self.tops, top, self.kept_tops)])
        self._run(Pass.FORWARD)
        self.has_run = True
        for tensor, blob in zip(self.tops, top):
            if tensor.is_in(blob._data):
                continue
            values = tensor.get()
            if values.size != blob.count:  # the number of items depends on the values
                blob.reshape(*values.shape)
            blob._data.take(values)
        if self.layer.keeps_statistics:
            for tensor, blob in zip(self.params, self.layer.blobs):
                tensor.store(blob._data)

    def backward(self, top, propagate_down, bottom):
        if not self.has_run:
            self.forward(bottom, top)
        # Bottoms that are overwritten have been copied by the forward pass.
        tops = {id(blob._data) for blob in top}
        inputs = [(t, bottom[i]._data, True) for i, t in self.bottoms.items()
                  if i not in self.kept_bottoms and id(bottom[i]._data) not in tops]
        inputs += [(t, b._data, True) for t, b, is_read, is_kept
                   in zip(self.tops, top, self.read_tops, self.kept_tops) if is_read and not is_kept]
        inputs += [(t, b._data, True) for t, b in zip(self.params, self.layer.blobs)]
        outputs = {}
        for i, tensor in self.bottom_gradients.items():
            if propagate_down[i]:
                outputs.setdefault(id(bottom[i]._diff), (tensor, bottom[i]._diff, True))
        inputs += [(t, top[i]._diff, id(top[i]._diff) not in outputs) for i, t in self.top_gradients.items()]
        self._bind(inputs, list(outputs.values()))
        self._run(Pass.BACKWARD)
        for tensor, memory, _ in outputs.values():
            if not tensor.is_in(memory):
                memory.take(tensor.get())
        for i, wanted in enumerate(propagate_down):
            if wanted and i not in self.bottom_gradients:
                bottom[i]._gradient[...] = 0
        for index, tensor in self.param_gradients.items():
            if self.layer.param_down[index]:
                gradient = self.layer.blobs[index]._gradient
                gradient += tensor.get().reshape(gradient.shape)


def _without_layer(text):
    """Removes the name that a layer has during compilation from a message."""
    return text.split(": ", 1)[-1] if text.startswith("layer '") else text


def _reason(error):
    return _without_layer(error.errors[0].message if error.errors else str(error))


def parameters_of(report, layer):
    """Returns the shapes of a layer's parameters and its fillers, by the parameter's index, from the
    result of _plan_cache.shapes()."""
    fillers = {int(index): filler for index, filler in report["fillers"].get(layer, {}).items()}
    return [tuple(shape) for shape in report["params"].get(layer, [])], fillers


#: Types of layers that compute each element of the top from the same element of the bottom.
_ELEMENTWISE = ("AbsVal", "Bias", "Dropout", "ELU", "Exp", "Log", "Power", "ReLU", "Scale", "Sigmoid",
                "TanH")


def has_empty_shape(shapes):
    return any(0 in shape for shape in shapes)


class CompiledLayer(NetLayer):
    """A layer that Brew compiles."""

    #: For each bottom and each top, whether a later layer of the net overwrites it in place. Set by the net.
    overwritten_bottoms = overwritten_tops = ()
    last_program = None  # of the last forward pass; only set for layers with a state

    #: Options of brewc for the shapes of this layer, and for its plan.
    shape_options, plan_options = {}, {}

    _MAX_PROGRAMS = 8  # maximum number of programs, each with its own memory

    def __init__(self, param, phase, folder=""):
        super().__init__(param, phase)
        # The content of files becomes part of the plan and may change later.
        self.reads_files = _graph.names_files(param)
        self.folder = folder if self.reads_files else ""
        self.programs, self.shapes = {}, {}
        self.fillers = {}
        self.seed = self.draw_seed()

    def draw_seed(self):
        return _state.next_seed()

    def reading(self):
        """Returns the session's options for reading data."""
        return {}

    # --- compiling

    @staticmethod
    def program_name(prefix):
        """Returns the name of the layer in the net with this prefix for its blobs."""
        return prefix or "layer"

    def top_blobs(self, prefix):
        """Returns the names of the tops. HDF5 sources look up datasets by these names."""
        if not self._param.bottom:
            return list(self._param.top)
        return ["%st%d" % (prefix, i) for i in range(len(self._param.top))]

    def add_to(self, net, shapes, with_gradients, prefix=""):
        """Adds this layer to a net, with bottoms of these shapes as inputs, whose names start with
        the prefix."""
        for i, shape in enumerate(shapes):
            name = "%sb%d" % (prefix, i)
            source = net.layer.add(name=name, type="Input", top=[name])
            source.input_param.shape.add().dim.extend(shape)
        layer = net.layer.add()
        layer.CopyFrom(self._param)
        for field in ("include", "exclude", "phase", "blobs", "param", "bottom", "top", "loss_weight",
                      "propagate_down"):
            layer.ClearField(field)
        layer.name = self.program_name(prefix)
        layer.bottom.extend("%sb%d" % (prefix, i) for i in range(len(shapes)))
        layer.top.extend(self.top_blobs(prefix))
        if is_loss(layer.type):
            layer.loss_weight.extend([0.0] * len(layer.top))
        if layer.type == "MultiBoxLoss":  # its loss depends on this field of the prototxt
            layer.propagate_down[:] = self._param.propagate_down or [True, True, False, False]
        elif with_gradients:
            layer.propagate_down[:] = self.down
        if with_gradients:
            for is_learned in self.param_down:
                layer.param.add(lr_mult=1.0 if is_learned else 0.0)

    @property
    def has_gradients(self):
        return any(self.down) or any(self.param_down)

    def add_program(self, shapes, program):
        """Adds a program for bottoms of these shapes."""
        if self._param.type == "HDF5Output" and self.programs:
            raise failure(self._param, "its bottoms have another shape than before; a file has only one shape")
        while len(self.programs) >= self._MAX_PROGRAMS:  # e.g. if all images differ in size
            self.programs.pop(next(iter(self.programs))).release()
        self.programs[_state.gpu(), shapes] = program

    def refusal(self, error):
        return failure(self._param, _reason(error))

    def shapes_for(self, bottom):
        """Returns (shapes of tops, shapes of parameters) for these bottoms."""
        key = tuple(blob.shape for blob in bottom)
        if key not in self.shapes:
            if has_empty_shape(key):
                self.shapes[key] = self._shapes_of_empty(key)
            else:
                *self.shapes[key], self.fillers = self.infer_ahead(key) or self._infer(key)
        return self.shapes[key]

    def infer_ahead(self, key):
        """Like _infer(), for this layer and later layers of the net at once, or None. Set by the net."""

    def _infer(self, key):
        """Returns the shapes of the tops and of the parameters, and the fillers."""
        net = caffe_pb2.NetParameter()
        self.add_to(net, key, False)
        try:
            report = _plan_cache.shapes(net, on_disk=not self.reads_files, phase=phase_name(self.phase),
                                        folder=self.folder or None, **self.shape_options)
        except CompileError as error:
            raise self.refusal(error) from error
        return [tuple(report["blobs"][top]) for top in self.top_blobs("")], *parameters_of(report, "layer")

    def _shapes_of_empty(self, key):
        """Returns the shapes for bottoms without items, such as an image without regions:
        extrapolates the extents that depend on the number of items to 0."""
        two_items, three_items = ([tuple(count if d == 0 else d for d in shape) for shape in key] for count in (2, 3))
        (tops, params, self.fillers), (larger, *_) = self._infer(two_items), self._infer(three_items)
        return [tuple(d - 2 * (e - d) for d, e in zip(a, b)) for a, b in zip(tops, larger)], params

    def _is_empty(self, bottom, top):
        """Whether there is nothing to compute, because there are no items."""
        if not has_empty_shape([blob.shape for blob in bottom]):
            return False
        if any(blob.count for blob in top) and any(blob.count for blob in bottom):
            raise failure(self._param, "a bottom has no items, but tops have some")
        return True

    def program(self, bottom):
        """Returns the program for bottoms of these shapes."""
        shapes = tuple(blob.shape for blob in bottom)
        key = _state.gpu(), shapes
        if key not in self.programs:
            self.compile_ahead()
        if key not in self.programs:
            compile_layers([(self, shapes)])
        return self.programs[key]

    def has_program(self, shapes):
        return (_state.gpu(), shapes) in self.programs

    def compile_ahead(self):
        """Compiles this layer and later layers of the net at once. Set by the net."""

    # --- calls of the net

    def setup(self, bottom, top):
        for i, shape in enumerate(self.shapes_for(bottom)[1]):
            self.blobs.add_blob(*shape)
            self.blobs[i]._data.pending = Filling(self, i, self.fillers.get(i, ""), shape)

    def reshape(self, bottom, top):
        tops, params = self.shapes_for(bottom)
        for blob, shape in zip(self.blobs, params):
            if blob.count != product(shape):
                raise failure(self._param, "bottoms of shapes %s need parameters of shape %s, but the layer has %s"
                              % ([b.shape for b in bottom], shape, blob.shape))
        for blob, shape in zip(top, tops):
            if blob.shape != shape and not any(blob is other for other in bottom):
                blob.reshape(*shape)

    def forward(self, bottom, top):
        if self._is_empty(bottom, top):
            for blob in top:  # losses and means over no items are 0, as in plans
                blob._values[...] = 0
            return
        self.program(bottom).forward(bottom, top)

    def backward(self, top, propagate_down, bottom):
        if not top:
            return
        if self._is_empty(bottom, top):
            for wanted, blob in zip(propagate_down, bottom):
                if wanted:
                    blob._gradient[...] = 0
            return
        if not any(propagate_down) and not any(self.param_down):
            return
        program = self.program(bottom)
        if not program.top_gradients:
            raise failure(self._param, program.no_backward or "it has no gradient")
        program.backward(top, propagate_down, bottom)


def phase_name(phase):
    return "test" if phase == caffe_pb2.TEST else "train"


def compile_layers(requests):
    """Compiles programs and adds them to their layers. ``requests``: (CompiledLayer, shapes of its
    bottoms); all layers of one phase, and only one that reads files. Raises RuntimeError."""
    layer = requests[0][0]
    try:
        try:
            plan = _plan_of(requests, any(other.has_gradients for other, _ in requests))
            no_backward = ""
        except CompileError as error:
            if len(requests) > 1 or not layer.has_gradients:
                raise
            plan, no_backward = _plan_of(requests, False), _reason(error)
        session = Session(plan._core, options=[("random-seed", str(layer.seed))], thread_pool=_state.thread_pool(),
                          folder=layer.folder, gpu=_state.gpu() or 0, **layer.reading())
    except CompileError as error:
        raise layer.refusal(error) from error
    except Error as error:
        raise failure(layer._param, str(error)) from error
    for number, (other, shapes) in enumerate(requests):
        program = LayerProgram(other, plan, session, str(number))
        program.no_backward = program.no_backward or no_backward
        other.add_program(shapes, program)


def _plan_of(requests, with_gradients):
    layer = requests[0][0]
    net = caffe_pb2.NetParameter()
    for number, (other, shapes) in enumerate(requests):
        other.add_to(net, shapes, with_gradients, str(number))
    return _plan_cache.plan(net, on_disk=not layer.reads_files, phase=phase_name(layer.phase), stepwise=True,
                            gradients=with_gradients, folder=layer.folder or None, **layer.plan_options,
                            **_state.target())
