"""Base class of scripts that compare a GPU plan, run on the CUDA simulator, with the CPU plan."""
import json
import subprocess
import sys

import numpy as np

import checker

GPU = ['--target', 'cuda', '--gpu-arch', 'sim']
# Allowed difference relative to a tensor's largest value: sums are computed in another order, and
# values stored in 16 bits may be rounded the other way.
TOLERANCE = {'f32': 1e-4, 'bf16': 2e-2}


class TargetChecker(checker.Checker):
    def compile(self, net, *flags, layout='nhwc'):
        """Compiles `net`, the text of a prototxt, for training; returns brewc's report."""
        self.write('net.prototxt', net)
        done = subprocess.run([self.options.brewc, 'net.prototxt', '--phase', 'train',
                               '--gradients', '--layout', layout, '-o', 'net.plan',
                               '--report=json', *flags], cwd=self.folder,
                              capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return json.loads(done.stdout)

    def compare_targets(self, name, net, precision, inputs, layout='nhwc'):
        """Compares blobs and gradients of the GPU and CPU plans; returns the GPU plan's report.

        `layout` applies to the GPU plan only.
        """
        self.compile(net, '--precision', precision, '--target', 'cpu')
        expected = self.evaluate(inputs, '--gradients')
        report = self.compile(net, '--precision', precision, *GPU, layout=layout)
        actual = self.evaluate(inputs, '--gradients')
        self.expect(set(actual) == set(expected), '%s: the plans write different datasets' % name)
        for key in set(actual) & set(expected):
            largest = np.abs(expected[key]).max(initial=0)
            error = np.abs(actual[key] - expected[key]).max(initial=0)
            self.expect(error <= TOLERANCE[precision] * max(largest, 1e-6),
                        '%s: %s is off by %g, largest value %g' % (name, key, error, largest))
        return report
