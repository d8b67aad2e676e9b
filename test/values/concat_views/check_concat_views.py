#!/usr/bin/python3
"""Checks calls that read and write slices of Concat and Slice blobs, on the simulated GPU.

On a GPU the convolutions of branches write their slices of the concatenated blob, and their
backward calls read slices of its gradient. The same holds for the tops of a Slice. Slices must be
aligned to 16 bytes and be multiples of 16 bytes long; others are copied. The CPU copies all slices,
and the outputs and gradients must agree with the CPU's plan. The script also checks which calls use
slices.
"""
import os
import re
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common'))
import checker  # noqa: E402
import targets  # noqa: E402

INPUT = '''force_backward: true
layer { name: "in" type: "Input" top: "x" top: "label" input_param {
  shape { dim: 4 dim: 8 dim: 9 dim: 7 } shape { dim: 4 } } }
'''
HEAD = '''layer { name: "global" type: "Pooling" bottom: "last" top: "global" pooling_param {
  pool: AVE global_pooling: true } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "global" bottom: "label" top: "loss" }
'''


def conv(name, bottom, size, kernel, relu=True):
    text = '''layer { name: "%s" type: "Convolution" bottom: "%s" top: "%s" convolution_param {
  num_output: %d kernel_size: %d pad: %d weight_filler { type: "msra" }
  bias_filler { type: "constant" value: 0.1 } } }
''' % (name, bottom, name, size, kernel, kernel // 2)
    if relu:
        text += 'layer { name: "relu_%s" type: "ReLU" bottom: "%s" top: "%s" }\n' % (
            name, name, name)
    return text


def layer(kind, bottoms, tops, settings=''):
    bottoms, tops = bottoms.split(), tops.split()
    return 'layer { name: "%s" type: "%s" %s %s %s }\n' % (
        tops[0], kind, ' '.join('bottom: "%s"' % blob for blob in bottoms),
        ' '.join('top: "%s"' % blob for blob in tops), settings)


def inception():
    """Returns a net with concatenated branches of several depths; one begins with a Pooling.

    Another convolution reads one of the slices.
    """
    return (INPUT + conv('stem', 'x', 16, 3) + conv('a', 'stem', 16, 1) +
            conv('b0', 'stem', 8, 3) + conv('b', 'b0', 24, 3, relu=False) +
            layer('Pooling', 'stem', 'p',
                  'pooling_param { pool: MAX kernel_size: 3 stride: 1 pad: 1 }') +
            conv('c', 'p', 8, 1) + layer('Concat', 'a b c', 'j') +
            conv('d', 'a', 8, 3) + layer('Concat', 'd j', 'k') +
            conv('last', 'k', 8, 3) + HEAD)


def uneven():
    """Returns a net with a slice of 12 channels, in bf16 no multiple of 16 bytes.

    The next slice is therefore not aligned to 16 bytes.
    """
    return (INPUT + conv('a', 'x', 12, 3) + conv('b', 'x', 8, 5) + layer('Concat', 'a b', 'j') +
            conv('last', 'j', 8, 3) + HEAD)


def sliced():
    """Returns a net whose convolutions read the tops of a Slice.

    The gradients of these tops are slices of the gradient of the Slice's bottom.
    """
    return (INPUT + conv('stem', 'x', 32, 3) +
            layer('Slice', 'stem', 's1 s2 s3',
                  'slice_param { axis: 1 slice_point: 16 slice_point: 20 }') +
            conv('a', 's1', 8, 3) + conv('b', 's2', 8, 1) + conv('c', 's3', 8, 3) +
            layer('Eltwise', 'a b c', 'last') + HEAD)


# The layers whose calls access slices in place. They write their tops ('writes') or the gradients
# of their bottoms ('writes gradient'), or read their bottoms ('reads') or the gradients of their
# tops ('reads gradient').
EXPECTED = {
    'inception': {'writes': {'a', 'b', 'c', 'd'}, 'writes gradient': set(),
                  'reads': {'d'}, 'reads gradient': {'b'}},
    'uneven': {'writes': {'a', 'b'}, 'writes gradient': set(), 'reads': set(),
               'reads gradient': set()},
    'sliced': {'writes': set(), 'writes gradient': {'a', 'b', 'c'}, 'reads': {'a', 'b', 'c'},
               'reads gradient': set()}}
# The accesses among these whose slices are not aligned if elements have 2 bytes.
UNALIGNED_IN_BF16 = {'uneven': {'writes': {'a', 'b'}},
                     'sliced': {'writes gradient': {'b', 'c'}, 'reads': {'b', 'c'}}}


class ConcatViews(targets.TargetChecker):
    def check(self):
        random = np.random.default_rng(5)
        inputs = {'x': random.standard_normal((4, 8, 9, 7)).astype(np.float32),
                  'label': random.integers(0, 8, 4).astype(np.float32)}
        for net in (inception, uneven, sliced):
            for precision in targets.TOLERANCE:
                name = '%s, %s' % (net.__name__, precision)
                self.compare_targets(name, net(), precision, inputs)
                self.check_calls(name, net.__name__, precision)

    def check_calls(self, name, net, precision):
        fused = self.run(self.options.brewc, 'net.prototxt', '--phase', 'train', '--gradients',
                         '--layout', 'nhwc', '--precision', precision, '--emit=fused',
                         '--without=fuse-sibling-convolutions', *targets.GPU).stdout
        found = {use: set() for use in EXPECTED[net]}
        for kind, layers, bottoms, top in re.findall(
                r'brew\.(convolution\w*) "([^"]*)"\(.*: \((.*)\) -> (.*)', fused):
            first, *_ = layers.split('+')
            if 'strides' in top:
                found['writes' if kind == 'convolution' else 'writes gradient'].add(first)
            types = re.findall(r'tensor<(?:[^<>]|<[^<>]*>)*>', bottoms)
            if kind == 'convolution' or kind.endswith('weights'):
                if 'strides' in types[0]:
                    found['reads'].add(first)
            if kind.endswith('data') and 'strides' in types[0] or (
                    kind.endswith('weights') and 'strides' in types[1]):
                found['reads gradient'].add(first)
        for use, layers in EXPECTED[net].items():
            expected = set(layers)
            if precision == 'bf16':
                expected -= UNALIGNED_IN_BF16.get(net, {}).get(use, set())
            self.expect(found[use] == expected, '%s: %s: %s instead of %s' % (
                name, use, sorted(found[use]), sorted(expected)))


if __name__ == '__main__':
    checker.main(ConcatViews, __doc__, 'check')
