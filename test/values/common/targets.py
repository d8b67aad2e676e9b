"""Base class of scripts that compare a GPU's plan, on the simulator, with the CPU's."""
import json
import subprocess
import sys

import numpy as np

import checker

GPU = ['--target', 'cuda', '--gpu-arch', 'sim']
# Allowed difference relative to a tensor's largest value: sums have another order, and values
# stored in 16 bits may be rounded the other way.
TOLERANCE = {'f32': 1e-4, 'bf16': 2e-2}


class TargetChecker(checker.Checker):
    def report(self, net, *flags, layout='nhwc'):
        self.write('net.prototxt', net)
        done = subprocess.run([self.options.brewc, 'net.prototxt', '--phase', 'train',
                               '--gradients', '--layout', layout, '-o', 'net.plan',
                               '--report=json', *flags], cwd=self.folder,
                              capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return json.loads(done.stdout)

    def check_one(self, name, net, precision, inputs, layout='nhwc'):
        """Compares the two targets; returns the report of the GPU's plan with that layout."""
        self.report(net, '--precision', precision, '--target', 'cpu')
        wanted = self.evaluate(inputs, '--gradients')
        report = self.report(net, '--precision', precision, *GPU, layout=layout)
        found = self.evaluate(inputs, '--gradients')
        self.expect(set(found) == set(wanted), '%s: other datasets' % name)
        for key in set(found) & set(wanted):
            largest = np.abs(wanted[key]).max(initial=0)
            error = np.abs(found[key] - wanted[key]).max(initial=0)
            self.expect(error <= TOLERANCE[precision] * max(largest, 1e-6),
                        '%s: %s is off by %g of %g' % (name, key, error, largest))
        return report
