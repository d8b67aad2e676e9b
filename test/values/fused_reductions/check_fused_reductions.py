#!/usr/bin/python3
"""Checks bias gradients that are summed in the kernel that computes a ReLU's gradient.

The kernel stores the ReLU's gradient, which the convolution's gradients read, and sums it. The
script covers both layouts, channels that threads process together or one by one, more channels than
a block handles, fewer than 32, and chunks of rows that interleave. Values must be close to the CPU
plan's, and the pass fuse-reductions must save stages.
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
  shape { dim: %(items)d dim: 8 dim: %(height)d dim: %(width)d } shape { dim: %(items)d } } }
layer { name: "conv" type: "Convolution" bottom: "x" top: "y" convolution_param {
  num_output: %(channels)d kernel_size: 1 weight_filler { type: "xavier" }
  bias_filler { type: "uniform" min: -0.5 max: 0.5 } } }
layer { name: "relu" type: "ReLU" bottom: "y" top: "y" }
layer { name: "last" type: "Convolution" bottom: "y" top: "z" convolution_param {
  num_output: 8 kernel_size: 1 weight_filler { type: "xavier" } bias_term: false } }
layer { name: "mean" type: "Pooling" bottom: "z" top: "mean" pooling_param {
  pool: AVE global_pooling: true } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "mean" bottom: "label" top: "loss" }
'''
# Channels, items, height and width. In the last two, chunks of rows interleave; in bf16 in tiles of
# fewer rows than a block reads at the same time, and of as many.
CASES = [(64, 16, 33, 32), (40, 16, 33, 32), (50, 8, 33, 32), (7, 16, 33, 32), (160, 4, 33, 32),
         (64, 256, 12, 8), (64, 256, 16, 8)]
LAYOUTS = ('nhwc', 'nchw')


class FusedReductions(targets.TargetChecker):
    def check(self):
        random = np.random.default_rng(9)
        fused = 0
        for channels, items, height, width in CASES:
            net = NET % {'channels': channels, 'items': items, 'height': height, 'width': width}
            inputs = {'x': random.standard_normal((items, 8, height, width)).astype(np.float32),
                      'label': random.integers(0, 8, items).astype(np.float32)}
            for precision in targets.TOLERANCE:
                for layout in LAYOUTS:
                    name = '%d channels, %d items, %s, %s' % (channels, items, layout, precision)
                    report = self.compare_targets(name, net, precision, inputs, layout)
                    unfused = self.compile(net, '--precision', precision, *targets.GPU,
                                           '--without', 'fuse-reductions', layout=layout)
                    stages = [each['programs']['main']['stages'] for each in (unfused, report)]
                    print('%s: %d stages, %d without' % (name, stages[1], stages[0]))
                    self.expect(stages[1] <= stages[0], '%s: more stages' % name)
                    fused += stages[1] < stages[0]
        self.expect(fused >= len(CASES), 'reductions are fused in %d cases only' % fused)


if __name__ == '__main__':
    checker.main(FusedReductions, __doc__, 'check')
