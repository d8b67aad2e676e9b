"""Nets and helpers for the tests in this folder."""
import contextlib
import gc
import os
import shutil
import tempfile
import unittest
import warnings

import numpy as np

DEPLOY = """name: 'small'
layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 2 dim: 3 dim: 8 dim: 8 } } }
layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1' convolution_param { num_output: 4 kernel_size: 3
  weight_filler { type: 'xavier' } } }
layer { name: 'relu1' type: 'ReLU' bottom: 'conv1' top: 'conv1' }
layer { name: 'pool1' type: 'Pooling' bottom: 'conv1' top: 'pool1' pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: 'fc' type: 'InnerProduct' bottom: 'pool1' top: 'fc' inner_product_param { num_output: 5
  weight_filler { type: 'xavier' } } }
layer { name: 'prob' type: 'Softmax' bottom: 'fc' top: 'prob' }
"""

TRAIN = """name: 'train'
layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 4 dim: 6 } } }
layer { name: 'label' type: 'Input' top: 'label' input_param { shape { dim: 4 } } }
layer { name: 'ip1' type: 'InnerProduct' bottom: 'data' top: 'ip1' inner_product_param { num_output: 8
  weight_filler { type: 'xavier' } } }
layer { name: 'relu1' type: 'ReLU' bottom: 'ip1' top: 'ip1' }
layer { name: 'ip2' type: 'InnerProduct' bottom: 'ip1' top: 'ip2' inner_product_param { num_output: 3
  weight_filler { type: 'xavier' } } }
layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip2' bottom: 'label' top: 'loss' }
layer { name: 'acc' type: 'Accuracy' bottom: 'ip2' bottom: 'label' top: 'acc' include { phase: TEST } }
"""


def random_array(seed, *shape):
    """Returns a float32 array of reproducible random numbers between -1 and 1."""
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype(np.float32)


def fill(net, seed=1, scale=0.5):
    """Sets every parameter of a caffe.Net to reproducible values."""
    rs = np.random.RandomState(seed)
    for blobs in net.params.values():
        for blob in blobs:
            blob.data[...] = rs.uniform(-scale, scale, blob.data.shape)


def feed(net, seed=7):
    """Fills the inputs of a caffe.Net of TRAIN with reproducible values."""
    net.blobs["data"].data[...] = random_array(seed, *net.blobs["data"].shape)
    net.blobs["label"].data[...] = np.arange(4) % 3


def resident_bytes():
    """Returns the resident memory of this process in bytes, without pages of files."""
    gc.collect()
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon:")) * 1024


@contextlib.contextmanager
def events_of(solver, *kinds):
    """Yields a list to which the trainer of a caffe solver adds its events of some kinds of brew._events.KINDS."""
    from brew import _events

    events, session = [], solver._training._session
    listener = session.add_listener(lambda kind, fields: events.append(_events.event_of(kind, fields)),
                                    [_events.KINDS.index(kind) for kind in kinds])
    try:
        yield events
    finally:
        session.remove_listener(listener)


def history_of(solver):
    """Returns copies of the history of a caffe solver in Caffe's order."""
    solver.snapshot()
    with open("%s_iter_%d.solverstate" % (solver.param.snapshot_prefix, solver.iter), "rb") as file:
        return history_in(file.read())


def history_in(state):
    """Returns the history of an encoded SolverState."""
    from caffe.proto import caffe_pb2

    return [np.array(blob.data, np.float32).reshape(blob.shape.dim)
            for blob in caffe_pb2.SolverState.FromString(state).history]


def set_history(solver, history, iteration, file):
    """Restores a solver from a state without weights, which is written to ``file``."""
    from caffe.proto import caffe_pb2

    state = caffe_pb2.SolverState(iter=iteration)
    for array in history:
        blob = state.history.add(data=array.ravel().tolist())
        blob.shape.dim.extend(array.shape)
    with open(file, "wb") as target:
        target.write(state.SerializeToString())
    solver.restore(file)


class Case(unittest.TestCase):
    """A test case with a temporary folder. Deprecated features that the packages use are errors."""

    def setUp(self):
        filters = warnings.catch_warnings()
        filters.__enter__()
        self.addCleanup(filters.__exit__, None, None, None)
        warnings.filterwarnings("error", category=DeprecationWarning, module=r"(brew|caffe)(\.|$)")
        self.folder = tempfile.mkdtemp(prefix="brew_python_")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, text, name="net.prototxt"):
        """Writes a file into the folder and returns its path."""
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def close(self, a, b, tolerance=1e-5):
        """Checks that the elements of `a` and `b` differ by at most tolerance * (1 + |b|)."""
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance)
