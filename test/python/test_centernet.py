"""Compares the detections of CenterNet with a NumPy computation of the fork's, from maps of boxes and scores."""
import unittest

import numpy as np

from common import random_array
from fork_case import ForkCase


def detect(maps, scores, threshold, overlap, keep):
    """Returns the rows of label, score, corners and landmarks of an image."""
    height, width = scores.shape[1:]
    candidates = []
    for label, y, x in np.ndindex(*scores.shape):
        score = scores[label, y, x]
        if not threshold < score < 1:
            continue
        center = np.array([(x + maps[0, y, x]) * 4, (y + maps[1, y, x]) * 4])
        size = 4 * np.exp(maps[2:4, y, x])
        limit = np.array([4 * width, 4 * height])
        low, high = (np.clip(center + sign * size / 2, 0, limit) for sign in (-1, 1))
        marks = np.clip((center + maps[4:, y, x].reshape(-1, 2) * (high - low)) * 4, 0, limit)
        candidates.append((score, label + 1, low, high, size.prod(), marks.ravel(), limit))
    kept = []
    for candidate in sorted(candidates, key=lambda c: -c[0]):
        for other in kept:
            shared = np.maximum(np.minimum(candidate[3], other[3]) - np.maximum(candidate[2], other[2]) + 1, 0).prod()
            if shared / (candidate[4] + other[4] - shared) > overlap:
                break
        else:
            kept.append(candidate)
    return [np.concatenate([[label, score], low / limit, high / limit, marks])
            for score, label, low, high, _, marks, limit in kept][:keep or None]


class Centernet(ForkCase):
    def check(self, numbers, keep, text, threshold, overlap, scores):
        images, classes, height, width = scores.shape
        maps = random_array(1, images, numbers, height, width)
        maps[:, 2:4] += 1
        net = self.net("CenternetDetectionOutput", "detection_output_param { num_classes: %d %s }" % (classes + 1, text),
                       {"boxes": maps, "scores": scores}, force=False)
        expected = [np.concatenate([[image], row]) for image in range(images)
                    for row in detect(maps[image], scores[image], threshold, overlap, keep)]
        result = net.forward()["y"]
        self.assertEqual(result.shape, (1, 1, max(len(expected), images), 3 + numbers))
        if expected:
            self.close(result[0, 0], expected, 1e-5)
        else:
            self.close(result[0, 0], [[image] + [-1] * (2 + numbers) for image in range(images)])

    def test_detections(self):
        scores = random_array(2, 2, 3, 5, 6) / 2 + 0.5
        scores[0, 0, 0, 0] = 1  # not a detection
        self.check(4, 0, "confidence_threshold: 0.3", 0.3, 0.4, scores)
        self.check(4, 5, "confidence_threshold: 0.3 keep_top_k: 5 nms_thresh: 0.1", 0.3, 0.1, scores)
        self.check(14, 7, "has_lm: true keep_top_k: 7", -np.inf, 0.4, scores[:, :1])

    def test_nothing_detected(self):
        self.check(4, 0, "confidence_threshold: 0.3", 0.3, 0.4, np.zeros((3, 2, 2, 2), np.float32))


if __name__ == "__main__":
    unittest.main()
