#!/usr/bin/python3
"""Checks R-FCN's layers for hard examples against their definitions, with fixed random inputs."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from check_detection import Detection, checker  # noqa: E402
from check_proposals import layer  # noqa: E402


def smooth(x):
    return np.where(np.abs(x) < 1, 0.5 * x ** 2, np.abs(x) - 0.5)


class HardExamples(Detection):
    def check_smooth_l1(self):
        random = np.random.RandomState(1)
        for shape, weighted in (((5, 8), True), ((3, 4, 2, 3), False)):
            inputs = {n: random.uniform(-2, 2, shape).round(2) for n in ('x', 't')}
            if weighted:
                inputs['w'] = random.uniform(0, 2, shape).round(2)
            items, positions = shape[0], int(np.prod(shape[2:]))
            losses = smooth((inputs['x'] - inputs['t']) * inputs.get('w', 1))
            each = losses.reshape(items, shape[1], positions).sum(axis=1).reshape(
                items, 1, *(shape[2:] or (1, 1)))
            self.compare('SmoothL1LossOHEM items %s' % (shape,), layer('SmoothL1LossOHEM', tuple(inputs), ('l', 'y')),
                         inputs, each)
            for mode, divisor in (('', items * positions), ('VALID', items * positions), ('BATCH_SIZE', items),
                                  ('NONE', 1), ('PRE_FIXED', 7)):
                settings = 'normalization: %s' % mode if mode else ''
                if mode == 'PRE_FIXED':
                    settings += ' pre_fixed_normalizer: 7'
                self.compare('SmoothL1LossOHEM %s %s' % (shape, mode), layer(
                    'SmoothL1LossOHEM', tuple(inputs), ('y',), 'loss_param { %s }' % settings),
                    inputs, losses.sum() / divisor, 2e-5)

    def check_softmax(self):
        random = np.random.RandomState(2)
        for shape, axis, ignore in (((6, 4), 1, None), ((2, 3, 2, 2), 1, 1), ((3, 2, 5), -1, 0)):
            x = random.normal(size=shape).round(2)
            labels = random.randint(0, shape[axis], tuple(np.delete(shape, axis)))
            p = np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)
            losses = -np.log(np.take_along_axis(p, np.expand_dims(labels, axis), axis)).squeeze(axis)
            losses[labels == ignore] = 0
            settings = 'softmax_param { axis: %d } ' % axis
            if ignore is not None:
                settings += 'loss_param { ignore_label: %d }' % ignore
            inputs = {'x': x, 'labels': labels.astype(float)}
            for name, tops, expected in (('loss', ('y', 'p', 'e'), losses.sum() / (labels != ignore).sum()),
                                         ('probabilities', ('l', 'y'), p), ('losses', ('l', 'p', 'y'), losses)):
                self.compare('SoftmaxWithLossOHEM %s %s' % (shape, name),
                             layer('SoftmaxWithLossOHEM', tuple(inputs), tops, settings), inputs, expected, 2e-5)

    def check_choice(self):
        random = np.random.RandomState(3)
        for name, shape, images, count in (('usual', (40, 5), 1, 7), ('images', (40, 5), 3, 5), ('all', (6, 5), 2, 9),
                                           ('positions', (4, 5, 3, 2), 2, 6)):
            rois = random.uniform(0, 9, shape).round(1)
            rois[:, 0] = random.randint(0, images, rois[:, 0].shape)
            losses = random.uniform(0, 1, rois[:, :1].shape).round(1)  # some are equal
            labels = random.randint(0, 5, rois[:, :1].shape)
            weights = random.uniform(0, 1, (shape[0], 8) + shape[2:]).round(2)
            left = [count] * images
            kept = np.zeros(losses.size, bool)
            for i in sorted(range(losses.size), key=lambda i: -losses.ravel()[i]):
                image = int(rois[:, 0].ravel()[i])
                kept[i] = left[image] > 0
                left[image] -= 1
            kept = kept.reshape(labels.shape)
            inputs = {'r': rois, 'e': losses, 'l': labels.astype(float), 'w': weights}
            for top, expected in (('labels', np.where(kept, labels, -2)), ('weights', weights * kept)):
                expected = expected.reshape(expected.shape + (1,) * (4 - expected.ndim))
                self.compare('BoxAnnotatorOHEM %s %s' % (name, top), layer(
                    'BoxAnnotatorOHEM', tuple(inputs), ('y', 'z') if top == 'labels' else ('z', 'y'),
                    'box_annotator_ohem_param { roi_per_img: %d ignore_label: -2 }' % count), inputs, expected)


if __name__ == '__main__':
    checker.main(HardExamples, __doc__, 'check_smooth_l1', 'check_softmax', 'check_choice')
