#!/usr/bin/python3
"""Compares the gradients of brewc with finite differences, in f64.

usage: check_gradients.py --brewc B --brew-run R [--brewc-flags=FLAGS] [--only PATTERN ...]

For each case of cases.py:
- `brewc --precision f64 --gradients --keep all` and `brew-run eval` compute the gradient of the
  total loss with respect to every input and parameter. A second plan, which has only the forward
  pass and only the losses as outputs, computes the loss at perturbed points. The central differences
  along random directions must agree with the gradients.
- The same net is compiled in other ways, called routes: in f32 with library calls or generated code,
  in each layout, and without `--keep all`. Each route must compute the same values, with 2 threads.
  The simulated GPU is such a route if --route names it.
- With --output-gradients, other routes compile the net without these losses, and must compute the
  same gradients. Their backward pass starts from the same random numbers, written as output
  gradients (`brewc --output-gradient`).

Step and tolerance: with a step of h = 1e-5, the error of a central difference has two parts. One is
h^2 f'''/6, about 1e-10 for the smooth functions of size 1 here. The other is the rounding of the two
losses, a few 1e-16 |loss| / h, which is about 1e-10 too. The allowed error is 1e-6 of the sum of the
terms' magnitudes, plus 2e-9 max(1, |loss|) for a sum that cancels or a gradient of 0.

`propagate_down: false` means that a layer treats a bottom as a constant. The differences are
therefore computed on a net in which that bottom is a constant input.

With BREW_GRADIENT_SHARE=I/N in the environment, checks every Nth of the chosen cases, from the Ith on.
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
import cases_attention  # noqa: F401 (adds its cases)
import cases_detection  # noqa: F401 (adds its cases)
import cases_forks  # noqa: F401 (adds its cases)
import cases_items  # noqa: F401 (adds its cases)
import cases_multibox  # noqa: F401 (adds its cases)
import cases_random  # noqa: F401 (adds its cases)
import cases_recurrent  # noqa: F401 (adds its cases)
import cases_shape  # noqa: F401 (adds its cases)
from files import read_all, write_inputs, write_weights
from nets import with_constant_bottoms, loss_weights, text_of, with_losses, with_inputs

STEP = 1e-5
RELATIVE_TOLERANCE = 1e-6
ABSOLUTE_TOLERANCE = 2e-9
# First a random direction in all tensors at once, along which any wrong gradient is visible. After
# a failure, each tensor is checked alone to locate the error: along its own directions, and by
# changing single elements (all elements of tensors of up to EXHAUSTIVE_SIZE elements, otherwise
# SAMPLED_ELEMENTS of them).
DIRECTIONS = 2
EXHAUSTIVE_SIZE = 6
SAMPLED_ELEMENTS = 1

# The routes: name, flags, precision, whether all blobs are kept (otherwise more is fused), and the
# allowed error relative to the largest magnitude of the tensor. In f64 only the order of sums
# differs.
ROUTES = [
    ('f32', [], 'f32', False, 1e-4),
    ('f32-generic', ['--no-library'], 'f32', True, 1e-4),
    ('f32-nhwc', ['--layout=nhwc'], 'f32', True, 1e-4),
    ('f32-nchw', ['--layout=nchw'], 'f32', True, 1e-4),
    ('f64-nhwc', ['--layout=nhwc'], 'f64', False, 1e-11),
    ('cudasim', ['--target=cuda', '--gpu-arch=sim'], 'f32', True, 1e-4),
    ('cudasim-generic', ['--target=cuda', '--gpu-arch=sim', '--no-library'], 'f32', True, 1e-4),
]
# Routes that run only if --route names them: the simulated GPU, which checks every access, and
# generated code in place of library calls in f32, which differs from f64 only in the type.
ON_REQUEST = {'cudasim', 'cudasim-generic', 'f32-generic'}

# The routes with --output-gradients. Those that do not keep all blobs keep only the outputs.
OUTPUT_GRADIENT_ROUTES = [
    ('output-gradients-f64', [], 'f64', True, 1e-11),
    ('output-gradients-f32', [], 'f32', False, 1e-4),
    ('output-gradients-cudasim', ['--target=cuda', '--gpu-arch=sim'], 'f32', False, 1e-4),
]


class Failure(Exception):
    """A command that failed."""


class Tensor(typing.NamedTuple):
    """A tensor that the loss depends on."""
    name: str   # dataset of its gradient in the outputs
    group: str  # 'forward_inputs' (inputs) or 'params': the attribute of Check that has its values
    key: typing.Union[str, tuple]  # key in that attribute: a blob, or (layer, i)


def run(*command):
    """Returns what a command prints."""
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

    def report(self, text):
        self.problems.append('%s: %s' % (self.case.name, text))

    def compile(self, name, layers, *flags, plan=True):
        with open(self.path(name + '.prototxt'), 'w') as file:
            file.write(text_of(layers, self.case.net))
        if plan:
            flags += ('-o', self.path(name + '.plan'))
        return run(self.options.brewc, self.path(name + '.prototxt'), '--phase', 'train', *flags,
                   '--exact-hidden-gradients', *self.options.brewc_flags.split())

    def evaluate(self, plan, inputs, weights, *flags, threads=1):
        run(self.options.brew_run, 'eval', self.path(plan + '.plan'), '--threads', str(threads),
            '--inputs', inputs, '--weights', weights, '--outputs', self.path('out.h5'), *flags)
        return read_all(self.path('out.h5'))

    def draw(self, shape, number):
        """Returns values of input `number`. They differ from 0 and from the values of other inputs."""
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
        case, layers = self.case, with_inputs(self.case)
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

    def derive_gradients(self):
        """Runs the f64 plan that all others are compared with."""
        self.compile('f64', self.layers, '--gradients', '--keep', 'all', '--precision', 'f64')
        self.base = self.evaluate('f64', self.path('inputs.h5'), self.path('weights'), '--gradients')
        for name, values in self.base.items():
            if values.dtype != np.float64:
                self.report('/%s is %s in an f64 plan' % (name, values.dtype))

    def loss(self, forward_inputs=None, params=None):
        paths = [self.path('forward_inputs.h5'), self.path('weights')]
        if forward_inputs:
            paths[0] = self.path('moved.h5')
            write_inputs(paths[0], forward_inputs)
        if params:
            paths[1] = self.path('moved')
            write_weights(paths[1], params)
        data = self.evaluate('forward', *paths)
        return sum(w * np.sum(data['data/' + blob]) for blob, w in self.weights.items())

    def compare_differences(self):
        """Compares the gradients with finite differences."""
        layers, constants = with_constant_bottoms(self.layers, self.shapes)
        self.compile('forward', layers, '--precision', 'f64', '--keep', ','.join(self.weights))
        self.forward_inputs = dict(self.inputs)
        for blob in constants:
            self.forward_inputs['constant_' + blob] = self.base['data/' + blob]
        write_inputs(self.path('forward_inputs.h5'), self.forward_inputs)
        base = sum(w * np.sum(self.base['data/' + blob]) for blob, w in self.weights.items())
        self.scale = max(1, abs(base))
        if not abs(self.loss() - base) <= 1e-12 * self.scale:
            self.report('loss %.17g with gradients, %.17g without' % (base, self.loss()))

        tensors = []
        for blob in self.case.inputs:
            if blob not in self.case.bare or 'force_backward' in self.case.net:
                name = blob if blob in self.case.bare else 'in_' + blob
                tensors.append(Tensor('diff/' + blob, 'forward_inputs', name))
        for layer, i in self.params:
            name = 'param_diff/%s/%d' % (layer, i)
            if (layer, i) in self.case.frozen:
                if np.any(self.base.get(name, 0)):
                    self.report('/%s is not 0 with lr_mult 0' % name)
            else:
                tensors.append(Tensor(name, 'params', (layer, i)))
        tensors = [tensor for tensor in tensors if self.gradient_of(tensor) is not None]
        wrong = self.check_all_tensors(tensors) if tensors else None
        if wrong:
            self.report(wrong)
            for tensor in tensors:
                self.locate_errors(tensor)

    def gradient_of(self, tensor):
        """Returns the gradient of a tensor that brewc derived. If it cannot be compared, reports why
        and returns None."""
        values = getattr(self, tensor.group)[tensor.key]
        gradient = self.base.get(tensor.name)
        if gradient is None and tensor.group == 'params':
            self.report('/%s is missing' % tensor.name)
        elif gradient is None:
            return np.zeros(values.shape)  # the loss does not depend on it
        elif gradient.shape != values.shape:
            self.report('/%s has shape %s, not %s' % (tensor.name, gradient.shape, values.shape))
        else:
            return gradient
        return None

    def perturbed_loss(self, moves, step):
        """Returns the loss with perturbed tensors; shared parameters move with their owner."""
        groups = {'forward_inputs': dict(self.forward_inputs), 'params': dict(self.params)}
        owners = {key: self.case.shared.get(key, key) for key in self.params}
        for tensor, move in moves:
            values = groups[tensor.group]
            if tensor.group == 'forward_inputs':
                values[tensor.key] = values[tensor.key] + step * move
                continue
            for key, owner in owners.items():
                if owner == owners[tensor.key]:
                    values[key] = values[key] + step * move
        groups_moved = {tensor.group for tensor, _ in moves}
        return self.loss(**{group: groups[group] for group in groups_moved})

    def slope_error(self, moves):
        """Compares the slope of the loss along [(tensor, move)] with the gradients. Returns a
        description of the error, or None."""
        numeric = (self.perturbed_loss(moves, STEP) - self.perturbed_loss(moves, -STEP)) / (2 * STEP)
        terms = [self.gradient_of(tensor) * move for tensor, move in moves]
        analytic = sum(np.sum(term) for term in terms)
        magnitude = sum(np.sum(np.abs(term)) for term in terms)
        if abs(numeric - analytic) <= RELATIVE_TOLERANCE * magnitude + ABSOLUTE_TOLERANCE * self.scale:
            return None
        return 'gradient %.9g, difference %.9g' % (analytic, numeric)

    def check_all_tensors(self, tensors):
        """Compares the slope along a random direction in all tensors at once, and the gradients of
        shared parameters with those of their owners. Returns a description of the error, or None."""
        owners = [t for t in tensors if t.key not in self.case.shared]
        gradients = {t.key: self.gradient_of(t) for t in owners}
        for tensor in tensors:
            owner = self.case.shared.get(tensor.key)
            if owner and not np.array_equal(self.gradient_of(tensor), gradients[owner]):
                return '/%s differs from its owner\'s' % tensor.name
        wrong = self.slope_error(
            [(t, self.random.normal(size=gradients[t.key].shape)) for t in owners])
        return wrong and 'all together: ' + wrong

    def locate_errors(self, tensor):
        """Reports the directions and elements in which the gradient of one tensor is wrong."""
        values = getattr(self, tensor.group)[tensor.key]
        moves = [('direction %d' % i, self.random.normal(size=values.shape))
                 for i in range(DIRECTIONS if values.size > 1 else 0)]
        elements = range(values.size) if values.size <= EXHAUSTIVE_SIZE else \
            self.random.choice(values.size, SAMPLED_ELEMENTS, replace=False)
        for element in elements:
            move = np.zeros(values.size)
            move[element] = 1
            moves.append(('element %d' % element, move.reshape(values.shape)))
        errors = [(label, self.slope_error([(tensor, move)])) for label, move in moves]
        wrong = ['%s: %s' % (label, error) for label, error in errors if error]
        if wrong:
            self.report('/%s: %d of %d wrong: %s' % (tensor.name, len(wrong), len(moves),
                                                     '; '.join(wrong[:4])))

    def skipped_routes(self):
        """Returns the names of the routes that are not requested, or that run the same code as another
        route."""
        types = {layer.type for layer in self.layers}
        skipped = ON_REQUEST | {'f32-nhwc' if 'Convolution' in types else 'f32-nchw'}
        if max(map(len, self.shapes.values())) < 4:  # layouts do not matter
            skipped |= {'f32-nhwc', 'f32-nchw', 'f64-nhwc'}
        if not self.calls:  # f32-nhwc is generated code as well
            skipped |= {'f64-nhwc'}
        if self.options.route:
            skipped = {route[0] for route in ROUTES} - set(self.options.route)
        return skipped

    def compare_routes(self):
        skipped = self.skipped_routes()
        for name, flags, precision, keep, tolerance in ROUTES:
            if name not in skipped:
                keeps = ('--keep', 'all' if keep else ','.join(self.weights))
                self.compare_route(name, self.layers, keeps + tuple(flags), precision, keep, tolerance)

    def compare_output_gradient_routes(self):
        for name, flags, precision, keep, tolerance in OUTPUT_GRADIENT_ROUTES:
            if name not in (self.options.route or ['output-gradients-f64', 'output-gradients-f32']):
                continue
            flags = ('--output-gradient', ','.join(self.output_gradients)) + tuple(flags)
            if keep:
                flags += ('--keep', 'all')
            self.compare_route(name, with_inputs(self.case), flags, precision, keep, tolerance)

    def compare_route(self, name, layers, flags, precision, keep, tolerance):
        """Compares the values of one route with those of the f64 plan."""
        try:
            self.compile(name, layers, '--gradients', '--precision', precision, *flags)
            actual = self.evaluate(name, self.path('inputs.h5'), self.path('weights'), '--gradients',
                                   threads=2)
        except Failure as failure:
            self.report('%s: %s' % (name, failure))
            return
        tops = {top for layer in layers for top in layer.tops}
        wrong = []
        for key, expected in self.base.items():
            if key not in actual:
                # A net without the losses lacks their blobs.
                if key.startswith('param') or (keep and key.split('/')[1] in tops):
                    wrong.append('/%s is missing' % key)
                continue
            if actual[key].shape != expected.shape:
                wrong.append('/%s has shape %s, not %s' % (key, actual[key].shape, expected.shape))
                continue
            error = np.max(np.abs(expected - actual[key]), initial=0)
            # Errors of sums that cancel are relative to their terms: size 1, or, for the gradient
            # of an input's Bias, the largest gradient of that input.
            size = max(np.max(np.abs(expected), initial=0), 0.1)
            if key.startswith('param_diff/wrap_'):
                terms = self.base.get('diff/' + key.split('/')[1][len('wrap_'):])
                if terms is not None:
                    size = max(size, np.max(np.abs(terms), initial=0))
            if not error <= tolerance * size:
                wrong.append('/%s is off by %.3g of %.3g' % (key, error, np.max(np.abs(expected))))
        if wrong:
            self.report('%s: %s' % (name, '; '.join(wrong[:6])))

    def run(self):
        steps = [self.prepare, self.derive_gradients, self.compare_differences, self.compare_routes]
        if self.options.no_differences:
            steps.remove(self.compare_differences)
        if self.options.output_gradients:
            steps[steps.index(self.compare_routes)] = self.compare_output_gradient_routes
        for step in steps:
            try:
                step()
            except Failure as failure:
                self.report(str(failure))
                if step == self.prepare or step == self.derive_gradients:
                    break
            except Exception:  # a defect of this script must not hide the other cases
                self.report(traceback.format_exc())
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
    parser.add_argument('--brewc-flags', default='', help='flags for every compilation')
    parser.add_argument('--only', nargs='*', help='names or patterns of cases')
    parser.add_argument('--except', nargs='*', default=[], dest='skip',
                        help='names or patterns of cases to leave out')
    parser.add_argument('--route', nargs='*', help='names of the only routes to compare')
    parser.add_argument('--output-gradients', action='store_true',
                        help='compare only the routes that start from output gradients')
    parser.add_argument('--no-differences', action='store_true',
                        help='only compare the routes, not the finite differences')
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--keep', metavar='FOLDER', help='keep nets, plans and values in this folder')
    options = parser.parse_args()

    def matches(case, patterns):
        return any(fnmatch.fnmatch(case.name, pattern) for pattern in patterns)

    chosen = [c for c in cases.CASES if (not options.only or matches(c, options.only))
              and not matches(c, options.skip) and (c.outputs or not options.output_gradients)]
    if not chosen:
        sys.exit('no case has such a name')
    first, step = map(int, os.environ.get('BREW_GRADIENT_SHARE', '0/1').split('/'))
    chosen = chosen[first::step]
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
