"""Layers written in Python."""
import sys
import unittest

import caffe
import numpy as np

from common import Case, numbers


class Rows(caffe.Layer):
    """Outputs the rows whose first element is positive, so the shape of the top changes."""

    def setup(self, bottom, top):
        self.calls = []

    def reshape(self, bottom, top):
        rows = max(1, int((bottom[0].data[:, 0] > 0).sum()))
        top[0].reshape(rows, bottom[0].shape[1])
        self.calls.append(rows)

    def forward(self, bottom, top):
        kept = bottom[0].data[bottom[0].data[:, 0] > 0]
        top[0].data[...] = kept if len(kept) else 0

    def backward(self, top, propagate_down, bottom):
        if propagate_down[0]:
            bottom[0].diff[...] = 0
            kept = bottom[0].data[:, 0] > 0
            if kept.any():
                bottom[0].diff[kept] = top[0].diff


class Odd(Exception):
    pass


class Raises(caffe.Layer):
    def setup(self, bottom, top):
        self.where = self.param_str

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        if self.where == "forward":
            raise Odd("here")
        top[0].data[...] = bottom[0].data

    def backward(self, top, propagate_down, bottom):
        raise Odd("back")


class Reads(caffe.Layer):
    def setup(self, bottom, top):
        self.seen = None

    def reshape(self, bottom, top):
        top[0].reshape(1)

    def forward(self, bottom, top):
        self.seen = list(zip(bottom, top))

    def backward(self, top, propagate_down, bottom):
        pass


def python(kind, more="", bottom="x"):
    return ("layer { name: 'py' type: 'Python' bottom: '%s' top: 'y' python_param { module: '%s' layer: '%s' %s } }\n"
            % (bottom, __name__, kind, more))


INPUT = "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 4 dim: 3 } } }\n"
IP = """layer { name: 'ip' type: 'InnerProduct' bottom: 'y' top: 'ip' inner_product_param { num_output: 2
  weight_filler { type: 'xavier' } } }"""


class PythonLayers(Case):
    def setUp(self):
        super().setUp()
        sys.modules.setdefault(__name__, sys.modules[self.__module__])

    def test_shapes_that_change_at_run_time(self):
        net = caffe.Net(self.write("force_backward: true\n" + INPUT + python("Rows") + IP), caffe.TEST)
        for kept in (3, 1, 4, 2):
            x = np.abs(numbers(kept, 4, 3)) + 0.1
            x[kept:] *= -1
            out = net.forward(x=x)["ip"]
            self.assertEqual(out.shape, (kept, 2))
            w, b = (p.data for p in net.params["ip"])
            self.close(out, x[:kept] @ w.T + b)
            net.backward(ip=np.ones((kept, 2), np.float32))
            self.close(net.blobs["x"].diff[:kept], np.ones((kept, 2), np.float32) @ w)
            self.assertEqual(np.abs(net.blobs["x"].diff[kept:]).sum(), 0)
        self.assertEqual(net.layer_dict["py"].calls[-1], 2)

    def test_exceptions_keep_their_type(self):
        net = caffe.Net(self.write("force_backward: true\n" + INPUT + python("Raises", "param_str: 'forward'")), caffe.TEST)
        with self.assertRaises(Odd):
            net.forward()
        net.layers[1].where = ""
        net.forward(x=numbers(1, 4, 3))
        self.close(net.blobs["y"].data, numbers(1, 4, 3))
        with self.assertRaises(Odd):
            net.backward()

    def test_bottoms_cannot_be_iterated(self):
        net = caffe.Net(self.write(INPUT + python("Reads")), caffe.TEST)
        with self.assertRaises(TypeError):
            net.forward()

    def test_missing_module_and_class(self):
        with self.assertRaises(ImportError):
            caffe.Net(self.write(INPUT + python("Rows").replace(__name__, "no_such_module_at_all")), caffe.TEST)
        with self.assertRaises(AttributeError):
            caffe.Net(self.write(INPUT + python("Nothing")), caffe.TEST)


if __name__ == "__main__":
    unittest.main()
