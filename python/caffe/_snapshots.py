"""Snapshots of solvers: Caffe's .caffemodel and .solverstate, binary or HDF5."""
import os

import numpy as np

from brew._core import SolverStateFile, write_solver_state
from brew._files import probe

from . import _log, _rates
from ._base import runtime_errors
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
    kind = "HDF5 file " if hdf5 else "binary proto file "
    try:
        _log.line("Snapshotting to " + kind + model, "solver.cpp", 478 if hdf5 else 468)
        solver.net._save(model, p.snapshot_diff, hdf5)
        _log.line("Snapshotting solver state to " + kind + state, "sgd_solver.cpp", 290 if hdf5 else 280)
        with runtime_errors(unavailable=OSError):
            write_solver_state(state, hdf5, solver.iter, model, solver._rate_state, _named(solver, solver._history))
    except OSError as failure:
        raise RuntimeError("Cannot write the snapshot %s: %s" % (base, failure)) from failure


def _named(solver, history):
    """Returns [("layer/index" of the parameter, array), ...] for arrays of history."""
    names = {}
    for layer, index in zip(solver.net._params, solver.net._param_index):
        for i, parameter in enumerate(index):
            names.setdefault(parameter, "%s/%d" % (layer.name, i))
    return [(names[i % len(names)], array) for i, array in enumerate(history)]


def restore(solver, path):
    """Restores iteration, history and weights from a snapshot. Changes nothing if it does not match."""
    history = [np.empty(array.shape, np.float32) for array in solver._history]
    with runtime_errors():
        state = SolverStateFile(os.fsdecode(path))
        state.copy_history(_named(solver, history))
        weights = state.find_weights()
    if weights:
        solver.net.copy_from(weights)
    for array, restored in zip(solver._history, history):
        array[...] = restored
    solver._iteration, solver._rate_state, solver._mark = state.iteration, _rates.RateState(*state.rate_state), None
