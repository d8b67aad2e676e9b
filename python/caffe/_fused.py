"""Complete nets as one plan, for runs from the first layer to the last without observers.

Such a plan pins every blob, so that all are readable after the run; this costs only a few
percent. It computes on the memory of the net's sources and parameters. Other blobs read their
values from the plan at their next access, or after each run once a user has read them. Nets that
need runs layer by layer (in-place blobs between their layers, edits during a run, Python layers,
hooks) are never fused.
"""
from brew import CompileError, Error
from brew._core import Kind, Pass, Session

from . import _layers, _plan_cache, _state
from ._tensors import Tensor, bind, keep_views_unbound
from .proto import caffe_pb2

# Layers with side effects, or with requirements that only separate layers fulfil.
_UNFUSED = ("Parameter", "HDF5Output", "LSTM", "RNN", "Python", "Filter", "DetectionOutput",
             "DetectionEvaluate", "MultiBoxLoss", "YoloDetectionOutput", "Yolov3DetectionOutput", "EvalDetection")


def message_of(net, learns):
    """Returns the net with its sources replaced by inputs of their shapes. With ``learns``,
    includes the splits, whose tops have separate gradients."""
    result = caffe_pb2.NetParameter(name=net._name)
    for layer in net._params if learns else net._plain.layer:
        if layer.bottom:
            copy = result.layer.add()
            copy.CopyFrom(layer)
            for field in ("include", "exclude", "blobs"):
                copy.ClearField(field)
            continue
        for top in layer.top:
            source = result.layer.add(name=top, type="Input", top=[top])
            source.input_param.shape.add().dim.extend(net._blob_of[top].shape)
    return result


def can_fuse(net):
    """Whether the net's layers can be compiled to one plan."""
    for param, layer in zip(net._params, net._layers):
        if param.type in _UNFUSED or getattr(layer, "reads_files", False) and param.bottom:
            return False
        if param.HasField("phase") and param.phase != net._phase:
            return False
    if any(p.propagate_down for p in net._params):
        return False
    # In-place results over a source or a view would have separate memory in the plan,
    # unlike the blob.
    fixed = set()
    for i, layer in enumerate(net._layers):
        if any(top in fixed and top in net._bottom_index[i] for top in net._top_index[i]):
            return False
        if not net._bottom_index[i] or isinstance(layer, _layers.ViewLayer):
            fixed.update(net._top_index[i])
    return True


class FusedNet:
    """A net's plan for the current shapes of its sources. Raises CompileError, Error."""

    def __init__(self, net, learns):
        """``learns``: include the backward pass."""
        message = message_of(net, learns)
        options = dict(keep="all", without="fold-normalization,fuse-launches,order-weights,prepare-weights")
        options["phase"] = "test" if net._phase == caffe_pb2.TEST else "train"
        if learns:
            options["gradients"] = True
        self.plan = plan = _plan_cache.plan(message, **options, **_state.target())
        self.needs_data = plan.needs_data
        session = self.session = Session(plan._core, options=[("random-seed", str(_state.next_seed()))],
                                         thread_pool=_state.thread_pool(),
                                         gpu=_state.gpu() or 0)
        sources = {top for p in net._params if not p.bottom for top in p.top}
        layers = {p.name: layer for p, layer in zip(net._params, net._layers)}

        def tensors(kind):
            return [Tensor(session, kind, 0, name, index) for name, index in session.names(kind)]

        def parameter(tensor):
            return layers[tensor.key[2]].blobs[tensor.key[3]]

        self.inputs = [t for t in tensors(Kind.BLOB) if t.key[2] in sources]
        self.blobs = self._separate(net, tensors(Kind.BLOB), sources)
        keep_views_unbound(self.inputs + self.blobs)  # e.g. a Crop that keeps everything
        gradients = self._separate(net, tensors(Kind.BLOB_GRADIENT), ()) if learns else []
        self.params = [(t, parameter(t)) for t in tensors(Kind.PARAMETER)]
        # Running statistics, which the forward pass writes.
        self.statistics = [(t, blob) for t, blob in self.params if layers[t.key[2]].keeps_statistics]
        owned = {id(blob) for blob in net._learnable}
        self.param_gradients = [(t, parameter(t)) for t in (tensors(Kind.PARAMETER_GRADIENT) if learns else [])
                                if id(parameter(t)) in owned]
        # Tops that share the memory of their bottoms, which sources may replace.
        self.views = [(net._blobs[net._bottom_index[i][0]], net._blobs[j], isinstance(layer, _layers.ViewLayer))
                      for i, layer in enumerate(net._layers)
                      if isinstance(layer, (_layers.SplitLayer, _layers.ViewLayer)) for j in net._top_index[i]]
        blob_of = net._blob_of
        self.sources = [(t, blob_of[t.key[2]]) for t in self.inputs]
        self.deferred = [(t, blob_of[t.key[2]]) for t in self.blobs]
        # The gradient of a loss is its weight.
        self.deferred_gradients = [(t, blob_of[t.key[2]]) for t in gradients]
        with_gradient = {id(blob) for _, blob in self.param_gradients}
        self.without_gradient = [blob for blob in net._learnable if id(blob) not in with_gradient]
        self.shapes = [(blob, tuple(t.shape())) for t, blob in self.sources + self.deferred]
        own = self.inputs + self.blobs + gradients
        if _state.gpu() is not None:  # on the CPU, parameters are in the memory of the net
            own += [t for t, _ in self.params + self.param_gradients]
        self.bytes = (1 << 20) + 4 * sum(t.size for t in own)  # with 1 MiB for the code

    @staticmethod
    def _separate(net, tensors, excluded):
        """Returns the tensors of the blobs that have separate memory, without ``excluded`` names."""
        aliases = set()
        # The tops of a split share the data of its bottom, but each has its own gradient.
        is_gradient = bool(tensors) and tensors[0].key[0] == Kind.BLOB_GRADIENT
        shared = _layers.ViewLayer if is_gradient else (_layers.SplitLayer, _layers.ViewLayer)
        for number, layer in enumerate(net._layers):
            if isinstance(layer, shared):
                aliases.update(net._top_index[number])
        return [t for t in tensors
                if t.key[2] in net._blob_of and t.key[2] not in excluded and net._index_of[t.key[2]] not in aliases]

    def fits(self):
        """Whether all blobs have the shapes of the plan."""
        return all(blob._shape == shape for blob, shape in self.shapes)

    def _load(self, tensors):
        """Binds tensors to the data of blobs, or copies it."""
        bind(self.session, [(t, None if blob._data.is_callers else blob._data) for t, blob in tensors])
        for tensor, blob in tensors:
            if tensor.is_in(blob._data):
                blob._data.values()
            else:
                tensor.load(blob._data)

    def _feed(self):
        if self.needs_data:
            self.session.feed(0)
        self._load(self.sources)
        for bottom, top, is_view in self.views:
            if top._data is not bottom._data:
                top._share_data(bottom)
            if is_view and top._diff is not bottom._diff:
                top._share_diff(bottom)

    def take_params(self):
        """Makes the plan use the values of the net's parameters."""
        self._load(self.params)
        self.session.prepare()

    def forward(self):
        self.take_params()
        self._feed()
        self.session.run(0, Pass.FORWARD)
        self._take_statistics()
        self._defer_blobs()

    def _take_statistics(self):
        for tensor, blob in self.statistics:
            tensor.store(blob._data)

    def _defer_blobs(self):
        for tensor, blob in self.deferred:
            memory = blob._data
            if memory.pending is not tensor:  # otherwise it was not accessed since the last run
                tensor.defer(memory)

    def forward_backward(self, fresh):
        """Runs both passes, after take_params(). Adds the gradients of parameters to the existing
        ones, or with ``fresh`` replaces them."""
        self._feed()
        bind(self.session, [(t, blob._diff) for t, blob in self.param_gradients])
        # The run overwrites gradients in the blobs' memory.
        previous = [] if fresh else [(blob, blob._gradient.copy()) for t, blob in self.param_gradients
                                     if t.is_in(blob._diff)]
        self.session.run(0, Pass.BOTH)
        self._take_statistics()
        self._defer_blobs()
        for tensor, blob in self.deferred_gradients:
            memory = blob._diff
            if memory.pending is not tensor and blob.shape:
                tensor.defer(memory)
        for tensor, blob in self.param_gradients:
            if tensor.is_in(blob._diff):
                blob._diff.overwritten()
            elif fresh:
                blob._diff.take(tensor.get())
            else:
                gradient = blob._gradient
                gradient += tensor.get().reshape(gradient.shape)
        for blob, values in previous:
            gradient = blob._gradient
            gradient += values
        if fresh:
            for blob in self.without_gradient:
                blob._gradient[...] = 0


class FusedNetCache:
    """The fused nets of a net, by the shapes of its blobs."""

    # Maximum size of the plans, except for the last one, each with its own memory. If a net's images have many
    # sizes, it has a plan for each of them.
    _MAX_BYTES = 1 << 30

    def __init__(self, net):
        self.possible = None  # not yet known
        self.plans = {}
        self.found = None  # ((learns, GPU), FusedNet) of the last run
        self.last = None  # the FusedNet with the current values of the blobs
        self.backward_wanted = False
        # In Caffe the gradient of a loss that is read overwrites its weight.
        self.loss_is_read = any(net._loss_weights[i] for bottoms in net._bottom_index for i in bottoms)

    def allowed(self, net):
        """Whether the net may run as a fused net."""
        if self.possible is None:
            self.possible = can_fuse(net)
        return self.possible and not any(net._hooks.values())

    def find(self, net, learns):
        """Returns the FusedNet for the net's current shapes, or None."""
        kind = learns, _state.gpu()
        if self.found is not None and self.found[0] == kind and self.found[1].fits():
            return self.found[1]
        net.reshape()
        key = kind, tuple(blob.shape for blob in net._blobs)
        if key not in self.plans:
            try:
                fused = FusedNet(net, learns)
            except (CompileError, Error):
                fused = None  # the run layer by layer may succeed or report the reason
            self.plans[key] = fused
            self._limit_size()
        fused = self.plans[key]
        if fused is not None and not fused.fits():
            fused = None
        if fused is not None:
            self.found = kind, fused
        return fused

    def _limit_size(self):
        """Removes the oldest plans, but not the last one."""
        size = sum(fused.bytes for fused in self.plans.values() if fused is not None)
        for key in list(self.plans)[:-1]:
            if size <= self._MAX_BYTES:
                break
            fused = self.plans.pop(key)
            size -= fused.bytes if fused is not None else 0
