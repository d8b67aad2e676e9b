#!/usr/bin/python3
"""Checks the masks of Dropout: share of kept elements, independence, and reproducibility.

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
layer { name: "a" type: "Dropout" bottom: "x" top: "a" dropout_param { dropout_ratio: %g } }
layer { name: "b" type: "Dropout" bottom: "x" top: "b" dropout_param { dropout_ratio: %g } }
'''
CONVOLUTION = '''
layer { name: "in" type: "Input" top: "x" input_param { shape { dim: 2 dim: 8 dim: 9 dim: 7 } } }
layer { name: "c" type: "Convolution" bottom: "x" top: "c"
  convolution_param { num_output: 16 kernel_size: 1 weight_filler { value: 1 } } }
layer { name: "a" type: "Dropout" bottom: "c" top: "a" }
'''
TRAINING = '''
layer { name: "data" type: "DummyData" top: "x" top: "label"
  dummy_data_param { shape { dim: 8 dim: 16 } shape { dim: 8 }
    data_filler { type: "gaussian" } data_filler { value: 1 } } }
layer { name: "ip1" type: "InnerProduct" bottom: "x" top: "h"
  inner_product_param { num_output: 32 weight_filler { type: "xavier" } } }
layer { name: "drop" type: "Dropout" bottom: "h" top: "h" }
layer { name: "ip2" type: "InnerProduct" bottom: "h" top: "y"
  inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "label" top: "loss" }
'''
SOLVER = '''
net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" momentum: 0.9 max_iter: 10
snapshot: 5 snapshot_prefix: "snap" iter_size: 2 random_seed: %d
'''


class Dropout(checker.Checker):
    def run_net(self, shape, seed=0, threads=1):
        """Returns {blob: values} of the net for an input of ones."""
        results = self.evaluate({'x': np.ones(shape)}, seed=seed, threads=threads)
        return {name[len('data/'):]: values for name, values in results.items()
                if name.startswith('data/')}

    def check_distribution(self):
        shape = (64, 1000)
        count = 64000
        for ratio in (0.1, 0.5, 0.85):
            self.compile(NET % (' '.join('dim: %d' % d for d in shape), ratio, ratio), 'train')
            tops_by_seed = [self.run_net(shape, seed) for seed in range(3)]
            scale = np.float32(1 / (1 - np.float64(np.float32(ratio))))
            for seed, tops in enumerate(tops_by_seed):
                for name in 'ab':
                    label = 'ratio %g, seed %d, layer %s: ' % (ratio, seed, name)
                    values = tops[name]
                    self.expect(set(np.unique(values)) == {np.float32(0), scale},
                                label + 'values %s' % np.unique(values))
                    is_kept = values != 0
                    deviation = np.sqrt(ratio * (1 - ratio) / count)
                    self.expect(abs(np.mean(is_kept) - (1 - ratio)) < 5 * deviation,
                                label + 'keeps %g' % np.mean(is_kept))
                    # Neighbours along each dimension, and elements at distances of powers of two,
                    # are independent.
                    centred = (is_kept - (1 - ratio)).ravel()
                    for step in [1, 2, 3, 1000, 7] + [1 << i for i in range(4, 15)]:
                        product = np.mean(centred[step:] * centred[:-step])
                        limit = 5 * ratio * (1 - ratio) / np.sqrt(count - step)
                        self.expect(abs(product) < limit,
                                    label + 'correlation %g over %d elements' % (product, step))
                    for axis in (0, 1):
                        share = np.mean(is_kept, axis=axis)
                        spread = np.var(share) * shape[axis] / (ratio * (1 - ratio))
                        limit = 5 * np.sqrt(2 / shape[1 - axis])
                        self.expect(abs(spread - 1) < limit,
                                    label + 'relative variance %g of the shares along axis %d' %
                                    (spread, axis))
            masks = [tops[name] != 0 for tops in tops_by_seed for name in 'ab']
            for i, first in enumerate(masks):
                for second in masks[:i]:
                    product = np.mean((first - (1 - ratio)) * (second - (1 - ratio)))
                    self.expect(abs(product) < 5 * ratio * (1 - ratio) / np.sqrt(count),
                                'ratio %g: draws of layers and seeds depend on each other' % ratio)

    def check_repeatability(self):
        shape = (2, 8, 9, 7)
        results = []
        for flags in ([], ['--no-library'], ['--layout=nhwc'], ['--layout=nchw'],
                      ['--precision', 'f64']):
            self.compile(CONVOLUTION, 'train', *flags)
            for threads in (1, 2):
                results.append((flags, threads, self.run_net(shape, 7, threads)['a'] != 0))
        for flags, threads, mask in results:
            self.expect(np.array_equal(mask, results[0][2]),
                        'different masks with %s and %d threads' % (flags, threads))
        share = np.mean(results[0][2])
        self.expect(0.3 < share < 0.7, 'share of kept elements %g' % share)

    def read_bytes(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()

    def check_training(self):
        """Checks that runs repeat, and that resumed runs continue the random stream."""
        self.write('net.prototxt', TRAINING)
        weights = {}
        for seed in (3, 4):
            self.write('solver.prototxt', SOLVER % seed)
            self.run(self.options.brewc, 'solver.prototxt', '-o', 'solver.plan',
                     *self.options.brewc_flags.split())
            for repetition in range(2):
                self.run(self.options.brew_run, 'train', 'solver.plan')
                weights[seed, repetition] = self.read_bytes('snap_iter_10.caffemodel')
        self.expect(weights[3, 0] == weights[3, 1], 'two runs with the same seed differ')
        self.expect(weights[3, 0] != weights[4, 0], 'random_seed has no effect')
        os.remove(self.path('snap_iter_10.caffemodel'))
        self.run(self.options.brew_run, 'train', 'solver.plan', '--snapshot',
                 'snap_iter_5.solverstate')
        self.expect(self.read_bytes('snap_iter_10.caffemodel') == weights[4, 0],
                    'a resumed run has other weights')


if __name__ == '__main__':
    checker.main(Dropout, __doc__, 'check_distribution', 'check_repeatability', 'check_training')
