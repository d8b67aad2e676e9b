#!/usr/bin/python3
"""Checks kernels whose threads process several channels, on the simulated GPU.

The nets are large enough for such kernels. They contain pooling windows, normalization across
channels fused with them, column sums, sums of rows, and tensors of several types in one kernel.
Outputs and gradients must equal the CPU plan's, and the report must list the wide accesses.
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common'))
import checker  # noqa: E402
import targets  # noqa: E402

NET = '''
force_backward: true
layer { name: "in" type: "Input" top: "x" top: "label" input_param {
  shape { dim: %(items)d dim: %(channels)d dim: 33 dim: 32 } shape { dim: %(items)d } } }
layer { name: "max" type: "Pooling" bottom: "x" top: "max" pooling_param {
  pool: MAX kernel_size: 3 stride: 2 } }
layer { name: "norm" type: "LRN" bottom: "max" top: "norm" lrn_param {
  local_size: 5 alpha: 0.01 beta: 0.75 } }
layer { name: "mean" type: "Pooling" bottom: "norm" top: "mean" pooling_param {
  pool: AVE kernel_size: 3 stride: 1 pad: 1 } }
layer { name: "bn" type: "BatchNorm" bottom: "mean" top: "bn" }
layer { name: "scale" type: "Scale" bottom: "bn" top: "scale" scale_param {
  bias_term: true filler { type: "uniform" min: 0.5 max: 1.5 } } }
layer { name: "relu" type: "ReLU" bottom: "scale" top: "scale" }
layer { name: "global" type: "Pooling" bottom: "scale" top: "global" pooling_param {
  pool: AVE global_pooling: true } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "global" bottom: "label" top: "loss" }
'''
# Channels, items, and the access size in bytes that must move most of a bf16 net's data. A thread
# processes 8 of 64 or 192 channels at a time, 4 of 20, 2 of 50, and 1 of 7.
CASES = [(64, 40, 16), (192, 16, 16), (20, 40, 8), (50, 40, 4), (7, 4, 2)]
MIN_SHARE = 0.75  # smallest share of bytes moved by accesses of at least this size


class ChannelVectors(targets.TargetChecker):
    def check(self):
        random = np.random.default_rng(5)
        for channels, items, width in CASES:
            x = random.standard_normal((items, channels, 33, 32)).astype(np.float32)
            inputs = {'x': x, 'label': random.integers(0, channels, items).astype(np.float32)}
            net = NET % {'channels': channels, 'items': items}
            for precision in targets.TOLERANCE:
                report = self.compare_targets('%d channels in %s' % (channels, precision), net,
                                              precision, inputs)
            self.check_widths('%d channels' % channels, report, width)

    def check_widths(self, name, report, width):
        bytes_by_size = report['programs']['main']['access_bytes']
        wide = sum(count for access_size, count in bytes_by_size.items()
                   if int(access_size) >= width)
        share = wide / sum(bytes_by_size.values())
        print('%s: %s' % (name, bytes_by_size))
        self.expect(share >= MIN_SHARE, '%s: %.0f%% of the bytes move %d at a time' %
                    (name, 100 * share, width))


if __name__ == '__main__':
    checker.main(ChannelVectors, __doc__, 'check')
