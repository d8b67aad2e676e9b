"""Tests the commands of caffe.commands, and Python layers that use interfaces of older versions."""
import contextlib
import io
import os
import unittest

import caffe
import numpy as np
from caffe import commands
from caffe.proto import caffe_pb2
from google.protobuf import text_format

from common import DEPLOY, Case, random_array

V1 = """name: 'old' input: 'x' input_dim: 1 input_dim: 1 input_dim: 2 input_dim: 3
layers { name: 'ip' type: INNER_PRODUCT bottom: 'x' top: 'ip' blobs_lr: 1 blobs_lr: 2 inner_product_param { num_output: 2 } }
layers { name: 'r' type: RELU bottom: 'ip' top: 'ip' }
"""
V0 = """name: 'older' input: 'x' input_dim: 1 input_dim: 1 input_dim: 2 input_dim: 3
layers { layer { name: 'ip' type: 'innerproduct' num_output: 2 } bottom: 'x' top: 'ip' }
"""


class Commands(Case):
    def run_command(self, *arguments):
        """Runs a command; returns its exit status and its standard error."""
        with contextlib.redirect_stderr(io.StringIO()) as err, contextlib.redirect_stdout(io.StringIO()):
            try:
                status = commands.main(arguments)
            except SystemExit as exit_request:
                status = exit_request.code
        return status, err.getvalue()

    def test_upgrade_of_texts(self):
        status, stderr = self.run_command("upgrade_net_proto_text", self.write(V1, "old"), self.path("new"))
        self.assertEqual((status, "already" in stderr), (0, False))
        with open(self.path("new")) as file:
            net = text_format.Parse(file.read(), caffe_pb2.NetParameter())
        self.assertEqual([(layer.name, layer.type) for layer in net.layer],
                         [("input", "Input"), ("ip", "InnerProduct"), ("r", "ReLU")])
        self.assertEqual([p.lr_mult for p in net.layer[1].param], [1, 2])
        status, stderr = self.run_command("upgrade_net_proto_text", self.path("new"), self.path("newer"))
        self.assertEqual((status, "already in latest" in stderr), (0, True))
        solver = self.write("net: 'n' base_lr: 1 solver_type: NESTEROV lr_policy: 'fixed'", "s")
        self.assertEqual(self.run_command("upgrade_solver_proto_text", solver, self.path("t"))[0], 0)
        with open(self.path("t")) as file:
            self.assertIn('type: "Nesterov"', file.read())

    def test_upgrade_of_binary_nets(self):
        for text in (V1, V0):
            net = text_format.Parse(text, caffe_pb2.NetParameter())
            inner = net.layers[0].layer if net.layers[0].HasField("layer") else net.layers[0]
            for shape in ((1, 1, 2, 6), (1, 1, 1, 2)):
                blob = inner.blobs.add(num=shape[0], channels=shape[1], height=shape[2], width=shape[3])
                blob.data.extend(random_array(len(inner.blobs), *shape).ravel().tolist())
            with open(self.path("old.caffemodel"), "wb") as file:
                file.write(net.SerializeToString())
            status, stderr = self.run_command("upgrade_net_proto_binary", self.path("old.caffemodel"),
                                              self.path("new.caffemodel"))
            self.assertEqual(status, 0, stderr)
            with open(self.path("new.caffemodel"), "rb") as file:
                upgraded = caffe_pb2.NetParameter.FromString(file.read())
            self.assertEqual(len(upgraded.layers), 0)
            ip = [layer for layer in upgraded.layer if layer.name == "ip"][0]
            self.assertEqual(ip.type, "InnerProduct")
            np.testing.assert_array_equal(np.float32(ip.blobs[0].data), random_array(1, 12))
            deploy = caffe.Net(self.write(V1), self.path("new.caffemodel"), caffe.TEST)
            np.testing.assert_array_equal(deploy.params["ip"][0].data.ravel(), random_array(1, 12))

    def test_draw_net(self):
        status, _ = self.run_command("draw_net", self.write(DEPLOY), self.path("n.dot"), "--phase", "TEST")
        self.assertEqual(status, 0)
        with open(self.path("n.dot")) as file:
            self.assertIn("conv1", file.read())

    def test_errors(self):
        self.assertEqual(self.run_command()[0], 2)
        self.assertEqual(self.run_command("upgrade_net_proto_text", "one")[0], 2)
        self.assertEqual(self.run_command("upgrade_net_proto_text", self.path("nowhere"), self.path("o"))[0], 3)
        for command in ("upgrade_net_proto_text", "upgrade_net_proto_binary", "upgrade_solver_proto_text"):
            status, stderr = self.run_command(command, self.write("layer { nam: 1 }", "bad"), self.path("o"))
            self.assertEqual(status, 1, stderr)
            self.assertIn("bad", stderr)
        self.assertFalse(os.path.exists(self.path("o")))


class OldLayer(caffe.Layer):
    """Uses param_str_ and the name of the phase, like the layers of Faster R-CNN. Adds a number."""

    def setup(self, bottom, top):
        self.offset = {"TRAIN": 100, "TEST": 200}[str(self.phase)] + float(self.param_str_)

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].data.shape)

    def forward(self, bottom, top):
        top[0].data[...] = bottom[0].data + self.offset

    def backward(self, top, propagate_down, bottom):
        pass


class OldLayers(Case):
    def test_param_str_and_the_name_of_the_phase(self):
        path = self.write("""layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 } } }
            layer { name: 'y' type: 'Python' bottom: 'x' top: 'y'
              python_param { module: 'test_commands' layer: 'OldLayer' param_str: '5' } }""")
        for phase, expected in ((caffe.TRAIN, 105), (caffe.TEST, 205)):
            net = caffe.Net(path, phase)
            self.assertEqual(net.forward(x=np.zeros(2, np.float32))["y"].tolist(), [expected] * 2)
            self.assertEqual(net.layers[1].phase, phase)


if __name__ == "__main__":
    unittest.main()
