#!/usr/bin/python3
"""Checks gradients of poolings after normalisations.

Two kernels read the bottom gradient of such a pooling: one computes its reductions, the other
combines it with their results. If only a few windows overlap and channels are contiguous, the pass
fuse-pooling-backward makes each kernel compute the gradient from the top gradient. The cases are
windows that overlap, do not overlap, skip elements, reach into the padding, or cover the blob, in
channels-last and channels-first layouts. Values must equal the CPU plan's, and plans without the
pass must move more bytes.
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
  shape { dim: 8 dim: 8 dim: 20 dim: 17 } shape { dim: 8 } } }
layer { name: "conv" type: "Convolution" bottom: "x" top: "y" convolution_param {
  num_output: %(channels)d kernel_size: 1 weight_filler { type: "xavier" } bias_term: false } }
layer { name: "bn" type: "BatchNorm" bottom: "y" top: "b" }
layer { name: "scale" type: "Scale" bottom: "b" top: "s" scale_param { bias_term: true } }
layer { name: "pool" type: "Pooling" bottom: "s" top: "p" pooling_param { %(pool)s } }
layer { name: "ip" type: "InnerProduct" bottom: "p" top: "z" inner_product_param {
  num_output: 8 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "z" bottom: "label" top: "loss" }
'''
# 32 channels suit packs (16-byte accesses), 13 do not.
CHANNELS = (32, 13)
POOLS = ['pool: MAX kernel_size: 3 stride: 2', 'pool: MAX kernel_size: 2 stride: 2',
         'pool: MAX kernel_size: 2 stride: 3', 'pool: MAX kernel_size: 3 stride: 1',
         'pool: MAX kernel_size: 3 stride: 2 pad: 1', 'pool: MAX global_pooling: true',
         'pool: MAX kernel_h: 20 kernel_w: 16 stride: 5 round_mode: FLOOR',
         'pool: AVE kernel_size: 3 stride: 2 pad: 1', 'pool: AVE global_pooling: true',
         'pool: AVE kernel_h: 20 kernel_w: 17 stride: 5',
         'pool: AVE kernel_h: 22 kernel_w: 19 stride: 5 pad: 1',
         'pool: AVE kernel_h: 20 kernel_w: 16 stride: 5 round_mode: FLOOR']
# The poolings whose fusion must save bytes. For averages, both kernels would compute quotients;
# whether fusion pays then depends on the element type.
FUSED_POOLS = [pool for pool in POOLS if 'MAX' in pool and 'stride: 1' not in pool]
PRECISIONS_AND_LAYOUTS = [('f32', 'nhwc'), ('bf16', 'nhwc'), ('f32', 'nchw')]


class PoolingBackward(targets.TargetChecker):
    def check(self):
        random = np.random.default_rng(11)
        inputs = {'x': random.standard_normal((8, 8, 20, 17)).astype(np.float32),
                  'label': random.integers(0, 8, 8).astype(np.float32)}
        for pool in POOLS:
            for channels in CHANNELS:
                net = NET % {'channels': channels, 'pool': pool}
                for precision, layout in PRECISIONS_AND_LAYOUTS:
                    self.check_net(net, precision, inputs, layout, pool in FUSED_POOLS,
                                   '%s, %d channels, %s, %s' % (pool, channels, precision, layout))

    def check_net(self, net, precision, inputs, layout, must_save_bytes, name):
        fused = self.compare_targets(name, net, precision, inputs, layout)
        unfused = self.compile(net, '--precision', precision, *targets.GPU,
                               '--without=fuse-pooling-backward', layout=layout)
        bytes_moved = [report['programs']['main']['bytes'] for report in (fused, unfused)]
        print('%s: %d bytes, %d without the pass' % (name, *bytes_moved))
        if layout == 'nchw':
            self.expect(bytes_moved[0] == bytes_moved[1],
                        '%s: the pass changes a channels-first plan' % name)
        elif must_save_bytes:
            self.expect(bytes_moved[0] < bytes_moved[1], '%s: the pass saves no bytes' % name)
        else:
            self.expect(bytes_moved[0] <= bytes_moved[1], '%s: the pass adds bytes' % name)


if __name__ == '__main__':
    checker.main(PoolingBackward, __doc__, 'check')
