"""Solvers: Caffe's training loop over pycaffe's nets."""
import os
import time
from collections import deque

import numpy as np

from . import _graph, _log, _rates, _snapshots, _state
from ._nccl import NCCL
from ._update import Update
from ._vectors import NetVec
from .proto import caffe_pb2
from .pycaffe import Net


def _resolve(path, folder):
    """Finds a file that a solver names: in the working directory, then beside the solver."""
    beside = os.path.join(folder, path)
    return path if os.path.exists(path) or not os.path.exists(beside) else beside


class SGDSolver:
    """Trains a net by stochastic gradient descent: ``SGDSolver(solver file)``.

    ``net`` and ``test_nets`` are Nets whose blobs and parameters may be read and written
    between iterations; changes of the SolverParameter ``param`` take effect from the next
    iteration on."""

    _kind = "SGD"

    #: Function that requests "stop" or "snapshot", or returns None; called after each iteration and before
    #: each test batch.
    next_action = staticmethod(lambda: None)

    def __init__(self, file):
        self._set_up(_graph.read_solver(file), os.fspath(file))

    def _set_up(self, param, file):
        """Creates the nets of ``param``, the content of ``file``."""
        self._folder = os.path.dirname(file)
        self.param = param
        if not self.param.snapshot_prefix:
            self.param.snapshot_prefix = os.path.splitext(file)[0]
        elif os.path.isdir(self.param.snapshot_prefix):
            self.param.snapshot_prefix = os.path.join(self.param.snapshot_prefix,
                                                      os.path.splitext(os.path.basename(file))[0])
        if self.param.snapshot and _state.is_root():
            _snapshots.require(self.param.snapshot_prefix)
        if self.param.random_seed >= 0:
            _state.seed_solver(self.param.random_seed)
        _rates.check(self.param, self._kind)
        self._iteration = 0
        self._rate_state = _rates.RateState()
        self._callbacks = []  # (function or None, function)
        self._reducers = []  # NCCLs, which are also among the callbacks
        self._losses = deque()
        self._smoothed = 0.0
        self._mark = None  # (time, iteration) of the last display
        self._is_stopped = False  # by next_action
        if self.param.debug_info:
            _log.line("debug_info has no effect in Python; use brew-run to print it", severity=_log.WARNING)
        self.net = self._make_train_net()
        self.test_nets = self._make_test_nets()
        for weights in self.param.weights:
            for path in map(str.strip, weights.split(",")):
                for net in [self.net, *self.test_nets]:
                    net.copy_from(path)
        self._update = Update(self.param, self._kind, self.net)

    @property
    def _history(self):
        return self._update.history

    # --- nets

    def _make(self, source, phase, *states):
        """Creates the net of a message or file; merges the states over its own."""
        folder = self._folder
        if isinstance(source, str):
            path = _resolve(source, self._folder)
            folder = os.path.dirname(path)
            source = _graph.read_net(path)
        net = caffe_pb2.NetParameter()
        net.CopyFrom(source)
        for state in states:
            net.state.MergeFrom(state)
        return Net._of_message(net, phase, folder)

    def _make_train_net(self):
        p = self.param
        sources = [source for has, source in (
            (p.HasField("train_net_param"), p.train_net_param), (p.HasField("train_net"), p.train_net),
            (p.HasField("net_param"), p.net_param), (p.HasField("net"), p.net)) if has]
        if len(sources) != 1:
            raise RuntimeError("SolverParameter must specify exactly one train net, using one of these fields: "
                               "train_net, train_net_param, net, net_param")
        return self._make(sources[0], caffe_pb2.TRAIN, p.train_state)

    def _make_test_nets(self):
        p = self.param
        sources = list(p.test_net_param) + list(p.test_net)
        shared_sources = [s for has, s in ((p.HasField("net_param"), p.net_param), (p.HasField("net"), p.net)) if has]
        missing = len(p.test_iter) - len(sources)
        if missing < 0 or (missing and not shared_sources):
            raise RuntimeError("test_iter must be specified for each test network.")
        sources += shared_sources * missing if missing else []
        if p.test_state and len(p.test_state) != len(sources):
            raise RuntimeError("test_state must be unspecified or specified once per test net.")
        if sources and p.test_interval <= 0:
            raise RuntimeError("test_interval must be positive")
        return NetVec(self._make(source, caffe_pb2.TEST, *p.test_state[i: i + 1]) for i, source in enumerate(sources))

    # --- properties

    @property
    def iter(self):
        """The number of updates done."""
        return self._iteration

    @property
    def lr(self):
        """The learning rate of the next update."""
        with np.errstate(over="ignore"):
            return float(np.float32(self._rate_of_next()))

    @property
    def type(self):
        return self._kind

    def add_callback(self, on_start, on_gradients_ready=None):
        """Calls one function at the start of each iteration, the other when its gradients are
        complete. An ``NCCL`` object instead averages the gradients over all ranks."""
        if isinstance(on_start, NCCL) and on_gradients_ready is None:
            self._reducers.append(on_start)
            self._callbacks.append((None, on_start._on_gradients_ready))
            return
        if not callable(on_start) or not callable(on_gradients_ready):
            raise TypeError("add_callback takes two functions")
        self._callbacks.append((on_start, on_gradients_ready))

    def share_weights(self, net):
        """Makes a net share the parameters of the training net."""
        net.share_with(self.net)

    # --- training

    def step(self, iterations):
        """Trains for `iterations` more iterations."""
        try:
            self._step(iterations)
        except BaseException:
            for reducer in self._reducers:
                reducer._fail()
            raise

    def _step(self, iterations):
        p = self.param
        stop, start = self._iteration + int(iterations), self._iteration
        if p.snapshot and stop // p.snapshot > start // p.snapshot and _state.is_root():
            _snapshots.require(p.snapshot_prefix)
        if p.lr_policy == "plateau" and any(not reducer._is_alone for reducer in self._reducers):
            raise RuntimeError("lr_policy 'plateau' does not support several ranks in Python, as each would follow "
                               "its own loss; use brew-run train --ranks")
        self._losses.clear()
        self._smoothed, self._is_stopped = 0.0, False
        if self._mark is None:
            self._mark = time.perf_counter(), start
        last = len(self.net._layers) - 1
        while self._iteration < stop:
            is_tested = self._is_test_due() and (self._iteration > 0 or p.test_initialization)
            # If no user code runs in between, overwrite gradients instead of adding to zeros.
            fresh = len(self._callbacks) == len(self._reducers) and not is_tested
            if not fresh:
                self.net.clear_param_diffs()
            if is_tested:
                self._test_all()
                if self._is_stopped:
                    break
            for on_start, _ in self._callbacks:
                if on_start is not None:
                    on_start()
            loss = 0.0
            for i in range(p.iter_size):
                for reducer in self._reducers:
                    reducer._begin_pass(i + 1 == p.iter_size)
                pass_loss = self.net._fused_step(fresh)
                fresh = False
                if pass_loss is None:
                    pass_loss = self.net._forward(0, last)
                    self.net._backward(last, 0)
                loss += pass_loss
            self._smooth(loss / p.iter_size, start)
            if p.display and self._iteration % p.display == 0 and _state.is_root():
                self._display()
            for _, on_gradients_ready in self._callbacks:
                on_gradients_ready()
            self.apply_update()
            action = self.next_action()
            if p.snapshot and self._iteration % p.snapshot == 0 and _state.is_root() or action == "snapshot":
                self.snapshot()
            if action == "stop":
                self._is_stopped = True
                break

    def solve(self, resume_file=None):
        """Trains to ``max_iter``, starting from ``resume_file`` if given."""
        p = self.param
        if _state.is_root() and p.snapshot_after_train:
            _snapshots.require(p.snapshot_prefix)
        self._log_on_root("Solving " + self.net._name, "solver.cpp", 293)
        self._log_on_root("Learning Rate Policy: " + p.lr_policy, "solver.cpp", 294)
        if resume_file:
            self.restore(resume_file)
        start = self._iteration
        self.step(p.max_iter - self._iteration)
        if _state.is_root() and p.snapshot_after_train and (not p.snapshot or self._iteration % p.snapshot != 0):
            self.snapshot()
        if self._is_stopped:
            self._log_on_root("Optimization stopped early.", "solver.cpp", 315)
            return
        if _state.is_root() and p.display and self._iteration % p.display == 0:
            self._smooth(self.net._forward(0, len(self.net._layers) - 1), start)
            self._log_on_root("Iteration %d, loss = %g" % (self._iteration, self._smoothed), "solver.cpp", 331)
        if self._is_test_due():
            self._test_all()
        self._log_on_root("Optimization Done.", "solver.cpp", 336)

    def apply_update(self):
        """Updates the parameters by the current gradients and ends the iteration. ``diff`` then
        contains the subtracted update."""
        p, rate = self.param, self._take_rate()
        scale = 1.0 / p.iter_size
        if p.clip_gradients >= 0:
            gradients = [blob._gradient.ravel() for blob in self.net._learnable]
            norm = float(np.sqrt(sum(float(np.dot(g, g)) for g in gradients)))
            if norm > p.clip_gradients:
                scale *= p.clip_gradients / norm
        self._update.apply(rate, scale, self._iteration)
        self._iteration += 1

    def _rate_of_next(self):
        return _rates.learning_rate(self.param, self._iteration, self._rate_state, self._smoothed)[0]

    def _take_rate(self):
        """Returns the learning rate of this update. Advances the policy's state and logs the rate if due."""
        p = self.param
        rate, self._rate_state = _rates.learning_rate(p, self._iteration, self._rate_state, self._smoothed)
        if p.display and self._iteration % p.display == 0:
            self._log_on_root("Iteration %d, lr = %g" % (self._iteration, rate), "sgd_solver.cpp", 112)
        return rate

    def _smooth(self, loss, start):
        """Updates the mean of the last ``average_loss`` losses."""
        self._losses.append(loss)
        while len(self._losses) > max(1, self.param.average_loss):
            self._losses.popleft()
        self._smoothed = sum(self._losses) / len(self._losses)

    # --- tests and log

    def _is_test_due(self):
        p = self.param
        return bool(_state.is_root() and p.test_interval and (self._iteration - p.test_offset) % p.test_interval == 0)

    @staticmethod
    def _log_on_root(text, file, line):
        """Logs a line on rank 0 only."""
        if _state.is_root():
            _log.line(text, file, line)

    def _test_all(self):
        for number, net in enumerate(self.test_nets):
            if not self._is_stopped:
                self._test(number, net)

    def _test(self, number, net):
        _log.line("Iteration %d, Testing net (#%d)" % (self._iteration, number), "solver.cpp", 351)
        net.share_with(self.net)
        last = len(net._layers) - 1
        scores, loss = {}, 0.0
        batches = self.param.test_iter[number]
        for _ in range(batches):
            if self._stops_test():
                _log.line("Test interrupted.", "solver.cpp", 400)
                return
            loss += net._forward(0, last)
            for i in net._output_index:
                scores[i] = scores.get(i, 0) + net._blobs[i]._values.astype(np.float64)
        if self.param.test_compute_loss:
            _log.line("Test loss: %g" % (loss / batches), "solver.cpp", 405)
        self._log_outputs("Test", net, lambda i: scores[i] / batches, 418)

    def _stops_test(self):
        """Performs all requested actions; returns whether one was to stop."""
        for action in iter(self.next_action, None):
            if action == "snapshot":
                self.snapshot()
            elif action == "stop":
                self._is_stopped = True
        return self._is_stopped

    def _display(self):
        now, (last_time, last_iteration) = time.perf_counter(), self._mark
        speed = (self._iteration - last_iteration) / ((now - last_time) or 1)
        _log.line("Iteration %d (%g iter/s, %gs/%d iters), loss = %g"
                  % (self._iteration, speed, now - last_time, self.param.display, self._smoothed), "solver.cpp", 239)
        self._mark = now, self._iteration
        self._log_outputs("Train", self.net, lambda i: self.net._blobs[i]._values, 258)

    @staticmethod
    def _log_outputs(phase_name, net, values, line):
        number = 0
        for i in net._output_index:
            weight = net._loss_weights[i]
            for value in np.ravel(values(i)):
                loss = " (* %g = %g loss)" % (weight, weight * value) if weight else ""
                _log.line("    %s net output #%d: %s = %g%s" % (phase_name, number, net._blob_names[i], value, loss),
                          "solver.cpp", line)
                number += 1

    # --- snapshots

    def snapshot(self):
        """Writes weights and state: PREFIX_iter_N.caffemodel and .solverstate. Rank 0 only."""
        if not _state.is_root():
            raise RuntimeError("rank %d cannot write snapshots; only rank 0 writes them" % _state.solver_rank())
        _snapshots.write(self)

    def restore(self, path):
        """Resumes from a .solverstate: its weights, history and iteration."""
        _snapshots.restore(self, path)


class NesterovSolver(SGDSolver):
    """Nesterov's accelerated gradient."""

    _kind = "Nesterov"


class AdaGradSolver(SGDSolver):
    """AdaGrad."""

    _kind = "AdaGrad"


class RMSPropSolver(SGDSolver):
    """RMSProp."""

    _kind = "RMSProp"


class AdaDeltaSolver(SGDSolver):
    """AdaDelta."""

    _kind = "AdaDelta"


class AdamSolver(SGDSolver):
    """Adam."""

    _kind = "Adam"


_SOLVERS = {c._kind: c for c in (SGDSolver, NesterovSolver, AdaGradSolver, RMSPropSolver, AdaDeltaSolver, AdamSolver)}


def solver_of(param, file):
    """Creates the solver of a SolverParameter, the content of ``file``, with the class that its ``type``
    names."""
    if param.type not in _SOLVERS:
        raise RuntimeError("Unknown solver type: %s (known types: %s)" % (param.type, ", ".join(sorted(_SOLVERS))))
    kind = _SOLVERS[param.type]
    solver = kind.__new__(kind)
    solver._set_up(param, os.fspath(file))
    return solver


def get_solver(file):
    """Creates the solver of a file, with the class that its ``type`` names."""
    return solver_of(_graph.read_solver(file), file)
