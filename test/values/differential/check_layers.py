#!/usr/bin/python3
"""Runs every layer type and its settings in all execution modes of Brew, and compares the values.

usage: check_layers.py [--brew-data TOOL] [--only PATTERN ...] [--except PATTERN ...]
                       [--share I/N] [--verbose]

The cases are those of values/gradients and of cases_more.py, which cover every layer type
(check_types.py verifies this). Each is run in phase TRAIN and TEST, with and without
`force_backward`, in place if Caffe allows that, and twice with parameters shared by name. A run has
four passes with new inputs each (ways.py):

- the plan that brew-run executes, with all blobs pinned (the reference);
- the same with no blobs pinned, which allows more fusion, and with generated code only;
- pycaffe layer by layer, with and without references to the arrays of its blobs;
- in phase TEST, also the forward passes of pycaffe's whole net;
- in training, also brew-run's trainer and pycaffe's solver, the latter in three ways.

Blobs, gradients, parameters and running statistics must agree. Later passes show whether recurrent
states agree. Inputs must keep the written values. Layers that draw random numbers are checked
against the results that their inputs allow (random_layers.py). A net that needs a gradient which a
layer does not have is counted as refused, because Caffe aborts there. Only nets with
`force_backward`, and stochastic pooling in phase TEST, may be refused.
"""
import argparse
import fnmatch
import os
import re
import sys
import tempfile
import time
import traceback

os.environ.setdefault('GLOG_minloglevel', '2')

import numpy as np  # noqa: E402

import brew  # noqa: E402
import random_layers  # noqa: E402
import source_files  # noqa: E402
from case_nets import all_cases, forms_of  # noqa: E402
from ways import (LEARNING_RATE, LayerByLayer, Plan, Solver, Trainer, WholeForward, compare, Difference)  # noqa: E402

#: Terms of a sum may be this many times larger than the sum, because they cancel.
MAX_CANCELLATION = 100

REFERENCE = Plan('plan', keep='all')
WAYS = (Plan('plan, nothing kept'), Plan('plan, generated code', keep='all', no_library=True), LayerByLayer(False),
        LayerByLayer(True))
SOLVERS = (Solver('whole net'), Solver('callbacks'), Solver('layer by layer'))


def largest_gradient(values):
    return max((np.abs(v).max(initial=0) for k, v in values.items() if k.startswith('diff/')), default=0)


def gradient_scale(values, key):
    """Returns a lower bound of the value that errors of a gradient are relative to.

    Gradients are sums whose terms may cancel.
    """
    if key.startswith('param_diff/'):
        return largest_gradient(values)
    return 0.1 * largest_gradient(values) if key.startswith('diff/') else 0


def changed_inputs(form, actual):
    """Returns a problem for each input that has changed although no layer writes it."""
    written = {top for layer in form.message.layer if layer.bottom for top in layer.top}
    return ['pass %d: input %s has changed' % (number, blob)
            for number, (inputs, values) in enumerate(zip(form.net.inputs, actual))
            for blob, array in inputs.items()
            if blob not in written and not np.array_equal(values.get('data/' + blob, array), array)]


class Sweep:
    def __init__(self, options):
        self.options = options
        self.compared = self.failures = 0
        self.refused = []  # forms that do not compile, and why
        self.seconds = {}

    def run_way(self, way, form, folder):
        begin = time.time()
        try:
            return way.run(form.net, folder), None
        except Difference as difference:
            return None, str(difference)
        except brew.CompileError as refusal:
            if way is REFERENCE and form.may_be_refused:
                self.refused.append('%s: %s' % (form.name, refusal.errors[0].message))
                return None, None
            return None, str(refusal).strip()
        except Exception as error:  # must not hide the other forms
            if form.may_be_refused and re.search('no gradient|cannot backpropagate', str(error)):
                self.refused.append('%s: %s: %s' % (form.name, way.name, error))
                return None, None
            if self.options.verbose:
                traceback.print_exc()
            return None, '%s: %s' % (type(error).__name__, str(error).strip()[:300])
        finally:
            self.seconds[way.name] = self.seconds.get(way.name, 0) + time.time() - begin

    def report(self, form, way, problems):
        self.compared += 1
        if problems:
            self.failures += 1
            print('FAIL %s: %s: %s' % (form.name, way.name, '; '.join(problems[:4])))

    def compare_ways(self, form, reference, ways, folder, scale):
        """Compares ways with a reference; returns the values of the reference, or None if it fails."""
        expected, error = self.run_way(reference, form, folder)
        if error:
            self.report(form, reference, [error])
        if expected is None:
            return None
        self.report(form, reference, random_layers.problems(form, expected) + changed_inputs(form, expected))
        for way in ways:
            actual, error = self.run_way(way, form, folder)
            if error:
                self.report(form, way, [error])
            if actual is None:
                continue
            problems = changed_inputs(form, actual)
            if form.random_layers:
                problems += random_layers.problems(form, actual)
            else:
                problems += compare(expected, actual, scale)
            self.report(form, way, problems)
        return expected

    def check(self, form, folder):
        ways = WAYS
        if form.phase == 'test':
            ways += (WholeForward(),)
        expected = self.compare_ways(form, REFERENCE, ways, folder, gradient_scale)
        if expected and form.phase == 'train' and not form.message.force_backward and form.net.learns():
            # A parameter before a normalisation has a gradient of 0 except for rounding.
            scale = LEARNING_RATE * MAX_CANCELLATION * max(map(largest_gradient, expected))
            self.compare_ways(form, Trainer(), SOLVERS, folder, lambda values, key: scale)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--brew-data', default='brew-data', help='path of the tool')
    parser.add_argument('--only', nargs='*', help='names or patterns of cases')
    parser.add_argument('--except', nargs='*', default=[], dest='skip', help='names or patterns of cases to leave out')
    parser.add_argument('--share', default='0/1', help='I/N: every Nth case, from the Ith on')
    parser.add_argument('--verbose', action='store_true')
    options = parser.parse_args()
    sweep = Sweep(options)
    first, step = (int(n) for n in options.share.split('/'))

    def matches(case, patterns):
        return any(fnmatch.fnmatch(case.name, pattern) for pattern in patterns)

    chosen = [c for c in all_cases() if (not options.only or matches(c, options.only)) and not matches(c, options.skip)]
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        source_files.write(folder, options.brew_data)
        for case in chosen[first::step]:
            for form in forms_of(case):
                count += 1
                if options.verbose:
                    print(form.name, flush=True)
                sweep.check(form, folder)
        os.chdir('/')
    print('%d nets of %d cases, %d runs, %d nets refused, %d failures' % (
        count, len(chosen[first::step]), sweep.compared, len(sweep.refused), sweep.failures))
    if options.verbose:
        print('\n'.join('refused: ' + each for each in sweep.refused))
        print(', '.join('%s %.1f s' % each for each in sorted(sweep.seconds.items())))
    sys.exit(sweep.failures != 0)


if __name__ == '__main__':
    main()
