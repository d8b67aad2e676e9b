#!/usr/bin/python3
"""Checks ROIPooling, PSROIPooling, PriorBox, DetectionOutput and Upsample against their definitions.

The definitions follow Fast R-CNN, R-FCN, SSD, forks for FaceBoxes and OpenVINO, and SegNet, written
here element by element. Inputs are random with fixed seeds.
"""
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common'))
import checker  # noqa: E402

FLAG_SETS = ([], ['--no-library'], ['--layout=nhwc'], ['--precision', 'f64'])


def c_round(x):
    """Rounds halves away from zero, like round() of C."""
    return math.copysign(math.floor(abs(x) + 0.5), x)


def input_layer(name, shape):
    return 'layer { name: "%s" type: "Input" top: "%s" input_param { shape { %s } } }\n' % (
        name, name, ' '.join('dim: %d' % d for d in shape))


# --- Definitions --------------------------------------------------------------
def pad_regions(rois, ratio):
    """Returns regions that are extended on each side by `ratio` of their extent."""
    rois = np.array(rois, float)
    pad = (rois[:, 3:] - rois[:, 1:3] + 1) * ratio
    return np.hstack([rois[:, :1], rois[:, 1:3] - pad, rois[:, 3:] + pad])


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


def boxes_of_position(p):
    """Returns the boxes of a position: x and y of the centre relative to the position, width, height."""
    if 'width' in p:
        return [(0, 0, w, h) for w, h in zip(p['width'], p['height'])]
    ratios = [1.0]
    for ratio in p.get('aspect_ratio', []):
        if all(abs(ratio - other) >= 1e-6 for other in ratios):
            ratios += [ratio, 1 / ratio] if p.get('flip', True) else [ratio]
    boxes = []
    for size, density in zip(p.get('fixed_size', []), p.get('density', [])):
        sizes = [(size * math.sqrt(r), size / math.sqrt(r)) for r in p.get('fixed_ratio', ratios[1:])]
        if 'fixed_ratio' not in p:
            sizes.insert(0, (int(size), int(size)))
        distance = int(size / density)
        start = distance / 2 - int(size) // 2
        boxes += [(start + column * distance, start + row * distance, a, b) for a, b in sizes
                  for row in range(density) for column in range(density)]
    for k, min_size in enumerate(p.get('min_size', [])):
        min_size = int(min_size)
        sizes = [(min_size, min_size)]
        if 'max_size' in p:
            sizes.append((math.sqrt(min_size * int(p['max_size'][k])),) * 2)
        sizes += [(min_size * math.sqrt(r), min_size / math.sqrt(r)) for r in ratios[1:]]
        boxes += [(0, 0, a, b) for a, b in sizes]
    return boxes


def prior_box(height, width, image, p):
    image_h, image_w = p.get('image', image)
    step_h, step_w = p.get('step', (image_h / height, image_w / width))
    boxes = []
    for h in range(height):
        for w in range(width):
            x, y = (w + p.get('offset', 0.5)) * step_w, (h + p.get('offset', 0.5)) * step_h
            boxes += [((x + dx - a / 2) / image_w, (y + dy - b / 2) / image_h,
                       (x + dx + a / 2) / image_w, (y + dy + b / 2) / image_h)
                      for dx, dy, a, b in boxes_of_position(p)]
    boxes = np.array(boxes)
    if p.get('clip'):
        boxes = boxes.clip(0, 1)
    variance = p.get('variance', [0.1])
    variances = np.resize(variance if len(variance) == 4 else variance * 4, boxes.shape)
    return np.stack([boxes.ravel(), variances.ravel()])[None]


def decode_box(offset, prior, variance, code, encoded):
    offset = offset if encoded else offset * variance
    size = np.tile(prior[2:] - prior[:2], 2)
    if code == 'CORNER':
        return prior + offset
    if code == 'CORNER_SIZE':
        return prior + offset * size
    centre = offset[:2] * size[:2] + (prior[:2] + prior[2:]) / 2
    half_size = np.exp(offset[2:]) * size[2:] / 2
    return np.concatenate([centre - half_size, centre + half_size])


def overlap(a, b):
    """Returns the intersection over union of two boxes."""
    low, high = np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])
    if np.any(high <= low):
        return 0
    def area(box):
        return np.prod(np.maximum(box[2:] - box[:2], 0))
    shared = np.prod(high - low)
    return shared / (area(a) + area(b) - shared)


def detection_output(loc, conf, priors, p):
    images, classes = len(loc), p['num_classes']
    boxes, variances = priors.reshape(2, -1, 4)
    shares_location = p.get('share_location', True)
    loc = loc.reshape(images, len(boxes), 1 if shares_location else classes, 4)
    conf = conf.reshape(images, len(boxes), classes)
    rows = []
    for image in range(images):
        found = []
        for label in range(classes):
            if label == p.get('background', 0):
                continue
            score = conf[image, :, label]
            order = [i for i in sorted(range(len(boxes)), key=lambda i: -score[i])
                     if score[i] > p.get('confidence', -math.inf)]
            if p.get('top_k', -1) >= 0:
                order = order[:p['top_k']]
            kept, threshold = [], p.get('nms', 0.3)
            for i in order:
                offset = loc[image, i, 0 if shares_location else label]
                box = decode_box(offset, boxes[i], variances[i], p.get('code', 'CORNER'),
                                 p.get('encoded', False))
                if all(overlap(box, other) <= threshold for _, _, other in kept):
                    kept.append((score[i], label, box))
                    if threshold > 0.5:
                        threshold *= p.get('eta', 1)
            found += kept
        if p.get('keep_top_k', -1) >= 0:
            best = sorted(range(len(found)), key=lambda i: -found[i][0])[:p['keep_top_k']]
            found = [found[i] for i in sorted(best)]
        rows += [[image, label, score, *box] for score, label, box in found]
    if not rows:
        rows = [[image] + [-1] * 6 for image in range(images)]
    return np.array(rows, float)[None, None]


def max_pooling(x, kernel, stride, pad):
    """Returns a max pooling and its mask."""
    rows, columns = (-(-(d + 2 * pad - kernel) // stride) + 1 for d in x.shape[2:])
    if pad:
        rows, columns = (n - ((n - 1) * stride >= d + pad) for n, d in zip((rows, columns), x.shape[2:]))
    y, mask = np.zeros((2,) + x.shape[:2] + (rows, columns))
    for i in range(rows):
        for j in range(columns):
            h, w = max(i * stride - pad, 0), max(j * stride - pad, 0)
            window = x[:, :, h:i * stride - pad + kernel, w:j * stride - pad + kernel]
            best = window.reshape(window.shape[:2] + (-1,)).argmax(axis=2)
            y[:, :, i, j] = window.max(axis=(2, 3))
            mask[:, :, i, j] = (h + best // window.shape[3]) * x.shape[3] + w + best % window.shape[3]
    return y, mask


def unpool(x, mask, height, width):
    y = np.zeros(x.shape[:2] + (height * width,))
    for plane in np.ndindex(x.shape[:2]):
        for value, position in zip(x[plane].ravel(), mask[plane].ravel()):
            y[plane][int(position)] = value
    return y.reshape(x.shape[:2] + (height, width))


# --- Comparison ---------------------------------------------------------------
def regions_of_interest(random):
    """Yields a name, a blob of 4 channels, and 9 regions, each preceded by its image's number."""
    for name, images, extent in (('image', 1, (9, 11)), ('batch', 3, (7, 6))):
        corners = random.uniform(0, 30, (9, 2, 2))
        rois = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
        rois[0] = [-20, -9, 90, 70]   # beyond the image on all sides
        rois[1] = [5, 5, 5, 5]        # a point
        rois[2] = [20, 20, 3, 4]      # reversed
        rois[3] = [200, 200, 240, 240]  # outside
        rois = np.concatenate([random.randint(0, images, (9, 1)), rois], axis=1)
        rois = rois.astype(np.float32).astype(float)
        yield name, random.uniform(-1, 1, (images, 4) + extent).astype(np.float32).astype(float), rois


class Detection(checker.Checker):
    other_flag_sets = FLAG_SETS[1:]

    def compare(self, case_name, layer, inputs, expected, tolerance=1e-5):
        net = ''.join(input_layer(n, v.shape) for n, v in inputs.items()) + layer
        # On the simulator, only the first flags are used, since the host compiler compiles every
        # kernel. On the CPU, each case also uses one of the other sets of flags, in turn, because
        # these kernels take the longest to compile.
        flag_sets = FLAG_SETS[:1]
        if 'sim' not in self.options.brewc_flags:
            self.other_flag_sets = self.other_flag_sets[1:] + self.other_flag_sets[:1]
            flag_sets += self.other_flag_sets[:1]
        for flags in flag_sets:
            self.compile(net, 'test', *flags)
            found = self.evaluate(inputs)['data/y']
            if found.shape != expected.shape:
                problem = 'shape %s, not %s' % (found.shape, expected.shape)
            elif not np.allclose(found, expected, tolerance, tolerance):
                position = np.unravel_index(np.argmax(abs(found - expected)), expected.shape)
                problem = '%g, not %g, at %s' % (found[position], expected[position], position)
            else:
                continue
            self.fail('%s %s: %s' % (case_name, flags, problem))

    def check_regions(self):
        random = np.random.RandomState(1)
        for name, x, rois in regions_of_interest(random):
            images, extent = x.shape[0], x.shape[2:]
            for pooled_h, pooled_w, scale in ((2, 3, 0.25), (5, 4, 0.5), (1, 1, 0.0625)):
                self.compare(
                    'ROIPooling %s %dx%d' % (name, pooled_h, pooled_w),
                    'layer { name: "l" type: "ROIPooling" bottom: "x" bottom: "rois" top: "y" '
                    'roi_pooling_param { pooled_h: %d pooled_w: %d spatial_scale: %g } }' %
                    (pooled_h, pooled_w, scale), {'x': x, 'rois': rois},
                    roi_pooling(x, rois, pooled_h, pooled_w, scale))
            self.compare('ROIPooling %s padded' % name,
                         'layer { name: "l" type: "ROIPooling" bottom: "x" bottom: "rois" top: "y" '
                         'roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.25 '
                         'pad_ratio: 0.25 } }', {'x': x, 'rois': rois},
                         roi_pooling(x, pad_regions(rois, 0.25), 2, 3, 0.25))
            x = random.uniform(-1, 1, (images, 18) + extent)
            for dim, group, scale in ((2, 3, 0.25), (18, 1, 0.5)):
                self.compare(
                    'PSROIPooling %s %d' % (name, group),
                    'layer { name: "l" type: "PSROIPooling" bottom: "x" bottom: "rois" top: "y" '
                    'psroi_pooling_param { output_dim: %d group_size: %d spatial_scale: %g } }' %
                    (dim, group, scale), {'x': x, 'rois': rois},
                    psroi_pooling(x, rois, dim, group, scale))

    def check_priors(self):
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
                 {'min_size': [7], 'step': (5, 9), 'image': (40, 70)}),
                ('fixed_size: 12 fixed_size: 25.5 fixed_size: 30 density: 4 density: 2 density: 1 '
                 'aspect_ratio: 1 step: 16',
                 {'fixed_size': [12, 25.5, 30], 'density': [4, 2, 1], 'step': (16, 16)}),
                ('fixed_size: 11 density: 3 aspect_ratio: 2 min_size: 9 clip: true',
                 {'fixed_size': [11], 'density': [3], 'aspect_ratio': [2], 'min_size': [9], 'clip': True}),
                ('fixed_size: 13 fixed_size: 20 density: 2 density: 3 fixed_ratio: 1 fixed_ratio: 0.5',
                 {'fixed_size': [13, 20], 'density': [2, 3], 'fixed_ratio': [1, 0.5]}),
                ('width: 9.5 width: 25 height: 15 height: 39.75 step_h: 5 step_w: 9 clip: true '
                 'variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2',
                 {'width': [9.5, 25], 'height': [15, 39.75], 'step': (5, 9), 'clip': True,
                  'variance': [0.1, 0.1, 0.2, 0.2]}),
                ('width: 8 height: 4 offset: 0.25 img_h: 40 img_w: 70',
                 {'width': [8], 'height': [4], 'offset': 0.25, 'image': (40, 70)})):
            kind = 'PriorBoxClustered' if 'width' in settings else 'PriorBox'
            self.compare('%s %s' % (kind, text),
                         'layer { name: "l" type: "%s" bottom: "x" bottom: "data" top: "y" '
                         'prior_box_param { %s } }' % (kind, text), inputs,
                         prior_box(3, 4, (30, 50), settings))

    def check_known_priors(self):
        """Compares with values that do not come from the definitions above."""
        inputs = {'x': np.zeros((1, 1, 1, 2)), 'data': np.zeros((1, 3, 16, 32))}
        for kind, text, boxes in (
                # Centres (8, 8) and (24, 8), in pixels. Boxes of 8 x 12 and 32 x 4.
                ('PriorBoxClustered', 'width: 8 width: 32 height: 12 height: 4 step: 16',
                 [[0.125, 0.125, 0.375, 0.875], [-0.25, 0.375, 0.75, 0.625],
                  [0.625, 0.125, 0.875, 0.875], [0.25, 0.375, 1.25, 0.625]]),
                # A grid of 2 x 2 boxes of 8 x 8, whose centres are 2 pixels from the position.
                ('PriorBox', 'fixed_size: 8 density: 2 step: 16',
                 [[0.0625, 0.125, 0.3125, 0.625], [0.1875, 0.125, 0.4375, 0.625],
                  [0.0625, 0.375, 0.3125, 0.875], [0.1875, 0.375, 0.4375, 0.875],
                  [0.5625, 0.125, 0.8125, 0.625], [0.6875, 0.125, 0.9375, 0.625],
                  [0.5625, 0.375, 0.8125, 0.875], [0.6875, 0.375, 0.9375, 0.875]])):
            boxes = np.array(boxes).ravel()
            self.compare('known boxes ' + text,
                         'layer { name: "l" type: "%s" bottom: "x" bottom: "data" top: "y" '
                         'prior_box_param { variance: 0.5 %s } }' % (kind, text), inputs,
                         np.stack([boxes, np.full(boxes.size, 0.5)])[None])

    def check_rows_in_views(self):
        """Layers after a DetectionOutput, whose number of rows is known at run time only."""
        random = np.random.RandomState(11)
        boxes, classes = 30, 3
        corners = np.sort(random.uniform(0, 1, (boxes, 2, 2)), axis=1).reshape(boxes, 4)
        priors = np.stack([corners, np.full((boxes, 4), 0.1)]).reshape(1, 2, -1)
        for name, threshold in (('some', 0.8), ('none', 2), ('all', 0)):
            inputs = {'loc': random.normal(size=(2, boxes * 4)),
                      'conf': random.uniform(0, 1, (2, boxes * classes)), 'priors': priors,
                      'other': random.uniform(0, 1, (1, 5))}
            inputs = {n: v.astype(np.float32).astype(float) for n, v in inputs.items()}
            settings = {'num_classes': classes, 'confidence': threshold, 'nms': np.float32(0.45),
                        'top_k': 8, 'keep_top_k': 9}
            rows = detection_output(*list(inputs.values())[:3], settings)
            found = 'layer { name: "d" type: "DetectionOutput" bottom: "loc" bottom: "conf" ' \
                'bottom: "priors" top: "d" detection_output_param { num_classes: 3 keep_top_k: 9 ' \
                'confidence_threshold: %g nms_param { nms_threshold: 0.45 top_k: 8 } } }\n' % threshold
            flat = 'layer { name: "f" type: "Flatten" bottom: "d" top: "f" }\n'
            for view, layers, expected in (
                    ('Flatten', flat + 'layer { name: "l" type: "Power" bottom: "f" top: "y" }',
                     rows.reshape(1, -1)),
                    ('Flatten to rows', 'layer { name: "l" type: "Flatten" bottom: "d" top: "y" '
                     'flatten_param { axis: 0 end_axis: 2 } }', rows.reshape(-1, 7)),
                    ('Reshape', 'layer { name: "l" type: "Reshape" bottom: "d" top: "y" '
                     'reshape_param { shape { dim: 1 dim: -1 dim: 7 } } }', rows.reshape(1, -1, 7)),
                    ('Squeeze', 'layer { name: "l" type: "Squeeze" bottom: "d" top: "y" '
                     'squeeze_param { axis: 0 } }', rows[0]),
                    ('Concat', flat + 'layer { name: "l" type: "Concat" bottom: "other" bottom: "f" '
                     'bottom: "other" bottom: "f" top: "y" }', np.concatenate(
                         [inputs['other'], rows.reshape(1, -1)] * 2, axis=1)),
                    ('Concat of rows', 'layer { name: "l" type: "Concat" bottom: "d" bottom: "d" '
                     'top: "y" concat_param { axis: 2 } }', np.concatenate([rows] * 2, axis=2))):
                used = {n: v for n, v in inputs.items() if '"%s"' % n in found + layers}
                self.compare('%s of %s detections' % (view, name), found + layers, used, expected, 2e-5)

    def check_detections(self):
        random = np.random.RandomState(5)
        common = {'num_classes': 4, 'confidence': 0.3, 'nms': 0.45, 'top_k': 60, 'keep_top_k': 25}
        for name, images, boxes, settings in (
                ('usual', 1, 90, dict(common, code='CENTER_SIZE')),
                ('batch', 3, 150, dict(common, code='CENTER_SIZE')),
                ('no limits', 2, 70, {'num_classes': 3}),
                ('boxes per class', 2, 40, dict(common, share_location=False, code='CORNER_SIZE')),
                ('corners', 1, 80, dict(common, code='CORNER', background=-1, top_k=65)),
                ('encoded', 1, 33, dict(common, code='CENTER_SIZE', encoded=True)),
                ('encoded corners', 1, 33, dict(common, encoded=True, background=2)),
                ('eta', 1, 130, dict(common, nms=0.9, eta=0.97, keep_top_k=-1, top_k=130)),
                ('equal scores', 2, 50, dict(common, rounded=True, keep_top_k=7)),
                ('few', 3, 30, dict(common, confidence=0.985)),
                ('none', 3, 30, dict(common, confidence=2)),
                ('keep none', 2, 30, dict(common, keep_top_k=0)),
                # Several blocks of candidates, the last one not full.
                ('many', 1, 777, {'num_classes': 2, 'nms': 0.45, 'code': 'CENTER_SIZE'}),
                ('many, equal scores', 2, 300, dict(common, rounded=True, top_k=290)),
                ('many, eta', 1, 300, {'num_classes': 2, 'nms': 0.9, 'eta': 0.99}),
                ('all', 1, 200, {'num_classes': 2, 'nms': math.inf, 'eta': 0.9}),
                ('one box', 1, 1, dict(common)),
                ('one candidate', 2, 20, dict(common, top_k=1))):
            classes = settings['num_classes']
            corners = np.sort(random.uniform(0, 1, (boxes, 2, 2)), axis=1).reshape(boxes, 4)
            priors = np.stack([corners, random.uniform(0.05, 0.3, (boxes, 4))]).reshape(1, 2, -1)
            locations_per_prior = 1 if settings.get('share_location', True) else classes
            loc = random.normal(size=(images, boxes * locations_per_prior * 4)) * (
                0.1 if settings.get('encoded') else 1)
            conf = random.uniform(0, 1, (images, boxes * classes))
            if settings.get('rounded'):
                conf = conf.round(1)
            if name == 'few':
                conf[1] *= 0.9  # an image without detections
            inputs = {n: v.astype(np.float32).astype(float)
                      for n, v in (('loc', loc), ('conf', conf), ('priors', priors))}
            settings = {k: np.float32(v) if isinstance(v, float) else v
                        for k, v in settings.items()}
            text = 'num_classes: %d share_location: %s background_label_id: %d code_type: %s ' \
                'variance_encoded_in_target: %s keep_top_k: %d ' % (
                    classes, str(settings.get('share_location', True)).lower(),
                    settings.get('background', 0), settings.get('code', 'CORNER'),
                    str(settings.get('encoded', False)).lower(), settings.get('keep_top_k', -1))
            if 'confidence' in settings:
                text += 'confidence_threshold: %.9g ' % settings['confidence']
            text += 'nms_param { nms_threshold: %.9g eta: %.9g ' % (
                settings.get('nms', np.float32(0.3)), settings.get('eta', 1))
            text += 'top_k: %d }' % settings['top_k'] if 'top_k' in settings else '}'
            self.compare('DetectionOutput ' + name,
                         'layer { name: "l" type: "DetectionOutput" bottom: "loc" bottom: "conf" '
                         'bottom: "priors" top: "y" detection_output_param { %s } }' % text,
                         inputs, detection_output(*inputs.values(), settings), 2e-5)

    def check_unpooling(self):
        random = np.random.RandomState(7)
        for kernel, stride, pad, shape, size in (
                (2, 2, 0, (2, 3, 6, 8), (6, 8)), (2, 2, 0, (1, 2, 5, 7), (5, 7)),
                (3, 2, 0, (1, 2, 7, 9), (7, 9)),     # windows share positions
                (3, 1, 1, (1, 2, 5, 4), (5, 4)),
                (3, 2, 1, (2, 1, 6, 5), (6, 5)),
                (2, 2, 0, (1, 2, 4, 6), (5, 9))):    # not the size of x
            x = random.permutation(int(np.prod(shape))).reshape(shape) / 50
            y, mask = max_pooling(x, kernel, stride, pad)
            text = 'upsample_param { upsample_h: %d upsample_w: %d }' % size
            case_name = 'Upsample %d %d %d ' % (kernel, stride, pad)
            expected = unpool(np.round(y * 8) / 16, mask, *size)
            self.compare(case_name + 'mask is an input',
                         'layer { name: "u" type: "Upsample" bottom: "x" bottom: "mask" top: "y" %s }' % text,
                         {'x': np.round(y * 8) / 16, 'mask': mask}, expected)
            # The overriding blob has its own value: the pooling times the other input.
            weight = random.uniform(1, 2, y.shape).round(2)
            self.compare(case_name,
                         'layer { name: "p" type: "Pooling" bottom: "x" top: "p" top: "mask" '
                         'pooling_param { kernel_size: %d stride: %d pad: %d } }\n'
                         'layer { name: "e" type: "Eltwise" bottom: "p" bottom: "w" top: "e" '
                         'eltwise_param { operation: PROD } }\n'
                         'layer { name: "u" type: "Upsample" bottom: "e" bottom: "mask" top: "y" '
                         '%s }' % (kernel, stride, pad, text),
                         {'x': x, 'w': weight}, unpool(y * weight, mask, *size))


if __name__ == '__main__':
    checker.main(Detection, __doc__, 'check_regions', 'check_priors', 'check_known_priors', 'check_detections',
                 'check_rows_in_views',
                 'check_unpooling')
