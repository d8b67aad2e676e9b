#!/usr/bin/python3
"""Checks ArgMax against its definition: pairs of value and index, the largest first.

Equal values, which are frequent in these inputs, come in descending order of index; NaN is never
chosen.
"""
import itertools
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common'))
import checker  # noqa: E402

# Shape, axis and top_k. The kernel finds up to 32 values one by one, and more by sorting.
CASES = (
    ((3, 100), 1, 1), ((3, 100), 1, 32), ((3, 100), 1, 33), ((3, 100), 1, 99), ((3, 100), 1, 100),
    ((2, 1000), None, 200), ((1, 2500), 1, 1000), ((1, 1025), -1, 1025), ((2, 5, 6, 7), None, 70),
    ((2, 130, 3, 4), 1, 80), ((2, 3, 90, 4), 2, 90), ((70, 3), 0, 66), ((2, 3, 129), -1, 128))


def expected_top(x, axis, top_k, out_max_val):
    """Returns the layer's top. If only NaN is left, a pair is -infinity and index -1."""
    if axis is None:
        rows = x.reshape(len(x), -1)
    else:
        rows = np.moveaxis(x, axis, -1)
    # lexsort's last key is the primary one.
    indices = np.broadcast_to(np.arange(rows.shape[-1]), rows.shape)
    order = np.lexsort((-indices, -rows, np.isnan(rows)), axis=-1)[..., :top_k]
    found = np.take_along_axis(rows, order, -1)
    order = np.where(np.isnan(found), -1, order)
    found = np.where(np.isnan(found), -np.inf, found)
    if axis is not None:
        return np.moveaxis(found if out_max_val else order, -1, axis)
    y = np.stack([order, found] if out_max_val else [order], axis=1)
    return y.reshape(y.shape + (1,) * (x.ndim - 3))


class ArgMax(checker.Checker):
    def check(self, random, shape, axis, top_k, out_max_val, *flags):
        # Multiples of 1/4, which 16 bits represent exactly; each occurs many times.
        x = random.randint(-20, 21, shape) / 4
        x[random.uniform(size=shape) < 0.1] = -0.0
        x[random.uniform(size=shape) < 0.05] = np.inf
        x[random.uniform(size=shape) < 0.05] = -np.inf
        x[random.uniform(size=shape) < 0.05] = np.nan
        if axis == 1:
            x[-1] = 7  # all are equal
        net = 'layer { name: "x" type: "Input" top: "x" input_param { shape { %s } } }\n' % (
            ' '.join('dim: %d' % d for d in shape))
        # Only values that a layer computes are stored in 16 bits: here, a Scale by 1.
        net += 'layer { name: "s" type: "Scale" bottom: "x" top: "z" ' \
            'scale_param { axis: 0 num_axes: 0 } }\n'
        net += 'layer { name: "l" type: "ArgMax" bottom: "z" top: "y" argmax_param { ' \
            'top_k: %d out_max_val: %s %s } }\n' % (
                top_k, str(out_max_val).lower(), '' if axis is None else 'axis: %d' % axis)
        self.compile(net, 'test', *flags)
        found = self.evaluate({'x': x})['data/y']
        expected = expected_top(x, axis, top_k, out_max_val)
        self.expect(found.shape == expected.shape and np.array_equal(found, expected) and
                    np.array_equal(np.signbit(found), np.signbit(expected)),
                    'top_k: %d axis: %s out_max_val: %s, shape %s, flags %s: wrong values' %
                    (top_k, axis, out_max_val, shape, flags))

    def check_cases(self):
        random = np.random.RandomState(3)
        flags = itertools.cycle(([], ['--precision', 'bf16'], ['--layout=nhwc'],
                                 ['--precision', 'bf16', '--layout=nhwc'], ['--precision', 'f64']))
        for case in CASES:
            for out_max_val in (False, True):
                self.check(random, *case, out_max_val, *next(flags))


if __name__ == '__main__':
    checker.main(ArgMax, __doc__, 'check_cases')
