"""Base class of scripts that compile a net, run it and check its values."""
import argparse
import os
import subprocess
import sys
import tempfile

import h5py


class Checker:
    """Runs the tools in a working folder and counts failures."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.failures = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def fail(self, text):
        self.failures += 1
        print('FAIL ' + text)

    def expect(self, condition, text):
        if not condition:
            self.fail(text)

    def run(self, *command, threads=None):
        """Runs a tool in the folder and returns the finished process.

        Ends the script if the tool fails.
        """
        environment = dict(os.environ)
        if threads:
            environment['OMP_NUM_THREADS'] = str(threads)
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True,
                              timeout=120, env=environment)
        if done.returncode:
            sys.exit('%s ended with status %d:\n%s' % (' '.join(command), done.returncode,
                                                       done.stderr[-2000:]))
        return done

    def write(self, name, text):
        with open(self.path(name), 'w') as file:
            file.write(text)

    def compile(self, net, phase, *flags):
        """Compiles one phase of `net`, the text of a prototxt, with all blobs pinned."""
        self.write('net.prototxt', net)
        self.run(self.options.brewc, 'net.prototxt', '--phase', phase, '--keep', 'all', '-o',
                 'net.plan', *flags, *self.options.brewc_flags.split())

    def evaluate(self, inputs, *flags, seed=0, threads=1):
        """Runs the compiled plan on {blob: values}; returns {dataset path: values}."""
        with h5py.File(self.path('in.h5'), 'w') as file:
            for name, values in inputs.items():
                file['/inputs/' + name] = values
        self.run(self.options.brew_run, 'eval', 'net.plan', '--inputs', 'in.h5', '--outputs',
                 'out.h5', '--random-seed', str(seed), '--threads', str(threads), *flags,
                 threads=threads)
        datasets = {}
        with h5py.File(self.path('out.h5')) as file:
            file.visititems(lambda name, item: datasets.update({name: item[()]})
                            if isinstance(item, h5py.Dataset) else None)
        return datasets


class Skipped(Exception):
    """Raised if this machine lacks a requirement of a check."""


def main(checker_class, description, *steps):
    """Runs the named methods of `checker_class`, a subclass of Checker, or those of --only.

    Exits with 1 after a failure, and with 77 if a method raised Skipped.
    """
    parser = argparse.ArgumentParser(description=description.split('\n')[0])
    parser.add_argument('--brewc', required=True)
    parser.add_argument('--brew-run', required=True)
    parser.add_argument('--brewc-flags', default='', help='options of every compilation')
    parser.add_argument('--only', action='append', choices=steps, help='run only this method')
    options = parser.parse_args()
    options.brewc = os.path.abspath(options.brewc)
    options.brew_run = os.path.abspath(options.brew_run)
    with tempfile.TemporaryDirectory() as folder:
        checker = checker_class(options, folder)
        for step in options.only or steps:
            try:
                getattr(checker, step)()
            except Skipped as reason:
                print('skipped: %s: %s' % (step, reason))
                sys.exit(checker.failures != 0 or 77)
    print('%d failures' % checker.failures)
    sys.exit(checker.failures != 0)
