#!/usr/bin/python3
"""Checks STOCHASTIC pooling: random draws in training, and values in testing.

Every seed is fixed, so a run either always passes or always fails. Limits are five standard
deviations of an ideal generator.
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common'))
import checker  # noqa: E402

NET = '''
layer { name: "in" type: "Input" top: "x" input_param { shape { %s } } }
layer { name: "scale" type: "Bias" bottom: "x" top: "z" bias_param { num_axes: 0 } }
layer { name: "y" type: "Pooling" bottom: "z" top: "y"
  pooling_param { pool: STOCHASTIC kernel_h: 2 kernel_w: 3 stride: 2 } }
layer { name: "sum" type: "Reduction" bottom: "y" top: "sum" loss_weight: 1 }
'''


class StochasticPooling(checker.Checker):
    def pool(self, x, phase, seed=0, threads=1, *flags):
        """Returns {'y': values of the top}. In TRAIN also 'diff': the gradient of the bottom."""
        gradients = ['--gradients'] if phase == 'train' else []
        self.compile(NET % ' '.join('dim: %d' % d for d in x.shape), phase, *gradients, *flags)
        results = self.evaluate({'x': x}, *gradients, seed=seed, threads=threads)
        result = {'y': results['data/y']}
        if gradients:
            result['diff'] = results['diff/z']
        return result

    def check_distribution(self):
        # All windows have the same six elements, one of them 0.
        window = np.array([[1, 2, 0], [3, 4, 6]], float)
        x = np.tile(np.pad(window, ((0, 0), (0, 1))), (40, 50, 10, 4))[:, :, :, :-1]
        drawn = self.pool(x, 'train')['y']
        self.expect(drawn.shape == (40, 50, 10, 7), 'shape %s' % (drawn.shape,))
        drawn = drawn[..., ::2]  # positions aligned with a window
        for value in np.unique(window):
            share, count = value / window.sum(), drawn.size
            frequency = np.mean(drawn == value)
            limit = 5 * np.sqrt(share * (1 - share) / count)
            self.expect(abs(frequency - share) <= limit,
                        '%g is drawn with frequency %g, not %g' % (value, frequency, share))
        # Independent draws agree with probability 66/256, the sum of the squared shares.
        other_seed = self.pool(x, 'train', seed=1)['y'][..., ::2]
        self.expect(0.1 < np.mean(other_seed == drawn) < 0.5, 'the seed has no effect')

    def check_reproducibility(self):
        """Checks that compilations and numbers of threads draw the same elements."""
        random = np.random.RandomState(2)
        x = random.uniform(0, 1, (2, 5, 7, 8)).astype(np.float32).astype(float)
        reference = self.pool(x, 'train', 5)
        # The gradient of an element is the number of its draws.
        self.expect(np.isclose((reference['diff'] * x).sum(), reference['y'].sum()),
                    'the gradient is not where the drawn elements are')
        self.expect(reference['diff'].sum() == reference['y'].size, 'some windows have no gradient')
        for flags in (['--layout=nhwc'], ['--precision', 'f64'], ['--no-library']):
            for threads in (1, 2):
                actual = self.pool(x, 'train', 5, threads, *flags)
                self.expect(all(np.allclose(actual[k], reference[k]) for k in reference),
                            'different draws with %s and %d threads' % (flags, threads))
        zeros = self.pool(x * 0, 'train')
        self.expect((zeros['y'] == 0).all(), 'a window of zeros does not give 0')

    def check_test_phase(self):
        random = np.random.RandomState(3)
        x = random.uniform(0, 1, (2, 3, 6, 8)).astype(np.float32).astype(float)
        expected = np.zeros((2, 3, 3, 4))
        for p in range(3):
            for q in range(4):
                window = x[:, :, 2 * p:2 * p + 2, 2 * q:2 * q + 3]
                expected[:, :, p, q] = (window ** 2).sum(axis=(2, 3)) / window.sum(axis=(2, 3))
        for flags in ([], ['--layout=nhwc'], ['--precision', 'f64']):
            actual = self.pool(x, 'test', 0, 1, *flags)['y']
            self.expect(actual.shape == expected.shape and np.allclose(actual, expected, 1e-5),
                        'TEST computes other values with %s' % flags)
        self.expect((self.pool(x * 0, 'test')['y'] == 0).all(),
                    'TEST does not give 0 for a window of zeros')


if __name__ == '__main__':
    checker.main(StochasticPooling, __doc__, 'check_distribution', 'check_reproducibility',
                 'check_test_phase')
