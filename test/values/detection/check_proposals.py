#!/usr/bin/python3
"""Checks Proposal, ROIAlign, Quantize and Rescale against their definitions.

The definitions follow Faster R-CNN, Mask R-CNN, Cascade R-CNN and DeepSkeleton, written here
element by element. Inputs are random with fixed seeds.
"""
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from check_detection import Detection, checker, pad_regions, regions_of_interest  # noqa: E402


# --- Definitions --------------------------------------------------------------
def interpolate(plane, y, x, margin):
    """Interpolates features (channels, height, width) at a position.

    Returns 0 for positions more than `margin` outside.
    """
    height, width = plane.shape[1:]
    if not (-margin <= y <= height - 1 + margin and -margin <= x <= width - 1 + margin):
        return np.zeros(len(plane))
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    top, left = math.floor(y), math.floor(x)
    below, right = min(top + 1, height - 1), min(left + 1, width - 1)
    v, u = y - top, x - left
    return ((1 - v) * ((1 - u) * plane[:, top, left] + u * plane[:, top, right]) +
            v * ((1 - u) * plane[:, below, left] + u * plane[:, below, right]))


def mask_align(x, rois, pooled, scale, sampling):
    y = np.zeros((len(rois), x.shape[1]) + pooled)
    for r, (image, *corners) in enumerate(rois):
        left, top, right, bottom = (c * scale for c in corners)
        cells = max(bottom - top, 1) / pooled[0], max(right - left, 1) / pooled[1]
        counts = [sampling if sampling > 0 else math.ceil(cell) for cell in cells]
        for i, j in np.ndindex(*pooled):
            points = [interpolate(x[int(image)], top + (i + (a + 0.5) / counts[0]) * cells[0],
                                  left + (j + (b + 0.5) / counts[1]) * cells[1], 1)
                      for a in range(counts[0]) for b in range(counts[1])]
            y[r, :, i, j] = np.mean(points, axis=0)
    return y


def cascade_align(x, rois, pooled, scale):
    y = np.zeros((len(rois), x.shape[1], pooled[0] + 1, pooled[1] + 1))
    for r, (image, *corners) in enumerate(rois):
        left, top, right, bottom = (c * scale - 0.5 for c in corners)
        if right <= left or bottom <= top:
            continue
        for i, j in np.ndindex(*y.shape[2:]):
            y[r, :, i, j] = interpolate(x[int(image)], top + i * (bottom - top) / pooled[0],
                                        left + j * (right - left) / pooled[1], 0.5)
    return y


def overlap(a, b):
    """Returns the intersection over union of two boxes, whose corners are inclusive pixels."""
    width = min(a[2], b[2]) - max(a[0], b[0]) + 1
    height = min(a[3], b[3]) - max(a[1], b[1]) + 1
    if width <= 0 or height <= 0:
        return 0
    areas = [(box[2] - box[0] + 1) * (box[3] - box[1] + 1) for box in (a, b)]
    return width * height / (sum(areas) - width * height)


def expected_proposals(scores, offsets, info, stride=16, base=16, min_size=16, ratios=(0.5, 1, 2),
                       scales=(8, 16, 32), pre_nms=6000, post_nms=300, nms_threshold=0.7):
    anchors = []
    for ratio in ratios:
        width = round(math.sqrt(base * base / ratio))
        height = round(width * ratio)
        for scale in scales:
            half = (width * scale - 1) / 2, (height * scale - 1) / 2
            middle = (base - 1) / 2
            anchors.append([middle - half[0], middle - half[1], middle + half[0],
                            middle + half[1]])
    rows = []
    for image in range(len(scores)):
        height, width, scale = info[image if len(info) > 1 else 0][:3]
        boxes = []
        for h, w, (k, anchor) in ((h, w, a) for h in range(scores.shape[2])
                                  for w in range(scores.shape[3]) for a in enumerate(anchors)):
            dx, dy, dw, dh = offsets[image, 4 * k:4 * k + 4, h, w]
            size = anchor[2] - anchor[0] + 1, anchor[3] - anchor[1] + 1
            x = anchor[0] + w * stride + size[0] / 2 + dx * size[0]
            y = anchor[1] + h * stride + size[1] / 2 + dy * size[1]
            half_size = math.exp(dw) * size[0] / 2, math.exp(dh) * size[1] / 2
            box = [min(max(at, 0), end - 1) for at, end in
                   ((x - half_size[0], width), (y - half_size[1], height),
                    (x + half_size[0], width), (y + half_size[1], height))]
            if min(box[2] - box[0], box[3] - box[1]) + 1 >= min_size * scale:
                boxes.append((scores[image, len(anchors) + k, h, w], box))
        boxes = sorted(boxes, key=lambda entry: -entry[0])[:pre_nms if pre_nms > 0 else None]
        kept = []
        for score, box in boxes:
            if len(kept) < post_nms and all(overlap(box, other) <= nms_threshold
                                            for _, other in kept):
                kept.append((score, box))
        rows += [[image] + box + [score] for score, box in kept]
    return np.array(rows).reshape(-1, 6)


# --- Comparison ---------------------------------------------------------------
def layer(kind, bottoms, tops, settings=''):
    return 'layer { name: "%s" type: "%s" %s %s %s }\n' % (
        kind, kind, ' '.join('bottom: "%s"' % b for b in bottoms),
        ' '.join('top: "%s"' % t for t in tops), settings)


class Proposals(Detection):
    def check_align(self):
        random = np.random.RandomState(3)
        for name, x, rois in regions_of_interest(random):
            inputs = {'x': x, 'rois': rois}
            for pooled, scale, sampling in (((2, 3), 0.25, 2), ((5, 4), 0.5, 1), ((3, 1), 0.25, 3),
                                            ((2, 3), 0.25, 0), ((1, 2), 0.5, -1),
                                            ((7, 7), 0.0625, 0)):
                self.compare('ROIAlign %s %s %g %d' % (name, pooled, scale, sampling),
                             layer('ROIAlign', ('x', 'rois'), 'y', 'roi_align_param { pooled_h: %d '
                                   'pooled_w: %d spatial_scale: %g sampling_ratio: %d }' %
                                   (*pooled, scale, sampling)),
                             inputs, mask_align(x, rois, pooled, scale, sampling), 2e-5)
            for pooled, scale, pad in (((2, 3), 0.25, 0), ((4, 2), 0.5, 0.25)):
                self.compare('ROIAlign %s %s %g corners' % (name, pooled, scale),
                             layer('ROIAlign', ('x', 'rois'), 'y', 'roi_pooling_param { pooled_h: '
                                   '%d pooled_w: %d spatial_scale: %g pad_ratio: %g }' %
                                   (*pooled, scale, pad)),
                             inputs, cascade_align(x, pad_regions(rois, pad), pooled, scale), 2e-5)

    def check_proposals(self):
        random = np.random.RandomState(4)
        for name, images, info, text, settings in (
                ('defaults', 1, [[200, 300, 1]], 'min_size: 8', {'min_size': 8}),
                ('batch', 2, [[120, 90, 1, 7], [64, 200, 2, 7]],
                 'feat_stride: 8 base_size: 8 ratio: 1 ratio: 2 scale: 2 scale: 4 min_size: 5 '
                 'pre_nms_topn: 40 post_nms_topn: 6 nms_thresh: 0.5',
                 dict(stride=8, base=8, ratios=(1, 2), scales=(2, 4), min_size=5, pre_nms=40,
                      post_nms=6, nms_threshold=0.5)),
                ('one size', 2, [[100, 100, 1]],
                 'ratio: 1 scale: 4 min_size: 0 pre_nms_topn: -1 post_nms_topn: 20',
                 dict(ratios=(1,), scales=(4,), min_size=0, pre_nms=-1, post_nms=20)),
                ('none', 1, [[100, 100, 1]], 'min_size: 101 post_nms_topn: 3',
                 dict(min_size=101, post_nms=3))):
            anchors = (len(settings.get('ratios', (0.5, 1, 2))) *
                       len(settings.get('scales', (8, 16, 32))))
            inputs = {'s': random.permutation(images * 2 * anchors * 20).reshape(
                          images, 2 * anchors, 4, 5) / 1000.0,
                      'o': random.normal(0, 0.3, (images, 4 * anchors, 4, 5)),
                      'i': np.array(info, float)}
            inputs = {key: value.astype(np.float32).astype(float) for key, value in inputs.items()}
            expected = expected_proposals(*inputs.values(), **settings)
            bottoms = tuple(inputs)
            # compare() reads the top named y.
            for output, tops, columns in (('rois', ('y',), slice(5)), ('scores', ('rois', 'y'), 5)):
                self.compare('Proposal %s %s' % (name, output),
                             layer('Proposal', bottoms, tops, 'proposal_param { %s }' % text),
                             inputs, expected[:, columns], 1e-3)
            features = random.uniform(-1, 1, (images, 2, 6, 8)).astype(np.float32).astype(float)
            self.compare('Proposal %s ROIAlign' % name,
                         layer('Proposal', bottoms, ('rois',), 'proposal_param { %s }' % text) +
                         layer('ROIAlign', ('f', 'rois'), 'y', 'roi_align_param { pooled_h: 2 '
                               'pooled_w: 2 spatial_scale: 0.125 sampling_ratio: 2 }'),
                         {**inputs, 'f': features},
                         mask_align(features, expected[:, :5], (2, 2), 0.125, 2), 1e-3)

    def check_skeletons(self):
        x = np.array([[0, 0.00005, 0.5, 0.99, 1, 11.9, 12, 35, 36, 79.5, 80, 199.9, 200, 1000, -3]])
        bounds = np.array([1, 12, 36, 80])
        classes = np.where(x >= 200, 0, (x[..., None] >= bounds).sum(axis=-1))
        self.compare('Quantize', layer('Quantize', 'x', 'y'), {'x': x}, classes)
        is_background = (x >= 36) | (abs(x) <= 1e-4)
        settings = 'rescale_param { rf: 36 }'
        self.compare('Rescale', layer('Rescale', 'x', 'y', settings), {'x': x},
                     np.where(is_background, 0, 2 * x / 36 - 1))
        self.compare('Rescale mask', layer('Rescale', ('x',), ('scaled', 'y'), settings),
                     {'x': x}, np.where(is_background, 0, 1))


if __name__ == '__main__':
    checker.main(Proposals, __doc__, 'check_align', 'check_proposals', 'check_skeletons')
