"""Compares generated products with long sums with NumPy in f64.

The shapes are large enough for blocks of rows and of sums, which the small shapes of
values/gradients do not have. 30, 513 and 49 do not divide into vectors or blocks. The rows of
(320, 1280, 640) do not fit in a cache of 2 MB, and the largest block of 1000 rows of 2048 numbers
that does is no multiple of the four rows that share loads.
"""
import unittest

import numpy as np

from generated_net import GeneratedNetTest

INNER_PRODUCT = '''
force_backward: true
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: %d dim: %d } } }
layer { name: "product" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: %d } }
layer { name: "loss" type: "Reduction" bottom: "y" top: "loss" reduction_param { operation: SUMSQ } loss_weight: 0.5 }
'''
CONVOLUTION = '''
force_backward: true
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: %d dim: %d dim: %d dim: %d } } }
layer { name: "product" type: "Convolution" bottom: "x" top: "y" convolution_param { num_output: %d kernel_size: 1 } }
layer { name: "loss" type: "Reduction" bottom: "y" top: "loss" reduction_param { operation: SUMSQ } loss_weight: 0.5 }
'''
BIAS = '''
force_backward: true
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: %d dim: %d dim: %d dim: %d } } }
layer { name: "product" type: "Bias" bottom: "x" top: "y" }
layer { name: "loss" type: "Reduction" bottom: "y" top: "loss" reduction_param { operation: SUMSQ } loss_weight: 0.5 }
'''


class GeneratedProducts(GeneratedNetTest):
    def test_inner_products(self):
        for rows, depth, outputs in ((64, 1024, 64), (30, 513, 20), (64, 6400, 32), (1, 2048, 64),
                                     (320, 1280, 640), (256, 2048, 1000)):
            with self.subTest(rows=rows, depth=depth, outputs=outputs):
                random = np.random.RandomState(rows)
                x, w = (np.float32(random.standard_normal(shape)) for shape in ((rows, depth), (outputs, depth)))
                b = np.float32(random.standard_normal(outputs))
                y = x.astype(np.float64) @ w.T.astype(np.float64) + b
                self.check(self.run_net(INNER_PRODUCT % (rows, depth, outputs), x, [w, b]),
                           [y, y @ w, y.T @ x, y.sum(0)])

    def test_convolutions(self):
        for shape, outputs in (((4, 64, 28, 28), 32), ((2, 600, 7, 7), 24), ((2, 16, 13, 11), 5)):
            with self.subTest(shape=shape, outputs=outputs):
                random = np.random.RandomState(outputs)
                x = np.float32(random.standard_normal(shape))
                w = np.float32(random.standard_normal((outputs, shape[1], 1, 1)))
                b = np.float32(random.standard_normal(outputs))
                matrix = w[:, :, 0, 0].astype(np.float64)
                y = np.einsum('kc,nchw->nkhw', matrix, x) + b[:, None, None]
                self.check(self.run_net(CONVOLUTION % (*shape, outputs), x, [w, b]),
                           [y, np.einsum('kc,nkhw->nchw', matrix, y), np.einsum('nkhw,nchw->kc', y, x), y.sum((0, 2, 3))])

    def test_sums_of_planes(self):
        """Units of several channels, whose sums have several blocks of partial sums."""
        for shape in ((256, 64, 8, 8), (300, 256, 7, 7)):
            with self.subTest(shape=shape):
                x = np.float32(np.random.RandomState(1).standard_normal(shape))
                bias = np.float32(np.random.RandomState(2).standard_normal(shape[1]))
                y = np.float64(x) + bias[:, None, None]
                self.check(self.run_net(BIAS % shape, x, [bias]), [y, y, y.sum((0, 2, 3))])


if __name__ == '__main__':
    unittest.main()
