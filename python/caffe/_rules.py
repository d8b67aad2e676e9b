"""Caffe's solvers: learning rates and update rules."""
import numpy as np

from brew import _core


def learning_rate(param, iteration, current_step):
    """Returns the learning rate of an iteration and the new step counter.

    As in Caffe's GetLearningRate, ``step`` sets the counter, and ``multistep`` increments it by at
    most one per call: equal stepvalues, and those before a snapshot, take one iteration each."""
    if param.lr_policy == "fixed":
        return param.base_lr, current_step
    # As in C, overflow and invalid operations yield inf and nan; Python's floats would raise or become complex.
    with np.errstate(all="ignore"):
        rate, current_step = _rate(param, iteration, current_step)
    return float(rate), current_step


def _require(is_met, policy, requirement):
    if not is_met:
        raise RuntimeError("lr_policy '%s' needs %s" % (policy, requirement))


def _rate(param, iteration, current_step):
    policy, base = param.lr_policy, param.base_lr
    if policy in ("step", "exp", "inv", "multistep", "sigmoid"):
        _require(param.gamma >= 0, policy, "gamma >= 0")
    if policy in ("step", "sigmoid"):
        _require(param.stepsize > 0, policy, "stepsize > 0")
    gamma, power = np.float64(param.gamma), np.float64(param.power)
    if policy == "step":
        current_step = iteration // param.stepsize
        return base * gamma ** current_step, current_step
    if policy == "exp":
        return base * gamma ** iteration, current_step
    if policy == "inv":
        return base * (1 + gamma * iteration) ** -power, current_step
    if policy == "multistep":
        if 0 <= current_step < len(param.stepvalue) and iteration >= param.stepvalue[current_step]:
            current_step += 1
        return base * gamma ** current_step, current_step
    if policy == "poly":
        return base * (1 - np.float64(iteration) / param.max_iter) ** power, current_step
    if policy == "sigmoid":
        return base / (1 + np.exp(-gamma * (iteration - param.stepsize))), current_step
    raise RuntimeError("Unknown learning rate policy: %s" % policy)


def _adam_correction(param, t):
    """Returns Adam's bias correction of the rate in iteration ``t``, counted from 1, computed as in C."""
    momentum, momentum2 = np.float64(param.momentum), np.float64(param.momentum2)
    with np.errstate(all="ignore"):
        return float(np.sqrt(1 - momentum2 ** t) / (1 - momentum ** t))


class UpdateRule:
    """The update rule of a kind of solver.

    ``slots``: number of history arrays per parameter."""

    slots = 1

    def __init__(self, kind, param):
        self.kind, self.param = kind, param
        if kind in ("AdaDelta", "Adam"):
            self.slots = 2
        if kind in ("AdaGrad", "RMSProp") and param.momentum:
            raise RuntimeError("Momentum cannot be used with %s." % kind)
        if kind == "RMSProp" and not 0 <= param.rms_decay < 1:
            raise RuntimeError("rms_decay should lie between 0 and 1.")

    def apply(self, data, diff, history, rate, decay, iteration):
        """Replaces the gradient ``diff`` by the update and subtracts it from ``data``. ``decay`` is
        the factor of the regularization."""
        p = self.param
        l2 = l1 = 0.0
        if decay:
            if p.regularization_type not in ("L1", "L2"):
                raise RuntimeError("Unknown regularization type: %s" % p.regularization_type)
            l2, l1 = (decay, 0.0) if p.regularization_type == "L2" else (0.0, decay)
        momentum = p.rms_decay if self.kind == "RMSProp" else p.momentum
        if self.kind == "Adam":
            rate *= _adam_correction(p, iteration + 1)
        scale = float(np.float32(1.0 / p.iter_size))
        _core.update(self.kind, data, diff, history, scale, l2, l1, rate, momentum, p.momentum2, p.delta)
