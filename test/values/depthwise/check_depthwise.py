#!/usr/bin/python3
"""Checks depthwise convolutions that are fused with the producers of their bottoms.

Compares tops and gradients with the plans of --without=fuse-depthwise, for nets with various
windows over normalised blobs. Also checks which convolutions are library calls: a convolution stays
a call if its bottom has another reader, if no nest computes its bottom, or if it mixes channels.
"""
import os
import re
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common'))
import checker  # noqa: E402

SHAPE = (4, 8, 29, 25)
INPUT = '''layer { name: "in" type: "Input" top: "data" top: "label"
  input_param { shape { dim: %d dim: %d dim: %d dim: %d } shape { dim: 4 } } }
''' % SHAPE
HEAD = '''layer { name: "ip" type: "InnerProduct" bottom: "%s" top: "ip"
  inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
'''


def conv(name, bottom, settings, bias=False):
    return '''layer { name: "%s" type: "Convolution" bottom: "%s" top: "%s" convolution_param {
  %s bias_term: %s weight_filler { type: "msra" } bias_filler { type: "gaussian" std: 0.5 } } }
''' % (name, bottom, name, settings, 'true' if bias else 'false')


def norm(name, relu=True):
    text = '''layer { name: "bn_%(n)s" type: "BatchNorm" bottom: "%(n)s" top: "%(n)s" }
layer { name: "scale_%(n)s" type: "Scale" bottom: "%(n)s" top: "%(n)s"
  scale_param { bias_term: true filler { type: "uniform" min: 0.5 max: 1.5 }
    bias_filler { type: "gaussian" std: 0.3 } } }
'''
    if relu:
        text += 'layer { name: "relu_%(n)s" type: "ReLU" bottom: "%(n)s" top: "%(n)s" }\n'
    return text % {'n': name}


def pointwise(name, bottom, size):
    return conv(name, bottom, 'num_output: %d kernel_size: 1' % size)


def depthwise(name, bottom, size, window, bias=False):
    return conv(name, bottom, 'num_output: %d group: %d %s' % (size, size, window), bias)


# Windows with padding, with strides, with different extents of height and width, and dilated.
WINDOWS = ['kernel_size: 3 pad: 1', 'kernel_size: 3 pad: 1 stride: 2',
           'kernel_h: 2 kernel_w: 5 stride_h: 1 stride_w: 3 pad_h: 0 pad_w: 2',
           'kernel_size: 3 dilation: 2 pad: 2']


def separable():
    """Returns blocks of MobileNet, one of them without a ReLU, and the fused convolutions."""
    text, bottom = INPUT, 'data'
    for i, window in enumerate(WINDOWS):
        text += pointwise('m%d' % i, bottom, 16) + norm('m%d' % i, relu=i != 2)
        bottom = 'd%d' % i
        text += depthwise(bottom, 'm%d' % i, 16, window, bias=i == 1) + norm(bottom)
    return text + HEAD % bottom, ['d0', 'd1', 'd2', 'd3']


def shared():
    """Returns a net in which several convolutions read a blob, and the fused convolutions.

    Two depthwise convolutions read blob a; a depthwise and a pointwise convolution read b.
    """
    text = INPUT + pointwise('a', 'data', 16) + norm('a')
    text += depthwise('a1', 'a', 16, WINDOWS[0]) + depthwise('a2', 'a', 16, WINDOWS[3])
    text += 'layer { name: "e" type: "Eltwise" bottom: "a1" bottom: "a2" top: "e" }\n'
    text += pointwise('b', 'e', 16) + norm('b') + depthwise('b1', 'b', 16, WINDOWS[0])
    text += pointwise('b2', 'b', 16)
    text += 'layer { name: "f" type: "Eltwise" bottom: "b1" bottom: "b2" top: "f" }\n'
    return text + HEAD % 'f', ['a1', 'a2']


def plain():
    """Returns a net without layers between its convolutions; none is fused."""
    text = INPUT + pointwise('a', 'data', 16) + depthwise('a1', 'a', 16, WINDOWS[0])
    return text + HEAD % 'a1', []


# Allowed difference relative to the largest value; the plans sum in different orders.
TOLERANCE = 3e-5
# In bf16 the two plans round different values, and normalisations of few images amplify the
# rounding. So both are compared with f32, and the ratio of their errors is limited.
MAX_ERROR_RATIO = 1.3
# Smaller gradients are only rounding errors, e.g. of the bias before a normalisation.
SMALLEST = 1e-2
WITHOUT = '--without=fuse-depthwise'


class Depthwise(checker.Checker):
    def calls(self, *flags):
        """Returns the layers whose convolutions are calls, and those whose weight gradients are."""
        fused = self.run(self.options.brewc, 'net.prototxt', '--phase', 'train',
                         '--gradients', '--emit=fused', '--check-only', *flags,
                         *self.options.brewc_flags.split()).stdout
        return [set(re.findall(r'brew\.%s "(\w+)"' % call, fused))
                for call in ('convolution', 'convolution_backward_weights')]

    def check(self):
        random = np.random.default_rng(11)
        self.inputs = {'data': random.standard_normal(SHAPE).astype(np.float32),
                       'label': np.array([0, 3, 1, 4], np.float32)}
        for net in (separable, shared, plain):
            text, fused = net()
            self.write('net.prototxt', text)
            layers = set(re.findall(r'name: "(\w+)" type: "Convolution"', text))
            for precision in ('f32', 'bf16'):
                flags = ['--precision', precision, '--layout', 'nhwc']
                name = '%s, %s' % (net.__name__, precision)
                for kind, actual in zip(('convolutions', 'weight gradients'), self.calls(*flags)):
                    self.expect(actual == layers - set(fused),
                                '%s: calls of %s are %s' % (name, kind, sorted(actual)))
                for actual in self.calls(*flags, WITHOUT):
                    self.expect(actual == layers, '%s: without the pass calls are %s' % (
                        name, sorted(actual)))
                actual, expected = self.evaluate_plan(*flags), self.evaluate_plan(*flags, WITHOUT)
                self.expect(sorted(actual) == sorted(expected) and
                            len([key for key in expected if 'param_diff' in key]) >= 4,
                            '%s: other values: %s' % (name, sorted(actual)))
                if precision == 'f32':
                    exact = expected
                    self.compare(name, actual, expected)
                else:
                    self.compare_rounded(name, actual, expected, exact)

    def evaluate_plan(self, *flags):
        self.run(self.options.brewc, 'net.prototxt', '--phase', 'train', '--gradients', '-o',
                 'net.plan', *flags, *self.options.brewc_flags.split())
        return self.evaluate(self.inputs, '--gradients', seed=7)

    def compare(self, name, actual, expected):
        for key in expected:
            largest = np.abs(expected[key]).max(initial=0)
            error = np.abs(actual[key] - expected[key]).max(initial=0)
            self.expect(error <= TOLERANCE * max(largest, SMALLEST),
                        '%s: %s is off by %g of %g' % (name, key, error, largest))

    def compare_rounded(self, name, actual, calls, exact):
        errors = []
        for key, value in exact.items():
            size = np.linalg.norm(value)
            if size > SMALLEST:
                errors.append([np.linalg.norm(values[key] - value) / size
                               for values in (actual, calls)])
        fused, unfused = np.mean(errors, axis=0)
        self.expect(fused <= MAX_ERROR_RATIO * unfused and max(error for error, _ in errors) < 1,
                    '%s: errors of %g on average instead of %g' % (name, fused, unfused))
        print('%s: relative errors of %.3g, %.3g with calls' % (name, fused, unfused))


if __name__ == '__main__':
    checker.main(Depthwise, __doc__, 'check')
