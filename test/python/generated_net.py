"""Runs a net of one layer without a library, for comparison with NumPy in f64."""
import unittest

import brew
import numpy as np
from brew._core import Kind, Pass

#: Relative to the largest value: f32 rounds at 6e-8, and products of random numbers cancel.
TOLERANCE = 3e-6


class GeneratedNetTest(unittest.TestCase):
    def run_net(self, text, x, parameters, layout='auto'):
        """Returns y, and the gradients of x and of the parameters of the layer "product" for the
        loss |y|^2 / 2."""
        plan = brew.compile(text, phase='train', gradients=True, keep='all', report=False, no_library=True,
                            layout=layout)
        session = plan.session(seed=1, threads=1)
        session.params['product'] = parameters
        core = session._core
        core.set_input(0, 'x', x)
        core.feed(0)
        core.run(0, Pass.BOTH)
        return [np.array(core.read(kind, 0, name, index)) for kind, name, index in (
            (Kind.BLOB, 'y', 0), (Kind.BLOB_GRADIENT, 'x', 0),
            *((Kind.PARAMETER_GRADIENT, 'product', index) for index in range(len(parameters))))]

    def check(self, actual, expected):
        for name, values, exact in zip(('y', 'dx', 'dw', 'db'), actual, expected):
            error = np.abs(values.reshape(exact.shape) - exact).max() / np.abs(exact).max()
            self.assertLess(error, TOLERANCE, name)
