"""Walks nets and weights as converters to other formats and DIGITS-style scripts do: layers, blobs, names of tops
and bottoms, NetParameter; computes the converted net with NumPy."""
import unittest

import caffe
import numpy as np
from caffe.proto import caffe_pb2
from google.protobuf import text_format

from common import Case, fill, random_array

NET = """name: 'convertible'
layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 2 dim: 3 dim: 12 dim: 12 } } }
layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1' convolution_param { num_output: 6 kernel_size: 3
  stride: 2 pad: 1 group: 3 weight_filler { type: 'xavier' } } }
layer { name: 'bn1' type: 'BatchNorm' bottom: 'conv1' top: 'conv1' }
layer { name: 'scale1' type: 'Scale' bottom: 'conv1' top: 'conv1' scale_param { bias_term: true } }
layer { name: 'prelu1' type: 'PReLU' bottom: 'conv1' top: 'conv1' }
layer { name: 'left' type: 'Convolution' bottom: 'conv1' top: 'left' convolution_param { num_output: 4 kernel_size: 1
  bias_term: false weight_filler { type: 'xavier' } } }
layer { name: 'right' type: 'Convolution' bottom: 'conv1' top: 'right' convolution_param { num_output: 4 kernel_h: 3
  kernel_w: 1 pad_h: 1 pad_w: 0 weight_filler { type: 'xavier' } } }
layer { name: 'sum' type: 'Eltwise' bottom: 'left' bottom: 'right' top: 'sum' eltwise_param { operation: SUM coeff: 1
  coeff: -0.5 } }
layer { name: 'cat' type: 'Concat' bottom: 'sum' bottom: 'conv1' top: 'cat' }
layer { name: 'relu' type: 'ReLU' bottom: 'cat' top: 'cat' relu_param { negative_slope: 0.1 } }
layer { name: 'pool' type: 'Pooling' bottom: 'cat' top: 'pool' pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: 'drop' type: 'Dropout' bottom: 'pool' top: 'pool' }
layer { name: 'fc' type: 'InnerProduct' bottom: 'pool' top: 'fc' inner_product_param { num_output: 5
  weight_filler { type: 'xavier' } } }
layer { name: 'prob' type: 'Softmax' bottom: 'fc' top: 'prob' }
"""


def convolve(x, weights, bias, stride, pad, group):
    """Returns the convolution of x (items, channels, height, width)."""
    x = np.pad(x, ((0, 0), (0, 0), (pad[0], pad[0]), (pad[1], pad[1])))
    windows = np.lib.stride_tricks.sliding_window_view(x, weights.shape[2:], axis=(2, 3))
    windows = windows[:, :, ::stride[0], ::stride[1]]
    channels, outputs = x.shape[1] // group, len(weights) // group
    parts = [np.einsum("nchwyx,ocyx->nohw", windows[:, g * channels: (g + 1) * channels],
                       weights[g * outputs: (g + 1) * outputs]) for g in range(group)]
    return np.concatenate(parts, axis=1) + (0 if bias is None else bias[:, None, None])


def compute(kind, param, inputs, weights):
    """Returns the top of a layer from its bottoms and parameters, in double precision."""
    x = inputs[0]
    channelwise = [w[:, None, None] for w in weights if w.ndim == 1]
    if kind == "Convolution":
        p = param.convolution_param
        stride = (p.stride[0],) * 2 if p.stride else (1, 1)
        pad = (p.pad[0],) * 2 if p.pad else (p.pad_h, p.pad_w)
        return convolve(x, weights[0], weights[1] if p.bias_term else None, stride, pad, p.group)
    if kind == "BatchNorm":
        factor = 1 / weights[2][0]
        return (x - channelwise[0] * factor) / np.sqrt(channelwise[1] * factor + param.batch_norm_param.eps)
    if kind == "Scale":
        return x * channelwise[0] + channelwise[1]
    if kind == "PReLU":
        return np.where(x > 0, x, x * channelwise[0])
    if kind == "Eltwise":
        return sum(c * value for c, value in zip(param.eltwise_param.coeff, inputs))
    if kind == "Concat":
        return np.concatenate(inputs, axis=param.concat_param.axis)
    if kind == "ReLU":
        return np.where(x > 0, x, x * param.relu_param.negative_slope)
    if kind == "Pooling":
        return np.lib.stride_tricks.sliding_window_view(x, (2, 2), axis=(2, 3))[:, :, ::2, ::2].max(axis=(4, 5))
    if kind == "Dropout":
        return x
    if kind == "InnerProduct":
        return x.reshape(len(x), -1) @ weights[0].T + weights[1]
    if kind == "Softmax":
        exponentials = np.exp(x - x.max(axis=1, keepdims=True))
        return exponentials / exponentials.sum(axis=1, keepdims=True)
    raise AssertionError(kind)


class Converters(Case):
    def make_net(self):
        net = caffe.Net(self.write(NET), caffe.TEST)
        fill(net, 8)
        net.params["bn1"][1].data[...] = np.arange(1, 7)
        net.params["bn1"][2].data[...] = 2
        return net

    def test_a_graph_from_a_net(self):
        """Names of tops and bottoms describe the graph, with the splits of Caffe; layers have types and blobs."""
        net = self.make_net()
        types = {name: layer.type for name, layer in zip(net._layer_names, net.layers)}
        self.assertEqual(types["conv1"], "Convolution")
        splits = [name for name in types if types[name] == "Split"]
        self.assertEqual(splits, ["conv1_prelu1_0_split"])
        self.assertEqual(net.top_names["conv1_prelu1_0_split"], ["conv1_prelu1_0_split_%d" % i for i in range(3)])
        self.assertEqual(net.bottom_names["cat"], ["sum", "conv1_prelu1_0_split_2"])
        self.assertEqual(net.bottom_names["data"], [])
        self.assertEqual([[blob.data.shape for blob in layer.blobs] for layer in net.layers[:5]],
                         [[], [(6, 1, 3, 3), (6,)], [(6,), (6,), (1,)], [(6,), (6,)], [(6,)]])
        self.assertIs(net.layer_dict["fc"], net.layers[list(types).index("fc")])
        self.assertEqual([len(net.params[name]) for name in net.params], [2, 3, 2, 1, 1, 2, 2])
        param = text_format.Parse(NET, caffe_pb2.NetParameter())
        settings = {layer.name: layer for layer in param.layer}
        x = random_array(1, 2, 3, 12, 12)
        net.forward(data=x)
        values = {"data": x.astype(float)}
        for name, layer in zip(net._layer_names, net.layers):
            inputs = [values[bottom] for bottom in net.bottom_names[name]]
            if types[name] == "Split":
                for top in net.top_names[name]:
                    values[top] = inputs[0]
            elif types[name] != "Input":
                weights = [blob.data.astype(float) for blob in layer.blobs]
                values[net.top_names[name][0]] = compute(types[name], settings[name], inputs, weights)
        self.assertEqual(set(values), set(net.blobs))
        for name in net.blobs:
            self.close(net.blobs[name].data, values[name], 1e-4)

    def test_a_graph_from_files(self):
        """Like converters without Caffe: a prototxt and the messages of a .caffemodel, whose layers have blobs."""
        net = self.make_net()
        net.save(self.path("w.caffemodel"))
        param, model = caffe_pb2.NetParameter(), caffe_pb2.NetParameter()
        with open(self.path("net.prototxt")) as file:
            text_format.Merge(file.read(), param)
        with open(self.path("w.caffemodel"), "rb") as file:
            model.ParseFromString(file.read())
        self.assertEqual(model.name, "convertible")
        weights = {layer.name: [np.array(blob.data).reshape(blob.shape.dim) for blob in layer.blobs]
                   for layer in model.layer}
        x = random_array(2, 2, 3, 12, 12)
        values = {"data": x.astype(float)}
        for layer in param.layer:
            if layer.type != "Input":
                values[layer.top[0]] = compute(layer.type, layer, [values[bottom] for bottom in layer.bottom],
                                               weights[layer.name])
        self.close(net.forward(data=x)["prob"], values["prob"], 1e-4)
        by_hand = caffe.Net(self.path("net.prototxt"), caffe.TEST)
        for name, blobs in by_hand.params.items():
            for blob, array in zip(blobs, weights[name]):
                self.assertEqual(blob.data.shape, array.shape)
                blob.data[...] = array
        np.testing.assert_array_equal(by_hand.forward(data=x)["prob"], net.forward(data=x)["prob"])

    def test_a_net_becomes_a_spec(self):
        """Layers of a NetParameter may be removed and renamed; weights are found by layer name."""
        net = self.make_net()
        net.save(self.path("w.caffemodel"))
        param = text_format.Parse(NET, caffe_pb2.NetParameter())
        del param.layer[-1]  # Softmax
        for layer in param.layer:
            if layer.type == "Dropout":
                param.layer.remove(layer)
                break
        param.layer[0].input_param.shape[0].dim[0] = 1
        self.write(text_format.MessageToString(param), "cut.prototxt")
        cut = caffe.Net(self.path("cut.prototxt"), self.path("w.caffemodel"), caffe.TEST)
        self.assertEqual(cut.outputs, ["fc"])
        x = random_array(3, 2, 3, 12, 12)
        expected = net.forward(data=x, blobs=["fc"])["fc"].copy()
        self.close(cut.forward(data=x[:1])["fc"], expected[:1], 1e-5)


class Classification(Case):
    """Classifies as the example script of DIGITS: a deploy file, a mean file and a transformer."""

    DEPLOY = """input: 'data' input_shape { dim: 1 dim: 3 dim: 10 dim: 12 }
    layer { name: 'conv' type: 'Convolution' bottom: 'data' top: 'conv' convolution_param { num_output: 4 kernel_size: 3 } }
    layer { name: 'relu' type: 'ReLU' bottom: 'conv' top: 'conv' }
    layer { name: 'fc' type: 'InnerProduct' bottom: 'conv' top: 'fc' inner_product_param { num_output: 4 } }
    layer { name: 'softmax' type: 'Softmax' bottom: 'fc' top: 'softmax' }
    """

    def write_files(self):
        net = caffe.Net(self.write(self.DEPLOY, "deploy.prototxt"), caffe.TEST)
        fill(net, 5)
        net.save(self.path("snapshot.caffemodel"))
        self.mean = np.random.RandomState(0).uniform(100, 130, (3, 10, 12)).astype(np.float32)
        blob = caffe_pb2.BlobProto(num=1, channels=3, height=10, width=12)  # an old file, without a shape
        blob.data.extend(self.mean.ravel().tolist())
        with open(self.path("mean.binaryproto"), "wb") as file:
            file.write(blob.SerializeToString())

    def make_transformer(self):
        with open(self.path("deploy.prototxt")) as file:
            network = text_format.Merge(file.read(), caffe_pb2.NetParameter())
        dims = network.input_shape[0].dim if network.input_shape else network.input_dim[:4]
        transformer = caffe.io.Transformer(inputs={"data": dims})
        transformer.set_transpose("data", (2, 0, 1))
        if dims[1] == 3:
            transformer.set_channel_swap("data", (2, 1, 0))
        blob = caffe_pb2.BlobProto()
        with open(self.path("mean.binaryproto"), "rb") as file:
            blob.MergeFromString(file.read())
        if blob.HasField("shape"):
            shape = blob.shape.dim
        else:
            shape = (blob.num, blob.channels, blob.height, blob.width)
        pixel = np.reshape(blob.data, shape[1:]).mean(1).mean(1)
        transformer.set_mean("data", pixel)
        return transformer

    def test_batches_of_images(self):
        self.write_files()
        transformer = self.make_transformer()
        net = caffe.Net(self.path("deploy.prototxt"), self.path("snapshot.caffemodel"), caffe.TEST)
        images = [np.random.RandomState(i).randint(0, 256, (10, 12, 3)).astype(np.uint8) for i in range(5)]
        scores = None
        for begin in range(0, len(images), 2):
            chunk = images[begin: begin + 2]
            shape = (len(chunk),) + tuple(transformer.inputs["data"])[1:]
            if net.blobs["data"].data.shape != shape:
                net.blobs["data"].reshape(*shape)
            for index, image in enumerate(chunk):
                net.blobs["data"].data[index] = transformer.preprocess("data", image)
            output = net.forward()[net.outputs[-1]]
            scores = output.copy() if scores is None else np.vstack((scores, output))
        weights = {name: [blob.data.astype(float) for blob in blobs] for name, blobs in net.params.items()}
        x = np.array([image[:, :, ::-1].transpose(2, 0, 1) for image in images], float)
        x -= self.mean.astype(float).mean(axis=(1, 2))[:, None, None]
        hidden = np.maximum(convolve(x, weights["conv"][0], weights["conv"][1], (1, 1), (0, 0), 1), 0)
        logits = hidden.reshape(5, -1) @ weights["fc"][0].T + weights["fc"][1]
        expected = np.exp(logits - logits.max(axis=1, keepdims=True))
        self.assertEqual(scores.shape, (5, 4))
        self.close(scores, expected / expected.sum(axis=1, keepdims=True), 1e-3)
        best = (-scores).argsort(axis=1)[:, :3]
        np.testing.assert_array_equal(best[:, 0], logits.argmax(axis=1))


if __name__ == "__main__":
    unittest.main()
