"""Tests caffe.net_spec, caffe.coord_map and caffe.draw."""
import unittest

import caffe
import numpy as np
from caffe import draw, layers as L, params as P
from caffe.coord_map import crop
from caffe.proto import caffe_pb2
from google.protobuf import text_format

from common import Case


class Specs(Case):
    def test_a_spec_becomes_a_net(self):
        n = caffe.NetSpec()
        n.data, n.label = L.DummyData(shape=[dict(dim=[2, 1, 8, 8]), dict(dim=[2])], ntop=2)
        n.conv = L.Convolution(n.data, kernel_size=3, num_output=2, weight_filler=dict(type="xavier"))
        n.relu = L.ReLU(n.conv, in_place=True)
        n.pool = L.Pooling(n.relu, pool=P.Pooling.AVE, kernel_size=2, stride=2)
        n.ip = L.InnerProduct(n.pool, num_output=3)
        n.loss = L.SoftmaxWithLoss(n.ip, n.label)
        net = caffe.Net(self.write(str(n.to_proto())), caffe.TRAIN)
        self.assertEqual(list(net._layer_names), ["data", "conv", "relu", "pool", "ip", "loss"])
        self.assertEqual(net.blobs["pool"].shape, (2, 2, 3, 3))
        net.forward()
        net.backward()

    def test_settings_may_be_scalars_of_numpy(self):
        conv = L.Convolution(num_output=np.int64(2), kernel_size=[np.int32(3)], bias_term=np.bool_(False),
                             weight_filler=dict(std=np.float32(0.5)), propagate_down=[np.bool_(True)])
        expected = L.Convolution(num_output=2, kernel_size=[3], bias_term=False, weight_filler=dict(std=0.5),
                                 propagate_down=[True])
        self.assertEqual(conv.to_proto(), expected.to_proto())

    def test_deep_nets_exceed_no_recursion_limit(self):
        top = L.Input(shape=dict(dim=[1]))
        for _ in range(3000):
            top = L.TanH(top)
        self.assertEqual(len(top.to_proto().layer), 3001)

    def test_crop_aligns_two_blobs(self):
        n = caffe.NetSpec()
        n.data = L.Input(shape=dict(dim=[1, 1, 20, 20]))
        n.conv = L.Convolution(n.data, num_output=1, kernel_size=3, pad=4)
        n.score = crop(n.conv, n.data)
        net = caffe.Net(self.write(str(n.to_proto())), caffe.TEST)
        self.assertEqual(net.blobs["score"].shape, (1, 1, 20, 20))

    def test_draw(self):
        net = text_format.Parse("layer { name: 'a' type: 'Pooling' bottom: 'x' top: 'y' pooling_param { kernel_size: 2 } }",
                                caffe_pb2.NetParameter())
        text = draw.draw_net(net, "LR", ext="dot").decode()
        self.assertIn("(Pooling MAX)", text)
        self.assertIn("->", text)


if __name__ == "__main__":
    unittest.main()
