#!/usr/bin/python3
"""Checks gradients of blobs with several readers, on the simulated GPU.

If the last reader is a convolution, its call adds its gradient to the gradients of the other
readers: after a residual sum, in concatenated branches, and after a reader that is no convolution.
A ReLU after a sum stores its mask as bits. One thread writes eight bits, or one bit if the ReLU
writes an unaligned slice of a concatenated blob. Outputs and gradients must equal the CPU plan's,
which adds in generated code and has no bit masks. The script also checks which calls add gradients.
"""
import os
import re
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common'))
import checker  # noqa: E402
import targets  # noqa: E402

CONV = '''layer { name: "%s" type: "Convolution" bottom: "%s" top: "%s" convolution_param {
  num_output: %d kernel_size: %d pad: %d weight_filler { type: "msra" } } }
layer { name: "relu_%s" type: "ReLU" bottom: "%s" top: "%s" }
'''


def conv(name, bottom, size, kernel):
    """Returns a convolution and its ReLU."""
    return CONV % (name, bottom, name, size, kernel, kernel // 2, name, name, name)


BRANCHES = ('''force_backward: true
layer { name: "in" type: "Input" top: "x" top: "label" input_param {
  shape { dim: 4 dim: 8 dim: 9 dim: 9 } shape { dim: 4 } } }
''' + conv('stem', 'x', 16, 3) + conv('a1', 'stem', 16, 1) + conv('a2', 'a1', 16, 3) +
       '''layer { name: "sum" type: "Eltwise" bottom: "stem" bottom: "a2" top: "sum" }
layer { name: "relu" type: "ReLU" bottom: "sum" top: "sum" }
layer { name: "pool" type: "Pooling" bottom: "sum" top: "pool" pooling_param {
  pool: MAX kernel_size: 3 stride: 1 pad: 1 } }
''' + conv('b1', 'sum', 8, 1) + conv('b2', 'sum', 8, 3) + conv('b3', 'pool', 8, 1) +
       '''layer { name: "join" type: "Concat" bottom: "b1" bottom: "b2" bottom: "b3" top: "join" }
layer { name: "global" type: "Pooling" bottom: "join" top: "global" pooling_param {
  pool: AVE global_pooling: true } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "global" bottom: "label" top: "loss" }
''')


UNALIGNED_SLICE = ('''force_backward: true
layer { name: "in" type: "Input" top: "x" top: "label" input_param {
  shape { dim: 4 dim: 8 dim: 9 dim: 9 } shape { dim: 4 } } }
''' + conv('a1', 'x', 16, 1) + conv('a2', 'a1', 16, 1) + conv('narrow', 'x', 2, 1) +
          '''layer { name: "sum" type: "Eltwise" bottom: "a1" bottom: "a2" top: "sum" }
layer { name: "relu" type: "ReLU" bottom: "sum" top: "sum" }
layer { name: "join" type: "Concat" bottom: "narrow" bottom: "sum" top: "join" }
''' + conv('b', 'join', 8, 1) +
          '''layer { name: "global" type: "Pooling" bottom: "b" top: "global" pooling_param {
  pool: AVE global_pooling: true } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "global" bottom: "label" top: "loss" }
''')

# Name, net, and the layers whose calls add to the gradient of another reader of their bottom.
NETS = [('branches', BRANCHES, ['a1', 'b1']), ('unaligned slice', UNALIGNED_SLICE, ['a2'])]


class SharedBlobs(targets.TargetChecker):
    def check(self):
        random = np.random.default_rng(5)
        x = random.standard_normal((4, 8, 9, 9)).astype(np.float32)
        label = random.integers(0, 8, 4).astype(np.float32)
        for precision in targets.TOLERANCE:
            for name, net, adding_layers in NETS:
                self.compare_targets('%s, %s' % (name, precision), net, precision,
                                     {'x': x, 'label': label})
                self.check_fused('%s, %s' % (name, precision), precision, adding_layers)

    def check_fused(self, name, precision, expected):
        """Checks which layers' calls add to other gradients, and that one kernel reads the bits that
        the ReLU after the sum stores."""
        fused = self.run(self.options.brewc, 'net.prototxt', '--phase', 'train', '--gradients',
                         '--layout', 'nhwc', '--precision', precision, '--emit=fused',
                         *targets.GPU).stdout
        adding = re.findall(r'convolution_backward_data "(\w+)"\(%[^,]*, %[^,]*, %', fused)
        self.expect(sorted(adding) == expected, '%s: calls of %s add to other gradients' %
                    (name, sorted(adding)))
        readers = re.findall(r'brew.kernel "\w*_backward"\(.*tensor<4x16x9x9xi1', fused)
        self.expect(len(readers) == 1, '%s: %d kernels read bits' % (name, len(readers)))


if __name__ == '__main__':
    checker.main(SharedBlobs, __doc__, 'check')
