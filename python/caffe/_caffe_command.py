"""The actions of Caffe's command: train, test and time."""
import signal
import threading
import time as clock

import numpy as np
from google.protobuf import text_format

from . import _graph, _log, _net_log, _solver, _state
from .proto import caffe_pb2
from .pycaffe import Net

_EFFECTS = ("stop", "snapshot", "none")


class FlagError(Exception):
    """A flag that is missing or wrong."""


def _log_at(line, text):
    """Writes a line of caffe.cpp."""
    _log.line(text, "caffe.cpp", line)


def _require(value, flag, purpose):
    if not value:
        raise FlagError("need %s (-%s FILE)" % (purpose, flag))
    return value


def _split(text):
    return [word for word in text.split(",") if word]


def _use_device(flags, line):
    """Selects the device and logs it."""
    gpus = _split(flags.gpu)
    if len(gpus) > 1 or gpus == ["all"]:
        raise FlagError("nets that run in Python do not train on several GPUs with this command; start one process "
                        "for each rank and connect them by caffe.NCCL")
    if gpus:
        if not gpus[0].isdigit():
            raise FlagError("-gpu is the number of a GPU, not '%s'" % gpus[0])
        reason = _state.missing_gpu()
        if reason:
            raise OSError("-gpu %s: %s; omit -gpu to run on the CPU" % (flags.gpu, reason))
        _state.set_device(int(gpus[0]))
        _state.set_mode_gpu()
    else:
        _log_at(line, "Use CPU.")


class _Signals:
    """During the context, signals only record what the solver reads after each iteration. The second stop by
    the same signal ends the program."""

    def __init__(self, flags):
        self.effects = {signal.SIGTERM: "stop"}
        for number, name in ((signal.SIGINT, "sigint_effect"), (signal.SIGHUP, "sighup_effect")):
            effect = getattr(flags, name)
            if effect not in _EFFECTS:
                raise FlagError("-%s is stop, snapshot or none, not '%s'" % (name, effect))
            self.effects[number] = effect
        self.pending, self.previous = [], {}

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            for number in self.effects:
                self.previous[number] = signal.signal(number, self._record)
        return self

    def __exit__(self, *exception):
        for number, handler in self.previous.items():
            signal.signal(number, handler)

    def _record(self, number, frame):
        effect = self.effects[number]
        if effect == "stop":
            signal.signal(number, self.previous[number])
        if effect != "none":
            self.pending.append(effect)

    def next_action(self):
        """Returns and removes the next request: "stop", "snapshot" or None."""
        return self.pending.pop(0) if self.pending else None


def train(flags):
    """Trains a solver's net, from a snapshot or weights if given."""
    path = _require(flags.solver, "solver", "a solver definition to train")
    if flags.snapshot and flags.weights:
        raise FlagError("give a snapshot to resume training or weights to finetune, but not both")
    param = _graph.read_solver(path)
    param.train_state.level = int(flags.level)
    param.train_state.stage.extend(_split(flags.stage))
    signals = _Signals(flags)
    _use_device(flags, 211)
    if flags.snapshot or flags.weights:
        del param.weights[:]
    if flags.weights:
        param.weights.append(flags.weights)
    _log.line("Initializing solver from parameters: \n" + text_format.MessageToString(param), "solver.cpp", 44)
    for weights in param.weights:
        for file in map(str.strip, weights.split(",")):
            _log_at(155, "Finetuning from " + file)
    solver = _solver.solver_of(param, path)
    _net_log.log_solver(solver)
    if flags.snapshot:
        _log_at(242, "Resuming from " + flags.snapshot)
        solver.restore(flags.snapshot)
    solver.next_action = signals.next_action
    _log_at(248, "Starting Optimization")
    with signals:
        solver.solve()
    _log_at(259, "Optimization Done.")


def _net(flags, phase):
    return Net(flags.model, phase, level=int(flags.level), stages=_split(flags.stage))


def _count_iterations(flags):
    iterations = int(flags.iterations)
    if iterations < 1:
        raise FlagError("-iterations is at least 1, not %d" % iterations)
    return iterations


def test(flags):
    """Scores a net: logs its outputs for each batch, then their means."""
    _require(flags.model, "model", "a model definition to score")
    _require(flags.weights, "weights", "model weights to score")
    iterations = _count_iterations(flags)
    _use_device(flags, 284)
    net = _net(flags, caffe_pb2.TEST)
    _net_log.log_net(net)
    for file in map(str.strip, flags.weights.split(",")):
        net.copy_from(file)
    _log_at(290, "Running for %d iterations." % iterations)
    loss, sums = 0.0, None
    for batch in range(iterations):
        loss += net._forward(0, len(net.layers) - 1)
        values = [(name, value) for name in net.outputs for value in np.ravel(net.blobs[name].data)]
        for name, value in values:
            _log_at(313, "Batch %d, %s = %g" % (batch, name, value))
        sums = np.zeros(len(values)) if sums is None else sums
        sums += [value for _, value in values]
    _log_at(318, "Loss: %g" % (loss / iterations))
    for (name, _), mean in zip(values, sums / iterations):
        weight = net.blob_loss_weights[name]
        _log_at(330, "%s = %g%s" % (name, mean, " (* %g = %g loss)" % (weight, weight * mean) if weight else ""))


class _LayerTimes:
    """The milliseconds that each layer took in one of the passes."""

    def __init__(self, net, before, after):
        self.total = [0.0] * len(net.layers)
        before(self._start)
        after(self._stop)

    def _start(self, layer):
        self.begin = clock.perf_counter()

    def _stop(self, layer):
        self.total[layer] += (clock.perf_counter() - self.begin) * 1e3


def time(flags):
    """Measures the time of each layer's passes."""
    _require(flags.model, "model", "a model definition to time")
    if flags.phase not in ("", "TRAIN", "TEST"):
        raise FlagError("-phase is TRAIN or TEST, not '%s'" % flags.phase)
    iterations = _count_iterations(flags)
    _use_device(flags, 352)
    net = _net(flags, caffe_pb2.Phase.Value(flags.phase or "TRAIN"))
    _net_log.log_net(net)
    last = len(net.layers) - 1
    _log_at(360, "Performing Forward")
    _log_at(365, "Initial loss: %g" % net._forward(0, last))
    _log_at(366, "Performing Backward")
    net._backward(last, 0)
    forward = _LayerTimes(net, net.before_forward, net.after_forward)
    backward = _LayerTimes(net, net.before_backward, net.after_backward)
    _log_at(374, "*** Benchmark begins ***")
    _log_at(375, "Testing for %d iterations." % iterations)
    begin = clock.perf_counter()
    for iteration in range(iterations):
        iteration_begin = clock.perf_counter()
        net._forward(0, last)
        net._backward(last, 0)
        _log_at(403, "Iteration: %d forward-backward time: %g ms."
                % (iteration + 1, (clock.perf_counter() - iteration_begin) * 1e3))
    total = (clock.perf_counter() - begin) * 1e3
    _log_at(406, "Average time per layer: ")
    for name, forward_time, backward_time in zip(net._layer_names, forward.total, backward.total):
        _log_at(409, "%10s\tforward: %g ms." % (name, forward_time / iterations))
        _log_at(412, "%10s\tbackward: %g ms." % (name, backward_time / iterations))
    _log_at(417, "Average Forward pass: %g ms." % (sum(forward.total) / iterations))
    _log_at(419, "Average Backward pass: %g ms." % (sum(backward.total) / iterations))
    _log_at(421, "Average Forward-Backward: %g ms." % (total / iterations))
    _log_at(423, "Total Time: %g ms." % total)
    _log_at(424, "*** Benchmark ends ***")


ACTIONS = {"train": train, "test": test, "time": time}
