"""Tests layers written in Python."""
import sys
import unittest

import caffe
import numpy as np

from common import Case, random_array


class Rows(caffe.Layer):
    """Outputs the rows whose first element is positive, so the shape of the top changes."""

    def setup(self, bottom, top):
        self.calls = []

    def reshape(self, bottom, top):
        rows = max(1, int((bottom[0].data[:, 0] > 0).sum()))
        top[0].reshape(rows, bottom[0].shape[1])
        self.calls.append(rows)

    def forward(self, bottom, top):
        rows = bottom[0].data[bottom[0].data[:, 0] > 0]
        top[0].data[...] = rows if len(rows) else 0

    def backward(self, top, propagate_down, bottom):
        if propagate_down[0]:
            bottom[0].diff[...] = 0
            is_positive = bottom[0].data[:, 0] > 0
            if is_positive.any():
                bottom[0].diff[is_positive] = top[0].diff


class LayerError(Exception):
    pass


class RaisingLayer(caffe.Layer):
    """Copies its bottom. Raises in the forward pass if `param_str` is "forward", and in every backward pass."""

    def setup(self, bottom, top):
        self.failing_function = self.param_str

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        if self.failing_function == "forward":
            raise LayerError("here")
        top[0].data[...] = bottom[0].data

    def backward(self, top, propagate_down, bottom):
        raise LayerError("back")


class IteratingLayer(caffe.Layer):
    """Iterates over its bottoms and tops."""

    def setup(self, bottom, top):
        self.pairs = None

    def reshape(self, bottom, top):
        top[0].reshape(1)

    def forward(self, bottom, top):
        self.pairs = list(zip(bottom, top))

    def backward(self, top, propagate_down, bottom):
        pass


def python_layer(kind, settings="", bottom="x"):
    return ("layer { name: 'py' type: 'Python' bottom: '%s' top: 'y' python_param { module: '%s' layer: '%s' %s } }\n"
            % (bottom, __name__, kind, settings))


INPUT = "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 4 dim: 3 } } }\n"
IP = """layer { name: 'ip' type: 'InnerProduct' bottom: 'y' top: 'ip' inner_product_param { num_output: 2
  weight_filler { type: 'xavier' } } }"""


class PythonLayers(Case):
    def setUp(self):
        super().setUp()
        sys.modules.setdefault(__name__, sys.modules[self.__module__])

    def test_shapes_that_change_at_run_time(self):
        net = caffe.Net(self.write("force_backward: true\n" + INPUT + python_layer("Rows") + IP), caffe.TEST)
        for row_count in (3, 1, 4, 2):
            x = np.abs(random_array(row_count, 4, 3)) + 0.1
            x[row_count:] *= -1
            out = net.forward(x=x)["ip"]
            self.assertEqual(out.shape, (row_count, 2))
            w, b = (p.data for p in net.params["ip"])
            self.close(out, x[:row_count] @ w.T + b)
            net.backward(ip=np.ones((row_count, 2), np.float32))
            self.close(net.blobs["x"].diff[:row_count], np.ones((row_count, 2), np.float32) @ w)
            self.assertEqual(np.abs(net.blobs["x"].diff[row_count:]).sum(), 0)
        self.assertEqual(net.layer_dict["py"].calls[-1], 2)

    def test_exceptions_keep_their_type(self):
        text = "force_backward: true\n" + INPUT + python_layer("RaisingLayer", "param_str: 'forward'")
        net = caffe.Net(self.write(text), caffe.TEST)
        with self.assertRaises(LayerError):
            net.forward()
        net.layers[1].failing_function = ""
        net.forward(x=random_array(1, 4, 3))
        self.close(net.blobs["y"].data, random_array(1, 4, 3))
        with self.assertRaises(LayerError):
            net.backward()

    def test_bottoms_cannot_be_iterated(self):
        net = caffe.Net(self.write(INPUT + python_layer("IteratingLayer")), caffe.TEST)
        with self.assertRaises(TypeError):
            net.forward()

    def test_missing_modules_and_classes_raise(self):
        with self.assertRaises(ImportError):
            caffe.Net(self.write(INPUT + python_layer("Rows").replace(__name__, "no_such_module_at_all")), caffe.TEST)
        with self.assertRaises(AttributeError):
            caffe.Net(self.write(INPUT + python_layer("Nothing")), caffe.TEST)


if __name__ == "__main__":
    unittest.main()
