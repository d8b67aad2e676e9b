"""Sessions: a plan with its memory."""
import functools
import operator
import os
import typing
import weakref
from collections.abc import Mapping

import numpy as np

from . import _core, _cuda
from ._core import Error, Kind, Pass
from ._events import Events
from ._host import host_types

__all__ = ["HookCall", "Session", "TunedCall"]


def _array_of(value):
    """An array of what is one, lists too; what only speaks DLPack, on the CPU or elsewhere,
    as well. Copies what lies on a GPU."""
    if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack_device__"):
        return np.asarray(value)
    if value.__dlpack_device__()[0] == 1:  # the CPU's
        if hasattr(value, "detach"):
            value = value.detach()
        return np.from_dlpack(value)
    for way in ("detach", "cpu", "get"):  # of PyTorch, and of CuPy
        if hasattr(value, way) and not isinstance(value, np.ndarray):
            value = getattr(value, way)()
    return np.asarray(value)


def _fill(session, number, arrays):
    session()._feeds[number](arrays)


def _call_hook(session, number, *call):
    session()._hooks[number](HookCall(*call))


def _gpu_of(device, plan):
    """The number of the GPU that a session is to run on."""
    if device is None:
        return 0
    kind, _, number = str(device).partition(":")
    if kind.isdecimal() and not number:
        kind, number = "cuda", kind
    if kind == "gpu":
        kind = "cuda"
    if kind not in ("cpu", "cuda") or number and (kind == "cpu" or not number.isdecimal()):
        raise ValueError("a device is 'cpu', 'cuda', 'cuda:N' or a GPU's number, not %r" % (device,))
    if kind != ("cuda" if plan._core.cuda else "cpu"):
        raise Error("the plan was compiled for the %s; compile the net with target='%s' to run it on %r"
                    % ("GPU" if plan._core.cuda else "CPU", kind, str(device)))
    return int(number or 0)


class _Tensors(Mapping):
    """Tensors of one kind by name: arrays of floats in Caffe's order of dimensions.

    Where a tensor lies in memory so, the array is that memory, which runs write to and
    which outlives the session's name; else it is a copy, and assigning writes it."""

    def __init__(self, session, kind, program):
        self._session, self._kind, self._program = session, kind, program

    def _names(self):
        return self._session._core.names(self._kind, self._program)

    def __iter__(self):
        return iter([name for name, _ in self._names()])

    def __len__(self):
        return len(self._names())

    def _of(self, name, index=0):
        found = self._session._core.view(self._kind, self._program, name, index)
        return found if found is not None else self._session._core.read(self._kind, self._program, name, index)

    def _store(self, name, index, value):
        core = self._session._core
        shape = tuple(core.shape(self._kind, self._program, name, index))
        value = np.asarray(_array_of(value), dtype=np.float32)
        value = np.broadcast_to(value, shape) if value.ndim <= len(shape) else value.reshape(shape)
        value = np.ascontiguousarray(value).reshape(shape)
        core.write(self._kind, self._program, name, index, value)

    def __getitem__(self, name):
        if name not in list(self):
            raise KeyError(name)
        return self._of(name)

    def __setitem__(self, name, value):
        if name not in list(self):
            raise KeyError(name)
        self._store(name, 0, value)

    def exported(self, name, index=0):
        """The tensor's own memory, on the CPU or a GPU, as an object with ``__dlpack__``, for
        ``torch.from_dlpack`` and the like. What runs overwrite changes there.

        Raises :class:`Error` where its layout has more dimensions than its shape
        (``layout="nchw"`` avoids that)."""
        if name not in list(self):
            raise KeyError(name)
        found = self._session._core.export(self._kind, self._program, name, index)
        if found is None:
            raise Error("%r lies in memory in blocks, not as an array; compile with layout='nchw'" % (name,))
        return found


class _Params(_Tensors):
    """Tensors of layers: layer to a list of arrays."""

    def __iter__(self):
        return iter(dict.fromkeys(name for name, _ in self._names()))

    def __len__(self):
        return len(list(iter(self)))

    def __getitem__(self, name):
        indices = [index for layer, index in self._names() if layer == name]
        if not indices:
            raise KeyError(name)
        return [self._of(name, index) for index in sorted(indices)]

    def __setitem__(self, name, values):
        if name not in list(self):
            raise KeyError(name)
        for index, value in enumerate(values):
            if value is not None:
                self._store(name, index, value)
        self._session._core.prepare()


class HookCall(typing.NamedTuple):
    """A call of a hook's function."""

    name: str
    #: ``"iteration"``, ``"test"``, ``"start"``, ``"stop"``, ``"pause"`` or ``"resume"``.
    trigger: str
    #: Iterations done.
    iteration: int
    #: Since training began, in this run.
    seconds: float
    #: Why its condition holds; ``""``: it has none.
    reason: str
    #: Whether another thread than training calls.
    background: bool


class TunedCall(typing.NamedTuple):
    """A library call that was measured: what is taken unmeasured, and the fastest way."""

    program: str
    layers: list[str]
    #: ``"convolution"``, ``"inner product"``; backward ``"... by the data"``, ``"... by the weights"``.
    kind: str
    untuned: str
    untuned_seconds: float
    fastest: str
    fastest_seconds: float


class Session:
    """A plan with its memory; one thread's at a time.

    ``threads``: how many it computes with (0: ``OMP_NUM_THREADS``, else one per core);
    ``device``: ``"cuda:1"`` or another GPU's number, for plans compiled for one;
    ``seed``: what fillers, shuffling and random layers are drawn from, from 0 on; if not
    given it is 0, in training the solver's ``random_seed``, or another one each time where
    that is not set; ``weights``: a file or several to begin with; ``allow_missing_weights``: lets
    layers of a net for inference that they lack have the values of their fillers, with a warning,
    instead of raising :class:`Error`; ``program``: the one that calls run (the first one if not
    given);
    ``fields``: solver fields instead of the plan's, for training; ``host_layers``: type to
    class of layers that Python computes, beside those that the plan was compiled with;
    ``on_event``: a function that hears of all :attr:`events`, from the opening on;
    ``timing_cache``: the file that keeps which ways to do library calls were fastest, which
    the session follows (:meth:`tune`).

    Of training alone, as options of ``brew-run train`` of these names say it: ``snapshot``,
    the ``.solverstate`` to go on from instead of ``weights``, or ``resume=True`` for the newest
    intact one; ``keep_snapshots``; ``snapshot_best``; ``check_nan``; ``stop_when``, a rule or
    several that end :meth:`step` and :meth:`solve`; ``patience``; ``log_dir``; ``hooks``, a file
    or several (:meth:`add_hook` adds single ones).

    The GIL is released while anything runs. Raises :class:`Error`.
    """

    def __init__(self, plan, *, threads=0, device=None, seed=None, weights=(), folder="", program=None, log=False,
                 fields=None, host_layers=None, on_event=None, timing_cache="", snapshot="", resume=False,
                 keep_snapshots=0, snapshot_best="", check_nan=False, stop_when=(), patience="", log_dir="",
                 hooks=(), allow_missing_weights=False):
        self.plan = plan
        self._watch = dict(snapshot=os.fspath(snapshot), resume=bool(resume), keep_snapshots=keep_snapshots,
                           snapshot_best=snapshot_best, check_nan=bool(check_nan),
                           stop_when=[stop_when] if isinstance(stop_when, str) else list(stop_when),
                           patience=str(patience), log_folder=os.fspath(log_dir),
                           hooks=[os.fspath(h) for h in ([hooks] if isinstance(hooks, (str, os.PathLike)) else hooks)])
        given = [name for name, value in self._watch.items() if value]
        if given and not plan.trains:
            raise ValueError("%s: for training, and this plan does not train"
                             % ", ".join(given).replace("log_folder", "log_dir"))
        gpu = _gpu_of(device, plan)
        self._fields = {k: str(v) for k, v in (fields or {}).items()}
        seed = self._seed(seed)
        if plan._core.cuda:
            _cuda.find_libraries()
        #: Who hears of what happens (:class:`brew._events.Events`).
        self.events = Events(on_event)
        self._hosts = host_types({**plan.host_layers, **(host_layers or {})})
        self._core = _core.Session(plan._core, threads=threads, seed=seed, folder=folder, log=log, gpu=gpu,
                                   listener=self.events._first(), hosts=self._hosts,
                                   timing_cache=os.fspath(timing_cache), allow_missing_weights=allow_missing_weights)
        self.events._core = self._core
        self._weights = [os.fspath(w) for w in ([weights] if isinstance(weights, (str, os.PathLike)) else weights)]
        self._trainer, self._feeds, self._hooks = None, [], []
        self._program = 0
        self._program = self._number(program)
        if plan.trains:
            self._open_trainer()
        else:
            self._core.initialise(self._weights)

    def _seed(self, seed):
        """The core's seed; a training's is the solver's ``random_seed``, which it takes over."""
        if seed is None:
            return 0
        seed = operator.index(seed)
        if not 0 <= seed < 1 << 63:
            raise ValueError("a seed is a number from 0 to 2**63 - 1, not %d" % seed)
        if self.plan.trains and self._fields.setdefault("random_seed", str(seed)) != str(seed):
            raise ValueError("seed is %d, and fields say random_seed %s" % (seed, self._fields["random_seed"]))
        return seed

    def _open_trainer(self):
        self._trainer = _core.Trainer(self._core, list(self._fields.items()), self._weights, **self._watch)

    # --- running

    def __call__(self, **inputs) -> dict[str, np.ndarray]:
        """Runs the program once on these inputs (blob=array) and gives its outputs.

        Arrays are converted to float32; a shape that is not the input's is a ValueError,
        an input that is none a KeyError. Outputs are copies."""
        self.set_inputs(**inputs)
        self._core.feed(self._program)
        self._core.run(self._program, Pass.BOTH)
        return {name: np.array(self._core.read(Kind.BLOB, self._program, name))
                for name in self.plan._core.outputs(self._program)}

    def _number(self, program):
        if program is None:
            return self._program
        if program not in self.plan.programs:
            raise KeyError("the plan has no program %r; it has: %s" % (program, ", ".join(self.plan.programs)))
        return self.plan.programs.index(program)

    def set_inputs(self, program=None, /, **inputs):
        """Gives inputs (blob=array) values that every batch from now on has; of another
        ``program`` than the session's by its name first. Errors as for a call."""
        program = self._number(program)
        shapes = dict(self._core.inputs(program))
        for name, value in inputs.items():
            if name not in shapes:
                raise KeyError("the net has no input %r; it has: %s" % (name, ", ".join(shapes) or "none"))
            value = np.asarray(_array_of(value), dtype=np.float32, order="C")
            if value.shape != tuple(shapes[name]):
                raise ValueError("input %r has shape %s, and the array %s" % (name, tuple(shapes[name]), value.shape))
            self._core.set_input(program, name, value)

    def set_feed(self, function, *names, program=None):
        """Has ``function(arrays)`` make the batches: it fills the arrays (a dict by input),
        which are valid during the call. ``names``: the inputs that it takes over, all of the
        program's if none are given. What it raises ends the run."""
        program = self._number(program)
        known = [name for name, _ in self._core.inputs(program)]
        for name in names:
            if name not in known:
                raise KeyError("the net has no input %r; it has: %s" % (name, ", ".join(known) or "none"))
        self._feeds.append(function)  # not the session's own library, which the collector cannot look into
        self._core.set_feed(program, list(names), functools.partial(_fill, weakref.ref(self), len(self._feeds) - 1))

    def run_layers(self, first="", last="", *, backward=False):
        """Runs a pass for the layers from ``first`` to ``last``."""
        self._core.run_layers(self._program, first, last, Pass.BACKWARD if backward else Pass.FORWARD)

    @property
    def device(self) -> str:
        """``"cpu"``, or the GPU's name and architecture."""
        return self._core.device

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Name to shape of what the program is fed with."""
        return {name: tuple(shape) for name, shape in self._core.inputs(self._program)}

    # --- tensors

    @property
    def blobs(self):
        """The blobs that can be read: the net's outputs and those of ``pin=``."""
        return _Tensors(self, Kind.BLOB, self._program)

    @property
    def blob_gradients(self):
        """Gradients of the kept blobs."""
        return _Tensors(self, Kind.BLOB_GRADIENT, self._program)

    @property
    def params(self):
        """Layer to a list of its parameters. After writing into arrays call
        :meth:`prepare`; assigning a list does that itself."""
        return _Params(self, Kind.PARAMETER, 0)

    @property
    def gradients(self):
        """Layer to a list of the gradients of its parameters."""
        return _Params(self, Kind.PARAMETER_GRADIENT, 0)

    @property
    def output_gradients(self):
        """Gradients that the caller gives before ``backward`` (``output_gradient=`` of compile), and
        which it uses up: ``session.output_gradients["logits"] = gradient``."""
        return _Tensors(self, Kind.OUTPUT_GRADIENT, self._program)

    def prepare(self):
        """Computes what programs derive from parameters; due when they have changed."""
        self._core.prepare()

    def tune(self) -> list[TunedCall]:
        """Measures the ways to do each library call, keeps the fastest in the timing cache
        and does the calls so from now on. What blobs and gradients hold is lost."""
        programs = self.plan.programs
        return [TunedCall(programs[program], *rest) for program, *rest in self._core.tune(self.plan._core)]

    def load_weights(self, *paths):
        """Loads .caffemodel or HDF5 files over the parameters. A net for inference must have all its
        weights then: from here, from before, or assigned (``allow_missing_weights`` of the session)."""
        self._core.load_weights([str(p) for p in paths])
        self._core.prepare()

    def save_weights(self, path):
        """Writes the parameters as Caffe does: .caffemodel, or HDF5 for ``.h5``."""
        self._core.save_weights(str(path))

    # --- training

    @property
    def trainer(self):
        if self._trainer is None:
            raise Error("this plan does not train: it was compiled from a net without a loss, or for one phase")
        return self._trainer

    def step(self, iterations: int = 1) -> None:
        """Trains for so many iterations more. What a signal's handler raises, KeyboardInterrupt of
        Ctrl-C's, ends it between two of them."""
        self.trainer.step(iterations)

    def solve(self) -> None:
        """Trains to ``max_iter``, with tests, displays and snapshots."""
        self.trainer.solve()

    def test(self, net=0, batches=0) -> list[tuple[str, float]]:
        """Means of a test net's outputs, element by element: [(blob, value), ...]."""
        return self.trainer.test(net, batches)

    def forward(self, feed=True) -> float:
        """The forward pass of an iteration in the caller's hands; the loss."""
        return self.trainer.forward(feed)

    def backward(self):
        """The backward pass of the last forward pass."""
        self.trainer.backward()

    def update(self):
        """Updates the parameters, which ends the iteration."""
        self.trainer.update()

    def snapshot(self):
        """Writes weights and state, as Caffe names them."""
        self.trainer.snapshot()

    def restore(self, path):
        """Goes on from a ``.solverstate``."""
        self.trainer.restore(str(path))

    @property
    def iteration(self) -> int:
        return self.trainer.iteration

    @property
    def learning_rate(self) -> float:
        return self.trainer.learning_rate

    @property
    def stopped(self) -> bool:
        """Whether :meth:`stop`, and not a rule or the last iteration, has ended the last step or solve."""
        return self.trainer.stopped

    # --- hooks

    def add_hook(self, line, function=None):
        """Adds a hook, a line of what ``--hooks`` of ``brew-run train`` takes from files, e.g.
        ``"every 100 iterations if train.loss < 0.1 do snapshot"``. With ``function`` its
        action is ``call``, which may be left out (``"at test"``): ``function(call)`` is called
        with a :class:`HookCall`. What it raises comes out of :meth:`step` or :meth:`solve`; of
        a hook ``in background``, which another thread calls, it ends the hook.

        Raises :class:`Error` with the column where the line is wrong."""
        if function is None:
            self.trainer.add_hook(line, None)
            return
        self._hooks.append(function)  # not the session's own library, as in set_feed
        self.trainer.add_hook(line, functools.partial(_call_hook, weakref.ref(self), len(self._hooks) - 1))

    def add_hooks(self, path):
        """Adds all hooks of a file, or none."""
        self.trainer.add_hooks(os.fspath(path))

    def remove_hook(self, name):
        """Takes a hook away."""
        self.trainer.remove_hook(name)

    def metric(self, name) -> float:
        """The last value of what hooks and rules name, e.g. ``test.accuracy``, ``train.loss`` or
        ``hook.NAME``; NaN before it was measured."""
        return self.trainer.metric(name)

    def raise_flag(self, name):
        """Conditions ``external NAME`` of hooks hold when they are looked at next. Any thread."""
        self.trainer.raise_flag(name)

    # --- requests, from any thread: of one that watches while another one trains

    def set_field(self, name, value):
        """Changes a field of the solver from the next iteration on, e.g. ``base_lr``."""
        self.trainer.set_field(name, str(value))

    def field(self, name) -> str:
        """The value that a field of the solver has from the next iteration on."""
        return self.trainer.field(name)

    def pause(self):
        """Has training wait behind its iteration, until :meth:`resume` or :meth:`stop`."""
        self.trainer.pause()

    def resume(self):
        """Ends a pause."""
        self.trainer.resume()

    def stop(self):
        """Ends step, solve or test behind the iteration or batch; where none runs, the next."""
        self.trainer.stop()

    def request_snapshot(self):
        """Has a snapshot written behind the iteration, or the batch of a test."""
        self.trainer.request_snapshot()

    def reset(self):
        """Has training begin again as it was begun; fields that were set since stay."""
        self.trainer.reset()

    def time_layers(self):
        """Has the next iteration run with a clock at each step of its program, which an event
        of kind ``step_times`` tells."""
        self.trainer.request_step_times()
