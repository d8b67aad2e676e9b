#!/usr/bin/python3
"""Compares the values of expressions with numpy, in f32 and f64.

usage: expression_values.py --bin BUILD_BIN_DIR [--brewc-flags=FLAGS]

One net has every formula of `FORMULAS`. x and z contain ordinary numbers,
zeros, both infinities and numbers large enough to overflow a careless formula.
If numpy's value is NaN, Brew's must be NaN, too. f64 must agree to 1e-14 of the
value and f32 to 1e-5, because exp, tanh and erf are polynomials on some machines.
"""
import argparse
import math
import os
import subprocess
import tempfile

import h5py
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument('--bin', required=True)
parser.add_argument('--brewc-flags', default='')
options = parser.parse_args()

ERF = np.vectorize(math.erf, otypes=[float])
SIGMOID = lambda v: 0.5 * np.tanh(0.5 * v) + 0.5

FORMULAS = {
    'x + z * 2 - 1': lambda x, z: x + z * 2 - 1,
    '-x ^ 2 / (1 + z ^ 2)': lambda x, z: -x ** 2 / (1 + z ** 2),
    'x * sigmoid(1.702 * x) + 0.5*z': lambda x, z: x * SIGMOID(1.702 * x) + 0.5 * z,
    '0.5 * x * (1 + erf(x / sqrt(2)))': lambda x, z: 0.5 * x * (1 + ERF(x / np.sqrt(2))),
    'softplus(x)': lambda x, z: np.logaddexp(x, 0),
    'tanh(x) + sin(z) * cos(x)': lambda x, z: np.tanh(x) + np.sin(z) * np.cos(x),
    'exp(-abs(x)) + expm1(z / 100)': lambda x, z: np.exp(-np.abs(x)) + np.expm1(z / 100),
    'acos(0.3 * x) + asin(0.3 * z) - atan(x) + tan(0.3 * z) + sinh(x) - cosh(z) + round(x)':
        lambda x, z: np.arccos(0.3 * x) + np.arcsin(0.3 * z) - np.arctan(x) + np.tan(0.3 * z) + np.sinh(x) - np.cosh(z)
        + np.rint(x),
    'log(abs(x) + 1) + log1p(z ^ 2)': lambda x, z: np.log(np.abs(x) + 1) + np.log1p(z ** 2),
    'log(x)': lambda x, z: np.log(x),
    'rsqrt(abs(z) + 1) + sqrt(abs(x))':
        lambda x, z: 1 / np.sqrt(np.abs(z) + 1) + np.sqrt(np.abs(x)),
    'pow(abs(x), 1.5) + 2 ^ -abs(z)':
        lambda x, z: np.abs(x) ** 1.5 + 2.0 ** -np.abs(z),
    'x > z ? x : 0.1 * z': lambda x, z: np.where(x > z, x, 0.1 * z),
    'select(x >= 0 && !(z > 1) || x == z, 1, -1)':
        lambda x, z: np.where((x >= 0) & ~(z > 1) | (x == z), 1, -1),
    '(x != z) + 2 * (x <= z) + 4 * (x < z)':
        lambda x, z: (x != z) + 2 * (x <= z) + 4 * (x < z),
    'max(x, z, 0.5) - min(x, z)': lambda x, z: np.maximum(np.maximum(x, z), 0.5) -
                                               np.minimum(x, z),
    'relu(x) + sign(z)': lambda x, z: np.maximum(x, 0) + np.sign(z),
    'floor(x) + ceil(z)': lambda x, z: np.floor(x) + np.ceil(z),
    'min(max(x + 3, 0), 6) / 6 * x': lambda x, z: np.clip(x + 3, 0, 6) / 6 * x,
    'cos(pi * min(max(x, -1), 1))': lambda x, z: np.cos(np.pi * np.clip(x, -1, 1)),
    '1.5e-3': lambda x, z: np.full(x.shape, 1.5e-3),
}

ORDINARY = [-3.25, -1.5, -0.75, -0.1, 0.0, 0.2, 0.5, 1.0, 1.75, 2.5, 4.0]
EXTREME = [-1e4, -90.0, 90.0, 1e4, math.inf, -math.inf]


def net_text(shape):
    dims = ' '.join('dim: %d' % d for d in shape)
    text = ('layer { name: "in" type: "Input" top: "x" top: "z" '
            'input_param { shape { %s } } }\n' % dims)
    for i, formula in enumerate(FORMULAS):
        text += ('layer { name: "f%d" type: "Expression" bottom: "x" bottom: "z" top: "y%d" '
                 'expression_param { expr: "%s" } }\n' % (i, i, formula))
    return text


def run_tool(*command):
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


problems = []
with tempfile.TemporaryDirectory() as folder:
    path = lambda name: os.path.join(folder, name)
    points = ORDINARY + EXTREME
    x, z = (np.array(v).ravel() for v in np.meshgrid(points, points))
    with open(path('net.prototxt'), 'w') as file:
        file.write(net_text(x.shape))
    with h5py.File(path('in.h5'), 'w') as file:
        file['inputs/x'], file['inputs/z'] = x, z
    for precision, tolerance in (('f64', 1e-14), ('f32', 1e-5)):
        run_tool(os.path.join(options.bin, 'brewc'), path('net.prototxt'), '--phase', 'test',
                 '--keep', 'all', '--precision', precision, '-o', path('plan'),
                 *options.brewc_flags.split())
        run_tool(os.path.join(options.bin, 'brew-run'), 'eval', path('plan'), '--inputs',
                 path('in.h5'), '--outputs', path('out.h5'))
        dtype = np.dtype(precision.replace('f', 'float'))
        with h5py.File(path('out.h5')) as file, np.errstate(all='ignore'):
            for i, (formula, function) in enumerate(FORMULAS.items()):
                actual = file['data/y%d' % i][()].astype(float)
                expected = function(x.astype(dtype).astype(float), z.astype(dtype).astype(float))
                expected = np.asarray(expected, float).astype(dtype).astype(float)
                agrees = (actual == expected) | (np.isnan(actual) & np.isnan(expected)) | \
                    (np.abs(actual - expected) <= tolerance * np.maximum(1, np.abs(expected)))
                for index in np.flatnonzero(~agrees)[:3]:
                    problems.append('%s %s at x = %g, z = %g: %.17g, not %.17g' %
                                    (precision, formula, x[index], z[index], actual[index],
                                     expected[index]))
for problem in problems:
    print(problem)
print('%d formulas, %d problems' % (len(FORMULAS), len(problems)))
raise SystemExit(bool(problems))
