"""Nets: layers, their blobs, and runs of some or all layers."""
import contextlib
import threading
from collections import OrderedDict

import numpy as np

from brew import Error

from . import _graph, _layers, _log, _weights, _fused
from ._blob import Blob
from ._nccl import NCCL
from ._net_params import Parameters
from ._vectors import DtypeVec, IntVec, LayerVec, StringVec
from .proto import caffe_pb2


class NetCore(Parameters):
    """The counterpart of Caffe's C++ class Net; ``pycaffe.Net`` adds the user interface."""

    def _build(self, param, phase, folder=""):
        """Creates the layers of ``param``, the complete net, whose ``state`` lacks only the phase."""
        param.state.phase = phase
        self._plain = _graph.filtered(param)
        net = _graph.with_splits(self._plain)
        self._name, self._phase = net.name, phase
        self._run_lock = threading.RLock()
        self._force_backward = net.force_backward
        self._params = []  # LayerParameters
        self._layers = []
        self._blobs, self._blob_names, self._loss_weights = [], [], []
        self._bottom_index, self._top_index = [], []
        self._input_index = []
        self._hooks = {"before_forward": [], "after_forward": [], "before_backward": [], "after_backward": []}
        self._reducers = []  # NCCLs that average gradients as soon as they are complete
        self._learnable = []  # Blobs that parameters own
        self._lr, self._decay = [], []
        self._param_index = []  # of each layer's parameters, among _learnable
        self._named = {}
        self._shared = []  # (blob, blob whose memory it shares)
        index, available = {}, OrderedDict()
        blob_needs, layer_needs, bottom_needs = [], [], []
        if net.debug_info:
            _log.line("debug_info has no effect in Python; use brew-run to print it", severity=_log.WARNING)
        for number, layer in enumerate(net.layer):
            layer_phase = phase if not layer.HasField("phase") else layer.phase
            if layer.propagate_down and len(layer.propagate_down) != len(layer.bottom):
                raise _layers.failure(layer, "propagate_down param must be specified either 0 or bottom_size times")
            if layer.loss_weight and len(layer.loss_weight) != len(layer.top):
                raise _layers.failure(layer, "loss_weight must be unspecified or specified once per top")
            needs_backward, bottoms, tops = False, [], []
            bottom_needs.append([])
            for j, name in enumerate(layer.bottom):
                if name not in available:
                    raise _layers.failure(layer, "Unknown bottom blob '%s'" % name)
                del available[name]
                bottoms.append(index[name])
                needs_backward |= blob_needs[index[name]]
                bottom_needs[-1].append(layer.propagate_down[j] if layer.propagate_down else blob_needs[index[name]])
            for j, name in enumerate(layer.top):
                if j < len(layer.bottom) and name == layer.bottom[j]:
                    tops.append(bottoms[j])
                elif name in index:
                    raise _layers.failure(layer, "Top blob '%s' produced by multiple sources." % name)
                else:
                    index[name] = len(self._blobs)
                    tops.append(index[name])
                    self._blobs.append(Blob())
                    self._blob_names.append(name)
                    self._loss_weights.append(0.0)
                    blob_needs.append(False)
                available[name] = True
                if layer.type == "Input":
                    self._input_index.append(tops[-1])
            self._bottom_index.append(bottoms)
            self._top_index.append(tops)
            instance = _layers.make(layer, layer_phase, folder)
            self._params.append(layer)
            self._layers.append(instance)
            bottom, top = self._bottoms(number), self._tops(number)
            instance.setup(bottom, top)
            instance.reshape(bottom, top)
            self._set_loss_weights(number)
            needs_backward |= self._append_params(layer, instance)
            layer_needs.append(needs_backward)
            if needs_backward:
                for blob in tops:
                    blob_needs[blob] = True
        self._find_backward(net, blob_needs, layer_needs, bottom_needs)
        self._index_of = index
        self._blob_of = {name: self._blobs[i] for name, i in index.items()}
        self._fused_nets = _fused.FusedNetCache(self)
        self._sources = [i for i, bottoms in enumerate(self._bottom_index) if not bottoms]
        self._losses = [blob for blob, weight in zip(self._blobs, self._loss_weights) if weight]
        self._weights_of_losses = [weight for weight in self._loss_weights if weight]
        self._output_index = [index[name] for name in sorted(available)]
        for number, layer in enumerate(self._layers):
            layer.fill(self._bottoms(number))
            self._load_prototxt_blobs(number)
        for blob, owner in self._shared:
            blob._share_data(owner)
            blob._share_diff(owner)

    def _bottoms(self, number):
        return [self._blobs[i] for i in self._bottom_index[number]]

    def _tops(self, number):
        return [self._blobs[i] for i in self._top_index[number]]

    def _set_loss_weights(self, number):
        """Sets the gradient of losses to their weights."""
        for weight, blob in zip(_graph.loss_weights(self._params[number]), self._top_index[number]):
            if weight:
                self._loss_weights[blob] = weight
                self._blobs[blob].diff[...] = weight

    def _append_params(self, layer, instance):
        """Adds the parameters of a layer and shares those with equal names. Returns whether any is
        learnable."""
        if len(layer.param) > len(instance.blobs):
            raise _layers.failure(layer, "Too many params specified: %d for %d parameters"
                                  % (len(layer.param), len(instance.blobs)))
        needs_backward, indices = False, []
        default = caffe_pb2.ParamSpec()
        for i, blob in enumerate(instance.blobs):
            spec = layer.param[i] if i < len(layer.param) else default
            imposed = _graph.imposed_multiplier(layer, i, len(instance.blobs))
            if imposed is not None:
                spec = caffe_pb2.ParamSpec(name=spec.name, share_mode=spec.share_mode, lr_mult=imposed,
                                           decay_mult=imposed)
            learns = spec.lr_mult != 0 and i not in _graph.statistics(layer, len(instance.blobs))
            instance.param_down.append(learns)
            needs_backward |= learns
            if spec.name and spec.name in self._named:
                owner = self._named[spec.name]
                owner_blob = self._learnable[owner]
                is_permissive = spec.share_mode == caffe_pb2.ParamSpec.PERMISSIVE
                if (blob.count != owner_blob.count) if is_permissive else (blob.shape != owner_blob.shape):
                    raise _layers.failure(layer, "Cannot share param '%s': shape mismatch, %s and %s"
                                          % (spec.name, owner_blob.shape, blob.shape))
                for field, values in (("lr_mult", self._lr), ("decay_mult", self._decay)):
                    if spec.HasField(field):
                        if values[owner] is not None and values[owner] != getattr(spec, field):
                            raise _layers.failure(layer, "Shared param '%s' has mismatched %s" % (spec.name, field))
                        values[owner] = getattr(spec, field)
                self._shared.append((blob, owner_blob))
                indices.append(owner)
                continue
            if spec.name:
                self._named[spec.name] = len(self._learnable)
            indices.append(len(self._learnable))
            self._learnable.append(blob)
            lr = spec.lr_mult if spec.HasField("lr_mult") else None
            if i in _graph.statistics(layer, len(instance.blobs)):  # neither learned nor decayed
                if lr:
                    raise _layers.failure(layer, "Cannot configure batch normalization statistics as layer parameters.")
                lr = 0.0
            self._lr.append(lr)
            self._decay.append(spec.decay_mult if spec.HasField("decay_mult") else None)
        self._param_index.append(indices)
        return needs_backward

    def _find_backward(self, net, blob_needs, layer_needs, bottom_needs):
        """Determines the layers and bottoms that the backward pass reaches: those under a loss."""
        under_loss, skipped = set(), set()
        for i in reversed(range(len(self._layers))):
            layer = self._params[i]
            tops = [self._blob_names[t] for t in self._top_index[i]]
            weights = _graph.loss_weights(layer)
            contributes = any(w or t in under_loss for w, t in zip(weights, tops))
            if layer_needs[i] and all(t in skipped for t in tops):
                layer_needs[i] = False
                bottom_needs[i] = [False] * len(bottom_needs[i])
            if not contributes:
                layer_needs[i] = False
            for j, blob in enumerate(layer.bottom):
                if contributes:
                    under_loss.add(blob)
                else:
                    bottom_needs[i][j] = False
                if not bottom_needs[i][j]:
                    skipped.add(blob)
        if net.force_backward:
            for i, layer in enumerate(self._params):
                layer_needs[i] = True
                for j in range(len(layer.bottom)):
                    bottom_needs[i][j] |= _graph.allows_forced_backward(layer.type, j)
                self._layers[i].param_down = [True] * len(self._layers[i].blobs)
        for i, layer in enumerate(self._params):
            if layer.type in _graph.RECURRENT and layer_needs[i]:
                self._layers[i].param_down = [True] * len(self._layers[i].blobs)
                hidden = len(layer.bottom) - (len(layer.top) - 1)
                for j in range(hidden):
                    bottom_needs[i][j] |= _graph.allows_forced_backward(layer.type, j)
        for i, layer in enumerate(self._layers):
            count = _graph.DIFFERENTIATED.get(self._params[i].type, len(bottom_needs[i]))
            layer.down = tuple(needs and layer_needs[i] and j < count for j, needs in enumerate(bottom_needs[i]))
            if not layer_needs[i]:
                layer.param_down = [False] * len(layer.param_down)
        self._layer_needs = layer_needs

    def _load_prototxt_blobs(self, number):
        """Loads parameters that the prototxt contains."""
        weight_blobs = self._params[number].blobs
        if not weight_blobs:
            return
        blobs = self._layers[number].blobs
        if len(weight_blobs) != len(blobs):
            raise _layers.failure(self._params[number], "incorrect number of weight blobs")
        for blob, values in zip(blobs, weight_blobs):
            _weights.load_blob(blob, _weights.array_of(values), self._params[number].name)
        self._params[number].ClearField("blobs")

    # --- running

    @contextlib.contextmanager
    def _running(self):
        """Rejects a second thread; hooks may run their own net recursively."""
        if not self._run_lock.acquire(blocking=False):
            raise RuntimeError("another thread is running this net; give each thread a net of its own "
                               "(share_with lets them share parameters)")
        try:
            yield
        finally:
            self._run_lock.release()

    def _forward(self, start, end):
        """Runs layers ``start`` to ``end`` and returns the weighted sum of their losses."""
        with self._running():
            if start == 0 and end == len(self._layers) - 1:
                loss = self._fused_forward()
                if loss is not None:
                    return loss
                self._fused_nets.last = None
            return self._forward_layers(start, end)

    def _run_sources(self):
        """Runs the layers without bottoms."""
        for i in self._sources:
            layer = self._layers[i]
            layer.reshape([], self._tops(i))
            layer.forward([], self._tops(i))

    def _loss(self):
        return sum(float(np.dot(blob.data.ravel(), blob.diff.ravel())) for blob in self._losses)

    def _fused_forward(self):
        """Runs the fused net forward. Returns the loss, or None if the net must run layer by
        layer. For training nets, only solvers run fused passes: between separate passes a user
        may change blobs, and a second forward pass would draw new random numbers."""
        cache = self._fused_nets
        if self._phase != caffe_pb2.TEST or cache.backward_wanted or not cache.allowed(self):
            return None
        self._run_sources()
        fused = cache.find(self, False)
        if fused is None or fused.needs_data:
            return self._forward_layers(0, len(self._layers) - 1, sources=False)
        try:
            fused.forward()
        except Error as error:
            raise RuntimeError(str(error)) from error
        cache.last = fused
        return self._loss()

    def _fused_step(self, fresh=False, solver=None):
        """Runs both passes of a solver's iteration. Returns the loss, or None as in
        _fused_forward(). Adds gradients of parameters to the existing ones, or with ``fresh``
        replaces them.

        ``solver``: the solver, if nothing accesses the gradients before its update. In this case
        sets ``_fused_nets.update`` if a program of the plan can perform this update."""
        self._fused_nets.update = None
        loss = self._fused_step_or_none(fresh, solver)
        if loss is None and fresh:
            self.clear_param_diffs()
        return loss

    def _fused_step_or_none(self, fresh, solver):
        cache = self._fused_nets
        if self._force_backward or not any(self._loss_weights) or cache.loss_is_read or not cache.allowed(self):
            return None
        if not any(self._layer_needs):
            return None  # no layer needs a backward pass
        if any(b.diff.ravel().tolist() != [w] * b.count for b, w in zip(self._losses, self._weights_of_losses)):
            return None
        with self._running():
            self._run_sources()
            fused = cache.find(self, True)
            if fused is None:
                if fresh:
                    self.clear_param_diffs()
                loss = self._forward_layers(0, len(self._layers) - 1, sources=False)
                self._backward_layers(len(self._layers) - 1, 0)
                return loss
            try:
                fused.take_params()
                update = fused.update
                if solver is None or update is None or not update.can_update(solver):
                    update = None
                fused.forward_backward(fresh, update)
                cache.update = update
            except Error as error:
                raise RuntimeError(str(error)) from error
            for layer in self._layers:
                if layer.variants:
                    for variant in layer.variants.values():
                        variant.ran = False
            cache.last = None
            return self._loss()

    def _rerun_layers(self):
        """Prepares a backward pass layer by layer: reruns every layer on the values of the fused
        forward pass, then restores the values that users wrote since."""
        cache = self._fused_nets
        cache.backward_wanted = True
        fused, cache.last = cache.last, None
        if fused is None:
            return
        written = [blob.data.copy() for blob in self._blobs]
        computed = {self._index_of[port.name[2]]: port.get().copy() for port in fused.inputs + fused.blobs}

        def put(index, values):
            blob = self._blobs[index]
            if blob.count == values.size:  # it may have another shape now
                blob.data[...] = values.reshape(blob.shape)

        for index, values in computed.items():
            put(index, values)
        last_writer = {top: i for i, tops in enumerate(self._top_index) for top in tops}
        for i, layer in enumerate(self._layers):
            if not self._bottom_index[i]:
                continue
            bottom, top = self._bottoms(i), self._tops(i)
            layer.reshape(bottom, top)
            layer.forward(bottom, top)
            for index in self._top_index[i]:
                if last_writer[index] == i and index in computed:
                    put(index, computed[index])
        for index, values in enumerate(written):
            put(index, values)

    def _forward_layers(self, start, end, sources=True):
        loss = 0.0
        for i in range(start, end + 1):
            if not sources and not self._bottom_index[i]:
                continue  # already run
            for hook in self._hooks["before_forward"]:
                hook(i)
            layer, bottom, top = self._layers[i], self._bottoms(i), self._tops(i)
            layer.reshape(bottom, top)
            layer.forward(bottom, top)
            for weight, blob in zip(_graph.loss_weights(self._params[i]), top):
                if weight:
                    loss += float(np.dot(blob.data.ravel(), blob.diff.ravel()))
            for hook in self._hooks["after_forward"]:
                hook(i)
        return loss

    def _backward(self, start, end):
        with self._running():
            if any(self._layer_needs):
                self._rerun_layers()
            self._backward_layers(start, end)

    def _backward_layers(self, start, end):
        for i in range(start, end - 1, -1):
            for hook in self._hooks["before_backward"]:
                hook(i)
            if self._layer_needs[i]:
                layer = self._layers[i]
                layer.backward(self._tops(i), layer.down, self._bottoms(i))
            for hook in self._hooks["after_backward"]:
                hook(i)
            for reducer in self._reducers:
                reducer._after_layer(i)

    def reshape(self):
        """Updates the shapes of all blobs from the shapes of the inputs."""
        for i, layer in enumerate(self._layers):
            layer.reshape(self._bottoms(i), self._tops(i))

    def clear_param_diffs(self):
        """Sets the gradients of all parameters to zero."""
        for blob in self._learnable:
            blob.diff[...] = 0

    # --- hooks

    def before_forward(self, function):
        """Calls ``function(number of the layer)`` before each layer's forward pass."""
        self._hooks["before_forward"].append(function)

    def after_forward(self, function):
        """Calls ``function(number of the layer)`` after each layer's forward pass."""
        self._hooks["after_forward"].append(function)

    def before_backward(self, function):
        """Calls ``function(number of the layer)`` before each layer's backward pass."""
        self._hooks["before_backward"].append(function)

    def after_backward(self, function):
        """Calls ``function(number of the layer)`` after each layer's backward pass. An ``NCCL``
        object instead starts to average the layer's gradients over all ranks."""
        if isinstance(function, NCCL):
            self._reducers.append(function)
        else:
            self._hooks["after_backward"].append(function)

    # --- names

    layers = property(lambda self: LayerVec(layer.user for layer in self._layers))
    _layer_names = property(lambda self: StringVec(p.name for p in self._params))
    _inputs = property(lambda self: IntVec(self._input_index))
    _outputs = property(lambda self: IntVec(self._output_index))
    _blob_loss_weights = property(lambda self: DtypeVec(self._loss_weights))

    def _top_ids(self, number):
        return IntVec(self._top_index[number])

    def _bottom_ids(self, number):
        return IntVec(self._bottom_index[number])

    def _set_input_arrays(self, data, labels):
        first = self._layers[0] if self._layers else None
        if not isinstance(first, _layers.MemoryDataLayer):
            raise RuntimeError("set_input_arrays may only be called if the first layer is a MemoryDataLayer")
        for array, array_name, item in ((data, "data", first.item), (labels, "label", (1, 1, 1))):
            if not isinstance(array, np.ndarray) or array.dtype != np.float32 or not array.flags.c_contiguous:
                raise RuntimeError("%s array must be C contiguous, of float32" % array_name)
            if array.ndim != 4:
                raise RuntimeError("%s array must have 4 axes" % array_name)
            if array.shape[1:] != item:
                raise RuntimeError("%s array has items of shape %s, not %s" % (array_name, array.shape[1:], item))
        if len(data) != len(labels):
            raise RuntimeError("data and labels must have the same first dimension")
        if not len(data):
            raise RuntimeError("the arrays are empty")
        first.reset(data, labels)
