"""The ways in which Brew runs a net.

Each way runs a net and returns one Values per pass: a dict of names to arrays. `data/BLOB` and
`diff/BLOB` are a blob and its gradient, `param/LAYER/I` and `param_diff/LAYER/I` a parameter and
its gradient, all copied after the pass.
"""
import os

import brew
import caffe
import numpy as np
from brew._core import Kind, Pass
from google.protobuf import text_format

#: The passes that every way runs. A forward pass alone must leave statistics and recurrent
#: states as a full pass does, and the next pass must not depend on how the last one ended.
PASSES = ('both', 'both', 'forward', 'both')


class Net:
    """A net with values of its parameters, and of its inputs in each pass."""

    def __init__(self, text, phase, params, inputs):
        self.text, self.phase = text, phase
        self.params = params  # {(layer, index): array}
        self.inputs = inputs  # [{blob: array}], one for each pass

    def learns(self):
        """Returns whether the net has a backward pass."""
        return any(each in self.text for each in ('loss_weight', 'Loss"', 'LossOHEM"', '"Yolov3"'))


def store_param(values, kind, layer, index, array):
    values['%s/%s/%d' % (kind, layer, index)] = np.array(array)


# --- plans of the whole net ---------------------------------------------------
class Plan:
    """A plan as brew-run executes it. `flags` are options of brewc."""

    def __init__(self, name, **flags):
        self.name, self.flags = name, flags

    def open(self, net):
        plan = brew.compile(net.text, phase=net.phase, gradients=net.learns() or None, report=False, **self.flags)
        session = plan.session(seed=1, threads=1)
        by_layer = {}
        for (layer, index), values in net.params.items():
            by_layer.setdefault(layer, {})[index] = values
        for layer, blobs in by_layer.items():
            if layer in session.params:
                session.params[layer] = [blobs.get(i) for i in range(max(blobs) + 1)]
        return session

    def run(self, net, folder):
        session = self.open(net)
        core, passes = session._core, []
        for number, (kind, inputs) in enumerate(zip(PASSES, net.inputs)):
            for blob, values in inputs.items():
                core.set_input(0, blob, values)
            core.feed(0)
            # One run of both passes is equivalent to two runs.
            if kind == 'both' and number % 2 and net.learns():
                core.run(0, Pass.BOTH)
            else:
                core.run(0, Pass.FORWARD)
                if kind == 'both' and net.learns():
                    core.run(0, Pass.BACKWARD)
            passes.append(self.read_values(core, kind == 'both' and net.learns()))
        return passes

    @staticmethod
    def read_values(core, backward):
        values = {}
        kinds = [(Kind.BLOB, 'data'), (Kind.PARAMETER, 'param')]
        if backward:
            kinds += [(Kind.BLOB_GRADIENT, 'diff'), (Kind.PARAMETER_GRADIENT, 'param_diff')]
        for kind, name in kinds:
            for blob, index in core.names(kind, 0):
                key = '%s/%s' % (name, blob)
                if name.startswith('param'):
                    key += '/%d' % index
                values[key] = np.array(core.read(kind, 0, blob, index))
        return values


# --- pycaffe ---------------------------------------------------------------------
def set_params(net, params):
    for layer, blobs in net.params.items():
        for index, blob in enumerate(blobs):
            if (layer, index) in params:
                blob.data[...] = params[layer, index]


def net_values(net, backward):
    values = {}
    for name, blob in net.blobs.items():
        values['data/' + name] = blob.data.copy()
        if backward:
            values['diff/' + name] = blob.diff.copy()
    for layer, blobs in net.params.items():
        for index, blob in enumerate(blobs):
            store_param(values, 'param', layer, index, blob.data)
            if backward:
                store_param(values, 'param_diff', layer, index, blob.diff)
    return values


def phase_of(net):
    return caffe.TEST if net.phase == 'test' else caffe.TRAIN


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, 'w') as file:
        file.write(text)
    return path


class LayerByLayer:
    """caffe.Net with a hook, so that each layer runs by itself.

    If `keeps_arrays`, references to the arrays of all blobs exist, as in some scripts. The blobs
    must then stay in their memory.
    """

    def __init__(self, keeps_arrays):
        self.keeps_arrays = keeps_arrays
        self.name = 'layer by layer' + (', arrays kept' if keeps_arrays else '')

    def run(self, text_net, folder):
        net = caffe.Net(write(folder, 'net.prototxt', text_net.text), phase_of(text_net))
        set_params(net, text_net.params)
        net.before_forward(lambda layer: None)
        arrays = []
        if self.keeps_arrays:
            for blobs in [net.blobs.values(), *net.params.values()]:
                arrays += [array for blob in blobs for array in (blob.data, blob.diff)]
        passes = []
        for kind, inputs in zip(PASSES, text_net.inputs):
            for blob, values in inputs.items():
                net.blobs[blob].data[...] = values
            net.forward()
            backward = kind == 'both' and text_net.learns()
            if backward:
                net.clear_param_diffs()
                net.backward()
            passes.append(net_values(net, backward))
            if backward:
                self.check_second_backward(net, passes[-1])
        return passes

    @staticmethod
    def check_second_backward(net, first):
        """Checks that a backward pass does not change the results of the forward pass."""
        net.clear_param_diffs()
        net.backward()
        second = net_values(net, True)
        differing = [key for key in first if not equal_arrays(first[key], second[key])]
        if differing:
            raise Difference('a second backward pass computes other values: %s' % ' '.join(sorted(differing)))


class WholeForward:
    """caffe.Net without hooks: forward passes run one plan of the net."""

    name = 'pycaffe, whole net'

    def run(self, text_net, folder):
        net = caffe.Net(write(folder, 'net.prototxt', text_net.text), phase_of(text_net))
        set_params(net, text_net.params)
        passes = []
        for inputs in text_net.inputs:
            for blob, values in inputs.items():
                net.blobs[blob].data[...] = values
            net.forward()
            passes.append(net_values(net, False))
        return passes


# --- training ----------------------------------------------------------------------
LEARNING_RATE = 0.01
SOLVER = '''base_lr: 0.01 momentum: 0.9 weight_decay: 0.001 lr_policy: "fixed" max_iter: 100
snapshot_after_train: false snapshot_prefix: "%s" random_seed: 1
'''


def solver_text(net, folder):
    body = text_format.Parse(net.text, caffe.proto.caffe_pb2.NetParameter())
    solver = text_format.Parse(SOLVER % os.path.join(folder, 's'), caffe.proto.caffe_pb2.SolverParameter())
    solver.net_param.CopyFrom(body)
    return text_format.MessageToString(solver)


class Trainer:
    """brew-run's trainer."""

    name = 'trainer'

    def run(self, net, folder):
        plan = brew.compile(solver_text(net, folder), keep='all', report=False)
        session = plan.session(seed=1, threads=1)
        for (layer, index), values in net.params.items():
            session._core.write(Kind.PARAMETER, 0, layer, index, np.ascontiguousarray(values, np.float32))
        session.prepare()
        passes = []
        for inputs in net.inputs:
            session.set_inputs(**inputs)
            session.step(1)
            passes.append(Plan.read_values(session._core, False))
        return passes


class Solver:
    """pycaffe's solver.

    `mode` is 'whole net' (one plan that also updates the parameters), 'callbacks' (one plan, with
    updates in Python) or 'layer by layer'.
    """

    def __init__(self, mode):
        self.mode = mode
        self.name = 'solver, ' + mode

    def run(self, text_net, folder):
        solver = caffe.SGDSolver(write(folder, 'solver.prototxt', solver_text(text_net, folder)))
        set_params(solver.net, text_net.params)
        if self.mode == 'layer by layer':
            solver.net.before_forward(lambda layer: None)
        elif self.mode == 'callbacks':
            solver.add_callback(lambda: None, lambda: None)
        passes = []
        for inputs in text_net.inputs:
            for blob, values in inputs.items():
                solver.net.blobs[blob].data[...] = values
            solver.step(1)
            passes.append(net_values(solver.net, False))
        return passes


# --- comparing ---------------------------------------------------------------------
class Difference(Exception):
    """Raised if values of one way that must be equal differ."""


#: f32 rounds at 6e-8, and the sums of these nets have up to a few thousand terms, whose order
#: differs between the ways.
TOLERANCE = 2e-4


def equal_arrays(a, b):
    return a.shape == b.shape and np.array_equal(a, b, equal_nan=True)


def distance(expected, actual, scale=0.0):
    """Returns the largest difference relative to the largest value (at least `scale`)."""
    if expected.size != actual.size:
        return np.inf
    expected, actual = expected.ravel().astype(np.float64), actual.ravel().astype(np.float64)
    if not np.array_equal(np.isfinite(expected), np.isfinite(actual)):
        return np.inf
    finite = np.isfinite(expected)
    if not np.array_equal(expected[~finite], actual[~finite], equal_nan=True):
        return np.inf
    error = np.abs(expected - actual)[finite].max(initial=0)
    return error / max(np.abs(expected[finite]).max(initial=0), scale, 1e-2)


def compare(reference, actual, scale_of, excluded=()):
    """Returns the differences between two lists of Values, for names in both, as lines of text."""
    problems = []
    for number, (expected, values) in enumerate(zip(reference, actual)):
        for key in sorted(set(expected) & set(values)):
            if key in excluded:
                continue
            error = distance(expected[key], values[key], scale_of(expected, key))
            if not error <= TOLERANCE:
                problems.append('pass %d: %s is off by %.2g of its largest value (shape %s, %s)' % (
                    number, key, error, expected[key].shape, values[key].shape))
        if problems:
            break  # differences of later passes follow from these
    return problems
