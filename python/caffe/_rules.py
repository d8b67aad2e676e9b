"""Caffe's solvers: update rules."""
import numpy as np

from brew import _core

from . import _rates


def _adam_correction(param, t):
    """Returns Adam's bias correction of the rate in iteration ``t``, counted from 1, computed as in C."""
    momentum, momentum2 = np.float64(param.momentum), np.float64(param.momentum2)
    with np.errstate(all="ignore"):
        return float(np.sqrt(1 - momentum2 ** t) / (1 - momentum ** t))


def has_local_rates(param):
    """Whether each parameter has a rate from the norms of its values and its gradient."""
    return param.larc or param.local_lr_auto


def parameter_rate(param, data, diff, rate, multiplier):
    """Returns the learning rate of a parameter with the learning-rate ``multiplier``. ``diff`` is the
    sum of the gradients of ``iter_size`` passes."""
    if not has_local_rates(param) or not multiplier > 0:
        return rate * multiplier
    w = float(np.linalg.norm(data.ravel()))
    d = float(np.linalg.norm(diff.ravel())) / param.iter_size
    ratio = 1.0
    if w > 0 and d > 0:
        if param.larc:
            ratio = (1 - param.momentum) * param.larc_eta * w / d
        else:
            ratio = param.local_gw_ratio * w / (d + param.weight_decay * w)
    return min(rate, ratio) if param.larc and param.larc_policy == "clip" else rate * ratio


class UpdateRule:
    """The update rule of a kind of solver.

    ``slots``: number of history arrays per parameter."""

    slots = 1

    def __init__(self, kind, param):
        self.kind, self.param = kind, param
        if kind in ("AdaDelta", "Adam"):
            self.slots = 2
        _rates.check(param, kind)

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
