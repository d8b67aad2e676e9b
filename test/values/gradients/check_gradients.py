#!/usr/bin/python3
"""Compares the gradients of brewc with finite differences, in f64.

usage: check_gradients.py --brewc B --brew-run R [--brewc-flags=FLAGS] [--only PATTERN ...]

For each case of cases.py:
- `brewc --precision f64 --gradients --keep all` and `brew-run eval` compute the gradients of the
total loss by every input and parameter. A second plan, forward only and with only the losses as
outputs, computes the loss at perturbed points. Central differences along random directions must
agree.
- the same net through other routes (library calls and generated code in f32, each
  layout, no blobs pinned) must compute the same values, and with 2 threads. The simulated GPU is
  such a route, too, if --route names it.
- with --output-gradients instead, the net without these losses must compute the same gradients;
its backward pass starts from the same random numbers, written as output gradients
(`brewc --output-gradient`).

Step and tolerance: with a step of h = 1e-5 a central difference errs by
h^2 f'''/6 (about 1e-10 for the smooth functions here, of size 1) and by the
rounding of the two losses, a few 1e-16 |loss| / h (about 1e-10 too). The allowed error
is 1e-6 of the sum of the terms' magnitudes, plus 2e-9 max(1, |loss|) for a sum that
cancels or a gradient of 0.

`propagate_down: false` means that a layer treats a bottom as a constant. The differences are
therefore computed on a net in which that bottom is a constant input.
"""
import argparse
import fnmatch
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import traceback
import typing
import zlib

import numpy as np

import cases
import cases_detection  # noqa: F401 (adds its rows)
import cases_items  # noqa: F401 (adds its rows)
import cases_multibox  # noqa: F401 (adds its rows)
import cases_random  # noqa: F401 (adds its rows)
import cases_shape  # noqa: F401 (adds its rows)
from files import read_all, write_inputs, write_weights
from nets import held_still, loss_weights, text_of, with_losses, wrapped

STEP = 1e-5
RELATIVE = 1e-6
ABSOLUTE = 2e-9
# First a random direction in all tensors at once, along which any wrong gradient is visible. After
# a failure each tensor is checked alone, along its own directions and by elements (all elements of
# tensors of up to ALL_UP_TO), to locate it.
DIRECTIONS = 2
ALL_UP_TO = 6
SAMPLED = 1

# Other routes: name, flags, precision, whether all blobs are pinned (otherwise more is fused),
# allowed error relative to the largest magnitude of the tensor. f64 differs by the order of sums.
ROUTES = [
    ('f32', [], 'f32', False, 1e-4),
    ('f32-generic', ['--no-library'], 'f32', True, 1e-4),
    ('f32-nhwc', ['--layout=nhwc'], 'f32', True, 1e-4),
    ('f32-nchw', ['--layout=nchw'], 'f32', True, 1e-4),
    ('f64-nhwc', ['--layout=nhwc'], 'f64', False, 1e-11),
    ('cudasim', ['--target=cuda', '--gpu-arch=sim'], 'f32', True, 1e-4),
    ('cudasim-generic', ['--target=cuda', '--gpu-arch=sim', '--no-library'], 'f32', True, 1e-4),
]
# Only if --route names them: the simulated GPU, which checks every access, and generated code for
# library calls in f32, which differs from f64 only in the type.
ON_REQUEST = {'cudasim', 'cudasim-generic', 'f32-generic'}


# The same for --output-gradients: all blobs pinned, or only the output gradients and outputs.
OUTPUT_GRADIENT_ROUTES = [
    ('output-gradients-f64', [], 'f64', True, 1e-11),
    ('output-gradients-f32', [], 'f32', False, 1e-4),
    ('output-gradients-cudasim', ['--target=cuda', '--gpu-arch=sim'], 'f32', False, 1e-4),
]


class Failure(Exception):
    pass


class Tensor(typing.NamedTuple):
    """A tensor that the loss depends on."""
    name: str   # of its gradient among the outputs
    group: str  # 'hold' (inputs) or 'params'
    key: typing.Union[str, tuple]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, OMP_NUM_THREADS='1'))
    if done.returncode:
        raise Failure('%s -> %d:\n%s' % (' '.join(command), done.returncode,
                                         done.stderr.strip()[-2000:]))
    return done.stdout


# --- One case -----------------------------------------------------------------
class Check:
    def __init__(self, options, case, folder):
        self.options, self.case, self.folder = options, case, folder
        self.random = np.random.RandomState(zlib.crc32(case.name.encode()))
        self.problems = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def problem(self, text):
        self.problems.append('%s: %s' % (self.case.name, text))

    def compile(self, name, layers, *flags, plan=True):
        with open(self.path(name + '.prototxt'), 'w') as file:
            file.write(text_of(layers, self.case.net))
        if plan:
            flags += ('-o', self.path(name + '.plan'))
        return run(self.options.brewc, self.path(name + '.prototxt'), '--phase', 'train', *flags,
                   '--exact-hidden-gradients', *self.options.brewc_flags.split())

    def eval(self, plan, inputs, weights, *flags, threads=1):
        run(self.options.brew_run, 'eval', self.path(plan + '.plan'), '--threads', str(threads),
            '--inputs', inputs, '--weights', weights, '--outputs', self.path('out.h5'), *flags)
        return read_all(self.path('out.h5'))

    def draw(self, shape, number):
        """Returns values of input `number`, all different from 0 and from other inputs' values."""
        count = int(np.prod(shape))
        values = (self.random.permutation(count) + 0.5) / count
        if self.case.draw == 'positive':
            values += 0.5
        else:
            values = 2 * values - 1
            if count % 2:  # has 0 in the middle
                values += 0.5 / count
        return (values + 0.4 / count * number / len(self.case.inputs)).reshape(shape)

    def prepare(self):
        """Determines shapes by compiling without losses, then draws all values."""
        case, layers = self.case, wrapped(self.case)
        report = json.loads(self.compile('shapes', layers, '--report=json', plan=False))
        shapes = {name: tuple(dims) for name, dims in report['blobs'].items()}
        self.layers = with_losses(case, layers, shapes)
        self.weights = loss_weights(self.layers)
        self.inputs, self.params = {}, {}
        for number, (blob, shape) in enumerate(case.inputs.items()):
            name = blob if blob in case.bare else 'in_' + blob
            self.inputs[name] = self.draw(shape, number)
        for blob, (shape, choices) in case.labels.items():
            self.inputs[blob] = self.random.choice(choices, shape).astype(float)
        self.output_gradients = {}
        for blob in case.outputs:
            self.output_gradients[blob] = self.random.uniform(0.5, 2, shapes[blob]) * \
                self.random.choice([-1, 1], shapes[blob])
            self.inputs['output_gradient_' + blob] = self.output_gradients[blob]
        for layer, blobs in report['params'].items():
            for i, dims in enumerate(blobs):
                self.params[layer, i] = self.random.uniform(-1, 1, dims)
                if (layer, i) in case.positive:
                    self.params[layer, i] = self.random.uniform(0.5, 1.5, dims)
                if layer.startswith('wrap_'):
                    self.params[layer, i] *= 0  # keeps random values away from the kinks
        for sharer, owner in case.shared.items():
            self.params[sharer] = self.params[owner]
        write_inputs(self.path('inputs.h5'), self.inputs, self.output_gradients)
        write_weights(self.path('weights'), self.params)
        self.shapes = shapes
        self.calls = sum(program['calls'] for program in report['programs'].values())

    def gradients(self):
        self.compile('f64', self.layers, '--gradients', '--keep', 'all', '--precision', 'f64')
        self.base = self.eval('f64', self.path('inputs.h5'), self.path('weights'), '--gradients')
        for name, values in self.base.items():
            if values.dtype != np.float64:
                self.problem('/%s is %s in an f64 plan' % (name, values.dtype))

    def loss(self, hold=None, params=None):
        paths = [self.path('hold.h5'), self.path('weights')]
        if hold:
            paths[0] = self.path('moved.h5')
            write_inputs(paths[0], hold)
        if params:
            paths[1] = self.path('moved')
            write_weights(paths[1], params)
        data = self.eval('forward', *paths)
        return sum(w * np.sum(data['data/' + blob]) for blob, w in self.weights.items())

    def differences(self):
        layers, held = held_still(self.layers, self.shapes)
        self.compile('forward', layers, '--precision', 'f64', '--keep', ','.join(self.weights))
        self.hold = dict(self.inputs)
        for blob in held:
            self.hold['hold_' + blob] = self.base['data/' + blob]
        write_inputs(self.path('hold.h5'), self.hold)
        base = sum(w * np.sum(self.base['data/' + blob]) for blob, w in self.weights.items())
        self.scale = max(1, abs(base))
        if not abs(self.loss() - base) <= 1e-12 * self.scale:
            self.problem('loss %.17g with gradients, %.17g without' % (base, self.loss()))

        tensors = []
        for blob in self.case.inputs:
            if blob not in self.case.bare or 'force_backward' in self.case.net:
                name = blob if blob in self.case.bare else 'in_' + blob
                tensors.append(Tensor('diff/' + blob, 'hold', name))
        for layer, i in self.params:
            name = 'param_diff/%s/%d' % (layer, i)
            if (layer, i) in self.case.frozen:
                if np.any(self.base.get(name, 0)):
                    self.problem('/%s is not 0 with lr_mult 0' % name)
            else:
                tensors.append(Tensor(name, 'params', (layer, i)))
        tensors = [tensor for tensor in tensors if self.known(tensor) is not None]
        wrong = self.together(tensors) if tensors else None
        if wrong:
            self.problem(wrong)
            for tensor in tensors:
                self.one_by_one(tensor)

    def known(self, tensor):
        """Returns the derived gradient of a tensor, or reports why it cannot be compared and
        returns None."""
        values = getattr(self, tensor.group)[tensor.key]
        gradient = self.base.get(tensor.name)
        if gradient is None and tensor.group == 'params':
            self.problem('/%s is missing' % tensor.name)
        elif gradient is None:
            return np.zeros(values.shape)  # the loss does not depend on it
        elif gradient.shape != values.shape:
            self.problem('/%s has shape %s, want %s' % (tensor.name, gradient.shape, values.shape))
        else:
            return gradient
        return None

    def moved(self, moves, step):
        """Returns the loss with perturbed tensors; shared parameters move with their owner."""
        groups = {'hold': dict(self.hold), 'params': dict(self.params)}
        owners = {key: self.case.shared.get(key, key) for key in self.params}
        for tensor, move in moves:
            values = groups[tensor.group]
            if tensor.group == 'hold':
                values[tensor.key] = values[tensor.key] + step * move
                continue
            for key, owner in owners.items():
                if owner == owners[tensor.key]:
                    values[key] = values[key] + step * move
        groups_moved = {tensor.group for tensor, _ in moves}
        return self.loss(**{group: groups[group] for group in groups_moved})

    def disagreement(self, moves):
        """Returns a description of the error of the slope along [(tensor, move)], or None."""
        numeric = (self.moved(moves, STEP) - self.moved(moves, -STEP)) / (2 * STEP)
        terms = [self.known(tensor) * move for tensor, move in moves]
        analytic = sum(np.sum(term) for term in terms)
        magnitude = sum(np.sum(np.abs(term)) for term in terms)
        if abs(numeric - analytic) <= RELATIVE * magnitude + ABSOLUTE * self.scale:
            return None
        return '%.9g, differences say %.9g' % (analytic, numeric)

    def together(self, tensors):
        """Returns a description of the error of the slope along a random direction in all tensors,
        or None."""
        owners = [t for t in tensors if t.key not in self.case.shared]
        gradients = {t.key: self.known(t) for t in owners}
        for tensor in tensors:
            owner = self.case.shared.get(tensor.key)
            if owner and not np.array_equal(self.known(tensor), gradients[owner]):
                return '/%s differs from its owner\'s' % tensor.name
        wrong = self.disagreement(
            [(t, self.random.normal(size=gradients[t.key].shape)) for t in owners])
        return wrong and 'all together: ' + wrong

    def one_by_one(self, tensor):
        """Reports the wrong directions and elements of one tensor."""
        values = getattr(self, tensor.group)[tensor.key]
        moves = [('direction %d' % i, self.random.normal(size=values.shape))
                 for i in range(DIRECTIONS if values.size > 1 else 0)]
        elements = range(values.size) if values.size <= ALL_UP_TO else \
            self.random.choice(values.size, SAMPLED, replace=False)
        for element in elements:
            move = np.zeros(values.size)
            move[element] = 1
            moves.append(('element %d' % element, move.reshape(values.shape)))
        found = [(what, self.disagreement([(tensor, move)])) for what, move in moves]
        wrong = ['%s: %s' % (what, how) for what, how in found if how]
        if wrong:
            self.problem('/%s: %d of %d wrong: %s' % (tensor.name, len(wrong), len(moves),
                                                      '; '.join(wrong[:4])))

    def left_out(self):
        """Returns the routes that are not requested, or that run the same code as another route."""
        types = {layer.type for layer in self.layers}
        skipped = ON_REQUEST | {'f32-nhwc' if 'Convolution' in types else 'f32-nchw'}
        if max(map(len, self.shapes.values())) < 4:  # layouts do not matter
            skipped |= {'f32-nhwc', 'f32-nchw', 'f64-nhwc'}
        if not self.calls:  # f32-nhwc is generated code as well
            skipped |= {'f64-nhwc'}
        if self.options.route:
            skipped = {route[0] for route in ROUTES} - set(self.options.route)
        return skipped

    def routes(self):
        left_out = self.left_out()
        for name, flags, precision, keep, tolerance in ROUTES:
            if name not in left_out:
                keeps = ('--keep', 'all' if keep else ','.join(self.weights))
                self.route(name, self.layers, keeps + tuple(flags), precision, keep, tolerance)

    def output_gradient_routes(self):
        for name, flags, precision, keep, tolerance in OUTPUT_GRADIENT_ROUTES:
            if name not in (self.options.route or ['output-gradients-f64', 'output-gradients-f32']):
                continue
            flags = ('--output-gradient', ','.join(self.output_gradients)) + tuple(flags)
            if keep:
                flags += ('--keep', 'all')
            self.route(name, wrapped(self.case), flags, precision, keep, tolerance)

    def route(self, name, layers, flags, precision, keep, tolerance):
        try:
            self.compile(name, layers, '--gradients', '--precision', precision, *flags)
            got = self.eval(name, self.path('inputs.h5'), self.path('weights'), '--gradients',
                            threads=2)
        except Failure as failure:
            self.problem('%s: %s' % (name, failure))
            return
        tops = {top for layer in layers for top in layer.tops}
        wrong = []
        for key, want in self.base.items():
            if key not in got:
                # A net without the losses lacks their blobs.
                if key.startswith('param') or (keep and key.split('/')[1] in tops):
                    wrong.append('/%s is missing' % key)
                continue
            if got[key].shape != want.shape:
                wrong.append('/%s has shape %s, want %s' % (key, got[key].shape, want.shape))
                continue
            error = np.max(np.abs(want - got[key]), initial=0)
            # Errors of sums that cancel are relative to their terms: size 1, or, for the gradient
            # of an input's Bias, the largest gradient of that input.
            size = max(np.max(np.abs(want), initial=0), 0.1)
            if key.startswith('param_diff/wrap_'):
                terms = self.base.get('diff/' + key.split('/')[1][len('wrap_'):])
                if terms is not None:
                    size = max(size, np.max(np.abs(terms), initial=0))
            if not error <= tolerance * size:
                wrong.append('/%s is off by %.3g of %.3g' % (key, error, np.max(np.abs(want))))
        if wrong:
            self.problem('%s: %s' % (name, '; '.join(wrong[:6])))

    def run(self):
        steps = [self.prepare, self.gradients, self.differences, self.routes]
        if self.options.no_differences:
            steps.remove(self.differences)
        if self.options.output_gradients:
            steps[steps.index(self.routes)] = self.output_gradient_routes
        for step in steps:
            try:
                step()
            except Failure as failure:
                self.problem(str(failure))
                if step == self.prepare or step == self.gradients:
                    break
            except Exception:  # a defect of this script must not hide the other cases
                self.problem(traceback.format_exc())
                break
        return self.case.name, self.problems


def check(job):
    options, case = job
    if options.keep:
        folder = os.path.join(options.keep, case.name)
        os.makedirs(folder, exist_ok=True)
        return Check(options, case, folder).run()
    with tempfile.TemporaryDirectory() as folder:
        return Check(options, case, folder).run()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--brewc', required=True)
    parser.add_argument('--brew-run', required=True)
    parser.add_argument('--brewc-flags', default='', help='for every compilation')
    parser.add_argument('--only', nargs='*', help='names or patterns of cases')
    parser.add_argument('--except', nargs='*', default=[], dest='skip',
                        help='names or patterns of cases to leave out')
    parser.add_argument('--route', nargs='*', help='only these of the other routes')
    parser.add_argument('--output-gradients', action='store_true',
                        help="compare backward passes from output gradients instead")
    parser.add_argument('--no-differences', action='store_true', help='only compare the routes')
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--keep', metavar='FOLDER', help='leave nets, plans and values here')
    options = parser.parse_args()

    def named(case, patterns):
        return any(fnmatch.fnmatch(case.name, pattern) for pattern in patterns)

    chosen = [c for c in cases.CASES if (not options.only or named(c, options.only))
              and not named(c, options.skip) and (c.outputs or not options.output_gradients)]
    if not chosen:
        sys.exit('no case has such a name')
    names = [c.name for c in cases.CASES]
    if len(set(names)) != len(names):
        sys.exit('case names repeat: ' + ' '.join(sorted({n for n in names if names.count(n) > 1})))
    failed = 0
    with multiprocessing.Pool(options.jobs) as pool:
        for name, problems in pool.imap(check, [(options, c) for c in chosen]):
            failed += bool(problems)
            for problem in problems:
                print('FAIL', problem)
            sys.stdout.flush()
    print('%d passed, %d failed' % (len(chosen) - failed, failed))
    sys.exit(failed != 0)


if __name__ == '__main__':
    main()
