"""Trains and tests a two-stage detector end to end as scripts of Faster R-CNN do: a region proposal network and a
classifier of regions share a convolution; layers in Python provide images of several sizes, anchor targets,
proposals and their targets. Compares losses, gradients, updates and detections with NumPy and finite differences."""
import unittest

import caffe
import numpy as np

from common import Case, fill, random_array

STRIDE, SCALES, CLASSES = 4, (8, 14), 3
ANCHORS = len(SCALES)


def anchors_of(height, width):
    """Returns the anchors (left, top, right, bottom) of a map, in the order rows, columns, anchors."""
    boxes = []
    for y in range(height):
        for x in range(width):
            for scale in SCALES:
                centre = np.array([x, y, x, y]) * STRIDE + STRIDE / 2
                boxes.append(centre + np.array([-1, -1, 1, 1]) * scale / 2)
    return np.float32(boxes)


def overlaps(boxes, others):
    """Returns the intersection over union of all pairs."""
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:4], others[None, :, 2:4])
    common = np.prod(np.maximum(high - low + 1, 0), axis=2)
    areas = [np.prod(b[:, 2:4] - b[:, :2] + 1, axis=1) for b in (boxes, others)]
    return common / (areas[0][:, None] + areas[1][None, :] - common)


def encode(boxes, targets):
    """Returns the offsets and logarithms of scales from boxes to targets."""
    size, target_size = boxes[:, 2:4] - boxes[:, :2] + 1, targets[:, 2:4] - targets[:, :2] + 1
    centre, target_centre = boxes[:, :2] + size / 2, targets[:, :2] + target_size / 2
    return np.hstack([(target_centre - centre) / size, np.log(target_size / size)]).astype(np.float32)


def decode(boxes, deltas):
    """Inverts encode()."""
    size = boxes[:, 2:4] - boxes[:, :2] + 1
    centre = boxes[:, :2] + size / 2 + deltas[:, :2] * size
    size = size * np.exp(deltas[:, 2:4])
    return np.hstack([centre - size / 2, centre + size / 2 - 1]).astype(np.float32)


def suppress(boxes, scores, threshold):
    """Returns the indices of non-maximum suppression, by score."""
    kept = []
    for i in np.argsort(-scores, kind="stable"):
        if not kept or overlaps(boxes[i: i + 1], boxes[kept]).max() <= threshold:
            kept.append(i)
    return kept


def set_top(blob, values):
    values = np.asarray(values, np.float32)
    blob.reshape(*values.shape)
    blob.data[...] = values


class DetectorLayer(caffe.Layer):
    """A layer without a backward pass, whose forward pass sets the shapes of its tops."""

    def reshape(self, bottom, top):
        pass

    def backward(self, top, propagate_down, bottom):
        pass


class RoIData(DetectorLayer):
    """One image with its boxes for each pass, in a cycle over the number of images in param_str."""

    def setup(self, bottom, top):
        self.count, self.passes = eval(self.param_str)["images"], 0
        for blob, shape in zip((top[0], top[1], top[2]), ((1, 2, 16, 16), (1, 3), (1, 5))):
            blob.reshape(*shape)

    def forward(self, bottom, top):
        image, boxes = make_image(self.passes % self.count)
        self.passes += 1
        set_top(top[0], image[None])
        set_top(top[1], [[*image.shape[1:], 1]])
        set_top(top[2], boxes)


class AnchorTargets(DetectorLayer):
    """Labels of anchors: 1 above an overlap of 0.5 and for the best, 0 below 0.2, else -1; box targets, and weights."""

    def setup(self, bottom, top):
        height, width = bottom[0].data.shape[2:]
        top[0].reshape(1, 1, ANCHORS * height, width)
        for blob in (top[1], top[2], top[3]):
            blob.reshape(1, 4 * ANCHORS, height, width)

    def forward(self, bottom, top):
        height, width = bottom[0].data.shape[2:]
        boxes, targets = anchors_of(height, width), bottom[1].data
        common = overlaps(boxes, targets)
        labels = np.full(len(boxes), -1.0)
        labels[common.max(axis=1) < 0.2] = 0
        labels[common.max(axis=1) > 0.5] = 1
        labels[common.argmax(axis=0)] = 1
        deltas = encode(boxes, targets[common.argmax(axis=1)])
        inside = np.repeat((labels == 1)[:, None], 4, axis=1)
        outside = np.repeat((labels >= 0)[:, None], 4, axis=1) / (labels >= 0).sum()

        def map_of(values):  # (anchors of all positions, 4) to (1, 4 * anchors, height, width)
            return values.reshape(1, height, width, 4 * ANCHORS).transpose(0, 3, 1, 2)

        by_anchor = labels.reshape(height, width, ANCHORS).transpose(2, 0, 1)
        set_top(top[0], by_anchor.reshape(1, 1, ANCHORS * height, width))
        for blob, values in zip((top[1], top[2], top[3]), (deltas, inside, outside)):
            set_top(blob, map_of(values))


class Proposals(DetectorLayer):
    """The best boxes after suppression, at most param_str's count, with the image number 0. `frozen` repeats
    the last ones, for finite differences."""

    def setup(self, bottom, top):
        self.count, self.frozen, self.rois = eval(self.param_str)["count"], False, None
        top[0].reshape(1, 5)

    def forward(self, bottom, top):
        if not self.frozen:
            self.rois = self.propose(bottom[0].data, bottom[1].data, bottom[2].data[0])
        set_top(top[0], self.rois)

    def propose(self, probabilities, deltas, info):
        height, width = deltas.shape[2:]
        boxes = decode(anchors_of(height, width), deltas[0].transpose(1, 2, 0).reshape(-1, 4))
        boxes = np.clip(boxes, 0, np.array([info[1], info[0], info[1], info[0]]) - 1)
        scores = probabilities[0, ANCHORS:].transpose(1, 2, 0).ravel()
        large = (boxes[:, 2:] - boxes[:, :2]).min(axis=1) >= 3
        boxes, scores = boxes[large], scores[large]
        kept = [i for i in suppress(boxes, scores, 0.7) if scores[i] > 0.3][: self.count]
        return np.hstack([np.zeros((len(kept), 1)), boxes[kept]])


class ProposalTargets(DetectorLayer):
    """Proposals and the image's boxes with class labels, box targets for the label's class, and weights."""

    def setup(self, bottom, top):
        self.classes = eval(self.param_str)["classes"]
        for blob, shape in zip((top[0], top[1], top[2], top[3], top[4]),
                               ((1, 5), (1, 1)) + 3 * ((1, 4 * self.classes),)):
            blob.reshape(*shape)

    def forward(self, bottom, top):
        truth = bottom[1].data
        boxes = np.vstack([bottom[0].data[:, 1:], truth[:, :4]])
        common = overlaps(boxes, truth)
        best = common.argmax(axis=1)
        labels = np.where(common.max(axis=1) >= 0.5, truth[best, 4], 0)
        targets, weights = np.zeros((2, len(boxes), 4 * self.classes), np.float32)
        for i, label in enumerate(labels.astype(int)):
            if label:
                targets[i, 4 * label: 4 * label + 4] = encode(boxes[i: i + 1], truth[best[i]: best[i] + 1])[0]
                weights[i, 4 * label: 4 * label + 4] = 1
        set_top(top[0], np.hstack([np.zeros((len(boxes), 1)), boxes]))
        for blob, values in zip((top[1], top[2], top[3], top[4]), (labels, targets, weights, weights)):
            set_top(blob, values)


def make_image(number):
    """Returns an image (2, height, width) with one or two bright boxes, and the boxes with their classes."""
    height, width = [(24, 24), (32, 20), (20, 36)][number % 3]
    image = 0.3 * random_array(number, 2, height, width)
    boxes = [[3, 2, 12, 13, 1], [6, 8, 18, 18, 2]][: 1 + number % 2] or [[1, 1, 9, 9, 1]]
    for left, top, right, bottom, kind in boxes:
        image[kind - 1, top: bottom + 1, left: right + 1] += 2
    return image.astype(np.float32), np.float32(boxes)


def python_layer(name, bottoms, tops, kind, param_str="{}"):
    return "layer { name: '%s' type: 'Python' %s %s python_param { module: '%s' layer: '%s' param_str: \"%s\" } }\n" % (
        name, " ".join("bottom: '%s'" % b for b in bottoms), " ".join("top: '%s'" % t for t in tops), __name__, kind,
        param_str)


def reshape_layer(bottom, top, channels):
    return """layer { name: '%s' type: 'Reshape' bottom: '%s' top: '%s'
      reshape_param { shape { dim: 0 dim: %d dim: -1 dim: 0 } } }\n""" % (top, bottom, top, channels)


def convolution(name, bottom, top, count, kernel, settings=""):
    return """layer { name: '%s' type: 'Convolution' bottom: '%s' top: '%s' param { lr_mult: 1 } param { lr_mult: 2 }
      convolution_param { num_output: %d kernel_size: %d weight_filler { type: 'gaussian' std: 0.1 } %s } }\n""" % (
        name, bottom, top, count, kernel, settings)


BACKBONE = (convolution("conv", "data", "conv", 6, 3, "stride: 4 pad: 1")
            + "layer { name: 'relu' type: 'ReLU' bottom: 'conv' top: 'conv' }\n"
            + convolution("rpn_cls_score", "conv", "rpn_cls_score", 2 * ANCHORS, 1)
            + convolution("rpn_bbox_pred", "conv", "rpn_bbox_pred", 4 * ANCHORS, 1)
            + reshape_layer("rpn_cls_score", "rpn_cls_score_reshape", 2))
PROPOSALS = """layer { name: 'rpn_cls_prob' type: 'Softmax' bottom: 'rpn_cls_score_reshape' top: 'rpn_cls_prob' }
""" + reshape_layer("rpn_cls_prob", "rpn_cls_prob_reshape", 2 * ANCHORS) + python_layer(
    "proposal", ["rpn_cls_prob_reshape", "rpn_bbox_pred", "im_info"], ["rpn_rois"], "Proposals", "{'count': 6}")
HEAD = """
layer { name: 'roi_pool' type: 'ROIPooling' bottom: 'conv' bottom: 'rois' top: 'pool'
  roi_pooling_param { pooled_w: 3 pooled_h: 3 spatial_scale: 0.25 } }
layer { name: 'fc' type: 'InnerProduct' bottom: 'pool' top: 'fc' inner_product_param { num_output: 10
  weight_filler { type: 'gaussian' std: 0.1 } } }
layer { name: 'fc_relu' type: 'ReLU' bottom: 'fc' top: 'fc' }
layer { name: 'cls_score' type: 'InnerProduct' bottom: 'fc' top: 'cls_score' inner_product_param { num_output: 3
  weight_filler { type: 'gaussian' std: 0.1 } } }
layer { name: 'bbox_pred' type: 'InnerProduct' bottom: 'fc' top: 'bbox_pred' inner_product_param { num_output: 12
  weight_filler { type: 'gaussian' std: 0.1 } } }
"""
TRAIN = ("name: 'end2end'\n" + python_layer("input", [], ["data", "im_info", "gt_boxes"], "RoIData", "{'images': 6}")
         + BACKBONE + python_layer("rpn_targets", ["rpn_cls_score", "gt_boxes"],
                                   ["rpn_labels", "rpn_targets", "rpn_inside", "rpn_outside"], "AnchorTargets") + """
layer { name: 'rpn_loss_cls' type: 'SoftmaxWithLoss' bottom: 'rpn_cls_score_reshape' bottom: 'rpn_labels'
  top: 'rpn_loss_cls' propagate_down: true propagate_down: false loss_weight: 1
  loss_param { ignore_label: -1 normalize: true } }
layer { name: 'rpn_loss_bbox' type: 'SmoothL1Loss' bottom: 'rpn_bbox_pred' bottom: 'rpn_targets' bottom: 'rpn_inside'
  bottom: 'rpn_outside' top: 'rpn_loss_bbox' loss_weight: 1 smooth_l1_loss_param { sigma: 3 } }
""" + PROPOSALS + python_layer("roi_targets", ["rpn_rois", "gt_boxes"],
                               ["rois", "labels", "targets", "inside", "outside"], "ProposalTargets",
                               "{'classes': 3}") + HEAD + """
layer { name: 'loss_cls' type: 'SoftmaxWithLoss' bottom: 'cls_score' bottom: 'labels' top: 'loss_cls' loss_weight: 1
  propagate_down: true propagate_down: false }
layer { name: 'loss_bbox' type: 'SmoothL1Loss' bottom: 'bbox_pred' bottom: 'targets' bottom: 'inside' bottom: 'outside'
  top: 'loss_bbox' loss_weight: 1 }
""")
TEST = ("name: 'deploy' input: 'data' input_shape { dim: 1 dim: 2 dim: 24 dim: 24 } "
        "input: 'im_info' input_shape { dim: 1 dim: 3 }\n" + BACKBONE + PROPOSALS.replace("rpn_rois", "rois") + HEAD
        + "layer { name: 'cls_prob' type: 'Softmax' bottom: 'cls_score' top: 'cls_prob' }\n")
LOSSES = ("rpn_loss_cls", "rpn_loss_bbox", "loss_cls", "loss_bbox")


def smooth_l1(blobs, names, sigma):
    """Returns the loss of a prediction, targets, inside and outside weights."""
    prediction, target, inside, outside = (blobs[name].data.astype(float) for name in names)
    x = inside * (prediction - target)
    values = np.where(np.abs(x) < 1 / sigma ** 2, 0.5 * (sigma * x) ** 2, np.abs(x) - 0.5 / sigma ** 2)
    return (outside * values).sum() / len(prediction)


def cross_entropy(scores, labels):
    """Returns the mean loss over labels other than -1; classes are along axis 1."""
    scores = np.moveaxis(np.asarray(scores, float), 1, -1).reshape(-1, scores.shape[1])
    labels = np.asarray(labels).ravel().astype(int)
    logs = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(labels)), np.maximum(labels, 0)]
    return logs[labels >= 0].sum() / max((labels >= 0).sum(), 1)


class TwoStages(Case):
    def train_net(self):
        net = caffe.Net(self.write(TRAIN), caffe.TRAIN)
        fill(net, 4, 0.3)
        return net

    def test_losses_of_images_of_several_sizes(self):
        net, shapes = self.train_net(), set()
        for _ in range(6):
            net.forward()
            blobs = net.blobs
            shapes.add((blobs["data"].shape, blobs["rois"].shape))
            self.close(blobs["rpn_loss_cls"].data, cross_entropy(blobs["rpn_cls_score_reshape"].data,
                                                                  blobs["rpn_labels"].data))
            self.close(blobs["rpn_loss_bbox"].data,
                       smooth_l1(blobs, ("rpn_bbox_pred", "rpn_targets", "rpn_inside", "rpn_outside"), 3))
            self.close(blobs["loss_cls"].data, cross_entropy(blobs["cls_score"].data, blobs["labels"].data))
            self.close(blobs["loss_bbox"].data, smooth_l1(blobs, ("bbox_pred", "targets", "inside", "outside"), 1))
            self.assertIn(-1, blobs["rpn_labels"].data)
            self.assertIn(1, blobs["rpn_labels"].data)
        self.assertGreaterEqual(len(shapes), 4)

    def test_gradients_are_finite_differences(self):
        net = self.train_net()
        layers = dict(zip(net._layer_names, net.layers))

        def loss_of_image(number):
            layers["input"].passes = number
            net.forward()
            return sum(float(net.blobs[name].data) for name in LOSSES)

        for number in (0, 1):  # one and two boxes
            layers["proposal"].frozen = False
            loss_of_image(number)
            layers["proposal"].frozen = True  # no gradient passes through proposals
            net.clear_param_diffs()
            net.backward()
            for name in ("conv", "rpn_cls_score", "rpn_bbox_pred", "fc", "cls_score", "bbox_pred"):
                for blob in net.params[name]:
                    gradient, original = blob.diff.copy(), blob.data.copy()
                    slope = np.sqrt((gradient ** 2).sum())
                    # Small for the convolution, since maxima of regions change elsewhere.
                    step, losses = 1e-4 if name == "conv" else 1e-3, []
                    for sign in (1, -1):
                        blob.data[...] = original + sign * step / slope * gradient
                        losses.append(loss_of_image(number))
                    blob.data[...] = original
                    self.assertGreater(slope, 0.01)
                    self.assertLess(abs((losses[0] - losses[1]) / (2 * step) - slope), 0.02 * slope, name)

    def test_steps_are_updates_of_separate_passes(self):
        """solver.step() with iter_size 2 does what forward, backward and a NumPy update do."""
        self.write(TRAIN, "train.prototxt")
        solver = caffe.SGDSolver(self.write(
            "train_net: '%s' base_lr: 0.01 lr_policy: 'step' gamma: 0.1 stepsize: 2 momentum: 0.9 weight_decay: 0.01 "
            "iter_size: 2 display: 0 snapshot: 0 snapshot_prefix: 'x'" % self.path("train.prototxt"), "solver"))
        fill(solver.net, 4, 0.3)
        net = self.train_net()
        params = [blob for blobs in net.params.values() for blob in blobs]
        # The biases of convolutions have lr_mult: 2.
        rates = [2 if "conv" in name or "rpn" in name else 1 for name in net.params for _ in (0,)]
        multipliers = [m for rate in rates for m in (1, rate)]
        history = [np.zeros_like(blob.data) for blob in params]
        for iteration in range(3):
            solver.step(1)
            net.clear_param_diffs()
            for _ in range(2):
                net.forward()
                net.backward()
            for blob, multiplier, update in zip(params, multipliers, history):
                rate = 0.01 * 0.1 ** (iteration // 2) * multiplier
                update *= 0.9
                update += rate * (blob.diff / 2 + 0.01 * blob.data)
                blob.data[...] -= update
            for name in net.params:
                for blob, other in zip(solver.net.params[name], net.params[name]):
                    self.close(blob.data, other.data, 2e-4)

    def test_training_finds_the_boxes(self):
        self.write(TRAIN, "train.prototxt")
        caffe.set_random_seed(1)
        solver = caffe.SGDSolver(self.write(
            "train_net: '%s' base_lr: 0.02 lr_policy: 'fixed' momentum: 0.9 snapshot_prefix: 'x' random_seed: 1"
            % self.path("train.prototxt"), "solver"))
        fill(solver.net, 1, 0.3)
        losses = []
        while solver.iter < 160:
            solver.step(1)
            losses.append(sum(float(solver.net.blobs[name].data) for name in LOSSES))
        self.assertLess(np.mean(losses[-6:]), 0.6 * np.mean(losses[:6]))
        solver.net.save(self.path("final.caffemodel"))
        net = caffe.Net(self.write(TEST), self.path("final.caffemodel"), caffe.TEST)
        counts = set()
        for number in (0, 1, 2, 3):
            image, truth = make_image(number)
            detections = self.detect(net, image)
            self.assertEqual(set(detections), {1, 2})
            rois = net.blobs["rois"].data
            counts.add(len(detections[1]) + len(detections[2]))
            self.assertGreater(overlaps(rois[:, 1:], truth).max(axis=0).min(), 0.5)
        self.assertGreater(max(counts), 0)

    def detect(self, net, image):
        """Returns the boxes with scores of each class; checks scores and boxes against NumPy."""
        net.blobs["data"].reshape(1, *image.shape)
        net.blobs["im_info"].reshape(1, 3)
        out = net.forward(data=image[None], im_info=np.float32([[*image.shape[1:], 1]]))
        scores, deltas, rois = out["cls_prob"], out["bbox_pred"], net.blobs["rois"].data.copy()
        self.assertEqual(scores.shape, (len(rois), CLASSES))
        parameters = {name: [blob.data for blob in blobs] for name, blobs in net.params.items()}
        pooled = pool_regions(net.blobs["conv"].data[0], rois)
        fc = np.maximum(pooled @ parameters["fc"][0].T + parameters["fc"][1], 0)
        logits = fc @ parameters["cls_score"][0].T + parameters["cls_score"][1]
        self.close(scores, np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True), 1e-4)
        self.close(deltas, fc @ parameters["bbox_pred"][0].T + parameters["bbox_pred"][1], 1e-4)
        result = {}
        for kind in range(1, CLASSES):
            boxes = decode(rois[:, 1:], deltas[:, 4 * kind: 4 * kind + 4])
            chosen = np.flatnonzero(scores[:, kind] > 0.3)
            chosen = chosen[suppress(boxes[chosen], scores[chosen, kind], 0.3)]
            result[kind] = np.hstack([boxes[chosen], scores[chosen, kind: kind + 1]])
        return result


def pool_regions(features, rois):
    """Returns the maxima of 3 by 3 bins of each region, flattened: (regions, channels * 9)."""
    result = []
    for roi in rois:
        left, top, right, bottom = np.floor(roi[1:] * 0.25 + 0.5).astype(int)
        height, width = max(bottom - top + 1, 1), max(right - left + 1, 1)
        values = np.zeros((len(features), 3, 3), np.float32)
        for y in range(3):
            for x in range(3):
                rows = np.clip([top + y * height // 3, top - (-(y + 1) * height // 3)], 0, features.shape[1])
                columns = np.clip([left + x * width // 3, left - (-(x + 1) * width // 3)], 0, features.shape[2])
                part = features[:, rows[0]: rows[1], columns[0]: columns[1]]
                if part.size:
                    values[:, y, x] = part.max(axis=(1, 2))
        result.append(values.ravel())
    return np.array(result, np.float32).reshape(len(rois), -1)


if __name__ == "__main__":
    unittest.main()
