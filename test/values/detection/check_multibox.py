#!/usr/bin/python3
"""Checks MultiBoxLoss and DetectionEvaluate against their definitions.

The definitions follow SSD's Caffe fork, written here element by element with numpy.
Inputs are random with fixed seeds.
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common'))
import check_detection  # noqa: E402
import checker  # noqa: E402
from check_detection import decode_box, overlap  # noqa: E402


def encode_box(box, prior, variance, code, in_target):
    size, own = prior[2:] - prior[:2], box[2:] - box[:2]
    if code == 'CENTER_SIZE':
        offsets = np.concatenate([((box[:2] + box[2:]) - (prior[:2] + prior[2:])) / 2 / size,
                                  np.log(own / size)])
    else:
        offsets = (box - prior) / (np.tile(size, 2) if code == 'CORNER_SIZE' else 1)
    return offsets if in_target else offsets / variance


def match_boxes(truths, boxes, p):
    """Returns for each box its true box (-1: no match, -2: ignored) and its largest overlap."""
    found, largest_overlap = np.full(len(boxes), -1), np.zeros(len(boxes))
    shares = np.array([[overlap(box, truth) for truth in truths] for box in boxes])
    if p.get('ignore_cross'):
        found[[bool(np.any((box < 0) | (box > 1))) for box in boxes]] = -2
        shares[found == -2] = 0
    shares[shares <= 1e-6] = 0
    largest_overlap = shares.max(axis=1)
    remaining = shares.copy()
    while remaining.max() > 0:
        box, truth = np.unravel_index(remaining.argmax(), remaining.shape)
        found[box], largest_overlap[box] = truth, shares[box, truth]
        remaining[box], remaining[:, truth] = 0, 0
    if p.get('match', 'PER_PREDICTION') == 'PER_PREDICTION':
        for box in np.flatnonzero(found == -1):
            if shares[box].max() > 0 and shares[box].max() >= p.get('threshold', 0.5):
                found[box] = shares[box].argmax()
    return found, largest_overlap


def conf_loss(x, target, kind):
    if kind == 'SOFTMAX':
        return np.log(np.exp(x - x.max()).sum()) + x.max() - x[target]
    one_hot = np.zeros(len(x))
    if target is not None:
        one_hot[target] = 1
    return (np.log1p(np.exp(-abs(x))) + np.maximum(x, 0) - one_hot * x).sum()


def loc_loss(difference, kind):
    square = difference ** 2 / 2
    if kind == 'L2':
        return square.sum()
    return np.where(abs(difference) < 1, square, abs(difference) - 0.5).sum()


def suppress(order, boxes, threshold, top_k):
    kept = []
    for i in order[:top_k]:
        if all(overlap(boxes[i], boxes[j]) <= threshold for j in kept):
            kept.append(i)
    return kept


def multibox_loss(loc, conf, priors, truths, p):
    classes, code = p['num_classes'], p.get('code', 'CORNER')
    kinds = p.get('loc_kind', 'SMOOTH_L1'), p.get('conf_kind', 'SOFTMAX')
    share, mining = p.get('share', True), p.get('mining', 'MAX_NEGATIVE')
    in_target = p.get('in_target', False)
    boxes, variances = priors.reshape(2, -1, 4)
    images, count = len(loc), len(boxes)
    loc = loc.reshape(images, count, 1 if share else classes, 4)
    conf = conf.reshape(images, count, classes)
    loc_sum = conf_sum = matched = 0
    for n in range(images):
        own = [t for t in truths.reshape(-1, 8) if t[0] == n and (p.get('difficult', True) or not t[7])]
        labels = [1 if p.get('agnostic') else int(t[1]) for t in own]
        corners = [t[3:7] for t in own]

        def location(i, truth):
            slot = 0 if share else labels[truth]
            predicted = loc[n, i, slot]
            target = encode_box(corners[truth], boxes[i], variances[i], code, in_target)
            if p.get('inside'):
                predicted = np.where((boxes[i] < 0) | (boxes[i] > 1), target, predicted)
            if in_target:
                predicted, target = predicted / variances[i], target / variances[i]
            return loc_loss(predicted - target, kinds[0])

        if not own:
            if mining == 'NONE':
                conf_sum += sum(conf_loss(x, 0 if kinds[1] == 'SOFTMAX' else None, kinds[1])
                                for x in conf[n])
            continue
        compared = boxes
        if not p.get('use_prior', True):
            compared = np.array([decode_box(loc[n, i, 0], boxes[i], variances[i], code, in_target)
                                 for i in range(count)])
        found, largest_overlap = match_boxes(corners, compared, p)
        negatives = []
        if mining != 'NONE':
            losses = [conf_loss(conf[n, i], labels[found[i]] if found[i] >= 0 else 0, kinds[1])
                      for i in range(count)]
            if mining == 'HARD_EXAMPLE':
                losses = [l + (location(i, found[i]) if found[i] >= 0 else 0)
                          for i, l in enumerate(losses)]
                order = sorted(range(count), key=lambda i: -losses[i])
                sample_count = min(p.get('sample_size', 64), count)
            else:
                order = [i for i in np.argsort(-np.array(losses), kind='stable')
                         if found[i] == -1 and largest_overlap[i] < p.get('neg_overlap', 0.5)]
                sample_count = min(int((found >= 0).sum() * p.get('ratio', 3)), len(order))
            if 'nms' in p:
                order = suppress(order, boxes, *p['nms'])
            chosen = order[:sample_count]
            if mining == 'HARD_EXAMPLE':
                dropped = [i for i in range(count) if found[i] >= 0 and i not in chosen]
                negatives = [i for i in chosen if found[i] == -1]
                found[dropped] = -1
            else:
                negatives = chosen
        for i in range(count):
            if found[i] >= 0:
                matched += 1
                loc_sum += location(i, found[i])
                conf_sum += conf_loss(conf[n, i], labels[found[i]], kinds[1])
            elif i in negatives or mining == 'NONE':
                target = 0 if i in negatives or kinds[1] == 'SOFTMAX' else None
                conf_sum += conf_loss(conf[n, i], target, kinds[1])
    normalizer = {'VALID': matched, 'FULL': images * count, 'BATCH_SIZE': images,
                  'NONE': 1}[p.get('normalization', 'VALID')]
    return (p.get('loc_weight', 1) * loc_sum + conf_sum) / max(normalizer, 1)


def settings_text(p):
    names = {'code': 'code_type', 'loc_kind': 'loc_loss_type', 'conf_kind': 'conf_loss_type',
             'share': 'share_location', 'mining': 'mining_type', 'match': 'match_type',
             'in_target': 'encode_variance_in_target', 'difficult': 'use_difficult_gt',
             'agnostic': 'map_object_to_agnostic', 'inside': 'bp_inside', 'ratio': 'neg_pos_ratio',
             'use_prior': 'use_prior_for_matching', 'ignore_cross': 'ignore_cross_boundary_bbox',
             'threshold': 'overlap_threshold'}
    text = ''
    for key, value in p.items():
        if key == 'nms':
            text += 'nms_param { nms_threshold: %g top_k: %d } use_prior_for_nms: true ' % value
        elif key != 'normalization':
            text += '%s: %s ' % (names.get(key, key), str(value).lower() if isinstance(value, bool)
                                 else value)
    return 'multibox_loss_param { %s } loss_param { normalization: %s }' % (
        text, p.get('normalization', 'VALID'))


def expected_evaluation(detections, truths, p):
    """Returns the rows of a DetectionEvaluate, without a limit on their number."""
    detections, truths = detections.reshape(-1, 7), truths.reshape(-1, 8)
    classes = range(1, p['num_classes'])
    rows = [[-1, c, sum(t[0] >= 0 and t[1] == c and (p['difficult'] or not t[7]) for t in truths),
             -1, -1] for c in classes]
    for n in sorted({d[0] for d in detections if d[0] >= 0}):
        for c in classes:
            own = [t for t in truths if t[0] == n and t[1] == c]
            matched_truths = set()
            ranked = [d for d in detections if d[0] == n and d[1] == c]
            for d in sorted(ranked, key=lambda d: -d[2]) if own else ranked:
                shares = [overlap(d[3:], t[3:7]) for t in own]
                verdict = [0, 1]
                if own and max(shares) >= p['threshold']:
                    best = int(np.argmax(shares))
                    if own[best][7] and not p['difficult']:
                        verdict = [0, 0]
                    elif best not in matched_truths:
                        verdict = [1, 0]
                        matched_truths.add(best)
                rows.append([n, c, d[2]] + verdict)
    rows += [[0] * 5] * (len(classes) + len(detections) - len(rows))
    return np.array(rows, float)[None, None]


def true_boxes(random, images, classes, count):
    corners = np.sort(random.uniform(0, 1, (count, 2, 2)), axis=1).reshape(count, 4)
    return np.concatenate([random.randint(0, images, (count, 1)),
                           random.randint(1, classes, (count, 1)), np.zeros((count, 1)), corners,
                           random.randint(0, 2, (count, 1))], axis=1)


class MultiBox(check_detection.Detection):
    def check_losses(self):
        random = np.random.RandomState(3)
        usual = {'num_classes': 4, 'code': 'CENTER_SIZE'}
        for name, p in (
                ('usual', usual),
                ('corners', dict(usual, code='CORNER', loc_kind='L2', loc_weight=0.5)),
                ('sizes', dict(usual, code='CORNER_SIZE', match='BIPARTITE', ratio=5.5)),
                ('logistic', dict(usual, conf_kind='LOGISTIC', normalization='FULL')),
                ('all', dict(usual, mining='NONE', normalization='BATCH_SIZE')),
                ('all logistic', dict(usual, mining='NONE', conf_kind='LOGISTIC',
                                      normalization='NONE')),
                ('hard', dict(usual, mining='HARD_EXAMPLE', sample_size=9)),
                ('suppressed', dict(usual, nms=(0.5, 40), neg_overlap=0.4)),
                ('hard suppressed', dict(usual, mining='HARD_EXAMPLE', nms=(0.3, 40))),
                ('own boxes', dict(usual, share=False, mining='NONE')),
                ('in target', dict(usual, in_target=True)),
                ('easy', dict(usual, difficult=False, threshold=0.3)),
                ('agnostic', dict(usual, num_classes=2, agnostic=True)),
                ('inside', dict(usual, inside=True, code='CORNER')),
                ('crossing', dict(usual, ignore_cross=True)),
                ('predictions', dict(usual, use_prior=False, in_target=True))):
            images, boxes, classes = 3, 60, p['num_classes']
            corners = np.sort(random.uniform(-0.1, 1.1, (boxes, 2, 2)), axis=1).reshape(boxes, 4)
            priors = np.stack([corners, random.uniform(0.1, 0.3, (boxes, 4))]).reshape(1, 2, -1)
            truths = true_boxes(random, images - 1, 4, 7)  # none in the last image
            truths = np.concatenate([truths, np.full((2, 8), -1)])[None, None]
            loc = random.normal(size=(images, boxes * 4 * (
                1 if p.get('share', True) else classes))) * (0.1 if p.get('in_target') else 1)
            conf = random.normal(size=(images, boxes * classes)) * 2
            inputs = {n: v.astype(np.float32).astype(float) for n, v in (
                ('loc', loc), ('conf', conf), ('priors', priors), ('truths', truths))}
            self.compare('MultiBoxLoss ' + name,
                         'layer { name: "l" type: "MultiBoxLoss" bottom: "loc" bottom: "conf" '
                         'bottom: "priors" bottom: "truths" top: "y" %s }' % settings_text(p),
                         inputs, np.array(multibox_loss(*inputs.values(), p)))

    def check_verdicts(self):
        random = np.random.RandomState(8)
        for name, difficult, threshold, count in (('usual', True, 0.3, 25),
                                                  ('easy', False, 0.2, 25),
                                                  ('nothing', True, 0.5, 0)):
            truths = true_boxes(random, 3, 4, 9)
            near = truths[random.randint(0, 9, max(count, 1))]
            corners = near[:, 3:7] + random.normal(size=(len(near), 4)) * 0.05
            detections = np.concatenate([near[:, :2], random.uniform(0, 1, (len(near), 1)),
                                         corners], axis=1)
            detections = detections[np.lexsort((detections[:, 1], detections[:, 0]))]
            detections = np.concatenate([detections[:count], np.full((3, 7), -1)])
            inputs = {n: v.astype(np.float32).astype(float)[None, None]
                      for n, v in (('found', detections), ('truths', truths))}
            self.compare('DetectionEvaluate ' + name,
                         'layer { name: "l" type: "DetectionEvaluate" bottom: "found" '
                         'bottom: "truths" top: "y" detection_evaluate_param { num_classes: 4 '
                         'evaluate_difficult_gt: %s overlap_threshold: %g } }' %
                         (str(difficult).lower(), threshold), inputs,
                         expected_evaluation(*inputs.values(), {
                             'num_classes': 4, 'difficult': difficult, 'threshold': threshold}))


if __name__ == '__main__':
    checker.main(MultiBox, __doc__, 'check_losses', 'check_verdicts')
