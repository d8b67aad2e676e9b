"""A solver's update of the parameters, as the program of a plan.

The program computes on the memory of the net's parameters and gradients and of the solver's history.
Like Caffe, it leaves the change that it subtracts in ``diff``."""
from brew import CompileError, Error
from brew._core import Kind, Session

from . import _plan_cache, _state
from ._blob import aligned_zeros
from .proto import caffe_pb2

#: Number of histories per parameter, by the kind of solver.
_SLOTS = {"AdaDelta": 2, "Adam": 2}
#: Fields of the solver on which the program depends. The others are scalars of each update.
_FIELDS = ("regularization_type", "larc", "larc_policy", "larc_eta", "local_lr_auto", "local_gw_ratio")


class Update:
    """Updates the learnable parameters of a net.

    ``history``: arrays in Caffe's order: one for each parameter, then the second ones."""

    def __init__(self, param, kind, net):
        self._param, self._kind, self._net = param, kind, net
        self.history = [aligned_zeros(blob.count).reshape(blob.shape)
                        for _ in range(_SLOTS.get(kind, 1)) for blob in net._learnable]
        self._learned = [i for i, (blob, mult) in enumerate(zip(net._learnable, net._lr))
                         if blob.count and mult != 0]
        self._fields = self._session = None
        self._prepare()

    def _message(self):
        """Returns a solver whose net has only the parameters."""
        # momentum and rms_decay are scalars of each update. They are here for the compiler, which checks them.
        solver = caffe_pb2.SolverParameter(type=self._kind, base_lr=1, lr_policy="fixed", max_iter=1,
                                           momentum=self._param.momentum, rms_decay=self._param.rms_decay,
                                           snapshot_after_train=False, snapshot_diff=True, snapshot_prefix="none")
        for field in _FIELDS:
            if self._param.HasField(field):
                setattr(solver, field, getattr(self._param, field))
        net = solver.net_param
        for i in self._learned:
            layer = net.layer.add(name=str(i), type="Parameter", top=[str(i)])
            layer.param.add(lr_mult=self._net._lr[i], decay_mult=self._net._decay[i])
            layer.parameter_param.shape.dim.extend(self._net._learnable[i].shape)
            net.layer.add(name="loss%d" % i, type="Reduction", bottom=[str(i)], top=["loss%d" % i], loss_weight=[1.0])
        return solver

    def _prepare(self):
        """Compiles the program for the current fields of the solver. Raises RuntimeError."""
        fields = [getattr(self._param, field) for field in _FIELDS]
        if fields == self._fields:
            return
        if not self._learned:
            return
        message = self._message()
        try:
            plan = _plan_cache.plan(message)
            self._session = Session(plan._core, thread_pool=_state.thread_pool())
        except CompileError as error:
            raise RuntimeError(error.errors[0].message if error.errors else str(error)) from error
        except Error as error:
            raise RuntimeError(str(error)) from error
        count = len(self._net._learnable)
        self._session.bind_memory([(Kind.SOLVER_STATE, 0, str(i), 0, slot, self.history[slot * count + i].reshape(-1))
                                   for i in self._learned for slot in range(len(self.history) // max(count, 1))])
        self._fields, self._bound = fields, {}  # (data, diff) of each parameter

    def apply(self, rate, gradient_scale, iteration):
        """Performs the update of an iteration. ``gradient_scale``: the factor of the gradients."""
        self._prepare()
        moved = []
        for i in self._learned:
            blob = self._net._learnable[i]
            memories = blob._data, blob._diff
            for kind, memory in zip((Kind.PARAMETER, Kind.PARAMETER_GRADIENT), memories):
                values = memory.values()[: blob.count]
                memory.changes += 1
                if self._bound.get(i) != memories:
                    moved.append((kind, 0, str(i), 0, 0, values))
            self._bound[i] = memories
        if moved:
            self._session.bind_memory(moved)
        if self._learned:
            p = self._param
            self._session.update(iteration, rate, gradient_scale, p.weight_decay, p.momentum, p.momentum2, p.delta,
                                 p.rms_decay)
        for blob, mult in zip(self._net._learnable, self._net._lr):
            if mult == 0:
                blob._gradient[...] = 0
