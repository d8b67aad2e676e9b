"""Snapshots of solvers: Caffe's .caffemodel and .solverstate, binary or HDF5."""
import os

import numpy as np

from brew._files import atomic, probe

from . import _log, _rates, _weights
from .proto import caffe_pb2


def require(prefix):
    """Raises RuntimeError if no snapshots can be written. Call it before a long computation."""
    try:
        probe(prefix + "_iter_")
    except OSError as failure:
        raise RuntimeError("Cannot write to snapshot prefix '%s'. Make sure that the directory exists and is "
                           "writeable." % prefix) from failure


def write(solver):
    """Writes the weights, then the state that references them."""
    p = solver.param
    base = "%s_iter_%d" % (p.snapshot_prefix, solver.iter)
    hdf5 = p.snapshot_format == caffe_pb2.SolverParameter.HDF5
    model, state = [base + ext + (".h5" if hdf5 else "") for ext in (".caffemodel", ".solverstate")]
    try:
        if hdf5:
            solver.net.save_hdf5(model, p.snapshot_diff)
            _write_hdf5(state, solver, model)
        else:
            solver.net._save(model, p.snapshot_diff)
            message = caffe_pb2.SolverState(iter=solver.iter, learned_net=model, current_step=solver._rate_state.step)
            if solver._rate_state.has_event:
                message.minimum_loss = solver._rate_state.minimum_loss
                message.iter_last_event = solver._rate_state.last_event
            _weights.write_state(state, message, solver._history)
    except OSError as failure:
        raise RuntimeError("Cannot write the snapshot %s: %s" % (base, failure)) from failure
    _log.line("Snapshotting to binary proto file " + model, "solver.cpp", 450)


def _write_hdf5(path, solver, model):
    h5py = _weights._h5py()
    with atomic(path) as temporary, h5py.File(temporary, "w") as file:
        file.create_dataset("iter", data=np.int32(solver.iter))
        file.create_dataset("learned_net", data=np.bytes_(model))
        file.create_dataset("current_step", data=np.int32(solver._rate_state.step))
        if solver._rate_state.has_event:
            file.create_dataset("minimum_loss", data=np.float32([solver._rate_state.minimum_loss]))
            file.create_dataset("iter_last_event", data=np.int32([solver._rate_state.last_event]))
        history = file.create_group("history")
        for i, array in enumerate(solver._history):
            history.create_dataset(str(i), data=array)


def restore(solver, path):
    """Restores iteration, history and weights from a snapshot. Changes nothing if it does not match."""
    path = os.fspath(path)
    iteration, rate_state, model, history = (_read_hdf5 if _weights.is_hdf5(path) else _read)(path)
    if len(history) != len(solver._history):
        raise RuntimeError("%s: Incorrect length of history blobs: %d, the solver has %d"
                           % (path, len(history), len(solver._history)))
    for array, restored in zip(solver._history, history):
        if array.size != restored.size:
            raise RuntimeError("%s: a history blob has shape %s, the solver's %s"
                               % (path, restored.shape, array.shape))
    if model:
        solver.net.copy_from(model)
    for blob in solver.net._learnable:
        blob._gradient  # noqa: B018, may be pending from the history (_compiled_update)
    for array, restored in zip(solver._history, history):
        array[...] = restored.reshape(array.shape)
    solver._iteration, solver._rate_state, solver._mark = iteration, rate_state, None


def _read(path):
    if not os.path.isfile(path):
        raise RuntimeError("Could not open file %s" % path)
    state = _weights.read_message(path, caffe_pb2.SolverState())
    rate_state = _rates.RateState(state.current_step)
    if state.HasField("minimum_loss"):
        rate_state = _rates.RateState(state.current_step, state.minimum_loss, state.iter_last_event)
    return state.iter, rate_state, state.learned_net, [_weights.array_of(b) for b in state.history]


def _number(dataset, kind):
    """Returns a dataset of one value, which is a scalar or, in Caffe's files, a vector."""
    return kind(np.ravel(dataset[()])[0])


def _read_hdf5(path):
    with _weights.open_hdf5(path) as file:
        try:
            model = file["learned_net"][()] if "learned_net" in file else b""
            model = model.decode() if isinstance(model, bytes) else str(model)
            group = file["history"]
            history = [np.array(group[str(i)], dtype=np.float32) for i in range(len(group))]
            rate_state = _rates.RateState(_number(file["current_step"], int))
            if "minimum_loss" in file and "iter_last_event" in file:
                rate_state = rate_state._replace(minimum_loss=_number(file["minimum_loss"], float),
                                                 last_event=_number(file["iter_last_event"], int))
            return _number(file["iter"], int), rate_state, model.rstrip("\0"), history
        except KeyError as missing:
            raise RuntimeError("%s: not a solver state: %s" % (path, missing)) from None
