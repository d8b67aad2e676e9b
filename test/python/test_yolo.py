"""Tests the losses of YOLO in caffe.Net: values, and gradients, which are not the derivatives of the losses."""
import os
import sys
import unittest

import caffe
import numpy as np

from common import Case

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "values", "common"))
import yolo  # noqa: E402

NET = """force_backward: true
layer { name: 'in' type: 'Input' top: 'maps' top: 'truths' input_param { shape { %s } shape { %s } } }
layer { name: 'loss' type: '%s' bottom: 'maps' bottom: 'truths' top: 'loss' %s }
"""


def dims(values):
    return " ".join("dim: %d" % d for d in values.shape)


class Losses(Case):
    def make_net(self, kind, p, inputs, text=""):
        net = caffe.Net(self.write(NET % (dims(inputs["maps"]), dims(inputs["truths"]), kind,
                                          yolo.loss_settings(kind, p) + text)), caffe.TRAIN)
        for name, values in inputs.items():
            net.blobs[name].data[...] = values
        return net

    def test_losses_and_gradients(self):
        random = np.random.RandomState(7)
        for name, kind, p in yolo.LOSSES:
            with self.subTest(kind=kind, name=name):
                inputs = yolo.loss_inputs(random, kind, p)
                net = self.make_net(kind, p, inputs, " loss_weight: 3" if name == "sizes" else "")
                net.forward()
                net.backward()
                weight = 3 if name == "sizes" else 1
                maps, truths = (net.blobs[key].data.astype(float) for key in ("maps", "truths"))
                loss, gradient = yolo.loss(maps, truths, kind, p)
                self.close(net.blobs["loss"].data, loss, 1e-4)
                self.close(net.blobs["maps"].diff, weight * gradient, 1e-4)

    def test_wrong_true_boxes(self):
        random = np.random.RandomState(8)
        kind, p = "Yolov3", dict(yolo.YOLO3)
        for index, value, message in ((0, 3, "a true box has the class 3, but there are 3 classes"),
                                      (0, -1, "a true box has the class -1"),
                                      (1, 1.5, "the centre of a true box is outside of its image")):
            inputs = yolo.loss_inputs(random, kind, p)
            inputs["truths"][1, 0, index] = value
            with self.assertRaisesRegex(RuntimeError, message):
                self.make_net(kind, p, inputs).forward()
        p = dict(yolo.REGION, rows=True)
        inputs = yolo.loss_inputs(random, "RegionLoss", p)
        inputs["truths"][0, 0, 0, 0] = 2
        with self.assertRaisesRegex(RuntimeError, "a true box is of image 2, but the batch has 2 images"):
            self.make_net("RegionLoss", p, inputs).forward()


if __name__ == "__main__":
    unittest.main()
