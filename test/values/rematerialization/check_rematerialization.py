#!/usr/bin/python3
"""Checks gradients and updates of nets whose backward pass rematerializes values.

The arena plus the scratch that the report knows must stay within every limit, down to the smallest
limit that the compiler reports. The values must equal the values of the plan that stores
everything, up to the last bits. Both plans run the same operations on the same numbers, including
dropout masks and batch statistics. But if loop nests are grouped into other kernels, other
multiplications and additions may be contracted to FMAs.
"""
import json
import os
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common'))
import checker  # noqa: E402

CONV = '''layer { name: "%(name)s" type: "Convolution" bottom: "%(bottom)s" top: "%(name)s"
  convolution_param { num_output: %(size)d kernel_size: %(kernel)d pad: %(pad)d
    weight_filler { type: "msra" } } }
'''
BATCH_NORM = '''layer { name: "bn_%(name)s" type: "BatchNorm" bottom: "%(name)s" top: "%(name)s" }
layer { name: "scale_%(name)s" type: "Scale" bottom: "%(name)s" top: "%(name)s"
  scale_param { bias_term: true } }
'''
RELU = 'layer { name: "relu_%(name)s" type: "ReLU" bottom: "%(name)s" top: "%(name)s" }\n'
INPUT = '''layer { name: "in" type: "Input" top: "data" top: "label"
  input_param { shape { dim: 4 dim: 3 dim: 16 dim: 16 } shape { dim: 4 } } }
'''
HEAD = '''layer { name: "ip" type: "InnerProduct" bottom: "last" top: "ip"
  inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
'''


def conv(name, bottom, size, kernel, *following):
    """Returns a convolution followed by in-place layers, whose templates are `following`."""
    values = {'name': name, 'bottom': bottom, 'size': size, 'kernel': kernel,
              'pad': kernel // 2}
    return ''.join(template % values for template in (CONV,) + following)


def residual_net():
    """Returns residual blocks, followed by two branches that are concatenated."""
    text = INPUT + conv('stem', 'data', 16, 3, RELU)
    text += 'layer { name: "norm" type: "LRN" bottom: "stem" top: "norm" }\n'
    bottom = 'norm'
    for block in ('a', 'b'):
        text += conv(block + '1', bottom, 16, 3, BATCH_NORM, RELU)
        text += conv(block + '2', block + '1', 16, 3, BATCH_NORM)
        text += ('layer { name: "%(b)s" type: "Eltwise" bottom: "%(b)s2" bottom: "%(x)s"'
                 ' top: "%(b)s" }\n' % {'b': block, 'x': bottom}) + RELU % {'name': block}
        bottom = block
    # Two branches, one of which begins with a pooling.
    text += conv('left', bottom, 8, 1, RELU)
    text += '''layer { name: "pool" type: "Pooling" bottom: "b" top: "pool"
  pooling_param { pool: MAX kernel_size: 3 stride: 1 pad: 1 } }
'''
    text += conv('right', 'pool', 8, 3, RELU)
    text += '''layer { name: "both" type: "Concat" bottom: "left" bottom: "right" top: "both" }
layer { name: "drop" type: "Dropout" bottom: "both" top: "drop" }
'''
    return text + conv('last', 'drop', 8, 3, RELU) + HEAD


def layer(kind, bottoms, tops, settings=''):
    bottoms, tops = bottoms.split(), tops.split()
    return 'layer { name: "%s" type: "%s" %s %s %s }\n' % (
        tops[0], kind, ' '.join('bottom: "%s"' % blob for blob in bottoms),
        ' '.join('top: "%s"' % blob for blob in tops), settings)


def sliced_net():
    """Returns a net with a rematerialized value of two slices: a convolution reads one, and the other
    is concatenated."""
    return (INPUT + conv('c0', 'data', 8, 3) + layer('TanH', 'c0', 't0') +
            layer('Slice', 't0', 's1 s2', 'slice_param { axis: 1 }') +
            conv('c1', 's2', 8, 3) + layer('TanH', 'c1', 't1') +
            layer('Concat', 's1 t1', 'j') + conv('c2', 'j', 8, 3) +
            layer('TanH', 'c2', 't2') + conv('last', 't2', 8, 3) + HEAD)


def pooled_net():
    """Returns a net whose backward pass reads one slice of a concatenated blob."""
    return (INPUT + conv('c0', 'data', 8, 3) + layer('ReLU', 'c0', 'r0') +
            layer('TanH', 'data', 'r1') + layer('Concat', 'r0 r1', 'j') +
            layer('Pooling', 'j', 'p',
                  'pooling_param { pool: MAX kernel_size: 3 stride: 1 pad: 1 }') +
            conv('c1', 'p', 8, 3) + layer('TanH', 'c1', 't1') +
            conv('last', 't1', 8, 3) + HEAD)


def dense_net():
    """Returns a net that computes slices of concatenated blobs from other slices."""
    text, concat = INPUT + conv('c0', 'data', 8, 3, RELU), 'c0'
    for i in range(1, 4):
        text += conv('d%d' % i, concat, 8, 3, BATCH_NORM, RELU)
        text += layer('Concat', '%s d%d' % (concat, i), 'j%d' % i)
        concat = 'j%d' % i
    text += layer('PReLU', concat, 'q') + layer('Eltwise', 'q ' + concat, 'e')
    text += layer('Concat', 'data e q', 'k') + layer('Sigmoid', 'k', 'k')
    return text + conv('last', 'k', 8, 3) + HEAD


# Upper bounds of the smallest possible memory, relative to the memory without a limit.
MAX_RATIOS = {'residual_net': 0.6, 'sliced_net': 0.95, 'pooled_net': 0.99, 'dense_net': 0.95}


class Rematerialization(checker.Checker):
    def compile_with_limit(self, limit=None):
        """Compiles the net; returns (memory in bytes, seconds spent on rematerialization).

        If the limit is too small, returns None and the smallest possible limit. The memory, to which
        the limit applies, is the arena plus the scratch that the report knows.
        """
        command = [self.options.brewc, 'net.prototxt', '--phase', 'train', '--gradients', '-o',
                   'net.plan', '--report=json'] + self.options.brewc_flags.split()
        if limit is not None:
            command.append('--memory-limit=%d' % limit)
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            smallest_limit = re.search(r'take at least [^(]*\((\d+) bytes\)', done.stderr)
            self.expect(done.returncode == 3 and smallest_limit, done.stderr)
            self.expect('largest batch that fits' in done.stderr or
                        'No smaller batch fits either' in done.stderr, done.stderr)
            return None, int(smallest_limit.group(1)) if smallest_limit else 0
        program, = json.loads(done.stdout)['programs'].values()
        memory = program['memory']
        return (memory['arena_bytes'] + (memory['workspace_bytes'] or 0),
                program['recompute_seconds'])

    def check(self):
        random = np.random.default_rng(5)
        inputs = {'data': random.standard_normal((4, 3, 16, 16)).astype(np.float32),
                  'label': np.array([0, 3, 1, 4], np.float32)}
        for make_net in (residual_net, sliced_net, pooled_net, dense_net):
            self.write('net.prototxt', make_net())
            self.check_net(make_net.__name__, inputs)

    def check_net(self, net, inputs):
        unlimited, seconds = self.compile_with_limit()
        self.expect(seconds == 0, net + ': rematerializes values without a limit')
        expected = self.evaluate(inputs, '--gradients', seed=7)
        self.expect(len([name for name in expected if 'param_diff' in name]) >= 8,
                    '%s: too few gradients: %s' % (net, sorted(expected)))
        memory, smallest_limit = self.compile_with_limit(1000)
        self.expect(memory is None and smallest_limit > 1000, net + ' fits into 1000 bytes')
        self.expect(smallest_limit < MAX_RATIOS[net] * unlimited,
                    '%s: at least %d of %d bytes are needed' % (net, smallest_limit, unlimited))
        for limit in (unlimited, unlimited * 9 // 10, (unlimited + smallest_limit) // 2, smallest_limit):
            memory, seconds = self.compile_with_limit(limit)
            if not memory:
                self.expect(limit < smallest_limit, '%s: %d bytes are too few, although %d suffice' %
                            (net, limit, smallest_limit))
                continue
            self.expect(memory <= limit, '%s: uses %d bytes, limit %d' % (net, memory, limit))
            self.expect((seconds > 0) == (limit < unlimited), '%s: limit %d of %d: %g s of '
                        'rematerialization' % (net, limit, unlimited, seconds))
            actual = self.evaluate(inputs, '--gradients', seed=7)
            self.expect(sorted(actual) == sorted(expected), net + ': writes different datasets')
            for name in expected:
                self.compare('%s: limit %d of %d: %s' % (net, limit, unlimited, name),
                             actual[name], expected[name])

    def compare(self, name, actual, expected):
        # Allows for a few rounding errors of the largest value.
        error = np.abs(actual - expected).max()
        limit = 1e-6 * np.abs(expected).max()
        self.expect(error <= limit, '%s differs by %g, more than %g' % (name, error, limit))


if __name__ == '__main__':
    checker.main(Rematerialization, __doc__, 'check')
