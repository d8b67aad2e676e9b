"""Trains and scores a fully convolutional net as FCN's scripts do: weights of a classifier moved into convolutions,
deconvolutions filled for bilinear interpolation, crops from coordinate maps, images of several sizes, and scores
from a confusion matrix."""
import struct
import unittest
import zlib

import caffe
import numpy as np
from caffe import layers as L, params as P
from caffe.coord_map import crop

from common import Case, fill, random_array

CLASSES = 3
CLASSIFIER = """
layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 1 dim: 3 dim: 16 dim: 16 } } }
layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1' convolution_param { num_output: 6 kernel_size: 3
  pad: 1 weight_filler { type: 'xavier' } } }
layer { name: 'relu1' type: 'ReLU' bottom: 'conv1' top: 'conv1' }
layer { name: 'pool1' type: 'Pooling' bottom: 'conv1' top: 'pool1' pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: 'fc2' type: 'InnerProduct' bottom: 'pool1' top: 'fc2' inner_product_param { num_output: 8
  weight_filler { type: 'xavier' } bias_filler { type: 'constant' value: 0.1 } } }
"""


class Scenes(caffe.Layer):
    """An image (3, height, width) for each pass, and its labels; 255 marks the border, which is ignored."""

    def setup(self, bottom, top):
        self.passes = eval(self.param_str)["first"]
        if len(bottom):
            raise Exception("Do not define a bottom.")

    def reshape(self, bottom, top):
        self.image, self.labels = make_scene(self.passes)
        top[0].reshape(1, *self.image.shape)
        top[1].reshape(1, *self.labels.shape)

    def forward(self, bottom, top):
        top[0].data[...], top[1].data[...] = self.image, self.labels
        self.passes = (self.passes + 1) % 8

    def backward(self, top, propagate_down, bottom):
        pass


def make_scene(number):
    rs = np.random.RandomState(number)
    height, width = [(16, 20), (20, 18), (18, 20)][number % 3]
    labels = np.zeros((1, height, width))
    labels[0, 2: height // 2, 3: width - 4] = 1
    labels[0, height // 2: height - 2, 2: width // 2] = 2
    image = np.stack([labels[0] == kind for kind in range(3)]) + 0.2 * rs.randn(3, height, width)
    labels[0, 0] = labels[0, -1] = 255
    return image.astype(np.float32), labels.astype(np.float32)


def make_net(first):
    """Returns the NetParameter of an FCN with two streams, as FCN-16s."""
    n = caffe.NetSpec()
    n.data, n.label = L.Python(module=__name__, layer="Scenes", ntop=2, param_str=str({"first": first}))
    n.conv1 = L.Convolution(n.data, num_output=6, kernel_size=3, pad=7, param=[dict(lr_mult=1), dict(lr_mult=2)],
                            weight_filler=dict(type="xavier"))
    n.relu1 = L.ReLU(n.conv1, in_place=True)
    n.pool1 = L.Pooling(n.relu1, pool=P.Pooling.MAX, kernel_size=2, stride=2)
    n.conv2 = L.Convolution(n.pool1, num_output=8, kernel_size=5, weight_filler=dict(type="xavier"))
    n.relu2 = L.ReLU(n.conv2, in_place=True)
    n.pool2 = L.Pooling(n.relu2, pool=P.Pooling.MAX, kernel_size=2, stride=2)
    n.score_pool2 = L.Convolution(n.pool2, num_output=CLASSES, kernel_size=1, weight_filler=dict(type="xavier"))
    up = dict(num_output=CLASSES, kernel_size=4, stride=2, bias_term=False)
    n.upscore2 = L.Deconvolution(n.score_pool2, convolution_param=up, param=[dict(lr_mult=0)])
    n.score_pool1 = L.Convolution(n.pool1, num_output=CLASSES, kernel_size=1, weight_filler=dict(type="xavier"))
    n.score_pool1c = crop(n.score_pool1, n.upscore2)
    n.fused = L.Eltwise(n.upscore2, n.score_pool1c, operation=P.Eltwise.SUM)
    n.upscore = L.Deconvolution(n.fused, convolution_param=up, param=[dict(lr_mult=0)])
    n.score = crop(n.upscore, n.data)
    n.loss = L.SoftmaxWithLoss(n.score, n.label, loss_param=dict(normalize=False, ignore_label=255))
    return n.to_proto()


def bilinear_kernel(size):
    """Returns the kernel (size, size) of bilinear interpolation."""
    factor = (size + 1) // 2
    centre = factor - 1 if size % 2 == 1 else factor - 0.5
    weights = 1 - np.abs(np.arange(size) - centre) / factor
    return weights[:, None] * weights[None, :]


def interpolate(net, names):
    """Fills Deconvolution layers, which have as many outputs as inputs."""
    for name in names:
        blob = net.params[name][0]
        count = blob.data.shape[0]
        assert blob.data.shape[1] == count and blob.height == blob.width
        blob.data[range(count), range(count), :, :] = bilinear_kernel(blob.height)


def confusion_of(truth, prediction):
    """Returns the matrix of counts (true class, predicted class) of labels below the number of classes."""
    valid = (truth >= 0) & (truth < CLASSES)
    pairs = CLASSES * truth[valid].astype(int) + prediction[valid]
    return np.bincount(pairs, minlength=CLASSES ** 2).reshape(CLASSES, CLASSES)


class Segmentation(Case):
    def make_solver(self, settings="max_iter: 100"):
        for name, first in (("train", 0), ("val", 3)):
            self.write(str(make_net(first)), name + ".prototxt")
        return caffe.SGDSolver(self.write(
            "train_net: '%s' test_net: '%s' test_iter: 4 test_interval: 999999999 base_lr: 0.0005 lr_policy: 'fixed' "
            "momentum: 0.9 weight_decay: 0.0005 test_initialization: false snapshot_prefix: 'x' random_seed: 3 %s"
            % (self.path("train.prototxt"), self.path("val.prototxt"), settings), "solver.prototxt"))

    def test_upsampling_is_bilinear(self):
        net = caffe.Net(self.write(str(make_net(0))), caffe.TEST)
        interpolate(net, [name for name in net.params if "up" in name])
        net.forward()
        coarse, fine = net.blobs["fused"].data[0], net.blobs["upscore"].data[0]
        height, width = coarse.shape[1:]
        self.assertEqual(fine.shape, (CLASSES, 2 * height + 2, 2 * width + 2))
        # A pixel of the result lies a quarter of a coarse pixel beside the centre of one.
        inner = fine[:, 3:-3, 3:-3]
        positions = [(np.arange(3, 2 * size - 1) - 1.5) / 2 for size in (height, width)]
        low = [np.floor(p).astype(int) for p in positions]
        part = [(p - q)[:, None] for p, q in zip(positions, low)]
        rows = coarse[:, low[0]] * (1 - part[0]) + coarse[:, low[0] + 1] * part[0]
        columns = rows[:, :, low[1]] * (1 - part[1][:, 0]) + rows[:, :, low[1] + 1] * part[1][:, 0]
        self.close(inner, columns)
        self.assertEqual(net.blobs["score"].shape[2:], net.blobs["data"].shape[2:])

    def test_a_classifier_becomes_convolutional(self):
        """Weights of an InnerProduct layer that are written flat into a convolution compute the same at each place."""
        classifier = caffe.Net(self.write(CLASSIFIER), caffe.TEST)
        dense = CLASSIFIER.replace("dim: 16 dim: 16", "dim: 24 dim: 20")
        begin = dense.index("layer { name: 'fc2'")
        dense = dense[:begin] + """layer { name: 'conv2' type: 'Convolution' bottom: 'pool1' top: 'conv2'
            convolution_param { num_output: 8 kernel_size: 8 } }"""
        net = caffe.Net(self.write(dense, "dense.prototxt"), caffe.TEST)
        for source, target in (("conv1", "conv1"), ("fc2", "conv2")):
            for old, new in zip(classifier.params[source], net.params[target]):
                new.data.flat = old.data.flat
        image = random_array(1, 3, 24, 20)
        out = net.forward(data=image[None])["conv2"]
        self.assertEqual(out.shape, (1, 8, 5, 3))
        # Only inside, since the classifier pads its crop.
        net.blobs["data"].reshape(1, 3, 16, 16)
        crop_out = net.forward(data=image[None, :, 4:20, 2:18])["conv2"][0, :, 0, 0].copy()
        self.close(crop_out, classifier.forward(data=image[None, :, 4:20, 2:18])["fc2"][0], 1e-4)
        self.close(classifier.params["fc2"][0].data.ravel(), net.params["conv2"][0].data.ravel(), 0)

    def test_loss_and_its_gradient(self):
        net = caffe.Net(self.write(str(make_net(0))), caffe.TRAIN)
        interpolate(net, ["upscore2", "upscore"])
        layer = net.layers[0]
        for number in (0, 1, 2):
            layer.passes = number
            net.clear_param_diffs()
            net.forward()
            scores, labels = net.blobs["score"].data[0].astype(float), net.blobs["label"].data[0, 0].astype(int)
            valid = labels != 255
            exponentials = np.exp(scores - scores.max(axis=0))
            probabilities = exponentials / exponentials.sum(axis=0)
            chosen = np.take_along_axis(probabilities, np.where(valid, labels, 0)[None], axis=0)[0]
            self.close(net.blobs["loss"].data, -np.log(chosen[valid]).sum(), 1e-4)
            net.backward()
            expected = (probabilities - (np.arange(CLASSES)[:, None, None] == labels)) * valid
            self.close(net.blobs["score"].diff[0], expected, 1e-4)
            # The bias of the 1x1 convolution on pool1 receives the gradient of the score through the deconvolution.
            gradient = net.params["score_pool1"][1].diff.copy()
            bias, step, losses = net.params["score_pool1"][1].data, 1e-2, []
            for sign in (1, -1):
                bias[1] += sign * step
                layer.passes = number
                losses.append(float(net.forward()["loss"]))
                bias[1] -= sign * step
            self.close((losses[0] - losses[1]) / (2 * step), gradient[1], 0.02)

    def test_training_and_scoring(self):
        solver = self.make_solver()
        interpolate(solver.net, ["upscore2", "upscore"])
        interpolation = solver.net.params["upscore"][0].data.copy()
        self.assertLess(self.score(solver)["accuracy"], 0.85)
        solver.step(100)
        np.testing.assert_array_equal(solver.net.params["upscore"][0].data, interpolation)
        result = self.score(solver)
        self.assertGreater(result["accuracy"], 0.9)
        self.assertGreater(result["mean IU"], 0.75)

    def score(self, solver):
        """Scores the test net with the training net's parameters, and checks its loss."""
        net = solver.test_nets[0]
        net.share_with(solver.net)
        self.assertTrue(np.shares_memory(net.params["conv1"][0].data, solver.net.params["conv1"][0].data))
        confusion, loss = np.zeros((CLASSES, CLASSES)), 0
        net.layers[0].passes, sizes = 0, set()
        for _ in range(8):
            net.forward()
            truth = net.blobs["label"].data[0, 0]
            scores = net.blobs["score"].data[0]
            confusion += confusion_of(truth.ravel(), scores.argmax(0).ravel())
            loss += float(net.blobs["loss"].data)
            sizes.add(scores.shape)
        self.assertEqual(len(sizes), 3)
        self.assertEqual(confusion.sum(), sum((make_scene(i)[1] != 255).sum() for i in range(8)))
        correct = np.diag(confusion)
        return {"accuracy": correct.sum() / confusion.sum(), "loss": loss,
                "mean IU": np.mean(correct / (confusion.sum(0) + confusion.sum(1) - correct))}


def png(values):
    """Returns a gray PNG file of an array of bytes (height, width)."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = values.shape
    rows = b"".join(b"\0" + row.tobytes() for row in values)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) \
        + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class SegNet(Case):
    """SegNet's data layer, and the statistics that its script writes into the nets for inference."""

    NET = """layer { name: 'data' type: 'DenseImageData' top: 'data' top: 'label'
      dense_image_data_param { source: 'list.txt' batch_size: 2 is_color: false } transform_param { scale: 0.01 } }
    layer { name: 'conv' type: 'Convolution' bottom: 'data' top: 'conv'
      convolution_param { num_output: 3 kernel_size: 3 pad: 1 weight_filler { type: 'msra' } } }
    layer { name: 'bn' type: 'BN' bottom: 'conv' top: 'bn' %s bn_param { %s
      scale_filler { type: 'constant' value: 1 } shift_filler { type: 'constant' value: 0.001 } } }
    layer { name: 'relu' type: 'ReLU' bottom: 'bn' top: 'bn' }
    layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'bn' bottom: 'label' top: 'loss' }
    """

    def setUp(self):
        super().setUp()
        rs = np.random.RandomState(2)
        self.images = rs.randint(0, 256, (4, 6, 8)).astype(np.uint8)
        self.labels = rs.randint(0, 3, (4, 6, 8)).astype(np.uint8)
        for number, (image, labels) in enumerate(zip(self.images, self.labels)):
            for name, values in (("image", image), ("labels", labels)):
                with open(self.path("%s%d.png" % (name, number)), "wb") as file:
                    file.write(png(values))
        self.write("".join("image%d.png labels%d.png\n" % (i, i) for i in range(4)), "list.txt")

    def test_statistics_of_batches_become_weights(self):
        net = caffe.Net(self.write(self.NET % ("top: 'bn-mean' top: 'bn-var'", "")), caffe.TRAIN)
        fill(net, 2, 0.5)
        gamma, beta = (blob.data.copy() for blob in net.params["bn"])
        self.assertEqual(gamma.shape, (1, 3, 1, 1))
        means, variances = [], []
        for begin in (0, 2):
            net.forward()
            self.close(net.blobs["data"].data[:, 0], self.images[begin: begin + 2] * 0.01)
            np.testing.assert_array_equal(net.blobs["label"].data[:, 0], self.labels[begin: begin + 2])
            values = net.blobs["conv"].data.astype(float)
            mean, variance = values.mean(axis=(0, 2, 3)), values.var(axis=(0, 2, 3))
            self.assertEqual(net.blobs["bn-mean"].shape, (1, 3, 1, 1))
            self.close(net.blobs["bn-mean"].data.ravel(), mean)
            self.close(net.blobs["bn-var"].data.ravel(), variance, 1e-4)
            normalized = (values - mean[:, None, None]) / np.sqrt(variance[:, None, None] + 1e-9)
            self.close(net.blobs["bn"].data, np.maximum(normalized * gamma + beta, 0), 1e-3)
            means.append(net.blobs["bn-mean"].data.copy())
            variances.append(net.blobs["bn-var"].data.copy())
            net.backward()
        self.assertGreater(np.abs(net.params["bn"][0].diff).max(), 0)
        mean, variance = np.mean(means, axis=0), np.mean(variances, axis=0)
        deployed = caffe.Net(self.write(self.NET % ("", "bn_mode: INFERENCE"), "deploy.prototxt"), caffe.TEST)
        for target, source in zip(deployed.params["conv"], net.params["conv"]):
            target.data[...] = source.data
        scale = gamma / np.sqrt(variance + 1e-9)
        deployed.params["bn"][0].data[...], deployed.params["bn"][1].data[...] = scale, beta - mean * scale
        deployed.forward()
        values = deployed.blobs["conv"].data.astype(float)
        self.close(deployed.blobs["bn"].data, np.maximum((values - mean) * scale + beta, 0), 1e-4)

    def test_crops_and_mirrors(self):
        """They are random in both phases, and the same for an image and its labels."""
        for phase in caffe.TRAIN, caffe.TEST:
            net = caffe.Net(self.write("""layer { name: 'data' type: 'DenseImageData' top: 'data' top: 'label'
                dense_image_data_param { source: 'list.txt' batch_size: 4 is_color: false crop_height: 5 crop_width: 6
                  mirror: true } }"""), phase)
            found = set()
            for _ in range(4):
                net.forward()
                for row in range(4):
                    choices = [(top, left, step) for top in range(2) for left in range(3) for step in (1, -1)
                               if np.array_equal(net.blobs["label"].data[row, 0],
                                                 self.labels[row, top: top + 5, left: left + 6][:, ::step])]
                    self.assertEqual(len(choices), 1)
                    top, left, step = choices[0]
                    np.testing.assert_array_equal(net.blobs["data"].data[row, 0],
                                                  self.images[row, top: top + 5, left: left + 6][:, ::step])
                    found.add(choices[0])
            self.assertTrue(all(len(set(values)) > 1 for values in zip(*found)), found)

    def test_dropout_in_tests(self):
        """Bayesian SegNet draws samples of its answer."""
        net = caffe.Net(self.write("""
            layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 1 dim: 1000 } } }
            layer { name: 'drop' type: 'Dropout' bottom: 'x' top: 'y'
              dropout_param { dropout_ratio: 0.25 sample_weights_test: true } }"""), caffe.TEST)
        net.blobs["x"].data[...] = 3
        samples = [net.forward()["y"].copy() for _ in range(2)]
        for sample in samples:
            self.assertEqual(set(sample.ravel()), {0, 4})
            self.assertLess(abs((sample == 0).mean() - 0.25), 0.1)
        self.assertFalse(np.array_equal(*samples))

    def test_small_variances(self):
        """SegNet adds 1e-9 to variances."""
        net = caffe.Net(self.write("""
            layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 3 dim: 2 dim: 4 dim: 5 } } }
            layer { name: 'bn' type: 'BN' bottom: 'x' top: 'y' }"""), caffe.TEST)
        x = 1e-3 * np.random.RandomState(3).randn(3, 2, 4, 5)
        net.blobs["x"].data[...] = x
        deviation = np.sqrt(x.var(axis=(0, 2, 3), keepdims=True) + 1e-9)
        self.close(net.forward()["y"], (x - x.mean(axis=(0, 2, 3), keepdims=True)) / deviation, 1e-4)

    def test_other_nets_have_no_statistics(self):
        with self.assertRaisesRegex(RuntimeError, "only SegNet's BN with bn_mode LEARN"):
            caffe.Net(self.write(self.NET % ("top: 'm' top: 'v'", "bn_mode: INFERENCE")), caffe.TEST)


if __name__ == "__main__":
    unittest.main()
