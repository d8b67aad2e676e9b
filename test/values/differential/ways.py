"""The ways in which Brew runs one net, and the resulting values of each.

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
        return any(each in self.text for each in ('loss_weight', 'Loss"'))


def read_param(values, kind, layer, index, array):
    values['%s/%s/%d' % (kind, layer, index)] = np.array(array)


# --- plans of the whole net ---------------------------------------------------
class Plan:
    """A plan as brew-run executes it. `flags`: options of brewc."""

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
        core, found = session._core, []
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
            found.append(self.values(core, kind == 'both' and net.learns()))
        return found

    @staticmethod
    def values(core, backward):
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
def give_params(net, params):
    for layer, blobs in net.params.items():
        for index, blob in enumerate(blobs):
            if (layer, index) in params:
                blob.data[...] = params[layer, index]


def values_of(net, backward):
    values = {}
    for name, blob in net.blobs.items():
        values['data/' + name] = blob.data.copy()
        if backward:
            values['diff/' + name] = blob.diff.copy()
    for layer, blobs in net.params.items():
        for index, blob in enumerate(blobs):
            read_param(values, 'param', layer, index, blob.data)
            if backward:
                read_param(values, 'param_diff', layer, index, blob.diff)
    return values


def phase_of(net):
    return caffe.TEST if net.phase == 'test' else caffe.TRAIN


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, 'w') as file:
        file.write(text)
    return path


class LayerByLayer:
    """caffe.Net with a hook, so that each layer is run by itself.

    `held`: with references to the arrays of all blobs, as scripts may have, so that the blobs stay
    in their memory."""

    def __init__(self, held):
        self.held = held
        self.name = 'layer by layer' + (', arrays held' if held else '')

    def run(self, text_net, folder):
        net = caffe.Net(write(folder, 'net.prototxt', text_net.text), phase_of(text_net))
        give_params(net, text_net.params)
        net.before_forward(lambda layer: None)
        arrays = []
        if self.held:
            for blobs in [net.blobs.values(), *net.params.values()]:
                arrays += [array for blob in blobs for array in (blob.data, blob.diff)]
        found = []
        for kind, inputs in zip(PASSES, text_net.inputs):
            for blob, values in inputs.items():
                net.blobs[blob].data[...] = values
            net.forward()
            backward = kind == 'both' and text_net.learns()
            if backward:
                net.clear_param_diffs()
                net.backward()
            found.append(values_of(net, backward))
            if backward:
                self.check_second_backward(net, found[-1])
        return found

    @staticmethod
    def check_second_backward(net, first):
        """Checks that a backward pass does not change the results of the forward pass."""
        net.clear_param_diffs()
        net.backward()
        again = values_of(net, True)
        wrong = [key for key in first if not same(first[key], again[key])]
        if wrong:
            raise Difference('a second backward pass gives other values: %s' % ' '.join(sorted(wrong)))


class WholeForward:
    """caffe.Net without hooks: forward passes run one plan of the net."""

    name = 'pycaffe, whole net'

    def run(self, text_net, folder):
        net = caffe.Net(write(folder, 'net.prototxt', text_net.text), phase_of(text_net))
        give_params(net, text_net.params)
        found = []
        for inputs in text_net.inputs:
            for blob, values in inputs.items():
                net.blobs[blob].data[...] = values
            net.forward()
            found.append(values_of(net, False))
        return found


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
        found = []
        for inputs in net.inputs:
            session.set_inputs(**inputs)
            session.step(1)
            found.append(Plan.values(session._core, False))
        return found


class Solver:
    """pycaffe's solver. `how`: one plan that also updates the parameters, one plan with updates in
    Python, or layer by layer."""

    def __init__(self, how):
        self.how = how
        self.name = 'solver, ' + how

    def run(self, text_net, folder):
        solver = caffe.SGDSolver(write(folder, 'solver.prototxt', solver_text(text_net, folder)))
        give_params(solver.net, text_net.params)
        if self.how == 'layer by layer':
            solver.net.before_forward(lambda layer: None)
        elif self.how == 'callbacks':
            solver.add_callback(lambda: None, lambda: None)
        found = []
        for inputs in text_net.inputs:
            for blob, values in inputs.items():
                solver.net.blobs[blob].data[...] = values
            solver.step(1)
            found.append(values_of(solver.net, False))
        return found


# --- comparing ---------------------------------------------------------------------
class Difference(Exception):
    pass


#: f32 rounds at 6e-8, and the sums of these nets have up to a few thousand terms, whose order
#: differs between the ways.
TOLERANCE = 2e-4


def same(a, b):
    return a.shape == b.shape and np.array_equal(a, b, equal_nan=True)


def distance(want, got, scale=0.0):
    """Returns the largest difference relative to the largest value (at least `scale`)."""
    if want.size != got.size:
        return np.inf
    want, got = want.ravel().astype(np.float64), got.ravel().astype(np.float64)
    if not np.array_equal(np.isfinite(want), np.isfinite(got)):
        return np.inf
    finite = np.isfinite(want)
    if not np.array_equal(want[~finite], got[~finite], equal_nan=True):
        return np.inf
    error = np.abs(want - got)[finite].max(initial=0)
    return error / max(np.abs(want[finite]).max(initial=0), scale, 1e-2)


def compare(wanted, got, scale_of, left_out=()):
    """Returns the differences between two lists of Values, for names in both, as lines of text."""
    problems = []
    for number, (want, values) in enumerate(zip(wanted, got)):
        for key in sorted(set(want) & set(values)):
            if key in left_out:
                continue
            off = distance(want[key], values[key], scale_of(want, key))
            if not off <= TOLERANCE:
                problems.append('pass %d: %s is off by %.2g of its largest value (shape %s, %s)' % (
                    number, key, off, want[key].shape, values[key].shape))
        if problems:
            break  # later passes follow from this one
    return problems
