"""A solver's update as a program of the net's plan, if the gradients are not accessed before it.

This is faster than updating each parameter separately, as `_rules` does: the plan's threads share
the work, and ``diff`` receives the update only if it is accessed. For SGD the update equals the
history, so only SGD is supported.
"""
import numpy as np

from brew._core import Kind, Trainer

from . import _rules
from ._blob_ports import BlobPort
from .proto import caffe_pb2

# Trainers reject rates that are not finite; Caffe accepts them.
_MAX_RATE = 3e38


def _is_rate_known(param):
    """Whether the rate is known before the passes: it depends neither on the loss nor on norms."""
    return param.lr_policy != "plateau" and not _rules.has_local_rates(param)


def rule_of(param):
    """Returns the solver for compiled updates as a SolverParameter without its net, or None if
    compiled updates do not support the solver ``param``."""
    if param.iter_size != 1 or param.clip_gradients > 0 or param.regularization_type not in ("L1", "L2"):
        return None
    if not _is_rate_known(param):
        return None
    return caffe_pb2.SolverParameter(
        type="SGD", base_lr=1, lr_policy="fixed", momentum=param.momentum, weight_decay=param.weight_decay,
        regularization_type=param.regularization_type, max_iter=1, snapshot_after_train=False,
        snapshot_prefix="none")


def solver_message(rule, net):
    """Returns a solver of this rule for a NetParameter. Removes fillers: parameters come from blobs."""
    result = caffe_pb2.SolverParameter()
    result.CopyFrom(rule)
    result.net_param.CopyFrom(net)
    for layer in result.net_param.layer:
        for field, value in layer.ListFields():
            if field.message_type is not None and hasattr(value, "ListFields"):
                for inner, _ in value.ListFields():
                    if inner.name.endswith("filler"):
                        value.ClearField(inner.name)
    return result


class CompiledUpdate:
    """Updates the parameters of a FusedNet with a solver's plan."""

    def __init__(self, fused, net, layers, seed):
        self.fused, self.net = fused, net
        session = fused.session
        # Opening the trainer changes the session's seed.
        self.trainer = Trainer(session)
        session.set_seed(seed)
        numbers = {id(blob): i for i, blob in enumerate(net._learnable)}
        self.rule = net._fused_nets.rule
        self.rate = self.rule.base_lr
        #: Ports of the histories, which equal the updates, by parameter number.
        self.changes = {}
        for layer, i in session.names(Kind.SOLVER_STATE):
            number = numbers.get(id(layers[layer].blobs[i]))
            if number is not None:
                self.changes[number] = BlobPort(session, Kind.SOLVER_STATE, layer, i, layers[layer].blobs[i])
        # The plan updates only these parameters. Caffe would apply weight decay to the others as
        # well, unless their learning rate is 0.
        others = [i for i in range(len(net._learnable)) if i not in self.changes]
        self.not_updated = others if all(net._lr[i] == 0 for i in others) else None
        self.is_supported = self.not_updated is not None and not fused.unaliased \
            and all(port.address is not None for port in [*self.changes.values(), *fused.param_gradients])
        self.views = {}  # the solver's histories that alias the session

    def can_update(self, solver):
        """Returns whether run() can do the solver's next update; if so, sets the learning rate."""
        rate = solver._rate_of_next()
        if not self._is_compatible(solver) or not abs(rate) < _MAX_RATE:
            return False
        # A field takes effect from the next forward pass on.
        if rate != self.rate:
            self.trainer.set_field("base_lr", repr(rate))
            self.rate = rate
        return True

    def _is_compatible(self, solver):
        p, rule, fused = solver.param, self.rule, self.fused
        return self.is_supported and _is_rate_known(p) and p.momentum == rule.momentum and p.weight_decay == rule.weight_decay \
            and p.regularization_type == rule.regularization_type and p.iter_size == 1 and p.clip_gradients <= 0 \
            and all([blob._data.address == address for blob, address in fused.aliases]) \
            and all([port.target._diff.address == port.address for port in fused.param_gradients]) \
            and self._bind_histories(solver._history)

    def _bind_histories(self, histories):
        """Makes the solver's histories alias the session. Returns False if that is not possible."""
        if self.views and all([histories[i] is view for i, view in self.views.items()]):
            return True
        if any(histories[i].any() for i in self.not_updated):
            return False  # from a snapshot in which the parameter was learned
        for i, port in self.changes.items():
            np.copyto(port.view, histories[i].reshape(port.view.shape))
            histories[i] = self.views[i] = port.view.reshape(histories[i].shape)
        return True

    def run_passes(self):
        """Runs the forward and the backward pass."""
        self.trainer.forward(False)
        self.trainer.backward()

    def run(self):
        """Updates the parameters."""
        iteration = self.trainer.iteration
        try:
            self.trainer.update()
        finally:  # exceptions of signal handlers arrive after the update
            if self.trainer.iteration > iteration:
                self._defer_changes()

    def _defer_changes(self):
        for blob, _ in self.fused.aliases:
            blob._data.access_count += 1
        for port in self.changes.values():
            memory = port.target._diff
            if memory.pending is not port:
                port.defer(memory)
