"""Tests nets as in scripts of Faster R-CNN: Python layers provide images, proposals and targets, whose
shapes change in each pass, and ROIPooling reads the proposals."""
import unittest

import caffe
import numpy as np
from google.protobuf import text_format
from caffe.proto import caffe_pb2

from common import Case, fill, random_array


class Images(caffe.Layer):
    """Outputs the given images, one per pass; there are no images yet when the net is created."""

    def setup(self, bottom, top):
        self.images, self.passes = [], 0
        top[0].reshape(1, 2, 24, 24)
        top[1].reshape(1, 3)
        top[2].reshape(1, 4)  # without the class, as in the original

    def set_images(self, images):
        self.images = images

    def reshape(self, bottom, top):
        """Does nothing: forward() reshapes the tops."""

    def forward(self, bottom, top):
        image, boxes = self.images[self.passes % len(self.images)]
        self.passes += 1
        for blob, values in zip([top[0], top[1], top[2]],
                                [image[None], np.float32([[*image.shape[1:], 1]]), np.float32(boxes)]):
            blob.reshape(*values.shape)
            blob.data[...] = values

    def backward(self, top, propagate_down, bottom):
        pass


class Proposals(caffe.Layer):
    """Outputs one box per position with a positive score."""

    def setup(self, bottom, top):
        self.stride = int(self.param_str_.split(":")[1])
        top[0].reshape(1, 5)

    def reshape(self, bottom, top):
        pass

    def forward(self, bottom, top):
        assert str(self.phase) in ("TRAIN", "TEST")
        positions = np.argwhere(bottom[0].data[0, 0] > 0) * self.stride
        corners = positions[:, ::-1]
        boxes = np.hstack([np.zeros((len(positions), 1)), corners, corners + 7]).astype(np.float32)
        top[0].reshape(*boxes.shape)
        top[0].data[...] = boxes

    def backward(self, top, propagate_down, bottom):
        pass


class Targets(caffe.Layer):
    """Outputs every second proposal and the boxes of the image, each with a label and box targets."""

    def setup(self, bottom, top):
        for blob, shape in zip([top[0], top[1], top[2], top[3], top[4]], [(1, 5), (1, 1)] + [(1, 12)] * 3):
            blob.reshape(*shape)

    def reshape(self, bottom, top):
        pass

    def forward(self, bottom, top):
        gt_boxes = bottom[1].data
        rois = np.vstack([bottom[0].data[::2], np.hstack([np.zeros((len(gt_boxes), 1), np.float32), gt_boxes[:, :4]])])
        labels = np.zeros(len(rois), np.float32)
        labels[-len(gt_boxes):] = gt_boxes[:, 4]
        targets, inside = np.zeros((len(rois), 12), np.float32), np.zeros((len(rois), 12), np.float32)
        for i, label in enumerate(labels):
            if label:
                columns = slice(4 * int(label), 4 * int(label) + 4)
                targets[i, columns], inside[i, columns] = 0.3, 1
        for i, values in enumerate([rois, labels, targets, inside, inside]):
            top[i].reshape(*values.shape)
            top[i].data[...] = values

    def backward(self, top, propagate_down, bottom):
        pass


def python_layer(name, bottoms, tops, kind, settings=""):
    return "layer { name: '%s' type: 'Python' %s %s python_param { module: '%s' layer: '%s' %s } }\n" % (
        name, " ".join("bottom: '%s'" % b for b in bottoms), " ".join("top: '%s'" % t for t in tops), __name__, kind,
        settings)


BODY = """
layer { name: 'conv' type: 'Convolution' bottom: 'data' top: 'conv' convolution_param { num_output: 6 kernel_size: 3
  stride: 4 pad: 1 weight_filler { type: 'xavier' } } }
layer { name: 'relu' type: 'ReLU' bottom: 'conv' top: 'conv' }
layer { name: 'score' type: 'Convolution' bottom: 'conv' top: 'score' param { lr_mult: 0 } param { lr_mult: 0 }
  convolution_param { num_output: 1 kernel_size: 1 weight_filler { type: 'gaussian' std: 1 } } }
""" + python_layer("proposal", ["score", "im_info"], ["rpn_rois"], "Proposals", "param_str: \"'stride': 4\"")
HEAD = """
layer { name: 'pool' type: 'ROIPooling' bottom: 'conv' bottom: 'rois' top: 'pool'
  roi_pooling_param { pooled_w: 2 pooled_h: 2 spatial_scale: 0.25 } }
layer { name: 'fc' type: 'InnerProduct' bottom: 'pool' top: 'fc' inner_product_param { num_output: 8
  weight_filler { type: 'xavier' } } }
layer { name: 'fcrelu' type: 'ReLU' bottom: 'fc' top: 'fc' }
layer { name: 'drop' type: 'Dropout' bottom: 'fc' top: 'fc' dropout_param { dropout_ratio: 0.5 scale_train: false } }
layer { name: 'cls' type: 'InnerProduct' bottom: 'fc' top: 'cls' inner_product_param { num_output: 3
  weight_filler { type: 'gaussian' std: 0.01 } } }
layer { name: 'bbox' type: 'InnerProduct' bottom: 'fc' top: 'bbox' inner_product_param { num_output: 12
  weight_filler { type: 'gaussian' std: 0.01 } } }
"""
TEST = """name: 'detector' input: 'data' input_shape { dim: 1 dim: 2 dim: 24 dim: 24 }
input: 'im_info' input_shape { dim: 1 dim: 3 }
""" + BODY.replace("rpn_rois", "rois") + HEAD + "layer { name: 'prob' type: 'Softmax' bottom: 'cls' top: 'prob' }\n"
TRAIN = (python_layer("input", [], ["data", "im_info", "gt_boxes"], "Images") + BODY
         + python_layer("targets", ["rpn_rois", "gt_boxes"], ["rois", "labels", "targets", "inside", "outside"], "Targets")
         + HEAD + """
layer { name: 'loss_cls' type: 'SoftmaxWithLoss' bottom: 'cls' bottom: 'labels' top: 'loss_cls' loss_weight: 1
  propagate_down: true propagate_down: false }
layer { name: 'loss_bbox' type: 'SmoothL1Loss' bottom: 'bbox' bottom: 'targets' bottom: 'inside' bottom: 'outside'
  top: 'loss_bbox' loss_weight: 1 }
""")


def make_images():
    """Returns images of three sizes, with one or two boxes of the classes 1 and 2."""
    samples = []
    for i, (height, width) in enumerate([(24, 24), (32, 20), (28, 40)]):
        image = random_array(i, 2, height, width)
        boxes = [[2, 3, 14, 15, 1], [4, 4, 18, 20, 2]][: 1 + i % 2]
        for left, top, right, bottom, kind in boxes:
            image[kind - 1, top:bottom, left:right] += 2
        samples.append((image, boxes))
    return samples


class Detection(Case):
    def test_changing_numbers_of_rois(self):
        net = caffe.Net(self.write(TEST), caffe.TEST)
        fill(net, scale=1)
        net.params["score"][1].data[...] = 0
        expected, counts = {}, []
        for step, (height, width) in enumerate([(24, 24), (32, 20), (28, 40), (24, 24), (32, 20)]):
            image = random_array(height, 1, 2, height, width)
            net.blobs["data"].reshape(*image.shape)
            net.blobs["im_info"].reshape(1, 3)
            out = net.forward(data=image, im_info=np.float32([[height, width, 1]]))
            rois = net.blobs["rois"].data.copy()
            counts.append(len(rois))
            self.assertEqual(set(out), {"bbox", "prob"})
            self.assertEqual([out[name].shape for name in ("bbox", "prob")], [(len(rois), 12), (len(rois), 3)])
            self.assertEqual(net.blobs["pool"].shape, (len(rois), 6, 2, 2))
            self.close(out["prob"].sum(axis=1), np.ones(len(rois)))
            # Compares with the head computed by NumPy. Dropout has scale_train: false, so the test phase halves
            # values.
            conv, pooled = net.blobs["conv"].data[0], net.blobs["pool"].data
            for roi, values in zip(rois, pooled):
                left, top, right, bottom = np.round(roi[1:] / 4).astype(int)
                region = conv[:, top: bottom + 1, left: right + 1]
                self.close(values.max(axis=(1, 2)), np.maximum(region.max(axis=(1, 2)), 0))
            w, b = (blob.data for blob in net.params["fc"])
            fc = 0.5 * np.maximum(pooled.reshape(len(rois), -1) @ w.T + b, 0)
            w, b = (blob.data for blob in net.params["bbox"])
            self.close(out["bbox"], fc @ w.T + b, 1e-4)
            if height in expected:
                np.testing.assert_array_equal(out["bbox"], expected[height])
            expected[height] = out["bbox"].copy()
        self.assertGreater(len(set(counts)), 1)
        self.assertEqual(counts[:2], counts[3:])

    def test_passes_without_rois(self):
        net = caffe.Net(self.write(TEST), caffe.TEST)
        fill(net)
        for bias, has_rois in ((-100, False), (100, True), (-100, False)):
            net.params["score"][1].data[...] = bias
            net.blobs["data"].data[...] = random_array(1, 1, 2, 24, 24)
            self.assertEqual(len(net.forward()["prob"]) > 0, has_rois)

    def test_training_reduces_losses(self):
        self.write(TRAIN, "train.prototxt")
        path = self.write("train_net: '%s' base_lr: 0.05 lr_policy: 'fixed' momentum: 0.9 weight_decay: 0.0005 display: 0 "
                          "average_loss: 10 iter_size: 2 snapshot: 0 snapshot_prefix: 'x' random_seed: 3"
                          % self.path("train.prototxt"))
        solver = caffe.SGDSolver(path)
        settings = caffe_pb2.SolverParameter()
        with open(path) as file:
            text_format.Merge(file.read(), settings)
        self.assertEqual(settings.iter_size, 2)
        solver.net.layers[0].set_images(make_images())
        losses, counts, before = [], set(), solver.net.params["conv"][0].data.copy()
        while solver.iter < 45:
            solver.step(1)
            losses.append(float(solver.net.blobs["loss_cls"].data + solver.net.blobs["loss_bbox"].data))
            counts.add(solver.net.blobs["rois"].shape)
        self.assertTrue(np.isfinite(losses).all())
        self.assertGreater(len(counts), 1)
        self.assertLess(np.mean(losses[-6:]), 0.8 * np.mean(losses[:6]))
        # Gradients propagate through ROIPooling, but not through the proposals.
        self.assertFalse(np.array_equal(solver.net.params["conv"][0].data, before))
        self.assertEqual(float(np.abs(solver.net.params["score"][0].diff).sum()), 0)
        # The scripts scale the weights of `bbox` before they save the net.
        bbox = solver.net.params["bbox"]
        original = [blob.data.copy() for blob in bbox]
        bbox[0].data[...] = bbox[0].data * 2
        solver.net.save(self.path("final.caffemodel"))
        bbox[0].data[...] = original[0]
        net = caffe.Net(self.write(TEST), self.path("final.caffemodel"), caffe.TEST)
        net.name = "final"
        np.testing.assert_array_equal(net.params["bbox"][0].data, 2 * original[0])
        np.testing.assert_array_equal(net.params["bbox"][1].data, original[1])

    def test_dropout_that_scales_in_the_test_phase(self):
        for phase in (caffe.TRAIN, caffe.TEST):
            net = caffe.Net(self.write("""force_backward: true
                layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 40 dim: 50 } } }
                layer { name: 'drop' type: 'Dropout' bottom: 'x' top: 'y'
                  dropout_param { dropout_ratio: 0.25 scale_train: false } }"""), phase)
            net.blobs["x"].data[...] = 2
            y = net.forward()["y"].copy()
            net.blobs["y"].diff[...] = 3
            dx = net.backward()["x"]
            if phase == caffe.TEST:
                self.assertEqual((set(y.ravel()), set(dx.ravel())), ({1.5}, {2.25}))
            else:
                self.assertEqual(set(y.ravel()), {0, 2})
                self.assertAlmostEqual((y != 0).mean(), 0.75, delta=0.05)
                np.testing.assert_array_equal(dx, np.where(y != 0, 3, 0))


if __name__ == "__main__":
    unittest.main()
