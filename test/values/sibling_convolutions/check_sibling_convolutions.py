#!/usr/bin/python3
"""Checks nets whose sibling convolutions are fused into one.

Compares the outputs of inference, and the snapshots of training with different rates and decays in
each branch, with those of plans compiled with --without=fuse-sibling-convolutions. The datasets of
the snapshots must also have the same names and order. The script also checks which branches are
fused: those with the same windows and the same ReLU, for inference on any target, and for training
only on a GPU.
"""
import os
import re
import sys

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common'))
import checker  # noqa: E402

INPUT = '''layer { name: "in" type: "Input" top: "x" input_param {
  shape { dim: 32 dim: 16 dim: 12 dim: 12 } } }
'''
DATA = '''layer { name: "in" type: "DummyData" top: "x" top: "target" dummy_data_param {
  shape { dim: 32 dim: 16 dim: 12 dim: 12 } shape { dim: 32 dim: 5 }
  data_filler { type: "gaussian" std: 1 } data_filler { type: "gaussian" std: 0.5 } } }
'''
LOSS = '''layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "target" top: "loss" }
'''


def conv(name, bottom, size, kernel, rates='', relu=True):
    text = '''layer { name: "%s" type: "Convolution" bottom: "%s" top: "%s" %s
  convolution_param { num_output: %d kernel_size: %d pad: %d
    weight_filler { type: "xavier" } bias_filler { type: "constant" value: 0.1 } } }
''' % (name, bottom, name, rates, size, kernel, kernel // 2)
    if relu:
        text += 'layer { name: "r_%s" type: "ReLU" bottom: "%s" top: "%s" }\n' % (
            name, name, name)
    return text


# The branches a, b and c have different rates and decays. `odd` has no ReLU.
BODY = (conv('stem', 'x', 64, 3) +
        conv('a', 'stem', 16, 1, 'param { lr_mult: 1 } param { lr_mult: 2 decay_mult: 0 }') +
        conv('b', 'stem', 24, 1, 'param { lr_mult: 3 } param { lr_mult: 0.5 }') +
        conv('c', 'stem', 8, 1, 'param { lr_mult: 0.1 decay_mult: 2 } param { lr_mult: 1 }') +
        conv('odd', 'stem', 8, 1, relu=False) + conv('b3', 'b', 32, 3) + conv('c5', 'c', 8, 5) +
        '''layer { name: "pool" type: "Pooling" bottom: "stem" top: "pool" pooling_param {
  pool: MAX kernel_size: 3 stride: 1 pad: 1 } }
layer { name: "cat" type: "Concat" bottom: "a" bottom: "b3" bottom: "c5" bottom: "pool"
  bottom: "odd" top: "cat" }
layer { name: "ip" type: "InnerProduct" bottom: "cat" top: "ip" inner_product_param {
  num_output: 5 weight_filler { type: "xavier" } } }
''')
SOLVER = '''net: "net.prototxt" base_lr: 0.00001 momentum: 0.9 weight_decay: 0.1
lr_policy: "fixed" max_iter: 4 snapshot_prefix: "%s" snapshot_format: HDF5 random_seed: 3
'''
WITHOUT = '--without=fuse-sibling-convolutions'
# Relative to the largest value. Sums have a different order, so results may be rounded in the other
# direction.
TOLERANCE = {'f32': 1e-5, 'bf16': 2e-2}


def datasets(path):
    """Returns [(name, values)] of an HDF5 file, in file order."""
    results = []
    with h5py.File(path) as file:
        file.visititems(lambda name, item: results.append((name, item[()]))
                        if isinstance(item, h5py.Dataset) else None)
    return results


class SiblingConvolutions(checker.Checker):
    def fused_calls(self, text, flags):
        """Returns [(operation, layers)] of the convolution calls that compute three layers."""
        self.write('net.prototxt', text)
        program = self.run(self.options.brewc, 'net.prototxt', '--emit=fused', '--check-only',
                           *flags, *self.options.brewc_flags.split()).stdout
        return sorted(set(re.findall(r'brew\.(convolution\w*) "(\w+\+\w+\+\w+)[^"]*"', program)))

    def expect_close(self, name, precision, actual, expected):
        largest = np.abs(expected).max(initial=0)
        error = np.abs(actual - expected).max(initial=0)
        self.expect(error <= TOLERANCE[precision] * max(largest, 1e-6),
                    '%s: off by %g of %g' % (name, error, largest))

    def check(self):
        for precision in TOLERANCE:
            self.check_inference(precision)
            self.check_training(precision)

    def check_inference(self, precision):
        flags = ['--precision', precision]
        net = INPUT + BODY
        fused_calls = self.fused_calls(net, flags)
        self.expect(fused_calls == [('convolution', 'a+b+c')],
                    '%s, inference: fused calls are %s' % (precision, fused_calls))
        self.expect(not self.fused_calls(net, flags + [WITHOUT]), 'calls are fused without the pass')
        x = np.random.default_rng(5).standard_normal((32, 16, 12, 12)).astype(np.float32)
        values = []
        for pass_flags in ([], [WITHOUT]):
            self.run(self.options.brewc, 'net.prototxt', '-o', 'net.plan', *flags, *pass_flags,
                     *self.options.brewc_flags.split())
            values.append(self.evaluate({'x': x}, seed=7))
        actual, expected = values
        self.expect(sorted(actual) == sorted(expected) and expected,
                    '%s, inference: different outputs' % precision)
        for name in expected:
            self.expect_close('%s, inference: %s' % (precision, name), precision, actual[name],
                              expected[name])

    def check_training(self, precision):
        flags = ['--precision', precision]
        on_gpu = 'cuda' in self.options.brewc_flags
        net = DATA + BODY + LOSS
        fused_calls = self.fused_calls(net, flags + ['--phase', 'train', '--gradients'])
        expected = [(call, 'a+b+c') for call in ('convolution', 'convolution_backward_data',
                                                 'convolution_backward_weights')]
        self.expect(fused_calls == (expected if on_gpu else []),
                    '%s, training: fused calls are %s' % (precision, fused_calls))
        for prefix, pass_flags in (('fused', []), ('separate', [WITHOUT])):
            self.write('solver.prototxt', SOLVER % prefix)
            self.run(self.options.brewc, 'solver.prototxt', '-o', 'net.plan', *flags, *pass_flags,
                     *self.options.brewc_flags.split())
            self.run(self.options.brew_run, 'train', 'net.plan')
        for end in ('caffemodel.h5', 'solverstate.h5'):
            actual, separate = (datasets(self.path('%s_iter_4.%s' % (prefix, end)))
                                for prefix in ('fused', 'separate'))
            self.expect([name for name, _ in actual] == [name for name, _ in separate],
                        '%s: different names or a different order' % end)
            for (name, value), (_, other) in zip(actual, separate):
                if value.dtype.kind == 'f':
                    self.expect_close('%s, training: %s of %s' % (precision, name, end), precision,
                                      value, other)


if __name__ == '__main__':
    checker.main(SiblingConvolutions, __doc__, 'check')
