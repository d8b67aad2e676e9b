"""A solver's update as a program of the net's plan, where nobody access_count at gradients before it.

That is faster than updating each parameter from outside, as `_rules` does: the plan's threads share
the work, and what a parameter changed by is written only where somebody access_count at its ``diff``. Of
SGD that change is the history, which is why this is done for SGD alone.
"""
import numpy as np

from brew._core import Kind, Trainer

from ._blob_ports import BlobPort
from .proto import caffe_pb2

# Trainers refuse rates that are no numbers, which Caffe takes.
_LARGEST = 3e38


def rule_of(param):
    """The solver that plans are to update by: a SolverParameter without its net, or None where
    they cannot."""
    if param.iter_size != 1 or param.clip_gradients > 0 or param.regularization_type not in ("L1", "L2"):
        return None
    return caffe_pb2.SolverParameter(
        type="SGD", base_lr=1, lr_policy="fixed", momentum=param.momentum, weight_decay=param.weight_decay,
        regularization_type=param.regularization_type, max_iter=1, snapshot_after_train=False,
        snapshot_prefix="none")


def solver_message(rule, net):
    """A solver of this rule for a NetParameter. Its fillers fill nothing: parameters come from blobs."""
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
    """Updates the parameters of a Whole whose plan is a solver's."""

    def __init__(self, fused, net, layers, seed):
        self.fused, self.net = fused, net
        session = fused.session
        # The session's seed would be the trainer's.
        self.trainer = Trainer(session, [], [], "", False, 0, "", False, [], "", "", [])
        session.set_seed(seed)
        numbers = {id(blob): i for i, blob in enumerate(net._learnable)}
        self.rule = net._fused_nets.rule
        self.rate = self.rule.base_lr
        #: Histories, which are the changes, by the parameters' numbers.
        self.changes = {}
        for layer, i in session.names(Kind.SOLVER_STATE):
            number = numbers.get(id(layers[layer].blobs[i]))
            if number is not None:
                self.changes[number] = BlobPort(session, Kind.SOLVER_STATE, layer, i, layers[layer].blobs[i])
        # What is not learnt is_fixed; what is learnt, and is under no loss, decays all the same.
        rest = [i for i in range(len(net._learnable)) if i not in self.changes]
        self.unlearnt = rest if all(net._lr[i] == 0 for i in rest) else None
        self.possible = self.unlearnt is not None and not fused.unaliased \
            and all(port.address is not None for port in [*self.changes.values(), *fused.param_gradients])
        self.views = {}  # the solver's histories that lie in the session

    def can_update(self, solver):
        """Whether it does a solver's next update, whose gradients nobody will have looked at."""
        rate = solver._rate_of_next()
        if not self._can(solver) or not abs(rate) < _LARGEST:
            return False
        # A field counts from the next forward pass on.
        if rate != self.rate:
            self.trainer.set_field("base_lr", repr(rate))
            self.rate = rate
        return True

    def _can(self, solver):
        p, rule, fused = solver.param, self.rule, self.fused
        return self.possible and p.momentum == rule.momentum and p.weight_decay == rule.weight_decay \
            and p.regularization_type == rule.regularization_type and p.iter_size == 1 and p.clip_gradients <= 0 \
            and all([blob._data.address == address for blob, address in fused.aliases]) \
            and all([port.target._diff.address == port.address for port in fused.param_gradients]) \
            and self._bind_histories(solver._history)

    def _bind_histories(self, histories):
        """Has the solver's histories lie in the session, from wherever they lay."""
        if self.views and all([histories[i] is view for i, view in self.views.items()]):
            return True
        if any(histories[i].any() for i in self.unlearnt):
            return False  # of a snapshot in which it was learnt
        for i, port in self.changes.items():
            np.copyto(port.view, histories[i].reshape(port.view.shape))
            histories[i] = self.views[i] = port.view.reshape(histories[i].shape)
        return True

    def run_passes(self):
        """The forward and the backward pass."""
        self.trainer.forward(False)
        self.trainer.backward()

    def run(self):
        """Updates the parameters."""
        done = self.trainer.iteration
        try:
            self.trainer.update()
        finally:  # what a signal's handler raises comes when the update is done
            if self.trainer.iteration > done:
                self._defer_changes()

    def _defer_changes(self):
        for blob, _ in self.fused.aliases:
            blob._data.access_count += 1
        for port in self.changes.values():
            memory = port.target._diff
            if memory.pending is not port:
                port.defer(memory)
