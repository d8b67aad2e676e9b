#!/usr/bin/python3
"""Checks ROIPooling, PSROIPooling and PriorBox against their definitions.

The definitions are those of Fast R-CNN, R-FCN and SSD, written here element by
element. Inputs are random with fixed seeds.
"""
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common'))
import checker  # noqa: E402

ROUTES = ([], ['--no-library'], ['--layout=nhwc'], ['--precision', 'f64'])


def c_round(x):
    return math.copysign(math.floor(abs(x) + 0.5), x)


def input_layer(name, shape):
    return 'layer { name: "%s" type: "Input" top: "%s" input_param { shape { %s } } }\n' % (
        name, name, ' '.join('dim: %d' % d for d in shape))


# --- Definitions --------------------------------------------------------------
def roi_pooling(x, rois, pooled_h, pooled_w, scale):
    height, width = x.shape[2:]
    y = np.zeros((len(rois), x.shape[1], pooled_h, pooled_w))
    for r, (image, *corners) in enumerate(rois):
        left, top, right, bottom = (int(c_round(c * scale)) for c in corners)
        cell_h = max(bottom - top + 1, 1) / pooled_h
        cell_w = max(right - left + 1, 1) / pooled_w
        for i in range(pooled_h):
            for j in range(pooled_w):
                h = [min(max(b + top, 0), height) for b in
                     (math.floor(i * cell_h), math.ceil((i + 1) * cell_h))]
                w = [min(max(b + left, 0), width) for b in
                     (math.floor(j * cell_w), math.ceil((j + 1) * cell_w))]
                if h[0] < h[1] and w[0] < w[1]:
                    y[r, :, i, j] = x[int(image), :, h[0]:h[1], w[0]:w[1]].max(axis=(1, 2))
    return y


def psroi_pooling(x, rois, output_dim, group, scale):
    height, width = x.shape[2:]
    y = np.zeros((len(rois), output_dim, group, group))
    for r, (image, *corners) in enumerate(rois):
        left, top = (c_round(c) * scale for c in corners[:2])
        right, bottom = ((c_round(c) + 1) * scale for c in corners[2:])
        cell_h, cell_w = max(bottom - top, 0.1) / group, max(right - left, 0.1) / group
        for i in range(group):
            for j in range(group):
                h = [min(max(b, 0), height) for b in
                     (math.floor(i * cell_h + top), math.ceil((i + 1) * cell_h + top))]
                w = [min(max(b, 0), width) for b in
                     (math.floor(j * cell_w + left), math.ceil((j + 1) * cell_w + left))]
                if h[0] < h[1] and w[0] < w[1]:
                    for d in range(output_dim):
                        channel = (d * group + i) * group + j
                        y[r, d, i, j] = x[int(image), channel, h[0]:h[1], w[0]:w[1]].mean()
    return y


def prior_box(height, width, image, p):
    ratios = [1.0]
    for ratio in p.get('aspect_ratio', []):
        if all(abs(ratio - other) >= 1e-6 for other in ratios):
            ratios += [ratio, 1 / ratio] if p.get('flip', True) else [ratio]
    image_h, image_w = p.get('image', image)
    step_h, step_w = p.get('step', (image_h / height, image_w / width))
    boxes = []
    for h in range(height):
        for w in range(width):
            x, y = (w + p.get('offset', 0.5)) * step_w, (h + p.get('offset', 0.5)) * step_h
            for k, smallest in enumerate(p['min_size']):
                smallest = int(smallest)
                sizes = [(smallest, smallest)]
                if 'max_size' in p:
                    sizes.append((math.sqrt(smallest * int(p['max_size'][k])),) * 2)
                sizes += [(smallest * math.sqrt(r), smallest / math.sqrt(r)) for r in ratios[1:]]
                boxes += [((x - a / 2) / image_w, (y - b / 2) / image_h,
                           (x + a / 2) / image_w, (y + b / 2) / image_h) for a, b in sizes]
    boxes = np.array(boxes)
    if p.get('clip'):
        boxes = boxes.clip(0, 1)
    variance = p.get('variance', [0.1])
    variances = np.resize(variance if len(variance) == 4 else variance * 4, boxes.shape)
    return np.stack([boxes.ravel(), variances.ravel()])[None]


# --- Comparison ---------------------------------------------------------------
class Detection(checker.Checker):
    def compare(self, what, layer, inputs, wanted, tolerance=1e-5):
        net = ''.join(input_layer(n, v.shape) for n, v in inputs.items()) + layer
        for route in ROUTES:
            self.compile(net, 'test', *route)
            found = self.evaluate(inputs)['data/y']
            if found.shape != wanted.shape:
                problem = 'shape %s, not %s' % (found.shape, wanted.shape)
            elif not np.allclose(found, wanted, tolerance, tolerance):
                at = np.unravel_index(np.argmax(abs(found - wanted)), wanted.shape)
                problem = '%g, not %g, at %s' % (found[at], wanted[at], at)
            else:
                continue
            self.fail('%s %s: %s' % (what, route, problem))

    def regions(self):
        random = np.random.RandomState(1)
        for name, images, extent in (('image', 1, (9, 11)), ('batch', 3, (7, 6))):
            corners = random.uniform(0, 30, (9, 2, 2))
            rois = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
            rois[0] = [-20, -9, 90, 70]   # beyond the image on all sides
            rois[1] = [5, 5, 5, 5]        # a point
            rois[2] = [20, 20, 3, 4]      # reversed
            rois[3] = [200, 200, 240, 240]  # outside
            rois = np.concatenate([random.randint(0, images, (9, 1)), rois], axis=1)
            rois = rois.astype(np.float32).astype(float)
            x = random.uniform(-1, 1, (images, 4) + extent).astype(np.float32).astype(float)
            for pooled_h, pooled_w, scale in ((2, 3, 0.25), (5, 4, 0.5), (1, 1, 0.0625)):
                self.compare(
                    'ROIPooling %s %dx%d' % (name, pooled_h, pooled_w),
                    'layer { name: "l" type: "ROIPooling" bottom: "x" bottom: "rois" top: "y" '
                    'roi_pooling_param { pooled_h: %d pooled_w: %d spatial_scale: %g } }' %
                    (pooled_h, pooled_w, scale), {'x': x, 'rois': rois},
                    roi_pooling(x, rois, pooled_h, pooled_w, scale))
            x = random.uniform(-1, 1, (images, 18) + extent)
            for dim, group, scale in ((2, 3, 0.25), (18, 1, 0.5)):
                self.compare(
                    'PSROIPooling %s %d' % (name, group),
                    'layer { name: "l" type: "PSROIPooling" bottom: "x" bottom: "rois" top: "y" '
                    'psroi_pooling_param { output_dim: %d group_size: %d spatial_scale: %g } }' %
                    (dim, group, scale), {'x': x, 'rois': rois},
                    psroi_pooling(x, rois, dim, group, scale))

    def priors(self):
        inputs = {'x': np.zeros((1, 2, 3, 4)), 'data': np.zeros((1, 3, 30, 50))}
        for text, settings in (
                ('min_size: 8', {'min_size': [8]}),
                ('min_size: 8.9 max_size: 14.5 aspect_ratio: 2 aspect_ratio: 3 '
                 'variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.3',
                 {'min_size': [8.9], 'max_size': [14.5], 'aspect_ratio': [2, 3],
                  'variance': [0.1, 0.1, 0.2, 0.3]}),
                ('min_size: 4 min_size: 6 max_size: 9 max_size: 10 aspect_ratio: 1 '
                 'aspect_ratio: 2 aspect_ratio: 2 flip: false clip: true variance: 0.5',
                 {'min_size': [4, 6], 'max_size': [9, 10], 'aspect_ratio': [1, 2, 2],
                  'flip': False, 'clip': True, 'variance': [0.5]}),
                ('min_size: 7 step: 11 offset: 0.25 img_size: 60',
                 {'min_size': [7], 'step': (11, 11), 'offset': 0.25, 'image': (60, 60)}),
                ('min_size: 7 step_h: 5 step_w: 9 img_h: 40 img_w: 70',
                 {'min_size': [7], 'step': (5, 9), 'image': (40, 70)})):
            self.compare('PriorBox ' + text,
                         'layer { name: "l" type: "PriorBox" bottom: "x" bottom: "data" top: "y" '
                         'prior_box_param { %s } }' % text, inputs,
                         prior_box(3, 4, (30, 50), settings))



if __name__ == '__main__':
    checker.main(Detection, __doc__, 'regions', 'priors')
