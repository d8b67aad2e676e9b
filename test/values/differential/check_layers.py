#!/usr/bin/python3
"""Runs every layer type and its settings in all execution modes of Brew, and compares the values.

usage: check_layers.py [--brew-data TOOL] [--only PATTERN ...] [--except PATTERN ...]
                       [--share I/N] [--verbose]

The cases are the rows of values/gradients and of cases_more.py, which cover every layer type
(check_types.py verifies this). Each is run in phase TRAIN and TEST, with and without
`force_backward`, in place if Caffe allows that, and twice with parameters shared by name. A run has
four passes with new inputs each (ways.py):

- the plan that brew-run executes, with all blobs pinned (the reference);
- the same with no blobs pinned, which allows more fusion, and with generated code only;
- pycaffe layer by layer, with and without references to the arrays of its blobs;
- pycaffe as a whole net; and in training brew-run's trainer and pycaffe's solver in three ways.

Blobs, gradients, parameters and running statistics must agree, recurrent states through the results
of later passes, and inputs must keep the written values. Layers that draw random numbers are
checked against the results that their inputs allow (random_layers.py). A net that needs a gradient
which a
layer does not have is counted as refused, as Caffe aborts there; only nets with `force_backward`
and stochastic pooling in phase TEST may be.
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

#: The terms of sums that cancel.
CANCELLED = 100

REFERENCE = Plan('plan', keep='all')
WAYS = (Plan('plan, nothing kept'), Plan('plan, generated code', keep='all', no_library=True), LayerByLayer(False),
        LayerByLayer(True))
TRAINING = (Solver('whole net'), Solver('callbacks'), Solver('layer by layer'))


def largest_gradient(values):
    return max((np.abs(v).max(initial=0) for k, v in values.items() if k.startswith('diff/')), default=0)


def gradient_scale(values, key):
    """Errors of sums that cancel are relative to their terms."""
    if key.startswith('param_diff/'):
        return largest_gradient(values)
    return 0.1 * largest_gradient(values) if key.startswith('diff/') else 0


def inputs_kept(form, found):
    """Checks that inputs that no layer writes have their initial values."""
    written = {top for layer in form.message.layer if layer.bottom for top in layer.top}
    return ['pass %d: input %s has changed' % (number, blob)
            for number, (inputs, values) in enumerate(zip(form.net.inputs, found))
            for blob, given in inputs.items()
            if blob not in written and not np.array_equal(values.get('data/' + blob, given), given)]


class Sweep:
    def __init__(self, options):
        self.options = options
        self.compared = self.failures = 0
        self.refused = []  # forms that do not compile, and why
        self.seconds = {}

    def values(self, way, form, folder):
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

    def against(self, form, reference, ways, folder, scale):
        """Compares ways with a reference; returns the reference's values."""
        wanted, error = self.values(reference, form, folder)
        if error:
            self.report(form, reference, [error])
        if wanted is None:
            return None
        self.report(form, reference, random_layers.problems(form, wanted) + inputs_kept(form, wanted))
        for way in ways:
            found, error = self.values(way, form, folder)
            if error:
                self.report(form, way, [error])
            if found is None:
                continue
            problems = inputs_kept(form, found)
            if form.random_layers:
                problems += random_layers.problems(form, found)
            else:
                problems += compare(wanted, found, scale)
            self.report(form, way, problems)
        return wanted

    def check(self, form, folder):
        ways = WAYS
        if form.phase == 'test':
            ways += (WholeForward(),)
        wanted = self.against(form, REFERENCE, ways, folder, gradient_scale)
        if wanted and form.phase == 'train' and not form.message.force_backward and form.net.learns():
            # A parameter before a normalisation has a gradient of 0 except for rounding.
            moved = LEARNING_RATE * CANCELLED * max(map(largest_gradient, wanted))
            self.against(form, Trainer(), TRAINING, folder, lambda values, key: moved)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--brew-data', default='brew-data', help='the tool')
    parser.add_argument('--only', nargs='*', help='names or patterns of cases')
    parser.add_argument('--except', nargs='*', default=[], dest='skip', help='names or patterns of cases to leave out')
    parser.add_argument('--share', default='0/1', help='I/N: every Nth case, from the Ith on')
    parser.add_argument('--verbose', action='store_true')
    options = parser.parse_args()
    sweep = Sweep(options)
    first, step = (int(n) for n in options.share.split('/'))

    def named(case, patterns):
        return any(fnmatch.fnmatch(case.name, pattern) for pattern in patterns)

    chosen = [c for c in all_cases() if (not options.only or named(c, options.only)) and not named(c, options.skip)]
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
