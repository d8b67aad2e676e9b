"""The trainer of a solver: Brew's training loop over nets that Python runs.

The trainer has the plan of a net that consists of parameters only. It runs the program ``update`` of this plan,
on the memory of the solver's net."""
import weakref

import numpy as np

from brew import CompileError, Error
from brew._core import Kind, Session, Trainer

from . import _plan_cache, _state
from .proto import caffe_pb2

#: Fields of the solver on which the plan depends. The others may change while training.
_PLAN_FIELDS = ("regularization_type", "larc", "larc_policy", "larc_eta", "local_lr_auto", "local_gw_ratio")
#: Fields that only the solver itself reads.
_NET_FIELDS = ("net", "net_param", "train_net", "train_net_param", "test_net", "test_net_param", "train_state",
               "test_state", "weights", "debug_info")
_NET_FIELD_NUMBERS = {caffe_pb2.SolverParameter.DESCRIPTOR.fields_by_name[name].number for name in _NET_FIELDS}


def settings(param):
    """Returns (number, value) of all fields that a trainer reads and that are set."""
    return [(field.number, value if isinstance(value, (int, float, str)) else list(value))
            for field, value in param.ListFields() if field.number not in _NET_FIELD_NUMBERS]


def encoded_solver(param, kind):
    """Encodes the solver of a trainer: ``param`` with the type ``kind``. Only rank 0 tests, displays and writes
    snapshots."""
    solver = caffe_pb2.SolverParameter()
    solver.CopyFrom(param)
    for field in _NET_FIELDS:
        solver.ClearField(field)
    solver.type = kind
    if not _state.is_root():
        solver.display = solver.test_interval = solver.snapshot = 0
        solver.snapshot_after_train = False
    return solver.SerializeToString()


class Training:
    """The trainer of a solver and the memory of its parameters."""

    def __init__(self, solver):
        self._net = net = solver.net
        self._names = _parameter_names(net)
        self._present = [i for i, blob in enumerate(net._learnable) if blob.count]
        self._learned = [i for i in self._present if net._lr[i] != 0]
        self._plan_fields = self._fields_of_plan(solver.param)
        self._bound = {}  # (data, diff) of each parameter
        try:
            plan = _plan_cache.plan(self._message(solver.param, solver.type))
            self._session = Session(plan._core, thread_pool=_state.thread_pool(), log=_state.is_root())
            self.nets = TrainedNets(solver)
            self.trainer = Trainer.of_nets(self._session, self.nets,
                                           encoded_solver(solver.param, solver.type))
        except CompileError as error:
            raise RuntimeError(error.errors[0].message if error.errors else str(error)) from error
        except Error as error:
            raise RuntimeError(str(error)) from error

    @staticmethod
    def _fields_of_plan(param):
        return [getattr(param, field) for field in _PLAN_FIELDS]

    def _message(self, param, kind):
        """Returns a solver whose net has only the parameters."""
        # The trainer sets momentum and rms_decay in each update. The plan has room for the history of any momentum.
        solver = caffe_pb2.SolverParameter(type=kind, base_lr=1, lr_policy="fixed", max_iter=1, snapshot_diff=True,
                                           snapshot_after_train=False, snapshot_prefix="none")
        if kind in ("SGD", "Nesterov", "AdaDelta", "Adam"):
            solver.momentum = 0.5
        for field in _PLAN_FIELDS + ("rms_decay",):
            if param.HasField(field):
                setattr(solver, field, getattr(param, field))
        net = solver.net_param
        net.name = self._net._name
        for i in self._present:
            layer = net.layer.add(name=self._names[i], type="Parameter", top=[str(i)])
            layer.param.add(lr_mult=self._net._lr[i], decay_mult=self._net._decay[i])
            layer.parameter_param.shape.dim.extend(self._net._learnable[i].shape)
            if i in self._learned:
                _add_loss(net, str(i))
        if not self._learned:
            net.layer.add(name="0", type="Input", top=["none"]).input_param.shape.add().dim.append(1)
            _add_loss(net, "none")
        return solver

    def fits(self, param):
        """Returns whether the fields of ``param`` on which the plan depends are unchanged."""
        return self._plan_fields == self._fields_of_plan(param)

    def bind(self):
        """Makes the update use the current memory of parameters and gradients."""
        moved = []
        for i in self._learned:
            blob = self._net._learnable[i]
            memories = blob._data, blob._diff
            for kind, memory in zip((Kind.PARAMETER, Kind.PARAMETER_GRADIENT), memories):
                values = memory.values()[: blob.count]
                memory.changes += 1
                if self._bound.get(i) != memories:
                    moved.append((kind, 0, self._names[i], 0, 0, values))
            self._bound[i] = memories
        if moved:
            self._session.bind_memory(moved)
        for blob, mult in zip(self._net._learnable, self._net._lr):
            if mult == 0:  # its update is 0
                blob._gradient[...] = 0


def _parameter_names(net):
    """Returns the name of each learnable parameter: layer/index of the first layer that has it."""
    names = {}
    for layer, index in zip(net._params, net._param_index):
        for i, parameter in enumerate(index):
            names.setdefault(parameter, "%s/%d" % (layer.name, i))
    return [names[i] for i in range(len(net._learnable))]


def _add_loss(net, blob):
    net.layer.add(name="loss of " + blob, type="Reduction", bottom=[blob], top=["loss of " + blob], loss_weight=[1.0])


class TrainedNets:
    """The nets of a solver as its trainer sees them (PythonNets.h). Does not keep the solver alive."""

    def __init__(self, solver):
        self._solver = weakref.proxy(solver)
        self.reset()

    def reset(self):
        """Begins a call of the trainer, perhaps after a failure."""
        self._are_gradients_new = self._is_updated = self._is_answered = False

    def compute_gradients(self):
        solver = self._solver
        solver._take_state()
        net, reducers, callbacks = solver.net, solver._reducers, solver._callbacks
        # If no user code runs in between, overwrite gradients instead of adding to zeros.
        fresh = len(callbacks) == len(reducers)
        if not fresh:
            net.clear_param_diffs()
        for on_start, _ in callbacks:
            if on_start is not None:
                on_start()
        loss, last, count = 0.0, len(net._layers) - 1, solver.param.iter_size
        for i in range(count):
            for reducer in reducers:
                reducer._begin_pass(i + 1 == count)
            pass_loss = net._fused_step(fresh)
            fresh = False
            if pass_loss is None:
                pass_loss = net._forward(0, last)
                net._backward(last, 0)
            loss += pass_loss
        self._are_gradients_new = True
        solver._apply_changes()
        return loss / count

    def prepare_update(self):
        solver = self._solver
        if self._are_gradients_new:
            self._are_gradients_new = False
            for _, on_gradients_ready in solver._callbacks:
                on_gradients_ready()
        solver._apply_changes()
        solver._training.bind()
        self._is_updated = True

    def forward(self):
        net = self._solver.net
        return net._forward(0, len(net._layers) - 1)

    def outputs(self):
        return _outputs(self._solver.net)

    def test(self, number):
        net = self._solver.test_nets[number]
        net.share_with(self._solver.net)
        loss = net._forward(0, len(net._layers) - 1)
        return loss, _outputs(net)

    def weights(self, diffs):
        return self._solver.net._weights(diffs)

    def load_weights(self, path):
        self._solver.net.copy_from(path)

    def next_action(self):
        """The trainer asks until the answer is not "snapshot". As in Caffe, the solver is asked so during tests,
        but once after an iteration."""
        solver = self._solver
        if self._is_answered:
            self._is_answered = False
            return None
        solver._take_state()
        action = solver.next_action()
        if action not in ("stop", "snapshot", None):
            raise ValueError("next_action returned %r, not 'stop', 'snapshot' or None" % (action,))
        self._is_answered, self._is_updated = self._is_updated and action == "snapshot", False
        solver._apply_changes()
        return action


def _outputs(net):
    """Returns (blob, value, loss weight) of each output of a net."""
    return [(net._blob_names[i], value, net._loss_weights[i])
            for i in net._output_index for value in np.ravel(net._blobs[i]._values).tolist()]
