"""Compares forks' layers of face recognition, and MyCaffe's loss, with NumPy, forward and backward."""
import itertools
import unittest

import caffe
import numpy as np

from common import fill, random_array
from fork_case import ForkCase

TYPES = ("SINGLE", "DOUBLE", "TRIPLE", "QUADRUPLE")


def margin_function(c, margin):
    """Returns (-1)^k cos(margin * angle) - 2 k and its derivative by c = cos(angle), by the formulas of the forks."""
    sign = np.sign(c)
    if margin == 1:
        return c, np.ones_like(c)
    if margin == 2:
        return 2 * sign * c ** 2 - 1, 4 * sign * c
    if margin == 3:
        outer = np.sign(np.abs(c) - 0.5)
        return outer * (4 * c ** 3 - 3 * c) + sign * (1 + outer) - 2, outer * (12 * c ** 2 - 3)
    third = sign * np.sign(2 * c ** 2 - 1)
    return third * (8 * c ** 4 - 8 * c ** 2 + 1) + 2 * sign + third - 3, third * (32 * c ** 3 - 16 * c)


class ForkMargins(ForkCase):
    def test_center_loss_of_absolute_differences(self):
        x, label = random_array(1, 5, 2, 2), np.array([2, 0, 2, 2, 1], np.float32)
        net = self.net("CenterLoss", "loss_weight: 0.5 center_loss_param { num_output: 4 distance_type: 'L1' }",
                       {"x": x, "label": label}, caffe.TRAIN)
        fill(net)
        difference = x.reshape(5, 4) - net.params["layer"][0].data[label.astype(int)]
        self.close(net.forward()["y"], np.abs(difference).sum() / 5)
        net.backward()
        self.close(net.blobs["x"].diff.reshape(5, 4), 0.5 * np.sign(difference) / 5)
        gradient = np.zeros((4, 4))
        for item, number in enumerate(label.astype(int)):
            gradient[number] -= np.sign(difference[item]) / (1 + (label == number).sum())
        self.close(net.params["layer"][0].diff, gradient)

    def test_changing_bias(self):
        x, label = random_array(2, 4, 3), np.array([0, 2, 1, 1], np.float32)
        text = ("label_specific_add_param { bias_base: -0.5 bias_gamma: 0.3 bias_power: 0.5 bias_min: -0.4 "
                "bias_max: -0.2 iteration: 2 }")
        net = self.net("LabelSpecificAdd", text, {"x": x, "label": label}, caffe.TRAIN, tops=("y", "bias"))
        for iteration in range(2, 6):
            bias = min(max(-0.5 + (1 + 0.3 * iteration) ** 0.5 - 1, -0.4), -0.2)
            expected = x.copy()
            for i, number in enumerate(label.astype(int)):
                expected[i, number] += bias * (x[i, number] > -bias)
            net.forward()
            self.close(net.blobs["bias"].data, [bias])
            self.close(net.blobs["y"].data, expected)

    def check_margin(self, kind, block, margin):
        is_sphere = kind == "MarginInnerProduct"
        x, label = 2 * random_array(3, 8, 3, 2), np.arange(8) % 5
        text = "%s { num_output: 5 type: %s base: 3 gamma: 0.5 power: 2 lambda_min: 0.3 iteration: 1 }" % (
            block, TYPES[margin - 1])
        net = self.net(kind, text, {"x": x, "label": label.astype(np.float32)}, caffe.TRAIN, tops=("y", "lambda"))
        fill(net)
        weights = net.params["layer"][0].data.astype(float)
        rows, items = x.reshape(8, 6).astype(float), np.arange(8)
        for iteration in (2, 3, 4):
            weight = max(3 * (1 + 0.5 * iteration) ** -2, 0.3)
            if is_sphere:
                weights /= np.linalg.norm(weights, axis=1, keepdims=True)
            scores = rows @ weights.T
            x_norms, w_norms = np.linalg.norm(rows, axis=1), np.linalg.norm(weights, axis=1)
            norms = x_norms * w_norms[label]
            cosine = scores[items, label] / norms
            f, slope = margin_function(cosine, margin)
            y = scores.copy()
            if margin > 1:
                y[items, label] = (norms * f + weight * scores[items, label]) / (1 + weight)
            net.forward()
            self.close(net.blobs["lambda"].data, [weight])
            self.close(net.blobs["y"].data, y, 1e-4)
            self.close(net.params["layer"][0].data, weights)
            dy = random_array(4, 8, 5).astype(float)
            net.clear_param_diffs()
            net.blobs["y"].diff[...] = dy
            net.backward()
            # The gradient of the score of the label is a combination of w and x.
            of_w, of_x = slope, (f - cosine * slope) * norms / x_norms ** 2
            if is_sphere and margin > 1:
                length = np.hypot(of_w, of_x)
                of_w, of_x = of_w / length, of_x / length
            mixed = (of_w + weight) / (1 + weight) if margin > 1 else np.ones(8)
            ds = dy.copy()
            ds[items, label] *= mixed
            dx = ds @ weights
            dw = (dy if is_sphere else ds).T @ rows
            if margin > 1:
                d = dy[items, label] / (1 + weight)
                dx += (d * of_x)[:, None] * rows
                if not is_sphere:
                    for i, number in enumerate(label):
                        dw[number] += (d * (f - cosine * slope) * norms)[i] * weights[number] / w_norms[number] ** 2
            self.close(net.blobs["x"].diff.reshape(8, 6), dx, 1e-4)
            self.close(net.params["layer"][0].diff, dw, 1e-4)

    def test_margins(self):
        for (kind, block), margin in itertools.product((("MarginInnerProduct", "margin_inner_product_param"),
                                                        ("LargeMarginInnerProduct", "largemargin_inner_product_param")),
                                                       (1, 2, 3, 4)):
            with self.subTest(kind, margin=margin):
                self.check_margin(kind, block, margin)

    def test_training_keeps_unit_rows(self):
        """The update starts from the normalized weights."""
        solver = caffe.SGDSolver(self.write("""net_param {
            layer { name: 'x' type: 'Input' top: 'x' top: 'label' input_param { shape { dim: 4 dim: 3 } shape { dim: 4 } } }
            layer { name: 'fc' type: 'MarginInnerProduct' bottom: 'x' bottom: 'label' top: 'y' top: 'lambda'
                    margin_inner_product_param { num_output: 5 type: DOUBLE base: 2 gamma: 1 lambda_min: 0.1
                                                 weight_filler { type: 'gaussian' std: 3 } } }
            layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'y' bottom: 'label' top: 'loss' } }
            base_lr: 0.5 lr_policy: 'fixed' max_iter: 10 snapshot_prefix: '%s'""" % self.path("s")))
        net = solver.net
        net.blobs["x"].data[...] = random_array(5, 4, 3)
        net.blobs["label"].data[...] = [0, 3, 1, 3]
        for iteration in range(1, 4):
            before = net.params["fc"][0].data.astype(float)
            before /= np.linalg.norm(before, axis=1, keepdims=True)
            solver.step(1)
            self.close(net.blobs["lambda"].data, [2 / (1 + iteration)])
            scores = net.blobs["y"].data.astype(float)
            prob = np.exp(scores - scores.max(1, keepdims=True))
            prob /= prob.sum(1, keepdims=True)
            prob[np.arange(4), [0, 3, 1, 3]] -= 1
            self.close(net.params["fc"][0].data, before - 0.5 * prob.T @ net.blobs["x"].data / 4, 1e-4)

    def test_softmax_cross_entropy_loss(self):
        x = 2 * random_array(6, 4, 5)
        softmax = np.exp(x) / np.exp(x).sum(1, keepdims=True)
        targets = np.random.RandomState(7).dirichlet(np.ones(5), 4).astype(np.float32)
        labels = np.array([3, 0, 4, 4], np.float32)
        one_hot = np.eye(5)[labels.astype(int)]
        for given, t in ((targets, targets), (labels, one_hot)):
            loss = (np.log1p(np.exp(x)) - x * t).sum()
            for mode, divisor in (("", 4), ("VALID", 20), ("NONE", 1)):
                text = "propagate_down: true propagate_down: false " + (
                    "loss_param { normalization: %s }" % mode if mode else "")
                self.check_loss("SoftmaxCrossEntropyLoss", text, {"x": x, "t": given}, loss / divisor,
                                {"x": (softmax - t) / divisor})


if __name__ == "__main__":
    unittest.main()
