"""Sessions: plans with their memory."""
import functools
import operator
import os
import typing
import warnings
import weakref
from collections.abc import Mapping

import numpy as np

from . import _core, _cuda
from ._core import Error, Kind, Pass
from ._events import Events
from ._host import host_types
from ._options import (RUNTIME, description, extended_signature, field_settings, runtime_settings,
                       settings_of)

__all__ = ["HookCall", "Session", "TunedCall"]


def _array_of(value):
    """Converts arrays, lists and DLPack objects to an array. Copies data from a GPU."""
    if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack_device__"):
        return np.asarray(value)
    if value.__dlpack_device__()[0] == 1:  # the CPU
        if hasattr(value, "detach"):
            value = value.detach()
        return np.from_dlpack(value)
    for method in ("detach", "cpu", "get"):  # of PyTorch and CuPy
        if hasattr(value, method) and not isinstance(value, np.ndarray):
            value = getattr(value, method)()
    return np.asarray(value)


def _not_readable(name, readable, accessor="blobs"):
    """Returns the error of a blob whose value a run does not keep. ``accessor``: the property of
    a session that reads it."""
    return KeyError("%r is not readable after a run, only %s; if it is a blob, compile the net with keep=[%r], "
                    "then read session.%s[%r]"
                    % (name, ", ".join(map(repr, readable)) or "nothing", name, accessor, name))


class _Outputs(dict):
    """The outputs of a run by name."""

    def __missing__(self, name):
        raise _not_readable(name, self)


def _fill(session, number, arrays):
    session()._feeds[number](arrays)


def _call_hook(session, number, *call):
    session()._hooks[number](HookCall(*call))


def _gpu_of(device, plan):
    """Returns the number of the GPU for a session."""
    if device is None:
        return 0
    kind, _, number = str(device).partition(":")
    if kind.isdecimal() and not number:
        kind, number = "cuda", kind
    if kind == "gpu":
        kind = "cuda"
    if kind not in ("cpu", "cuda") or number and (kind == "cpu" or not number.isdecimal()):
        raise ValueError("device must be 'cpu', 'cuda', 'cuda:N' or a GPU's number, not %r" % (device,))
    if kind != ("cuda" if plan._core.cuda else "cpu"):
        raise Error("the plan was compiled for the %s; recompile the net with target='%s' to run it on %r"
                    % ("GPU" if plan._core.cuda else "CPU", kind, str(device)))
    return int(number or 0)


class _Tensors(Mapping):
    """Tensors of one kind by name, as float arrays in Caffe's order of dimensions.

    If the tensor has this layout in memory, the array is a view of that memory: runs write to
    it, and it keeps the memory alive. Otherwise it is a copy, and assignment writes the
    tensor."""

    def __init__(self, session, kind, program):
        self._session, self._kind, self._program = session, kind, program

    def _names(self):
        return self._session._core.names(self._kind, self._program)

    def __iter__(self):
        return iter([name for name, _ in self._names()])

    def __len__(self):
        return len(self._names())

    def _array(self, name, index=0):
        view = self._session._core.view(self._kind, self._program, name, index)
        return view if view is not None else self._session._core.read(self._kind, self._program, name, index)

    def _store(self, name, index, value):
        core = self._session._core
        shape = tuple(core.shape(self._kind, self._program, name, index))
        value = np.asarray(_array_of(value), dtype=np.float32)
        value = np.broadcast_to(value, shape) if value.ndim <= len(shape) else value.reshape(shape)
        value = np.ascontiguousarray(value).reshape(shape)
        core.write(self._kind, self._program, name, index, value)

    def __getitem__(self, name):
        self._require(name)
        return self._array(name)

    def __setitem__(self, name, value):
        self._require(name)
        self._store(name, 0, value)

    def _require(self, name):
        if name in list(self):
            return
        accessor = {Kind.BLOB: "blobs", Kind.BLOB_GRADIENT: "blob_gradients"}.get(self._kind)
        raise _not_readable(name, self, accessor) if accessor else KeyError(name)

    def exported(self, name, index=0):
        """Returns the tensor's memory, on the CPU or a GPU, as an object with ``__dlpack__``,
        e.g. for ``torch.from_dlpack``. Runs write to the same memory.

        Raises :class:`Error` if the layout has more dimensions than the shape
        (``layout="nchw"`` avoids that)."""
        if name not in list(self):
            raise KeyError(name)
        exported = self._session._core.export(self._kind, self._program, name, index)
        if exported is None:
            raise Error("%r has a blocked layout in memory; recompile with layout='nchw'" % (name,))
        return exported


class _Params(_Tensors):
    """Tensors of layers: dict of layer to a list of arrays."""

    def __iter__(self):
        return iter(dict.fromkeys(name for name, _ in self._names()))

    def __len__(self):
        return len(list(iter(self)))

    def __getitem__(self, name):
        indices = [index for layer, index in self._names() if layer == name]
        if not indices:
            raise KeyError(name)
        return [self._array(name, index) for index in sorted(indices)]

    def __setitem__(self, name, values):
        if name not in list(self):
            raise KeyError(name)
        for index, value in enumerate(values):
            if value is not None:
                self._store(name, index, value)
        self._session._core.prepare()


class HookCall(typing.NamedTuple):
    """The argument of a hook's function."""

    name: str
    #: ``"iteration"``, ``"test"``, ``"start"``, ``"stop"``, ``"pause"`` or ``"resume"``.
    trigger: str
    #: Number of iterations done.
    iteration: int
    #: Seconds since training began in this run.
    seconds: float
    #: The condition that holds; ``""`` without a condition.
    reason: str
    #: Whether a background thread makes the call.
    background: bool


class TunedCall(typing.NamedTuple):
    """A benchmarked library call: the default and the fastest implementation."""

    program: str
    layers: list[str]
    #: ``"convolution"``, ``"inner product"``; backward ``"... backward data"``, ``"... backward weights"``.
    kind: str
    untuned: str
    untuned_seconds: float
    fastest: str
    fastest_seconds: float


class Session:
    """A plan with its memory. Only one thread may use a session at a time.

    - ``device``: ``"cuda:1"`` or a GPU's number, for GPU plans
    - ``seed``: seed of fillers, shuffling and random layers, from 0. The default is 0 or, in
      training, the solver's ``random_seed``; if that is not set, the seed differs in each run
    - ``weights``: one or several files of initial weights
    - ``program``: the program that calls run (default: the first one)
    - ``fields``: solver fields that override the plan's, for training
    - ``host_layers``: dict of layer type to the Python class that implements it, in addition
      to those of :func:`compile`
    - ``on_event``: a function that receives all :attr:`events` from the beginning
    All other keywords are options of ``brew-run`` or fields of the solver, with ``_`` for ``-``;
    some are for training only:

%(options)s

    Releases the GIL while running. Raises :class:`Error`.
    """

    def __init__(self, plan, *, device=None, seed=None, weights=(), folder="", program=None, log=False,
                 fields=None, host_layers=None, on_event=None, **options):
        self.plan = plan
        settings = runtime_settings("Session", options, skipped=_EXPLICIT)
        training = [name for name, value in options.items() if value and RUNTIME[name].commands == "train"]
        if training and not plan.trains:
            raise ValueError("%s: only for training, but this plan does not train" % ", ".join(training))
        gpu = _gpu_of(device, plan)
        self._fields = dict(fields or {})
        seed = self._core_seed(seed)
        if plan._core.cuda:
            _cuda.load_libraries()
        #: The listeners (:class:`brew._events.Events`).
        self.events = Events(on_event)
        self._hosts = host_types({**plan.host_layers, **(host_layers or {})})
        self._core = _core.Session(plan._core, options=settings + [("random-seed", str(seed))], folder=folder,
                                   log=log, gpu=gpu, listener=self.events._first(), hosts=self._hosts)
        self.events._core = self._core
        self._weights = [os.fspath(w) for w in ([weights] if isinstance(weights, (str, os.PathLike)) else weights)]
        self._trainer_settings = settings + field_settings(self._fields) + settings_of("weights", self._weights)
        self._trainer, self._feeds, self._hooks = None, [], []
        self._allows_fillers = bool(options.get("allow_missing_weights"))
        self._warns_of_fillers = False
        self._program = 0
        self._program = self._program_index(program)
        if plan.trains:
            self._open_trainer()
        else:
            self._initialise()

    def _core_seed(self, seed):
        """Returns the seed of the core. In training it becomes the solver's ``random_seed``."""
        if seed is None:
            return 0
        seed = operator.index(seed)
        if not 0 <= seed < 1 << 63:
            raise ValueError("seed must be from 0 to 2**63 - 1, not %d" % seed)
        if self.plan.trains and int(self._fields.setdefault("random_seed", seed)) != seed:
            raise ValueError("seed is %d, but fields set random_seed to %s" % (seed, self._fields["random_seed"]))
        return seed

    def _initialise(self):
        """Sets the parameters. If neither the plan nor a file has weights, the first run of an
        inference program warns, unless the caller has used the parameters by then."""
        try:
            self._core.initialise(self._weights, required=not self._allows_fillers)
        except Error:
            if self._weights:
                raise
            self._core.initialise([])
            self._warns_of_fillers = True

    def _warn_of_fillers(self):
        if self._warns_of_fillers and not self.plan._core.gradients(self._program):
            warnings.warn("the plan has no weights and the session has loaded none: the parameters have the values "
                          "of their fillers (pass weights=FILE, or allow_missing_weights=True if that is meant)",
                          RuntimeWarning, stacklevel=3)
        self._warns_of_fillers = False

    def _open_trainer(self):
        self._trainer = _core.Trainer(self._core, self._trainer_settings)

    # --- running

    def __call__(self, **inputs) -> dict[str, np.ndarray]:
        """Runs the program once on the inputs (blob=array) and returns its outputs.

        Converts arrays to float32. Raises ValueError for a wrong shape and KeyError for an
        unknown input. Outputs are copies."""
        self.set_inputs(**inputs)
        self._warn_of_fillers()
        self._core.feed(self._program)
        self._core.run(self._program, Pass.BOTH)
        return _Outputs((name, np.array(self._core.read(Kind.BLOB, self._program, name)))
                        for name in self.plan._core.outputs(self._program))

    def _program_index(self, program):
        if program is None:
            return self._program
        if program not in self.plan.programs:
            raise KeyError("the plan has no program %r; it has: %s" % (program, ", ".join(self.plan.programs)))
        return self.plan.programs.index(program)

    def set_inputs(self, program=None, /, **inputs):
        """Sets inputs (blob=array) of all following batches. The first positional argument
        selects another program than the session's. Raises the errors of a call."""
        program = self._program_index(program)
        shapes = dict(self._core.inputs(program))
        for name, value in inputs.items():
            if name not in shapes:
                raise KeyError("the net has no input %r; it has: %s" % (name, ", ".join(shapes) or "none"))
            value = np.asarray(_array_of(value), dtype=np.float32, order="C")
            if value.shape != tuple(shapes[name]):
                raise ValueError("input %r has shape %s, but the array has %s"
                                 % (name, tuple(shapes[name]), value.shape))
            self._core.set_input(program, name, value)

    def set_feed(self, function, *names, program=None):
        """Makes ``function(arrays)`` produce the batches. It must fill the arrays (a dict of
        input to array), which are valid only during the call. ``names``: the inputs to fill
        (default: all of the program). An exception in ``function`` aborts the run."""
        program = self._program_index(program)
        input_names = [name for name, _ in self._core.inputs(program)]
        for name in names:
            if name not in input_names:
                raise KeyError("the net has no input %r; it has: %s" % (name, ", ".join(input_names) or "none"))
        self._feeds.append(function)  # owned here: the garbage collector cannot traverse the library
        self._core.set_feed(program, list(names), functools.partial(_fill, weakref.ref(self), len(self._feeds) - 1))

    def run_layers(self, first="", last="", *, backward=False):
        """Runs the forward or backward pass of the layers from ``first`` to ``last``."""
        self._core.run_layers(self._program, first, last, Pass.BACKWARD if backward else Pass.FORWARD)

    @property
    def device(self) -> str:
        """``"cpu"``, or the GPU's name and architecture."""
        return self._core.device

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Dict of the program's inputs to their shapes."""
        return {name: tuple(shape) for name, shape in self._core.inputs(self._program)}

    # --- tensors

    @property
    def blobs(self):
        """The readable blobs: the net's outputs and the pinned blobs (``keep=``)."""
        return _Tensors(self, Kind.BLOB, self._program)

    @property
    def blob_gradients(self):
        """Gradients of the readable blobs."""
        return _Tensors(self, Kind.BLOB_GRADIENT, self._program)

    @property
    def params(self):
        """Dict of layer to a list of its parameters. Call :meth:`prepare` after writing to the
        arrays; assigning a list calls it."""
        self._warns_of_fillers = False
        return _Params(self, Kind.PARAMETER, 0)

    @property
    def gradients(self):
        """Dict of layer to a list of the gradients of its parameters."""
        return _Params(self, Kind.PARAMETER_GRADIENT, 0)

    @property
    def output_gradients(self):
        """Gradients that the caller sets before each ``backward`` (``output_gradient=`` of
        :func:`compile`): ``session.output_gradients["logits"] = gradient``."""
        return _Tensors(self, Kind.OUTPUT_GRADIENT, self._program)

    def prepare(self):
        """Updates the data that programs derive from parameters. Call it after changing them."""
        self._core.prepare()

    def tune(self) -> list[TunedCall]:
        """Benchmarks the implementations of each library call, stores the fastest in the timing
        cache and uses them from now on. Overwrites blobs and gradients."""
        programs = self.plan.programs
        return [TunedCall(programs[program], *details) for program, *details in self._core.tune(self.plan._core)]

    def load_weights(self, *paths):
        """Loads .caffemodel or HDF5 files into the parameters. An inference net must then have all
        its weights, unless the session was opened with ``allow_missing_weights``."""
        self._core.load_weights([str(p) for p in paths])
        self._warns_of_fillers = False
        self._core.prepare()

    def save_weights(self, path):
        """Writes the parameters in Caffe's format: .caffemodel, or HDF5 for ``.h5``."""
        self._core.save_weights(str(path))

    # --- training

    @property
    def trainer(self):
        if self._trainer is None:
            raise Error("this plan does not train: it was compiled from a net without a loss, or for one phase")
        return self._trainer

    def step(self, iterations: int = 1) -> None:
        """Trains for `iterations` more iterations. An exception in a signal handler, such as
        KeyboardInterrupt, ends it between two iterations."""
        self.trainer.step(iterations)

    def solve(self) -> None:
        """Trains to ``max_iter``, with tests, displays and snapshots."""
        self.trainer.solve()

    def test(self, net=0, batches=0) -> list[tuple[str, float]]:
        """Tests and returns the means of the test net's outputs, elementwise: [(blob, value), ...]."""
        return self.trainer.test(net, batches)

    def forward(self, feed=True) -> float:
        """Runs the forward pass of an iteration that the caller controls. Returns the loss."""
        return self.trainer.forward(feed)

    def backward(self):
        """Runs the backward pass after a forward pass."""
        self.trainer.backward()

    def update(self):
        """Updates the parameters and ends the iteration."""
        self.trainer.update()

    def snapshot(self):
        """Writes weights and state under Caffe's names."""
        self.trainer.snapshot()

    def restore(self, path):
        """Resumes from a ``.solverstate``."""
        self.trainer.restore(str(path))

    @property
    def iteration(self) -> int:
        return self.trainer.iteration

    @property
    def learning_rate(self) -> float:
        return self.trainer.learning_rate

    @property
    def stopped(self) -> bool:
        """Whether :meth:`stop`, not a rule or the last iteration, ended the last step or solve."""
        return self.trainer.stopped

    # --- hooks

    def add_hook(self, line, function=None):
        """Adds a hook, a line as in the files of ``brew-run train --hooks``, e.g. ``"every 100
        iterations if train.loss < 0.1 do snapshot"``. With ``function`` the action is ``call``,
        which may be omitted (``"at test"``): calls ``function`` with a :class:`HookCall`. An
        exception propagates out of :meth:`step` or :meth:`solve`; in a hook ``in background``,
        which another thread calls, it ends the hook.

        Raises :class:`Error` with the column of a syntax error."""
        if function is None:
            self.trainer.add_hook(line, None)
            return
        self._hooks.append(function)  # owned here, as in set_feed
        self.trainer.add_hook(line, functools.partial(_call_hook, weakref.ref(self), len(self._hooks) - 1))

    def add_hooks(self, path):
        """Adds all hooks of a file, or none if one is invalid."""
        self.trainer.add_hooks(os.fspath(path))

    def remove_hook(self, name):
        """Removes a hook."""
        self.trainer.remove_hook(name)

    def metric(self, name) -> float:
        """Returns the last value of a metric of hooks and rules, e.g. ``test.accuracy``,
        ``train.loss`` or ``hook.NAME``; NaN before the first measurement."""
        return self.trainer.metric(name)

    def raise_flag(self, name):
        """Makes the conditions ``external NAME`` of hooks hold at their next check. Thread-safe."""
        self.trainer.raise_flag(name)

    # --- requests, from any thread during training

    def set_field(self, name, value):
        """Changes a field of the solver, e.g. ``base_lr``, from the next iteration on."""
        self.trainer.set_field(name, str(value))

    def field(self, name) -> str:
        """Returns the value of a field of the solver from the next iteration on."""
        return self.trainer.field(name)

    def pause(self):
        """Pauses training after the current iteration, until :meth:`resume` or :meth:`stop`."""
        self.trainer.pause()

    def resume(self):
        """Ends a pause."""
        self.trainer.resume()

    def stop(self):
        """Ends step, solve or test after the iteration or batch. If none of them runs, ends the next call."""
        self.trainer.stop()

    def request_snapshot(self):
        """Requests a snapshot after the iteration, or after the batch of a test."""
        self.trainer.request_snapshot()

    def reset(self):
        """Restarts training from its beginning; keeps the fields that were set since."""
        self.trainer.reset()

    def time_layers(self):
        """Requests timing of each step in the next iteration, reported by an event of kind
        ``step_times``."""
        self.trainer.request_step_times()


#: Options that are explicit keywords, or are not for Python.
_EXPLICIT = ("random_seed", "weights")
Session.__signature__ = extended_signature(Session, _EXPLICIT)
if Session.__doc__: # absent with python -OO
    Session.__doc__ %= {"options": description(_EXPLICIT)}
