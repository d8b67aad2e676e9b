"""Complete nets as one plan, for runs from the first layer to the last without observers.

Such a plan pins every blob, so that all are readable after the run; this costs only a few
percent. Blobs read their values from the plan at their next access, or immediately if a user
holds an array of them. Nets that need runs layer by layer (in-place blobs between their
layers, edits during a run, Python layers, hooks) are never fused.
"""
import numpy as np

from brew import CompileError, Error
from brew._core import Kind, Pass, Session

from . import _layers, _plan_cache, _state, _compiled_update
from ._blob_ports import BlobPort
from .proto import caffe_pb2

# Layers with side effects, or with requirements that only separate layers fulfil.
_UNFUSED = ("Parameter", "HDF5Output", "LSTM", "RNN", "Python", "Filter", "DetectionOutput",
             "DetectionEvaluate", "MultiBoxLoss")


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

    def __init__(self, net, learns, rule=None):
        """``learns``: include the backward pass; ``rule``: include updates (_compiled_update)."""
        message = message_of(net, learns)
        options = dict(keep="all", without="fold-normalization,fuse-launches,order-weights,prepare-weights")
        if rule is not None:
            message = _compiled_update.solver_message(rule, message)
        else:
            options["phase"] = "test" if net._phase == caffe_pb2.TEST else "train"
            if learns:
                options["gradients"] = True
        self.plan = plan = _plan_cache.plan(message, **options)
        self.needs_data = plan.needs_data
        seed = _state.next_seed()
        session = self.session = Session(plan._core, options=[("random-seed", str(seed))], thread_pool=_state.thread_pool())
        sources = {top for p in net._params if not p.bottom for top in p.top}
        self.inputs = [BlobPort(session, Kind.BLOB, name, 0, net._blob_of[name])
                       for name, _ in session.names(Kind.BLOB) if name in sources]
        self.blobs = self._blob_ports(net, Kind.BLOB, sources)
        self.gradients = self._blob_ports(net, Kind.BLOB_GRADIENT, ()) if learns else []
        layers = {p.name: layer for p, layer in zip(net._params, net._layers)}
        self.params = [BlobPort(session, Kind.PARAMETER, layer, i, layers[layer].blobs[i])
                       for layer, i in session.names(Kind.PARAMETER)]
        # Running statistics, which the forward pass writes.
        self.statistics = [port for port in self.params if getattr(layers[port.name[2]], "keeps_statistics", False)]
        owned = {id(blob) for blob in net._learnable}
        self.param_gradients = [BlobPort(session, Kind.PARAMETER_GRADIENT, layer, i, layers[layer].blobs[i])
                                for layer, i in session.names(Kind.PARAMETER_GRADIENT)
                                if id(layers[layer].blobs[i]) in owned] if learns else []
        self.aliases = [(port.target, port.address) for port in self.params if port.address is not None]
        self.unaliased = [port for port in self.params if port.address is None]
        self.deferred = [(port, port.target) for port in self.blobs]
        # The gradient of a loss is its weight.
        self.deferred_gradients = [(port, port.target) for port in self.gradients]
        with_gradient = {id(port.target) for port in self.param_gradients}
        self.without_gradient = [blob for blob in net._learnable if id(blob) not in with_gradient]
        self.shapes = [(port.target, tuple(session.shape(*port.name))) for port in self.inputs + self.blobs]
        self.update = _compiled_update.CompiledUpdate(self, net, layers, seed) if rule is not None else None

    def _blob_ports(self, net, kind, excluded):
        """Returns the ports of the blobs that have separate memory, without ``excluded`` names."""
        aliases = set()
        # The tops of a split share the data of its bottom, but each has its own gradient.
        shared = _layers.ViewLayer if kind == Kind.BLOB_GRADIENT else (_layers.SplitLayer, _layers.ViewLayer)
        for number, layer in enumerate(net._layers):
            if isinstance(layer, shared):
                aliases.update(net._top_index[number])
        return [BlobPort(self.session, kind, name, 0, net._blob_of[name]) for name, _ in self.session.names(kind)
                if name in net._blob_of and name not in excluded and net._index_of[name] not in aliases]

    def fits(self):
        """Whether all blobs have the shapes of the plan."""
        return all(blob._shape == shape for blob, shape in self.shapes)

    def _feed(self):
        if self.needs_data:
            self.session.feed(0)
            for port in self.inputs:
                port.put(port.target.data)
            return
        for port in self.inputs:
            if port.target._data.address != port.address or port.address is None:
                port.put(port.target.data)
                port.move(port.target._data)

    def take_params(self):
        """Updates the plan's parameters; blobs that no user holds alias them from now on."""
        if not all([blob._data.address == address for blob, address in self.aliases]):
            for port in self.params:
                port.refresh(port.target)
                port.move(port.target._data)
        else:
            for port in self.unaliased:
                port.refresh(port.target)
        self.session.prepare()

    def forward(self):
        self.take_params()
        self._feed()
        self.session.run(0, Pass.FORWARD)
        self._take_statistics()
        self._defer_blobs()

    def _take_statistics(self):
        for port in self.statistics:
            if not port.holds(port.target):
                np.copyto(port.target.data, port.get().reshape(port.target.shape))

    def _defer_blobs(self):
        for port, blob in self.deferred:
            memory = blob._data
            if memory.pending is not port:  # otherwise it was not accessed since the last run
                port.defer(memory)

    def forward_backward(self, fresh, update=None):
        """Runs both passes, after take_params(). Adds the gradients of parameters to the existing
        ones, or with ``fresh`` replaces them. With ``update``, its trainer runs the passes."""
        self._feed()
        # The run overwrites gradients that alias the plan.
        previous_diffs = {} if fresh else {port: port.target.diff.copy() for port in self.param_gradients
                                           if port.address is not None and port.target._diff.address == port.address}
        if update is None:
            self.session.run(0, Pass.BOTH)
        else:
            update.run_passes()
        self._take_statistics()
        self._defer_blobs()
        for port, blob in self.deferred_gradients:
            memory = blob._diff
            if memory.pending is not port and blob.shape:
                port.defer(memory)
        for port in self.param_gradients:
            memory = port.target._diff
            if port.address is not None and memory.address == port.address:
                memory.pending = None
                if port in previous_diffs:
                    diff = port.target.diff
                    diff += previous_diffs[port]
            elif fresh:
                np.copyto(port.target.diff, port.get().reshape(port.target.shape))
                port.move(memory)
            else:
                diff = port.target.diff
                diff += port.get().reshape(diff.shape)
        if fresh:
            for blob in self.without_gradient:
                blob.diff[...] = 0


class FusedNetCache:
    """The fused nets of a net, by the shapes of its blobs."""

    _MAX_PLANS = 4  # maximum number of plans, each with its own memory

    def __init__(self, net):
        self.possible = None  # not yet known
        self.plans = {}
        self.found = None  # (learns, FusedNet) of the last run
        self.last = None  # the FusedNet with the current values of the blobs
        self.backward_wanted = False
        self.rule = None  # the solver's update rule, if it can be compiled
        self.update = None  # the CompiledUpdate to run after the last step's passes
        # In Caffe the gradient of a loss that is read overwrites its weight.
        self.loss_is_read = any(net._loss_weights[i] for bottoms in net._bottom_index for i in bottoms)

    def allowed(self, net):
        """Whether the net may run as a fused net."""
        if self.possible is None:
            self.possible = can_fuse(net)
        return self.possible and not any(net._hooks.values())

    def find(self, net, learns):
        """Returns the FusedNet for the net's current shapes, or None."""
        if self.found is not None and self.found[0] == learns and self.found[1].fits():
            return self.found[1]
        net.reshape()
        key = learns, tuple(blob.shape for blob in net._blobs)
        if key not in self.plans:
            try:
                fused = self._make(net, learns)
            except (CompileError, Error):
                fused = None  # the run layer by layer may succeed or report the reason
            while len(self.plans) >= self._MAX_PLANS:
                del self.plans[next(iter(self.plans))]
            self.plans[key] = fused
        fused = self.plans[key]
        if fused is not None and not fused.fits():
            fused = None
        if fused is not None:
            self.found = learns, fused
        return fused

    def _make(self, net, learns):
        if learns and self.rule is not None:
            try:
                return FusedNet(net, learns, self.rule)
            except (CompileError, Error):
                self.rule = None
        return FusedNet(net, learns)
