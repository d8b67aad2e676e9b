"""Nets: layers, their blobs, and runs of some or all layers."""
import contextlib
import functools
import threading
import weakref
from collections import OrderedDict

import numpy as np

from brew import Error

from . import _ahead, _fused, _graph, _layers, _log, _weights
from ._blob import Blob
from ._nccl import NCCL
from ._net_params import Parameters
from ._vectors import DtypeVec, IntVec, LayerVec, StringVec
from .proto import caffe_pb2


class NetCore(Parameters):
    """The counterpart of Caffe's C++ class Net; ``pycaffe.Net`` adds the user interface."""

    def _build(self, param, phase, folder=""):
        """Creates the layers of ``param``, the complete net, whose ``state`` lacks only the phase."""
        description = _graph.Description(param, phase)
        self._plain, net = description.plain, description.net
        self._name, self._phase = net.name, phase
        self._run_lock = threading.RLock()
        self._force_backward = net.force_backward
        self._params = list(net.layer)  # LayerParameters
        self._layers = []
        self._blobs, self._blob_names, self._loss_weights = [], [], []
        self._bottom_index, self._top_index = [], []
        self._top_weights = [[float(weight) for weight in layer["loss_weights"]] for layer in description.layers]
        self._input_index = []
        self._hooks = {"before_forward": [], "after_forward": [], "before_backward": [], "after_backward": []}
        self._reducers = []  # NCCLs that average gradients as soon as they are complete
        self._learnable = []  # Blobs that parameters own
        self._lr, self._decay = [], []
        self._param_index = []  # of each layer's parameters, among _learnable
        self._inferred = {}  # results of _ahead.infer()
        self._shared = []  # (blob, blob whose memory it shares)
        index, available = {}, OrderedDict()
        self._index_of = index
        if net.debug_info:
            _log.line("debug_info has no effect in Python; use brew-run to print it", severity=_log.WARNING)
        for number, (layer, properties) in enumerate(zip(net.layer, description.layers)):
            layer_phase = phase if not layer.HasField("phase") else layer.phase
            bottoms, tops = [index[name] for name in layer.bottom], []
            for name in layer.bottom:
                available.pop(name, None)
            for j, name in enumerate(layer.top):
                if j < len(layer.bottom) and name == layer.bottom[j]:
                    tops.append(bottoms[j])
                else:
                    index[name] = len(self._blobs)
                    tops.append(index[name])
                    self._blobs.append(Blob())
                    self._blob_names.append(name)
                    self._loss_weights.append(0.0)
                if not name.startswith("(automatic) "):  # as in Caffe, such tops of losses are not outputs
                    available[name] = True
                if layer.type == "Input":
                    self._input_index.append(tops[-1])
            self._bottom_index.append(bottoms)
            self._top_index.append(tops)
            instance = _layers.make(layer, layer_phase, folder)
            if isinstance(instance, _layers.CompiledLayer):
                instance.infer_ahead = functools.partial(_ahead.infer, weakref.ref(self), number)
                instance.compile_ahead = functools.partial(_ahead.compile, weakref.ref(self), number)
            instance.keeps_statistics = any(p["is_statistic"] for p in properties["params"])
            self._layers.append(instance)
            bottom, top = self._bottoms(number), self._tops(number)
            instance.setup(bottom, top)
            instance.reshape(bottom, top)
            self._set_loss_weights(number)
        self._set_up_params(param, description)
        self._find_overwritten()
        self._blob_of = {name: self._blobs[i] for name, i in index.items()}
        self._fused_nets = _fused.FusedNetCache(self)
        self._sources = [i for i, bottoms in enumerate(self._bottom_index) if not bottoms]
        self._losses = [blob for blob, weight in zip(self._blobs, self._loss_weights) if weight]
        self._weights_of_losses = [weight for weight in self._loss_weights if weight]
        self._output_index = [index[name] for name in sorted(available)]
        for number in range(len(self._layers)):
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
        for weight, blob in zip(self._top_weights[number], self._top_index[number]):
            if weight:
                self._loss_weights[blob] = weight
                self._blobs[blob]._gradient[...] = weight

    def _set_up_params(self, param, description):
        """Numbers the parameters, shares those with equal names, and determines which gradients the
        backward pass computes."""
        python_layers = [(layer, instance) for layer, instance in zip(self._params, self._layers)
                         if layer.type == "Python"]
        if any(len(layer.param) != len(instance.blobs) for layer, instance in python_layers):
            counts = [(layer.name, len(instance.blobs)) for layer, instance in python_layers]
            description = _graph.Description(param, self._phase, counts)
        self._lr = [float(p["lr_mult"]) for p in description.params]
        self._decay = [float(p["decay_mult"]) for p in description.params]
        self._layer_needs = [properties["needs_backward"] for properties in description.layers]
        for layer, instance, properties in zip(self._params, self._layers, description.layers):
            params = properties["params"]
            instance.down = tuple(properties["bottom_gradients"])
            instance.param_down = [p["has_gradient"] for p in params]
            self._param_index.append([p["number"] for p in params])
            for i, (blob, number) in enumerate(zip(instance.blobs, self._param_index[-1])):
                if number == len(self._learnable):
                    self._learnable.append(blob)
                else:
                    self._share_param(layer, i, blob, self._learnable[number])

    def _share_param(self, layer, i, blob, owner):
        is_permissive = layer.param[i].share_mode == caffe_pb2.ParamSpec.PERMISSIVE
        if (blob.count != owner.count) if is_permissive else (blob.shape != owner.shape):
            raise _layers.failure(layer, "Cannot share param '%s': shape mismatch, %s and %s"
                                  % (layer.param[i].name, owner.shape, blob.shape))
        self._shared.append((blob, owner))

    def _find_overwritten(self):
        """Finds the blobs whose values a later layer overwrites in place."""
        memory = list(range(len(self._blobs)))  # blobs with equal numbers share their data
        last_writer = {}
        for i, (bottoms, tops) in enumerate(zip(self._bottom_index, self._top_index)):
            for top in tops:
                if isinstance(self._layers[i], (_layers.SplitLayer, _layers.ViewLayer)):
                    memory[top] = memory[bottoms[0]]
                if top in bottoms:
                    last_writer[memory[top]] = i
        for i, layer in enumerate(self._layers):
            if isinstance(layer, _layers.CompiledLayer):
                layer.overwritten_bottoms, layer.overwritten_tops = (
                    [last_writer.get(memory[j], -1) > i for j in index]
                    for index in (self._bottom_index[i], self._top_index[i]))

    def _load_prototxt_blobs(self, number):
        """Loads parameters that the prototxt contains."""
        if self._params[number].blobs:
            _weights.load_message(self._params[number], self._layers[number].blobs)
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
            elif self._fused_nets.last is not None:
                self._rerun_layers()  # the other layers keep the state of the complete pass
            return self._forward_layers(start, end)

    def _run_sources(self):
        """Runs the layers without bottoms."""
        for i in self._sources:
            layer = self._layers[i]
            layer.reshape([], self._tops(i))
            layer.forward([], self._tops(i))

    def _loss(self):
        return sum(float(np.dot(blob._values.ravel(), blob._gradient.ravel())) for blob in self._losses)

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

    def _fused_step(self, fresh=False):
        """Runs both passes of a solver's iteration. Returns the loss, or None as in
        _fused_forward(). Adds gradients of parameters to the existing ones, or with ``fresh``
        replaces them."""
        loss = self._fused_step_or_none(fresh)
        if loss is None and fresh:
            self.clear_param_diffs()
        return loss

    def _fused_step_or_none(self, fresh):
        cache = self._fused_nets
        if self._force_backward or not any(self._loss_weights) or cache.loss_is_read or not cache.allowed(self):
            return None
        if not any(self._layer_needs):
            return None  # no layer needs a backward pass
        if any(b._gradient.ravel().tolist() != [w] * b.count for b, w in zip(self._losses, self._weights_of_losses)):
            return None
        with self._running():
            self._run_sources()
            fused = cache.find(self, True)
            if fused is None:
                cache.last = None
                if fresh:
                    self.clear_param_diffs()
                loss = self._forward_layers(0, len(self._layers) - 1, sources=False)
                self._backward_layers(len(self._layers) - 1, 0)
                return loss
            try:
                fused.take_params()
                fused.forward_backward(fresh)
            except Error as error:
                raise RuntimeError(str(error)) from error
            cache.last = fused
            return self._loss()

    def _rerun_layers(self):
        """Gives the layers the state (masks, positions, copies of overwritten blobs) that they have after
        a forward pass layer by layer: reruns each of them on the values of the fused pass, then
        restores the values that users wrote since, and running statistics."""
        cache = self._fused_nets
        cache.backward_wanted = True
        fused, cache.last = cache.last, None
        if fused is None:
            return
        written = [blob._values.copy() for blob in self._blobs]
        statistics = [(blob, blob._values.copy()) for layer in self._layers if layer.keeps_statistics
                      for blob in layer.blobs]
        computed = {self._index_of[tensor.key[2]]: tensor.get().copy() for tensor in fused.inputs + fused.blobs}

        def put(index, values):
            blob = self._blobs[index]
            if blob.count == values.size and not blob._data.is_callers:  # it may have another shape now
                blob._values[...] = values.reshape(blob.shape)

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
        for blob, values in statistics:
            blob._data.take(values)

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
            for weight, blob in zip(self._top_weights[i], top):
                if weight:
                    loss += float(np.dot(blob._values.ravel(), blob._gradient.ravel()))
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
            blob._gradient[...] = 0

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
