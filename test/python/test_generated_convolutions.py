"""Compares generated convolutions, and their gradients, with NumPy in f64.

The shapes have blocks of outputs and channels (64 and 48), rows that do not divide into the blocks
of pixels that share loads, strides whose windows leave out pixels, paddings larger than the kernel
and long sums, which the small shapes of values/gradients do not have.
"""
import unittest

import numpy as np

from generated_net import GeneratedNetTest

NET = '''
force_backward: true
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: %d dim: %d dim: %d dim: %d } } }
layer { name: "product" type: "%s" bottom: "x" top: "y" convolution_param {
  num_output: %d kernel_h: %d kernel_w: %d stride_h: %d stride_w: %d pad_h: %d pad_w: %d dilation: %d group: %d } }
layer { name: "loss" type: "Reduction" bottom: "y" top: "loss" reduction_param { operation: SUMSQ } loss_weight: 0.5 }
'''


def windows(shape, out, kernel, stride, pad, dilation):
    """Yields tap r, tap s, the pixels [P, Q] of a padded image that they read, and its extents."""
    extents = [max(size + 2 * p, (o - 1) * step + dilation * (k - 1) + 1)
               for size, o, k, step, p in zip(shape, out, kernel, stride, pad)]
    for r in range(kernel[0]):
        for s in range(kernel[1]):
            yield r, s, tuple(slice(tap * dilation, tap * dilation + (o - 1) * step + 1, step)
                              for tap, o, step in zip((r, s), out, stride)), extents


class Convolution:
    """A convolution in f64; x is [N, C, H, W], w [K, C / group, R, S]."""

    def __init__(self, kernel, stride, pad, dilation, group):
        self.kernel, self.stride, self.pad, self.dilation, self.group = kernel, stride, pad, dilation, group

    def outputs(self, shape):
        return [(size + 2 * p - self.dilation * (k - 1) - 1) // step + 1
                for size, p, k, step in zip(shape, self.pad, self.kernel, self.stride)]

    def taps(self, shape):
        return windows(shape, self.outputs(shape), self.kernel, self.stride, self.pad, self.dilation)

    def padded(self, x, extents):
        padded = np.zeros(x.shape[:2] + tuple(extents))
        padded[:, :, self.pad[0]:self.pad[0] + x.shape[2], self.pad[1]:self.pad[1] + x.shape[3]] = x
        return padded

    def split(self, x):
        return x.reshape(x.shape[0], self.group, -1, *x.shape[2:])

    def forward(self, x, w):
        y = 0
        weights = w.reshape(self.group, -1, *w.shape[1:])
        for r, s, pixels, extents in self.taps(x.shape[2:]):
            part = self.padded(x, extents)[(slice(None), slice(None)) + pixels]
            y = y + np.einsum('ngchw,gkc->ngkhw', self.split(part), weights[..., r, s])
        return y.reshape(x.shape[0], -1, *y.shape[3:])

    def backward_data(self, dy, w, shape):
        weights = w.reshape(self.group, -1, *w.shape[1:])
        dx = None
        for r, s, pixels, extents in self.taps(shape[2:]):
            if dx is None:
                dx = np.zeros(tuple(shape[:2]) + tuple(extents))
            part = np.einsum('ngkhw,gkc->ngchw', self.split(dy), weights[..., r, s])
            dx[(slice(None), slice(None)) + pixels] += part.reshape(shape[0], shape[1], *part.shape[3:])
        return dx[:, :, self.pad[0]:self.pad[0] + shape[2], self.pad[1]:self.pad[1] + shape[3]]

    def backward_weights(self, x, dy, shape):
        dw = np.zeros(shape)
        for r, s, pixels, extents in self.taps(x.shape[2:]):
            part = self.padded(x, extents)[(slice(None), slice(None)) + pixels]
            product = np.einsum('ngkhw,ngchw->gkc', self.split(dy), self.split(part))
            dw[..., r, s] = product.reshape(shape[:2])
        return dw


#: x, outputs, kernel, stride, pad, dilation, group
CASES = {
    'rows of 7': ((4, 96, 7, 7), 128, (3, 3), (1, 1), (1, 1), 1, 1),
    'one image': ((1, 64, 14, 14), 192, (3, 3), (1, 1), (1, 1), 1, 1),
    'a stride': ((2, 80, 15, 14), 96, (3, 3), (2, 2), (1, 1), 1, 1),
    'strided products': ((4, 256, 10, 10), 320, (1, 1), (2, 2), (0, 0), 1, 1),
    'a first layer': ((2, 3, 45, 45), 64, (7, 7), (2, 2), (3, 3), 1, 1),
    'groups': ((2, 96, 13, 13), 256, (5, 5), (1, 1), (2, 2), 1, 2),
    'groups of blocks': ((2, 256, 9, 9), 384, (3, 3), (1, 1), (1, 1), 1, 2),
    'depthwise': ((2, 40, 12, 12), 40, (3, 3), (1, 1), (1, 1), 1, 40),
    'few channels of a group': ((2, 32, 9, 9), 64, (3, 3), (1, 1), (1, 1), 1, 8),
    'few channels of many groups': ((2, 64, 9, 9), 64, (3, 3), (1, 1), (1, 1), 1, 32),
    'dilation': ((2, 70, 12, 12), 66, (3, 3), (1, 1), (2, 2), 2, 1),
    'dilation and a stride': ((2, 32, 16, 16), 32, (3, 3), (2, 2), (2, 2), 2, 1),
    'different axes': ((2, 33, 11, 17), 80, (1, 5), (1, 3), (0, 2), 1, 1),
    'padding beyond the kernel': ((2, 24, 5, 5), 72, (2, 2), (1, 1), (3, 3), 1, 1),
    'padding of a product': ((2, 24, 5, 5), 72, (1, 1), (1, 1), (1, 1), 1, 1),
    'a whole image': ((4, 128, 6, 6), 1000, (6, 6), (1, 1), (0, 0), 1, 1),
    'many images': ((16, 20, 13, 9), 24, (3, 3), (1, 1), (1, 1), 1, 1),
    'a prime': ((3, 67, 13, 13), 130, (3, 3), (1, 1), (1, 1), 1, 1),
}


class GeneratedConvolutions(GeneratedNetTest):
    def check_case(self, kind, shape, outputs, kernel, stride, pad, dilation, group, layout='auto'):
        random = np.random.RandomState(outputs)
        x = np.float32(random.standard_normal(shape))
        convolution = Convolution(kernel, stride, pad, dilation, group)
        bias = np.float32(random.standard_normal(outputs))
        if kind == 'Convolution':
            w = np.float32(random.standard_normal((outputs, shape[1] // group, *kernel)))
            y = convolution.forward(x, np.float64(w)) + bias[:, None, None]
            expected = [y, convolution.backward_data(y, np.float64(w), shape),
                        convolution.backward_weights(x, y, w.shape), y.sum((0, 2, 3))]
        else:
            w = np.float32(random.standard_normal((shape[1], outputs // group, *kernel)))
            size = [(n - 1) * step + dilation * (k - 1) + 1 - 2 * p
                    for n, step, k, p in zip(shape[2:], stride, kernel, pad)]
            y = convolution.backward_data(x, np.float64(w), (shape[0], outputs, *size)) + bias[:, None, None]
            expected = [y, convolution.forward(y, np.float64(w)),
                        convolution.backward_weights(y, x, w.shape), y.sum((0, 2, 3))]
        text = NET % (*shape, kind, outputs, *kernel, *stride, *pad, dilation, group)
        self.check(self.run_net(text, x, [w, bias], layout), expected)

    def test_convolutions(self):
        for name, case in CASES.items():
            with self.subTest(name):
                self.check_case('Convolution', *case)

    def test_convolutions_of_planes(self):
        for name, case in CASES.items():
            with self.subTest(name):
                self.check_case('Convolution', *case, layout='nchw')

    def test_deconvolutions(self):
        for name in ('rows of 7', 'a stride', 'groups', 'dilation and a stride', 'padding of a product', 'a prime'):
            with self.subTest(name):
                self.check_case('Deconvolution', *CASES[name])


if __name__ == '__main__':
    unittest.main()
