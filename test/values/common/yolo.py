"""Definitions of YOLO's layers, written box by box, and inputs of their losses.

They follow MobileNet-YOLO, Intel Caffe (labels of SSD) and Intel's fork for OpenCL.
"""
import math

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def overlap(a, b):
    """Returns the intersection over union of two boxes (centre and size)."""
    sides = [min(a[k] + a[k + 2] / 2, b[k] + b[k + 2] / 2) - max(a[k] - a[k + 2] / 2, b[k] - b[k + 2] / 2)
             for k in (0, 1)]
    shared = sides[0] * sides[1] if min(sides) > 0 else 0
    return shared / (a[2] * a[3] + b[2] * b[3] - shared)


def clipped_overlap(a, b):
    boxes = []
    for x, y, w, h in (a, b):
        left, right = max(x - w / 2, 0), min(x + w / 2, 1)
        top, bottom = max(y - h / 2, 0), min(y + h / 2, 1)
        boxes.append(((left + right) / 2, (top + bottom) / 2, right - left, bottom - top))
    return overlap(*boxes)


def decode(values, row, column, shape, size):
    """Returns the box of an anchor, whose size is in units of a position."""
    return ((column + sigmoid(values[0])) / shape[1], (row + sigmoid(values[1])) / shape[0],
            math.exp(values[2]) * size[0] / shape[1], math.exp(values[3]) * size[1] / shape[0])


def positions(maps, boxes):
    """Yields row, column, number of the anchor, and its values, for one image."""
    maps = maps.reshape((boxes, -1) + maps.shape[1:])
    for row, column in np.ndindex(*maps.shape[2:]):
        for k in range(boxes):
            yield row, column, k, maps[k, :, row, column]


def suppressed(found, threshold, share):
    kept = []
    for detection in sorted(found, key=lambda d: -d[1]):
        if all(share(detection[2], other[2]) < threshold for other in kept):
            kept.append(detection)
    return kept


def detections(scales, anchors, boxes, classes, p):
    """Returns rows of detections. `anchors`: for each scale, sizes in units of a position."""
    rows = []
    images = len(scales[0])
    for n in range(images):
        found = []
        for maps, biases in zip(scales, anchors):
            for row, column, k, values in positions(maps[n], boxes):
                box = decode(values, row, column, maps.shape[2:], biases[2 * k:2 * k + 2])
                score = sigmoid(values[4])
                if p.get('each'):
                    found += [(c, score * sigmoid(values[5 + c]), box) for c in range(classes)
                              if score * sigmoid(values[5 + c]) > p['confidence']]
                else:
                    chances = softmax(values[5:])
                    c = int(chances.argmax())
                    if score * chances[c] >= p['confidence']:
                        found.append((c, score * chances[c], box))
        for c, score, (x, y, w, h) in suppressed(found, p['nms'], clipped_overlap if p['opencl'] else overlap):
            if p['fromOne']:
                rows.append([n, c + 1, score, x - w / 2, y - h / 2, x + w / 2, y + h / 2])
            else:
                rows.append([n, c, score, x, y, w, h])
    if not rows and not p['opencl']:
        rows = [[n] + [-1] * 6 for n in range(images)]
    return np.array(rows, float).reshape(1, 1, -1, 7)


def true_boxes(rows, image):
    """Returns [(class from 0, box), ...] of an image from rows or lists of true boxes."""
    if rows.shape[-1] == 8:
        return [(int(r[1]) - 1, ((r[3] + r[5]) / 2, (r[4] + r[6]) / 2, r[5] - r[3], r[6] - r[4]))
                for r in rows.reshape(-1, 8) if r[0] == image]
    truths = []
    for r in rows[image].reshape(-1, 5):
        if r[3] == 0:
            break
        truths.append((int(r[0]), tuple(r[1:])))
    return truths


def evaluation(maps, rows, biases, boxes, classes, p):
    results = []
    for n, image in enumerate(maps):
        truths = true_boxes(rows, n)
        counts = [sum(label == c for label, _ in truths) for c in range(classes)]
        found = []
        for row, column, k, values in positions(image, boxes):
            chances, thing = softmax(values[5:]), sigmoid(values[4])
            c = int(chances.argmax())
            score = {'OBJ': thing, 'PROB': chances[c], 'MULTIPLY': thing * chances[c]}[p['score']]
            found.append((c, score, decode(values, row, column, maps.shape[2:], biases[2 * k:2 * k + 2])))
        verdicts, used = [], set()
        kept = [d for d in suppressed(found, p['nms'], overlap) if d[1] >= 0.005]
        for c, score, box in sorted(kept, key=lambda d: d[0]):
            own = [(overlap(box, truth), i) for i, (label, truth) in enumerate(truths) if label == c]
            verdict = [0, 0 if own else 1]
            if own and max(own)[0] >= p['threshold']:
                i = max(own)[1]
                verdict = [0, 1] if i in used else [1, 0]
                used.add(i)
            verdicts += [c, score] + verdict
        padding = 4 * boxes * maps.shape[2] * maps.shape[3] - len(verdicts)
        results.append(counts + verdicts + [0] * padding)
    return np.array(results, float)


# --- Losses -------------------------------------------------------------------
# Name, type, settings.
REGION = {'scales': (1, 1, 0.5, 5), 'thresh': 0.3, 'rescore': 1, 'bias_match': 1}
YOLO3 = {'coord': 1, 'class': 1, 'thresh': 0.4, 'iou_thresh': 0.5, 'eps': 0.1, 'mask': (0, 1)}
LOSSES = [
    ('usual', 'RegionLoss', REGION),
    ('sizes', 'RegionLoss', dict(REGION, rescore=0, scales=(5, 2, 1, 0.5))),
    ('predictions', 'RegionLoss', dict(REGION, bias_match=0, thresh=0.6)),
    ('rows', 'RegionLoss', dict(REGION, rows=True, scales=(5, 1.5, 0.7, 1))),
    ('rows, predictions', 'RegionLoss', dict(REGION, rows=True, bias_match=0)),
    ('usual', 'Yolov3', YOLO3),
    ('other anchors', 'Yolov3', dict(YOLO3, mask=(2, 1), coord=0.5)),
    ('quirk', 'Yolov3', dict(YOLO3, mask=(1, 0), iou_thresh=0.2)),
    ('best anchors', 'Yolov3', dict(YOLO3, iou_thresh=1, eps=0)),
    ('slopes', 'Yolov3', dict(YOLO3, logic=True, object=5)),
    ('focal', 'Yolov3', dict(YOLO3, focal=True)),
]
ANCHORS = [0.8, 1.1, 2.5, 2, 1.5, 3.5]  # in units of a position
IMAGES, CLASSES, HEIGHT, WIDTH = 2, 3, 4, 5


def true_rows(random, images, classes, count):
    corners = np.sort(random.uniform(0, 1, (count, 2, 2)), axis=1).reshape(count, 4)
    rows = np.concatenate([random.randint(0, images, (count, 1)), random.randint(1, classes + 1, (count, 1)),
                           np.zeros((count, 1)), corners, np.zeros((count, 1))], axis=1)
    return np.concatenate([rows, np.full((2, 8), -1)])[None, None]


def loss_inputs(random, kind, p):
    boxes = len(p['mask']) if kind == 'Yolov3' else len(ANCHORS) // 2
    maps = random.normal(size=(IMAGES, boxes, 5 + CLASSES, HEIGHT, WIDTH)) * 0.7
    maps[:, :, 3:5] *= 0.5
    maps = maps.reshape(IMAGES, -1, HEIGHT, WIDTH)
    if p.get('rows'):
        return {'maps': maps, 'truths': true_rows(random, IMAGES, CLASSES, 8)}
    truths = np.zeros((IMAGES, 1, 6, 5))
    truths[:, 0, :4] = np.concatenate([random.randint(0, CLASSES, (IMAGES, 4, 1)),
                                       random.uniform(0.1, 0.9, (IMAGES, 4, 4))], axis=2)
    truths[0, 0, 1, 1:] = truths[0, 0, 0, 1:]  # the same box with another class
    truths[0, 0, 1, 0] = (truths[0, 0, 0, 0] + 1) % CLASSES
    truths[1, 0, 2:] = 0
    return {'maps': maps, 'truths': truths.reshape(IMAGES, 1, 30)}


def loss_settings(kind, p):
    if kind == 'RegionLoss':
        return 'region_loss_param { num: 3 num_class: %d object_scale: %g class_scale: %g noobject_scale: %g ' \
            'coord_scale: %g thresh: %g rescore: %d bias_match: %d %s }' % (
                (CLASSES,) + p['scales'] + (p['thresh'], p['rescore'], p['bias_match'],
                                            ' '.join('biases: %g' % b for b in ANCHORS)))
    text = 'num: %d num_class: %d coord_scale: %g class_scale: %g thresh: %g iou_thresh: %g label_smooth_eps: %g ' \
        'anchors_scale: 16 ' % (len(p['mask']), CLASSES, p['coord'], p['class'], p['thresh'], p['iou_thresh'], p['eps'])
    text += ' '.join('biases: %g' % (16 * b) for b in ANCHORS) + ' '.join(' mask: %d' % a for a in p['mask'])
    for setting, value in (('use_logic_gradient', p.get('logic')), ('use_focal_loss', p.get('focal'))):
        text += ' %s: true' % setting if value else ''
    return 'yolov3_param { %s object_scale: %g }' % (text, p.get('object', 1))


def loss(maps, rows, kind, p):
    """Returns the loss, and the gradient of the maps for a gradient of 1 of the loss."""
    boxes = len(p['mask']) if kind == 'Yolov3' else len(ANCHORS) // 2
    values = maps.reshape(IMAGES, boxes, -1, HEIGHT, WIDTH)
    deltas = np.zeros(values.shape)
    for n in range(IMAGES):
        (yolo3_deltas if kind == 'Yolov3' else region_deltas)(values[n], true_boxes(rows, n), deltas[n], p)
    total = (deltas ** 2).sum() / (1 if p.get('rows') else IMAGES)
    if p.get('logic'):
        slopes = sigmoid(values) * (1 - sigmoid(values))
        slopes[:, :, 2:4] = 1
        deltas = deltas * slopes
    return total, (deltas / IMAGES).reshape(maps.shape)


def sizes(numbers):
    return [ANCHORS[2 * a:2 * a + 2] for a in numbers]


def place(box):
    column, row = int(box[0] * WIDTH), int(box[1] * HEIGHT)
    return row, column


def differences(values, box, size, row, column):
    return np.array([box[0] * WIDTH - column - sigmoid(values[0]), box[1] * HEIGHT - row - sigmoid(values[1]),
                     math.log(box[2] * WIDTH / size[0]) - values[2], math.log(box[3] * HEIGHT / size[1]) - values[3]])


def region_deltas(values, truths, deltas, p):
    object_scale, class_scale, empty_scale, box_scale = p['scales']
    anchors = sizes(range(3))
    for row, column in np.ndindex(HEIGHT, WIDTH):
        for k in range(3):
            box = decode(values[k, :, row, column], row, column, (HEIGHT, WIDTH), anchors[k])
            s = sigmoid(values[k, 4, row, column])
            if max([overlap(box, truth) for _, truth in truths], default=0) <= p['thresh']:
                deltas[k, 4, row, column] = empty_scale * s * s * (1 - s)
    for label, truth in truths:
        row, column = place(truth)
        predicted = [decode(values[k, :, row, column], row, column, (HEIGHT, WIDTH), anchors[k]) for k in range(3)]
        shapes = [(w / WIDTH, h / HEIGHT) for w, h in anchors] if p['bias_match'] else [b[2:] for b in predicted]
        k = int(np.argmax([overlap((0, 0) + tuple(shape), (0, 0) + tuple(truth[2:])) for shape in shapes]))
        x, d = values[k, :, row, column], deltas[k, :, row, column]
        change = differences(x, truth, anchors[k], row, column)
        scale = box_scale
        if p.get('rows'):
            change = np.clip(change, -1, 1)
        elif not p['rescore']:
            scale *= 2 - truth[2] * truth[3]
        change[:2] *= sigmoid(x[:2]) * (1 - sigmoid(x[:2]))
        d[:4] = -scale * change
        s = sigmoid(x[4])
        goal = overlap(predicted[k], truth) if p['rescore'] else 1
        d[4] = -object_scale * (2 * (1 - s) ** 3 if p.get('rows') else goal - s) * s * (1 - s)
        d[5:] = class_scale * (softmax(x[5:]) - (np.arange(CLASSES) == label))


def yolo3_deltas(values, truths, deltas, p):
    mask, anchors = list(p['mask']), sizes(range(3))
    for row, column in np.ndindex(HEIGHT, WIDTH):
        for k, a in enumerate(mask):
            box = decode(values[k, :, row, column], row, column, (HEIGHT, WIDTH), anchors[a])
            if max([overlap(box, truth) for _, truth in truths], default=0) <= p['thresh']:
                deltas[k, 4, row, column] = sigmoid(values[k, 4, row, column])
    for label, truth in truths:
        row, column = place(truth)
        shares = [overlap((0, 0, w / WIDTH, h / HEIGHT), (0, 0) + tuple(truth[2:])) for w, h in anchors]
        best = int(np.argmax(shares))
        chosen = [mask.index(best)] if best in mask else []
        # MobileNet-YOLO skips the anchor whose number is the best one's position in the mask.
        skipped = chosen[0] if chosen else best
        if p['iou_thresh'] < 1:
            chosen += [mask.index(a) for a in range(3)
                       if a in mask and a != skipped and shares[a] > p['iou_thresh']]
        for k in chosen:
            x, d = values[k, :, row, column], deltas[k, :, row, column]
            d[:4] = -p['coord'] * (2 - truth[2] * truth[3]) * differences(x, truth, anchors[mask[k]], row, column)
            d[4] = -(1 - sigmoid(x[4])) * (p['object'] if p.get('logic') else 1)
            chances = sigmoid(x[5:])
            smoothed = (np.arange(CLASSES) == label) * (1 - p['eps']) + p['eps'] / 2
            if d[5 + label] != 0:
                d[5 + label] = p['class'] * (chances[label] - smoothed[label])
            elif p.get('focal'):
                c = chances[label]
                factor = -(1 - c) * (2 * c * math.log(c) + c - 1) / 2
                d[5:] = p['class'] * (chances - (np.arange(CLASSES) == label)) * factor
            else:
                d[5:] = p['class'] * (chances - smoothed)
