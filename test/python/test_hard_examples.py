"""Tests R-FCN's layers for online hard example mining in the net that its training uses."""
import unittest

import caffe
import numpy as np

from common import Case, fill, random_array

REGIONS, KEPT = 10, 4
NET = """name: 'mining'
layer { name: 'in' type: 'Input' top: 'features' top: 'rois' top: 'labels' top: 'targets' top: 'inside'
  input_param { shape { dim: 10 dim: 6 } shape { dim: 10 dim: 5 } shape { dim: 10 dim: 1 dim: 1 dim: 1 }
    shape { dim: 10 dim: 8 dim: 1 dim: 1 } shape { dim: 10 dim: 8 dim: 1 dim: 1 } } }
layer { name: 'cls' type: 'InnerProduct' bottom: 'features' top: 'cls' inner_product_param { num_output: 3 } }
layer { name: 'bbox' type: 'InnerProduct' bottom: 'features' top: 'bbox_flat' inner_product_param { num_output: 8 } }
layer { name: 'bbox_shape' type: 'Reshape' bottom: 'bbox_flat' top: 'bbox' reshape_param { shape { dim: 0 dim: 0 dim: 1 dim: 1 } } }
layer { name: 'per_roi_loss_cls' type: 'SoftmaxWithLossOHEM' bottom: 'cls' bottom: 'labels'
  top: 'temp_loss_cls' top: 'temp_prob_cls' top: 'per_roi_loss_cls' loss_weight: 0 loss_weight: 0 loss_weight: 0
  propagate_down: false propagate_down: false }
layer { name: 'per_roi_loss_bbox' type: 'SmoothL1LossOHEM' bottom: 'bbox' bottom: 'targets' bottom: 'inside'
  top: 'temp_loss_bbox' top: 'per_roi_loss_bbox' loss_weight: 0 loss_weight: 0
  propagate_down: false propagate_down: false propagate_down: false }
layer { name: 'per_roi_loss' type: 'Eltwise' bottom: 'per_roi_loss_cls' bottom: 'per_roi_loss_bbox' top: 'per_roi_loss'
  propagate_down: false propagate_down: false }
layer { name: 'annotator' type: 'BoxAnnotatorOHEM' bottom: 'rois' bottom: 'per_roi_loss' bottom: 'labels' bottom: 'inside'
  top: 'labels_ohem' top: 'weights_ohem' propagate_down: false propagate_down: false propagate_down: false
  propagate_down: false box_annotator_ohem_param { roi_per_img: 4 ignore_label: -1 } }
layer { name: 'silence' type: 'Silence' bottom: 'temp_loss_cls' bottom: 'temp_prob_cls' bottom: 'temp_loss_bbox' }
layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'cls' bottom: 'labels_ohem' top: 'loss_cls' loss_weight: 1
  loss_param { ignore_label: -1 } propagate_down: true propagate_down: false }
layer { name: 'accuracy' type: 'Accuracy' bottom: 'cls' bottom: 'labels_ohem' top: 'accuracy'
  propagate_down: false propagate_down: false accuracy_param { ignore_label: -1 } }
layer { name: 'loss_bbox' type: 'SmoothL1LossOHEM' bottom: 'bbox' bottom: 'targets' bottom: 'weights_ohem'
  top: 'loss_bbox' loss_weight: 1 loss_param { normalization: PRE_FIXED pre_fixed_normalizer: 4 }
  propagate_down: true propagate_down: false propagate_down: false }
"""


def smooth(x):
    return np.where(np.abs(x) < 1, 0.5 * x ** 2, np.abs(x) - 0.5)


class Mining(Case):
    def feed(self, net, seed, images):
        """Sets inputs with regions of a number of images."""
        rs = np.random.RandomState(seed)
        blobs = net.blobs
        blobs["features"].data[...] = rs.uniform(-1, 1, (REGIONS, 6))
        blobs["rois"].data[:, 0] = np.arange(REGIONS) % images
        blobs["labels"].data[:, 0, 0, 0] = rs.randint(0, 3, REGIONS)
        blobs["targets"].data[...] = rs.uniform(-3, 3, blobs["targets"].shape)
        blobs["inside"].data[...] = (blobs["labels"].data > 0) * np.ones(blobs["inside"].shape)

    def make_net(self):
        net = caffe.Net(self.write(NET), caffe.TRAIN)
        fill(net, 3, 1)
        return net

    def check(self, net, images):
        """Compares the forward pass with NumPy; returns the mask of the chosen regions."""
        blobs = {name: blob.data.astype(float) for name, blob in net.blobs.items()}
        labels = blobs["labels"].ravel().astype(int)
        logs = np.log(np.exp(blobs["cls"]).sum(axis=1)) - blobs["cls"][np.arange(REGIONS), labels]
        boxes = smooth(blobs["inside"] * (blobs["bbox"] - blobs["targets"])).sum(axis=(1, 2, 3))
        self.close(blobs["per_roi_loss_cls"].ravel(), logs, 1e-4)
        self.close(blobs["per_roi_loss_bbox"].ravel(), boxes, 1e-4)
        self.close(blobs["temp_loss_cls"], logs.mean(), 1e-4)
        self.close(blobs["temp_loss_bbox"], boxes.mean(), 1e-4)
        self.close(blobs["temp_prob_cls"].sum(axis=1), np.ones(REGIONS))
        chosen = np.zeros(REGIONS, bool)
        for image in range(images):
            own = [i for i in range(REGIONS) if i % images == image]
            chosen[sorted(own, key=lambda i: -(logs + boxes)[i])[:KEPT]] = True
        np.testing.assert_array_equal(blobs["labels_ohem"].ravel(), np.where(chosen, labels, -1))
        np.testing.assert_array_equal(blobs["weights_ohem"], blobs["inside"] * chosen[:, None, None, None])
        self.close(blobs["loss_cls"], logs[chosen].mean(), 1e-4)
        self.close(blobs["loss_bbox"], boxes[chosen].sum() / 4, 1e-4)
        return chosen

    def test_losses_of_the_hardest_regions(self):
        net = self.make_net()
        for seed, images in ((1, 1), (2, 2), (3, 3)):
            self.feed(net, seed, images)
            net.forward()
            chosen = self.check(net, images)
            self.assertEqual(chosen.sum(), {1: 4, 2: 8, 3: 10}[images])

    def test_gradients(self):
        net = self.make_net()
        self.feed(net, 5, 1)
        net.forward()
        chosen = self.check(net, 1)
        net.backward()
        self.assertFalse(net.blobs["cls"].diff[~chosen].any())
        for name in ("cls", "bbox"):
            for blob in net.params[name]:
                gradient, original = blob.diff.copy(), blob.data.copy()
                slope, losses = np.sqrt((gradient ** 2).sum()), []
                for sign in (1, -1):
                    blob.data[...] = original + sign * 1e-3 / slope * gradient
                    net.forward()
                    losses.append(float(net.blobs["loss_cls"].data + net.blobs["loss_bbox"].data))
                blob.data[...] = original
                self.assertGreater(slope, 0.01)
                self.assertLess(abs((losses[0] - losses[1]) / 2e-3 - slope), 0.02 * slope, name)

    def test_fixed_normalizers_are_at_least_1(self):
        losses, gradients = [], []
        for normalization in ("PRE_FIXED pre_fixed_normalizer: 0.25", "NONE"):
            net = caffe.Net(self.write("""force_backward: true
                layer { name: 'in' type: 'Input' top: 'x' top: 'target' top: 'label'
                  input_param { shape { dim: 3 dim: 4 } shape { dim: 3 dim: 4 } shape { dim: 3 } } }
                layer { name: 'boxes' type: 'SmoothL1LossOHEM' bottom: 'x' bottom: 'target' top: 'boxes'
                  propagate_down: true propagate_down: false loss_param { normalization: %s } }
                layer { name: 'scores' type: 'SoftmaxWithLossOHEM' bottom: 'x' bottom: 'label' top: 'scores'
                  propagate_down: true propagate_down: false loss_param { normalization: %s } }""" % (
                      normalization, normalization)), caffe.TRAIN)
            net.blobs["x"].data[...], net.blobs["target"].data[...] = random_array(1, 3, 4), random_array(2, 3, 4)
            net.blobs["label"].data[...] = [0, 3, 1]
            losses.append([float(loss) for loss in net.forward().values()])
            net.backward()
            gradients.append(net.blobs["x"].diff.copy())
        self.close(losses[0], losses[1])
        self.close(gradients[0], gradients[1])

    def test_gradient_of_the_softmax_loss(self):
        """As the only loss, with ignored labels and its default weight 1."""
        net = caffe.Net(self.write("""force_backward: true
            layer { name: 'in' type: 'Input' top: 'x' top: 'label' input_param { shape { dim: 2 dim: 3 dim: 2 dim: 2 }
              shape { dim: 2 dim: 1 dim: 2 dim: 2 } } }
            layer { name: 'loss' type: 'SoftmaxWithLossOHEM' bottom: 'x' bottom: 'label' top: 'loss' top: 'prob' top: 'each'
              propagate_down: true propagate_down: false loss_param { ignore_label: 9 } }"""), caffe.TRAIN)
        reference = caffe.Net(self.write("""force_backward: true
            layer { name: 'in' type: 'Input' top: 'x' top: 'label' input_param { shape { dim: 2 dim: 3 dim: 2 dim: 2 }
              shape { dim: 2 dim: 1 dim: 2 dim: 2 } } }
            layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'x' bottom: 'label' top: 'loss'
              propagate_down: true propagate_down: false loss_param { ignore_label: 9 } }""", "reference"), caffe.TRAIN)
        for n in (net, reference):
            n.blobs["x"].data[...] = random_array(1, 2, 3, 2, 2)
            n.blobs["label"].data[...] = np.array([0, 2, 9, 1, 9, 9, 2, 0]).reshape(2, 1, 2, 2)
            n.forward()
            n.backward()
        self.close(net.blobs["loss"].data, reference.blobs["loss"].data)
        self.close(net.blobs["x"].diff, reference.blobs["x"].diff)
        self.close(net.blobs["each"].data.sum() / 5, net.blobs["loss"].data)

    def test_wrong_nets(self):
        for old, new, message in (("roi_per_img: 4", "", "roi_per_img is missing"),
                                  ("top: 'rois'", "top: 'other'", "bottom blob 'rois' is not produced by any layer before it"),
                                  ("shape { dim: 10 dim: 5 }", "shape { dim: 10 dim: 4 }", "takes regions with 5 numbers each")):
            with self.assertRaisesRegex(RuntimeError, message):
                caffe.Net(self.write(NET.replace(old, new)), caffe.TRAIN)
        for kind, message in (("SoftmaxWithLossOHEM", "takes 2 bottoms, but has 1"),
                              ("SmoothL1LossOHEM", "takes at least 2 bottoms, but has 1"),
                              ("BoxAnnotatorOHEM", "takes 4 bottoms, but has 1")):
            with self.assertRaisesRegex(RuntimeError, message):
                caffe.Net(self.write("layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 } } } "
                                     "layer { name: 'y' type: '%s' bottom: 'x' top: 'y' }" % kind), caffe.TRAIN)
        net = self.make_net()
        self.feed(net, 1, 1)
        net.blobs["labels"].data[3] = 7
        with self.assertRaisesRegex(RuntimeError, "label 7 at position 3 .* is outside"):
            net.forward()


if __name__ == "__main__":
    unittest.main()
