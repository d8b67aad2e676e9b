"""Caffe's solvers: learning rates, and what each makes of a gradient."""
import math

import numpy as np


def learning_rate(param, iteration, current_step):
    """(rate, current step) of an iteration."""
    policy, base = param.lr_policy, param.base_lr
    if policy == "fixed":
        return base, current_step
    if policy == "step":
        if param.stepsize <= 0:
            raise RuntimeError("lr_policy 'step' needs a positive stepsize")
        current_step = iteration // param.stepsize
        return base * param.gamma ** current_step, current_step
    if policy == "exp":
        return base * param.gamma ** iteration, current_step
    if policy == "inv":
        return base * (1 + param.gamma * iteration) ** -param.power, current_step
    if policy == "multistep":
        while current_step < len(param.stepvalue) and iteration >= param.stepvalue[current_step]:
            current_step += 1
        return base * param.gamma ** current_step, current_step
    if policy == "poly":
        return base * (1 - iteration / param.max_iter) ** param.power, current_step
    if policy == "sigmoid":
        return base / (1 + math.exp(-param.gamma * (iteration - param.stepsize))), current_step
    raise RuntimeError("Unknown learning rate policy: %s" % policy)


class Rule:
    """How one kind of solver makes the change of a parameter of its gradient.

    ``slots``: arrays of history for each parameter. ``update`` overwrites ``diff`` with
    what is taken off the parameter."""

    slots = 1

    def __init__(self, param):
        self.param = param

    def update(self, diff, history, rate, iteration):
        raise NotImplementedError


class SGD(Rule):
    def update(self, diff, history, rate, iteration):
        (h,) = history
        h *= np.float32(self.param.momentum)
        h += np.float32(rate) * diff
        diff[...] = h


class Nesterov(Rule):
    def update(self, diff, history, rate, iteration):
        (h,) = history
        momentum = np.float32(self.param.momentum)
        before = momentum * h
        np.add(before, np.float32(rate) * diff, out=h)
        diff[...] = (1 + momentum) * h - before


class AdaGrad(Rule):
    def __init__(self, param):
        super().__init__(param)
        if param.momentum:
            raise RuntimeError("Momentum cannot be used with AdaGrad.")

    def update(self, diff, history, rate, iteration):
        (h,) = history
        h += diff * diff
        diff *= np.float32(rate) / (np.sqrt(h) + np.float32(self.param.delta))


class RMSProp(Rule):
    def __init__(self, param):
        super().__init__(param)
        if param.momentum:
            raise RuntimeError("Momentum cannot be used with RMSProp.")
        if not 0 <= param.rms_decay < 1:
            raise RuntimeError("rms_decay should lie between 0 and 1.")

    def update(self, diff, history, rate, iteration):
        (h,) = history
        decay = np.float32(self.param.rms_decay)
        h *= decay
        h += (1 - decay) * diff * diff
        diff *= np.float32(rate) / (np.sqrt(h) + np.float32(self.param.delta))


class AdaDelta(Rule):
    slots = 2

    def update(self, diff, history, rate, iteration):
        squares, updates = history
        momentum, delta = np.float32(self.param.momentum), np.float32(self.param.delta)
        squares *= momentum
        squares += (1 - momentum) * diff * diff
        diff *= np.sqrt((delta + updates) / (delta + squares))
        updates *= momentum
        updates += (1 - momentum) * diff * diff
        diff *= np.float32(rate)


class Adam(Rule):
    slots = 2

    def update(self, diff, history, rate, iteration):
        mean, square = history
        one, two = self.param.momentum, self.param.momentum2
        mean *= np.float32(one)
        mean += np.float32(1 - one) * diff
        square *= np.float32(two)
        square += np.float32(1 - two) * diff * diff
        t = iteration + 1
        correction = math.sqrt(1 - two ** t) / (1 - one ** t)
        diff[...] = np.float32(rate * correction) * mean / (np.sqrt(square) + np.float32(self.param.delta))


RULES = {"SGD": SGD, "Nesterov": Nesterov, "AdaGrad": AdaGrad, "RMSProp": RMSProp, "AdaDelta": AdaDelta,
         "Adam": Adam}
