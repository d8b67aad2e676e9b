#!/usr/bin/python3
"""Compares means and variances of ill-conditioned data with 64-bit arithmetic.

Brew sums the differences from one of the values, and their squares, in one pass. The cancellation
then depends on the distance of that value from the mean in standard deviations. The error must not
depend on the mean itself, and an outlier must not increase it.
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common'))
import checker  # noqa: E402

NET = '''
force_backward: true
layer { name: "in" type: "Input" top: "x" input_param { shape { %s } } }
layer { name: "bn" type: "BatchNorm" bottom: "x" top: "b" }
layer { name: "scale" type: "Scale" bottom: "b" top: "s" scale_param { bias_term: true } }
layer { name: "mvn" type: "MVN" bottom: "x" top: "m" mvn_param { across_channels: %s } }
'''
SHAPES = [(16, 3, 9, 7), (4, 64, 12, 11)]
# Many elements per channel, in both layouts of a CPU: the terms must not be added one by one.
LARGE_SHAPE = (24, 16, 64, 64)
LAYOUTS = ('nchw', 'nhwc')
# In f32, a sum of a thousand terms has a few rounding errors of 6e-8.
TOLERANCE = 4e-6
# In a hundred thousand terms, a few hundred rounding errors may have the same sign.
LARGE_TOLERANCE = 1.2e-5


def far_from_zero(random, shape):
    """Returns values of mean 1e4 and standard deviation 1."""
    return 1e4 + random.standard_normal(shape)


def with_outlier(random, shape):
    """Returns values of mean 0 with an outlier in the middle of every channel."""
    x = random.standard_normal(shape)
    x[shape[0] // 2, :, shape[2] // 2, shape[3] // 2] = 1e4
    return x


def with_zero_edges(random, shape):
    """Returns values with zeros at the edges, like the padding of a convolution."""
    x = np.zeros(shape)
    x[:, :, 1:-1, 1:-1] = 100 + random.standard_normal(
        (shape[0], shape[1], shape[2] - 2, shape[3] - 2))
    return x


def constant(random, shape):
    return np.full(shape, 1234.5)


def with_equal_edges(random, shape):
    """Returns values that are equal at two edges: their rounding errors have the same sign."""
    x = random.standard_normal(shape)
    edge = shape[2] // 5
    x[:, :, :edge] = x[:, :, -edge:] = 2.3
    return x


class Statistics(checker.Checker):
    def compare(self, name, actual, expected, limit):
        error = np.abs(np.asarray(actual, np.float64) - expected).max()
        self.expect(error <= limit, '%s: off by %g, more than %g' % (name, error, limit))

    def check(self):
        random = np.random.default_rng(3)
        for shape in SHAPES:
            for across in ('false', 'true'):
                self.compile(NET % (' '.join('dim: %d' % d for d in shape), across), 'train')
                for make_input in (far_from_zero, with_outlier, with_zero_edges, constant):
                    self.check_input(make_input(random, shape).astype(np.float32), across,
                                     '%s %s %s' % (make_input.__name__, shape, across))

    def check_large(self):
        x = with_equal_edges(np.random.default_rng(4), LARGE_SHAPE).astype(np.float32)
        for layout in LAYOUTS:
            self.compile(NET % (' '.join('dim: %d' % d for d in LARGE_SHAPE), 'false'), 'train',
                         '--layout', layout)
            self.check_input(x, 'false', 'with_equal_edges %s' % layout, LARGE_TOLERANCE)

    def check_input(self, x, across, name, tolerance=TOLERANCE):
        results = self.evaluate({'x': x}, seed=1)
        exact = x.astype(np.float64)
        mean, variance = (f(exact, axis=(0, 2, 3)) for f in (np.mean, np.var))
        # Running statistics start at 0. After one step they are the statistics of the batch, with
        # the unbiased estimate of the variance.
        count = x.size // x.shape[1]
        self.compare(name + ': mean', results['param_after/bn/0'], mean,
                     tolerance * np.abs(mean).max())
        self.compare(name + ': variance', results['param_after/bn/1'],
                     variance * count / (count - 1), tolerance * variance.max())
        per_channel = (slice(None), slice(None), None, None)
        y = (exact - mean[None][per_channel]) / np.sqrt(variance + 1e-5)[None][per_channel]
        # The mean itself is rounded to f32.
        deviation = np.sqrt(variance.min() + 1e-5)
        limit = tolerance * np.abs(y).max() + np.abs(mean).max() * 1.2e-7 / deviation
        self.compare(name + ': y', results['data/b'], y, limit)
        axes = (1, 2, 3) if across == 'true' else (2, 3)
        mean, variance = (f(exact, axis=axes, keepdims=True) for f in (np.mean, np.var))
        y = (exact - mean) / (np.sqrt(variance) + 1e-9)
        deviation = np.sqrt(variance.min()) + 1e-9
        limit = tolerance * np.abs(y).max() + np.abs(mean).max() * 1.2e-7 / deviation
        self.compare(name + ': MVN', results['data/m'], y, limit)


if __name__ == '__main__':
    checker.main(Statistics, __doc__, 'check', 'check_large')
