"""Solvers: Caffe's training loop over pycaffe's nets."""
import contextlib
import os
import threading

import numpy as np

from . import _graph, _log, _state, _training
from ._base import runtime_errors
from ._nccl import NCCL
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
    iteration on; those of regularization, LARC and local rates from the next call on."""

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
        if self.param.random_seed >= 0:
            _state.seed_solver(self.param.random_seed)
        self._iteration = 0
        self._callbacks = []  # (function or None, function)
        self._reducers = []  # NCCLs, which are also among the callbacks
        if self.param.debug_info:
            _log.line("debug_info has no effect in Python; use brew-run to print it", severity=_log.WARNING)
        self.net = self._make_train_net()
        self.test_nets = self._make_test_nets()
        for weights in self.param.weights:
            for path in map(str.strip, weights.split(",")):
                for net in [self.net, *self.test_nets]:
                    net.copy_from(path)
        self._settings = _training.settings(self.param)
        self._trainer_thread = None  # number of the thread that trains
        self._training = _training.Training(self)
        self._take_state()

    # --- nets

    def _make(self, source, phase, *states):
        """Creates the net of a message or file; merges the states over its own."""
        path = _resolve(source, self._folder) if isinstance(source, str) else None
        net = caffe_pb2.NetParameter()
        net.CopyFrom(_graph.read_net(path) if path else source)
        for state in states:
            net.state.MergeFrom(state)
        if not path:
            return Net._of_message(net, phase, self._folder)
        with _graph.located_errors(path, net, phase):
            return Net._of_message(net, phase, os.path.dirname(path))

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
        if self._trainer_thread in (None, threading.get_ident()):
            self._apply_changes()
            self._take_state()
        with np.errstate(over="ignore"):
            return float(np.float32(self._rate))

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
        if self.param.lr_policy == "plateau" and any(not reducer._is_alone for reducer in self._reducers):
            raise RuntimeError("lr_policy 'plateau' does not support several ranks in Python, as each would follow "
                               "its own loss; use brew-run train --ranks")
        with self._training_run() as trainer:
            trainer.step(min(max(0, int(iterations)), 2**31 - 1))

    def solve(self, resume_file=None):
        """Trains to ``max_iter``, starting from ``resume_file`` if given."""
        if resume_file:
            self.restore(resume_file)
        with self._training_run() as trainer:
            trainer.solve()

    def apply_update(self):
        """Updates the parameters by the current gradients and ends the iteration. ``diff`` then
        contains the subtracted update."""
        self._renew_trainer()
        with self._trainer() as trainer:
            trainer.update()

    @contextlib.contextmanager
    def _training_run(self):
        """Like _trainer(); a failure ends the other ranks, too."""
        try:
            self._renew_trainer()
            with self._trainer() as trainer:
                yield trainer
        except BaseException:
            for reducer in self._reducers:
                reducer._fail()
            raise

    def _renew_trainer(self):
        """Replaces the trainer if fields have changed on which its plan depends."""
        if self._trainer_thread is None and not self._training.fits(self.param):
            training = _training.Training(self)
            with runtime_errors():
                training.trainer.continue_from(self._training.trainer)
            self._training, self._settings = training, _training.settings(self.param)

    @contextlib.contextmanager
    def _trainer(self):
        """Returns the trainer with the current fields of ``param``, for a call."""
        outer, self._trainer_thread = self._trainer_thread, threading.get_ident()
        try:
            if outer is None:
                self._training.nets.reset()
            self._apply_changes()
            with runtime_errors():
                yield self._training.trainer
        finally:
            self._trainer_thread = outer
            self._take_state()

    def _apply_changes(self):
        """Gives the trainer fields of ``param`` that have changed."""
        settings = _training.settings(self.param)
        if settings == self._settings:
            return
        with runtime_errors():
            self._training.trainer.set_solver(_training.encoded_solver(self.param, self._kind))
        self._settings = settings

    def _take_state(self):
        """Reads the iteration and its learning rate, for any thread."""
        trainer = self._training.trainer
        self._iteration, self._rate = trainer.iteration, trainer.learning_rate

    # --- snapshots

    def snapshot(self):
        """Writes weights and state: PREFIX_iter_N.caffemodel and .solverstate. Rank 0 only."""
        if not _state.is_root():
            raise RuntimeError("rank %d cannot write snapshots; only rank 0 writes them" % _state.solver_rank())
        with self._trainer() as trainer:
            trainer.snapshot()

    def restore(self, path):
        """Resumes from a .solverstate: its weights, history and iteration. Changes nothing if it does not
        match."""
        with self._trainer() as trainer:
            trainer.restore(os.fsdecode(path))


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
