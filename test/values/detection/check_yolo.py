#!/usr/bin/python3
"""Checks the detections, losses and evaluation of YOLO 2 and 3 against their definitions.

The definitions follow MobileNet-YOLO, Intel Caffe and its fork for OpenCL, written in common/yolo.py
box by box. Inputs are random with fixed seeds.
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from check_detection import Detection, checker  # noqa: E402 (adds the folder of yolo.py)
from check_proposals import layer  # noqa: E402
import yolo  # noqa: E402

BIASES = [0.8, 1.1, 2.5, 2, 1.5, 3.5]
PIXELS = [10, 14, 23, 27, 37, 58, 81, 82, 135, 169, 344, 319]


def single(values):
    """Rounds to single precision."""
    return np.asarray(values, np.float32).astype(float)


def random_maps(random, images, boxes, classes, height, width):
    maps = random.normal(size=(images, boxes, 5 + classes, height, width))
    maps[:, :, 2:4] *= 0.5
    return single(maps.reshape(images, -1, height, width))


class Yolo(Detection):
    def check_detections(self):
        random = np.random.RandomState(3)
        for name, shapes, p in (
                ('usual', [(1, 5, 5)], {}),
                ('batch', [(3, 4, 6)], dict(confidence=0.4)),
                ('scales', [(2, 3, 3), (2, 6, 6)], dict(nms=0.3)),
                ('few', [(2, 4, 4)], dict(confidence=0.75)),
                ('none', [(3, 4, 4)], dict(confidence=1.5)),
                ('OpenCL', [(2, 4, 4)], dict(opencl='image')),
                ('OpenCL none', [(2, 4, 4)], dict(opencl='image', confidence=1.5)),
                ('OpenCL corners', [(2, 4, 4)], dict(opencl='ssd_format: true', fromOne=True))):
            p = dict({'confidence': 0.3, 'nms': 0.45, 'opencl': '', 'fromOne': not p.get('opencl')}, **p)
            classes = 4
            inputs = {'map%d' % i: random_maps(random, n, 3, classes, h, w)
                      for i, (n, h, w) in enumerate(shapes)}
            expected = yolo.detections(list(inputs.values()), [single(BIASES)] * len(shapes), 3, classes, p)
            if p['opencl'] == 'image':
                inputs['image'] = random.normal(size=(shapes[0][0], 3, 9, 9)).round(2)
            self.compare('YoloDetectionOutput ' + name, layer(
                'YoloDetectionOutput', tuple(inputs), ('y',),
                'yolo_detection_output_param { num_classes: 4 num_box: 3 confidence_threshold: %g '
                'nms_threshold: %g %s %s }' % (
                    p['confidence'], p['nms'], ' '.join('biases: %g' % b for b in BIASES),
                    p['opencl'].replace('image', ''))), inputs, expected, 2e-5)

    def check_detections_of_yolo3(self):
        random = np.random.RandomState(4)
        for name, images, classes, p in (('usual', 1, 3, {}), ('batch', 2, 4, dict(nms=0.3, confidence=0.5)),
                                         ('one class', 2, 1, dict(nms=0.6)), ('none', 2, 3, dict(confidence=1))):
            p = dict({'confidence': 0.25, 'nms': 0.45, 'each': True, 'fromOne': True, 'opencl': ''}, **p)
            inputs = {'small': random_maps(random, images, 2, classes, 2, 3),
                      'large': random_maps(random, images, 2, classes, 4, 6)}
            masks, scales = [[4, 2], [1, 0]], [32, 16]
            anchors = []
            for mask, scale, maps in zip(masks, scales, inputs.values()):
                anchors.append([PIXELS[2 * a + k] / scale for a in mask for k in (0, 1)])
            expected = yolo.detections(list(inputs.values()), anchors, 2, classes, p)
            self.compare('Yolov3DetectionOutput ' + name, layer(
                'Yolov3DetectionOutput', tuple(inputs), ('y',),
                'yolov3_detection_output_param { num_classes: %d num_box: 2 confidence_threshold: %g '
                'nms_threshold: %g mask: 4 mask: 2 mask: 1 mask: 0 anchors_scale: 32 anchors_scale: 16 '
                'mask_group_num: 2 %s }' % (classes, p['confidence'], p['nms'],
                                            ' '.join('biases: %g' % b for b in PIXELS))),
                inputs, expected, 2e-5)
        evaluation = 'layer { name: "e" type: "DetectionEvaluate" bottom: "rows" bottom: "truths" top: "y" ' \
            'detection_evaluate_param { num_classes: 2 overlap_threshold: 0.9 } }'
        maps = np.full((1, 6, 1, 1), -30.0)
        maps[0, 4:] = 30
        truths = np.array([[0, 1, 0, 0.5, 0.5, 0.5, 0.5, 0], [0, 1, 0, 0, 0, 1, 1, 0]])[None, None]
        for name, width, verdict in (('true', 0.0, [1, 0]), ('false', -1.0, [0, 1])):
            maps[0, :4, 0, 0] = 0, 0, width, 0  # a box around the centre
            self.compare('DetectionEvaluate of a Yolov3DetectionOutput ' + name, layer(
                'Yolov3DetectionOutput', ('maps',), ('rows',),
                'yolov3_detection_output_param { num_classes: 1 num_box: 1 mask_group_num: 1 mask: 0 biases: 8 '
                'biases: 8 anchors_scale: 8 }') + evaluation, {'maps': maps, 'truths': truths},
                np.array([[-1, 1, 2, -1, -1], [0, 1, 1] + verdict])[None, None])

    def check_losses(self):
        random = np.random.RandomState(5)
        for name, kind, p in yolo.LOSSES:
            inputs = {key: single(value) for key, value in yolo.loss_inputs(random, kind, p).items()}
            expected = yolo.loss(inputs['maps'], inputs['truths'], kind, p)[0]
            self.compare('%s %s' % (kind, name), layer(
                kind, ('maps', 'truths'), ('y',), yolo.loss_settings(kind, p)), inputs, np.array(expected), 1e-4)

    def check_evaluation(self):
        random = np.random.RandomState(6)
        for name, images, p in (('usual', 2, {}), ('objects', 1, dict(score='OBJ')),
                                ('classes', 2, dict(score='PROB', threshold=0.2)),
                                ('few', 3, dict(nms=0.05, threshold=0.1))):
            p = dict({'score': 'MULTIPLY', 'nms': 0.45, 'threshold': 0.4}, **p)
            inputs = {'maps': random_maps(random, images, 3, 4, 5, 5),
                      'truths': single(yolo.true_rows(random, images, 4, 9))}
            inputs['maps'].reshape(images, 3, 9, 5, 5)[0, 1, 4] -= 9  # scores below 0.005
            self.compare('EvalDetection ' + name, layer(
                'EvalDetection', ('maps', 'truths'), ('y',),
                'eval_detection_param { side: 5 num_class: 4 num_object: 3 score_type: %s nms: %g threshold: %g '
                '%s }' % (p['score'], p['nms'], p['threshold'], ' '.join('biases: %g' % b for b in BIASES))),
                inputs, yolo.evaluation(inputs['maps'], inputs['truths'], single(BIASES), 3, 4, p), 2e-5)


if __name__ == '__main__':
    checker.main(Yolo, __doc__, 'check_detections', 'check_detections_of_yolo3', 'check_losses', 'check_evaluation')
