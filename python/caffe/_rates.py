"""Learning rates: the policies of Caffe and its forks, and rates of single parameters.

docs/differences.md and caffe/LearningRate.h describe the forks' fields.
"""
from typing import NamedTuple, Optional

import numpy as np


class RateState(NamedTuple):
    """The state that a policy carries from iteration to iteration; part of snapshots."""

    step: int = 0
    minimum_loss: Optional[float] = None
    last_event: int = 0  # iteration of the last new minimum, step or restart


def learning_rate(param, iteration, state, loss=0.0):
    """Returns the learning rate of an iteration and the new state. Only policy ``plateau`` reads the
    displayed ``loss`` of the iteration.

    As in Caffe's GetLearningRate, ``step`` sets the step, and ``multistep`` increments it by at
    most one per call: equal stepvalues, and those before a snapshot, take one iteration each."""
    warmup, start = (param.rampup_interval, param.rampup_lr) if param.rampup_interval > 0 \
        else (param.warmup_iter, param.warmup_start_lr)
    if iteration < warmup:
        rate = start + (param.base_lr - start) * iteration / warmup
    elif param.lr_policy == "fixed":
        rate = param.base_lr
    else:
        # As in C, overflow and invalid operations yield inf and nan; Python's floats would raise or become complex.
        with np.errstate(all="ignore"):
            rate, state = _rate(param, iteration, state, loss)
    if param.HasField("min_lr") and param.lr_policy != "sgdr" and rate < param.min_lr:
        rate = param.min_lr
    return float(rate), state


def _require(is_met, policy, requirement):
    if not is_met:
        raise RuntimeError("lr_policy '%s' needs %s" % (policy, requirement))


def _rate(param, iteration, state, loss):
    policy, base = param.lr_policy, param.base_lr
    if policy in ("step", "exp", "inv", "multistep", "sigmoid", "plateau"):
        _require(param.gamma >= 0, policy, "gamma >= 0")
    if policy in ("step", "sigmoid"):
        _require(param.stepsize > 0, policy, "stepsize > 0")
    gamma, power = np.float64(param.gamma), np.float64(param.power)
    if policy == "step":
        state = state._replace(step=iteration // param.stepsize)
        return base * gamma ** state.step, state
    if policy == "exp":
        return base * gamma ** iteration, state
    if policy == "inv":
        return base * (1 + gamma * iteration) ** -power, state
    if policy == "multistep":
        if 0 <= state.step < len(param.stepvalue) and iteration >= param.stepvalue[state.step]:
            state = state._replace(step=state.step + 1)
        return base * gamma ** state.step, state
    if policy == "poly":
        end = param.min_lr
        return (base - end) * (1 - np.float64(iteration) / param.max_iter) ** power + end, state
    if policy == "sigmoid":
        return base / (1 + np.exp(-gamma * (iteration - param.stepsize))), state
    if policy == "plateau":
        state = _plateau_state(param, iteration, state, loss)
        return base * gamma ** state.step, state
    if policy == "sgdr":
        return _sgdr(param, iteration, state)
    if policy == "multifixed":
        _require(0 < len(param.stagelr) == len(param.stageiter), policy, "as many stageiter as stagelr")
        stages = [rate for rate, end in zip(param.stagelr, param.stageiter) if iteration <= end]
        return (stages or param.stagelr[-1:])[0], state
    raise RuntimeError("Unknown learning rate policy: %s" % policy)


def _plateau_state(param, iteration, state, loss):
    single = float(np.float32(loss))  # what snapshots contain
    if single < (np.finfo(np.float32).max if state.minimum_loss is None else state.minimum_loss):
        state = state._replace(minimum_loss=single, last_event=iteration)
    windows = param.plateau_winsize
    if 0 <= state.step < len(windows) and iteration - state.last_event >= windows[state.step]:
        state = state._replace(step=state.step + 1, last_event=iteration)
    return state


def _sgdr(param, iteration, state):
    period = param.period if param.period > 0 else param.max_iter
    _require(period > 0, "sgdr", "period > 0 or max_iter > 0")
    if not param.p_mult > 0:
        raise RuntimeError("p_mult must be above 0")
    minimum = param.min_lr if param.HasField("min_lr") else 1e-6  # jolibrain/caffe's default
    step, position = 0, iteration
    while position >= period:
        next_period = max(1, int(period * param.p_mult))
        count = position // period if next_period == period else 1  # skips equal periods at once
        position -= count * period
        step, period = step + count, next_period
    maximum = param.base_lr * np.float64(param.lr_mult) ** step
    rate = minimum + 0.5 * (maximum - minimum) * (1 + np.cos(np.pi * position / period))
    return rate, state._replace(step=step, last_event=iteration - position)


def has_local_rates(param):
    """Whether each parameter has a rate from the norms of its values and its gradient."""
    return param.larc or param.local_lr_auto


def require_local_rates(param, kind):
    """Raises RuntimeError if a solver of this kind does not support its fields for local rates."""
    if param.larc and param.local_lr_auto:
        raise RuntimeError("larc cannot be used with local_lr_auto")
    if has_local_rates(param) and kind != "SGD":
        raise RuntimeError("%s cannot be used with %s; only SGD has local learning rates"
                           % ("larc" if param.larc else "local_lr_auto", kind))
    if param.larc_policy not in ("scale", "clip"):
        raise RuntimeError("Unknown larc policy: %s" % param.larc_policy)


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
