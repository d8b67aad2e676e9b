"""Compares layers of Caffe's forks with NumPy computations of their formulas, forward and backward."""
import itertools
import unittest

import caffe
import numpy as np
from caffe.proto import caffe_pb2

from common import fill, random_array
from fork_case import ForkCase, blob_input


def varint(value):
    """Returns an integer as Protocol Buffers encode it."""
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class ForkLayers(ForkCase):
    def check_function(self, kind, function, derivative, text="", scale=3):
        x = scale * random_array(3, 2, 3, 4)
        net = self.net(kind, text, {"x": x})
        self.close(net.forward()["y"], function(x))
        dy = random_array(4, *x.shape)
        net.blobs["y"].diff[...] = dy
        net.backward()
        self.close(net.blobs["x"].diff, dy * derivative(x))

    def test_functions(self):
        self.check_function("Atan", np.arctan, lambda x: 1 / (1 + x * x))
        self.check_function("Sin", np.sin, np.cos)
        self.check_function("Cosine", np.cos, lambda x: -np.sin(x))
        self.check_function("Arccos", np.arccos, lambda x: -1 / np.sqrt(1 - x * x), scale=0.9)
        for kind, function in (("Ceil", np.ceil), ("Floor", np.floor), ("Round", np.rint)):
            self.check_function(kind, function, np.zeros_like)
        self.check_function("HardSigmoid", lambda x: np.clip(0.2 * x + 0.5, 0, 1),
                            lambda x: 0.2 * (np.abs(x) < 2.5))
        self.check_function("HardTanH", lambda x: np.clip(x, -1, 1), lambda x: np.abs(x) < 1)
        self.check_function("ScaledTanH", lambda x: 1.7 * np.tanh(0.6 * x), lambda x: 1.02 / np.cosh(0.6 * x) ** 2,
                            "scaled_tanh_param { alpha: 1.7 beta: 0.6 }")
        scale, alpha = 1.050700987, 1.67326324
        self.check_function("SeLU", lambda x: scale * np.where(x > 0, x, alpha * (np.exp(x) - 1)),
                            lambda x: scale * np.where(x > 0, 1, alpha * np.exp(x)))
        self.check_function("Softplus", lambda x: np.log(1 + np.exp(x)), sigmoid)
        self.check_function("Softsign", lambda x: x / (1 + np.abs(x)), lambda x: 1 / (1 + np.abs(x)) ** 2)
        self.check_function("ThresholdedReLU", lambda x: x * (x > 1), lambda x: x > 1)
        self.check_function("Truncation", lambda x: np.clip(x, -1, 2), lambda x: (x > -1) & (x < 2),
                            "truncation_param { lower_bound: -1 upper_bound: 2 }")

    def test_halves_are_rounded_to_even(self):
        x = np.array([[-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]], np.float32)
        self.close(self.net("Round", "", {"x": x}).forward()["y"], [[-2, -2, 0, 0, 2, 2]])

    def test_arrangements(self):
        x = random_array(5, 2, 3, 4, 5)
        self.close(self.net("Flip", "", {"x": x}).forward()["y"], x[..., ::-1])
        both = "flip_param { flip_height: true }"
        self.close(self.net("Flip", both, {"x": x}).forward()["y"], x[..., ::-1, ::-1])
        padded = "pad_param { paddings: [1, 0, 0, 0, 0, 2, 3, 1] constant_values: 7 }"
        self.close(self.net("Pad", padded, {"x": x}).forward()["y"],
                   np.pad(x, ((1, 0), (0, 0), (0, 2), (3, 1)), constant_values=7))
        self.close(self.net("UpsampleDarknet", "upsample_darknet_param { stride: 2 }", {"x": x}).forward()["y"],
                   x.repeat(2, 2).repeat(2, 3))

    def test_layer_norm(self):
        def normalized(x, axes, eps):
            return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)

        x = random_array(6, 3, 4, 5)
        net = self.net("LayerNorm", "layer_norm_param { eps: 0.1 }", {"x": x})
        scale, bias = (blob.data for blob in net.params["layer"])
        self.assertEqual((scale.shape, scale.min(), scale.max()), ((4, 5), 1, 1))
        self.assertEqual((bias.shape, np.abs(bias).max()), ((4, 5), 0))
        fill(net)
        self.close(net.forward()["y"], normalized(x, (1, 2), 0.1) * scale + bias)
        # MyCaffe's.
        self.close(self.net("LayerNorm", "", {"x": x}).forward()["y"], normalized(x, (2,), 1e-10), 1e-4)
        vectors = random_array(7, 4, 6)
        text = "layer_norm_param { epsilon: 0.2 }"
        self.close(self.net("LayerNorm", text, {"x": vectors}).forward()["y"], normalized(vectors, (1,), 0.2))

    def test_normalize(self):
        x = random_array(8, 2, 3, 2, 2)
        net = self.net("Normalize", "", {"x": x})
        self.assertNotIn("layer", net.params)
        self.close(net.forward()["y"], x / np.sqrt((x * x).sum(1, keepdims=True) + 1e-6))
        text = "normalization2_param { across_spatial: false scale_filler { value: 20 } }"
        self.close(self.net("Normalization2", text, {"x": x}).forward()["y"],
                   20 * x / np.sqrt((x * x).sum(1, keepdims=True)))

    def test_c3d(self):
        x = random_array(9, 2, 3, 4, 5, 5)
        net = self.net("Convolution3D", "convolution3d_param { num_output: 2 kernel_size: 3 kernel_depth: 2 stride: 2 "
                       "temporal_pad: 1 weight_filler { type: 'xavier' } }", {"x": x})
        fill(net)
        w, b = (blob.data for blob in net.params["layer"])
        self.assertEqual(w.shape, (2, 3, 2, 3, 3))
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 0), (0, 0)))
        expected = np.empty((2, 2, 5, 2, 2))
        for z, r, c in np.ndindex(5, 2, 2):
            window = padded[:, :, z:z + 2, 2 * r:2 * r + 3, 2 * c:2 * c + 3]
            expected[:, :, z, r, c] = np.tensordot(window, w, ([1, 2, 3, 4], [1, 2, 3, 4])) + b
        self.close(net.forward()["y"], expected)
        first, w, b = expected, w.copy(), b.copy()
        # C3D stores a bias in five dimensions.
        weights = caffe_pb2.NetParameter()
        layer = weights.layer.add(name="layer", type="Convolution3D")
        for values, shape in ((2 * w, w.shape), ([5, 6], (1, 1, 1, 1, 2))):
            blob = layer.blobs.add(data=np.ravel(values).tolist())
            blob.shape.dim.extend(shape)
        with open(self.path("c3d.caffemodel"), "wb") as file:
            file.write(weights.SerializeToString())
        expected = 2 * (expected - b.reshape(1, 2, 1, 1, 1)) + np.reshape([5, 6], (1, 2, 1, 1, 1))
        net.copy_from(self.path("c3d.caffemodel"))
        self.close(net.forward()["y"], expected)
        # C3D 1.0 has blobs of its own: the fields 1 to 5 are their extents, and 6 their values.
        def field(number, content):
            return bytes([number << 3 | 2]) + varint(len(content)) + content

        def c3d_blob(values, shape):
            extents = b"".join(bytes([number << 3]) + varint(extent) for number, extent in enumerate(shape, 1))
            return extents + field(6, np.ravel(values).astype("<f4").tobytes())

        blobs = field(6, c3d_blob(w, w.shape)) + field(6, c3d_blob(b, (1, 1, 1, 1, 2)))
        with open(self.path("c3d.caffemodel"), "wb") as file:
            file.write(field(2, field(4, b"layer") + blobs))
        net.copy_from(self.path("c3d.caffemodel"))
        self.close(net.forward()["y"], first)
        for method, reduce in (("MAX", np.max), ("AVE", np.mean)):
            net = self.net("Pooling3D", "pooling3d_param { pool: %s kernel_size: 2 kernel_depth: 3 stride: 2 "
                           "temporal_stride: 1 }" % method, {"x": x})
            # The last windows reach beyond the bottom by a row and a column.
            expected = np.empty((2, 3, 2, 3, 3))
            for z, r, c in np.ndindex(2, 3, 3):
                expected[:, :, z, r, c] = reduce(x[:, :, z:z + 3, 2 * r:2 * r + 2, 2 * c:2 * c + 2], (2, 3, 4))
            self.close(net.forward()["y"], expected)

    def test_losses(self):
        a, p, n = (random_array(seed, 6, 3) for seed in (10, 11, 12))
        self.check_loss("L1Loss", "", {"a": a, "p": p}, np.abs(a - p).sum() / 6,
                        {"a": np.sign(a - p) / 6, "p": np.sign(p - a) / 6})
        hinge = 0.1 + ((a - p) ** 2).sum(1) - ((a - n) ** 2).sum(1)
        self.assertTrue((hinge > 0).any() and (hinge < 0).any())
        active = (hinge > 0)[:, None] / 6
        self.check_loss("TripletLoss", "triplet_loss_param { margin: 0.1 }", {"a": a, "p": p, "n": n},
                        np.maximum(hinge, 0).mean() / 2,
                        {"a": active * (n - p), "p": active * (p - a), "n": active * (a - n)})

    def test_triplet_loss_of_sets(self):
        for losstype, formula in enumerate((lambda p, n: p - n + 0.5, lambda p, n: 1 - n / (p + 0.5),
                                            lambda p, n: 1 - np.exp(n) / (np.exp(p) + 0.5))):
            for settings, negatives, pairs in (("num_negatives: 2", 2, 0), ("num_negatives: 3 use_pair: 1", 3, 1),
                                               ("num_triplets: 1", 1, 1)):
                x = random_array(15, 3 * (2 + negatives), 2)
                sets = x.reshape(3, 2 + negatives, 2)
                distances = ((sets[:, :1] - sets[:, 1:]) ** 2).sum(2)
                losses = np.maximum(formula(distances[:, :1], distances[:, 1:]), 0).sum(1) + pairs * distances[:, 0]
                net = self.net("TripletLoss", "triplet_loss_param { margin: 0.5 losstype: %d %s }" % (losstype, settings),
                               {"x": x, "label": np.zeros(len(x), np.float32)}, force=False)
                self.close(net.forward()["y"], losses.mean() / 2)

    def test_triplet_loss_with_labels(self):
        a, p, n = (random_array(seed, 6, 3) for seed in (10, 11, 12))
        hinge = 0.1 + ((a - p) ** 2).sum(1) - ((a - n) ** 2).sum(1)
        net = self.net("TripletLoss", "triplet_loss_param { margin: 0.1 }",
                       {"a": a, "p": p, "n": n, "sim": np.zeros(6, np.float32)}, force=False)
        self.close(net.forward()["y"], np.maximum(hinge, 0).mean() / 2)

    def test_center_loss(self):
        x, label = random_array(13, 5, 2, 2), np.array([2, 0, 2, 2, 1], np.float32)
        net = self.net("CenterLoss", "loss_weight: 0.5 center_loss_param { num_output: 4 "
                       "center_filler { type: 'xavier' } }", {"x": x, "label": label}, caffe.TRAIN)
        fill(net)
        centers = net.params["layer"][0].data
        self.assertEqual(centers.shape, (4, 4))
        difference = x.reshape(5, 4) - centers[label.astype(int)]
        self.close(net.forward()["y"], (difference ** 2).sum() / 10)
        net.backward()
        self.close(net.blobs["x"].diff.reshape(5, 4), 0.5 * difference / 5)
        gradient = np.zeros((4, 4))
        for item, number in enumerate(label.astype(int)):
            gradient[number] -= difference[item] / (1 + (label == number).sum())
        self.close(net.params["layer"][0].diff, gradient)

    def test_label_specific_add(self):
        x = np.array([[0.2, 0.5, -0.1], [0.2, 0.5, 0.9]], np.float32)
        inputs, text = {"x": x, "label": np.array([1, 0], np.float32)}, "label_specific_add_param { bias: -0.35 }"
        expected = x.copy()
        expected[0, 1] -= 0.35  # the score of the other label does not exceed 0.35
        net = self.net("LabelSpecificAdd", text, inputs, caffe.TRAIN)
        self.close(net.forward()["y"], expected)
        net.blobs["y"].diff[...] = dy = random_array(14, 2, 3)
        net.backward()
        self.close(net.blobs["x"].diff, dy)
        self.close(self.net("LabelSpecificAdd", text, inputs).forward()["y"], x)

    def lstm_reference(self, x, indicators, params, state, dy, limit):
        """Returns the outputs and the last state of caffe-lstm's layer for x (T, N, I), and its gradients."""
        wx, wh, b = params
        steps, streams, size = len(x), x.shape[1], wh.shape[1]
        h, c = state
        saved, y = [], np.empty((steps, streams, size))
        for t in range(steps):
            cont = indicators[t][:, None]
            hm = h * cont
            i, f, o, g = np.split(x[t] @ wx.T + hm @ wh.T + b, 4, 1)
            i, f, o, g, before = sigmoid(i), cont * sigmoid(f), sigmoid(o), np.tanh(g), c
            c = f * before + i * g
            h = y[t] = o * np.tanh(c)
            saved.append((hm, before, i, f, o, g, np.tanh(c), cont))
        dwx, dwh, db = (np.zeros_like(p, dtype=float) for p in params)
        dx, dh, dc = np.zeros(x.shape), np.zeros_like(h), np.zeros_like(c)
        for t in reversed(range(steps)):
            hm, before, i, f, o, g, tanh_c, cont = saved[t]
            dh = dh + dy[t]
            dc = dc + dh * o * (1 - tanh_c ** 2)
            gates = np.concatenate([dc * g * i * (1 - i), dc * before * f * (1 - f), dh * tanh_c * o * (1 - o),
                                    dc * i * (1 - g * g)], 1)
            if limit:
                gates = np.clip(gates, -limit, limit)
            dwx, dwh, db = dwx + gates.T @ x[t], dwh + gates.T @ hm, db + gates.sum(0)
            dx[t], dh, dc = gates @ wx, cont * (gates @ wh), dc * f
        return y, (h, c), dx, (dwx, dwh, db)

    def check_lstm(self, limit, with_indicators):
        steps, streams, size, outputs = 4, 2, 3, 5
        inputs = {"x": random_array(15, steps * streams, size)}
        indicators = np.ones((steps, streams), np.float32)
        if with_indicators:
            indicators[2, 1] = 0
            inputs["clip"] = indicators.reshape(-1, 1)
        else:
            indicators[0] = 0
        net = self.net("Lstm", "lstm_param { num_output: %d batch_size: %d clipping_threshold: %g }" % (
            outputs, streams, limit), inputs)
        fill(net)
        self.assertEqual([blob.shape[:] for blob in net.params["layer"]], [(20, 3), (20, 5), (20,)])
        params = [blob.data for blob in net.params["layer"]]
        state = (np.zeros((streams, outputs)),) * 2
        for passes in range(2):  # the second one continues the first one's sequences
            dy = random_array(16 + passes, steps, streams, outputs)
            y, after, dx, gradients = self.lstm_reference(
                inputs["x"].reshape(steps, streams, size), indicators, params, state, dy, limit)
            self.close(net.forward()["y"], y.reshape(-1, outputs))
            net.clear_param_diffs()
            net.blobs["y"].diff[...] = dy.reshape(-1, outputs)
            net.backward()
            self.close(net.blobs["x"].diff, dx.reshape(-1, size))
            for blob, gradient in zip(net.params["layer"], gradients):
                self.close(blob.diff, gradient)
            state = after

    def test_lstm_of_caffe_ocr(self):
        """With one bottom and no batch_size, blobs have dimensions for time steps and sequences."""
        steps, streams, size, outputs = 4, 3, 2, 5
        x, dy = random_array(21, steps, streams, size), random_array(22, steps, streams, outputs)
        net = self.net("Lstm", "lstm_param { num_output: 5 clipping_threshold: 0.1 }", {"x": x})
        fill(net)
        params = [blob.data for blob in net.params["layer"]]
        self.assertEqual([p.shape for p in params], [(20, 2), (20, 5), (20,)])
        indicators = np.ones((steps, streams))
        indicators[0] = 0
        y, _, dx, gradients = self.lstm_reference(
            x, indicators, params, (np.zeros((streams, outputs)),) * 2, dy, 0.1)
        for _ in range(2):  # each batch starts from zero
            self.close(net.forward()["y"], y)
        net.blobs["y"].diff[...] = dy
        net.backward()
        self.close(net.blobs["x"].diff, dx)
        for blob, gradient in zip(net.params["layer"], gradients):
            self.close(blob.diff, gradient)
        with self.assertRaisesRegex(Exception, "without batch_size, needs a bottom of at least 3 dimensions"):
            self.net("Lstm", "lstm_param { num_output: 5 }", {"x": x[:, 0]})

    def test_lstm_of_caffe_lstm(self):
        for limit in (0, 0.05):
            for with_indicators in (False, True):
                with self.subTest(limit=limit, with_indicators=with_indicators):
                    self.check_lstm(limit, with_indicators)

    def test_ctc_loss(self):
        """Sums the probabilities of all paths that collapse to the labels."""
        def probability(scores, labels, blank):
            steps, alphabet = scores.shape
            p = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
            total = 0.0
            for path in itertools.product(range(alphabet), repeat=steps):
                collapsed = [c for i, c in enumerate(path) if c != blank and (i == 0 or path[i - 1] != c)]
                if collapsed == labels:
                    total += np.prod(p[range(steps), path])
            return total

        steps, alphabet, blank = 4, 3, 1
        scores = 2 * random_array(18, steps, 3, alphabet).astype(np.float64)
        targets = [[0, 2], [0, 0], [2]]
        label = np.full((3, 3), blank, np.float32)  # blanks fill the rows
        for row, target in zip(label, targets):
            row[:len(target)] = target
        text = "ctc_loss_param { time_step: 4 alphabet_size: 3 blank_label: 1 }"

        def losses(values):
            return [-np.log(probability(values[:, n], targets[n], blank)) for n in range(3)]

        net = self.net("CtcLoss", text, {"x": scores, "label": label}, caffe.TRAIN)
        self.close(net.forward()["y"], np.mean(losses(scores)))
        net.backward()
        # The gradient is that of the sum, as in crnn.caffe.
        expected, step = np.empty_like(scores), 1e-5
        for index in np.ndindex(*scores.shape):
            shifted = [scores.copy(), scores.copy()]
            shifted[0][index] += step
            shifted[1][index] -= step
            expected[index] = (sum(losses(shifted[0])) - sum(losses(shifted[1]))) / (2 * step)
        self.close(net.blobs["x"].diff, expected, 1e-4)
        # Too many labels for the time steps: no loss.
        net.blobs["label"].data[...] = [[0, 0, 0], [0, 1, 1], [0, 2, 0]]
        targets[:] = [[0], [0], [0, 2, 0]]
        self.close(net.forward()["y"], sum(losses(scores)[1:]) / 3)
        net.blobs["label"].data[0, 0] = 3
        with self.assertRaisesRegex(Exception, "label 3 is not in the alphabet of 3"):
            net.forward()

    def test_warp_ctc_loss_of_caffe_ocr(self):
        """Compares it with CtcLoss; without ctc_loss_param, the first label is the blank."""
        inputs = {"x": 2 * random_array(20, 5, 2, 4), "label": np.array([[1, 0, 3], [2, 2, 0]], np.float32)}
        for blank, text in ((0, ""), (3, "ctc_loss_param { blank_index: 3 }")):
            results = []
            for kind, settings in (("WarpCTCLoss", text), (
                    "CtcLoss", "ctc_loss_param { time_step: 5 alphabet_size: 4 blank_label: %d }" % blank)):
                net = self.net(kind, settings, inputs, caffe.TRAIN)
                loss = net.forward()["y"].copy()
                net.backward()
                results.append((loss, net.blobs["x"].diff.copy()))
            self.close(results[0][0], results[1][0])
            self.close(results[0][1], results[1][1])

    def indicated_sequences(self):
        """Returns scores (5, 3, 4) of sequences of 5, 3 and 5 steps, their indicators, and labels."""
        indicators = np.ones((5, 3), np.float32)
        indicators[0] = indicators[3:, 1] = 0
        labels = np.full((5, 3), -1, np.float32)
        for item, sequence in enumerate(([0, 2, 2], [1], [1, 0])):
            labels[:len(sequence), item] = sequence
        return {"x": 2 * random_array(19, 5, 3, 4), "clip": indicators, "label": labels}

    def test_ctc_loss_of_caffe_ctc(self):
        inputs = self.indicated_sequences()
        net = self.net("CTCLoss", "", inputs, caffe.TRAIN)
        loss = net.forward()["y"].copy()
        net.backward()
        gradient = net.blobs["x"].diff.copy()
        self.assertEqual(np.abs(gradient[3:, 1]).max(), 0)
        # CtcLoss of each item; the blank is the last label.
        losses = []
        for item, steps in enumerate((5, 3, 5)):
            label = np.where(inputs["label"][:, item] < 0, 3, inputs["label"][:, item])[None]
            single = self.net("CtcLoss", "ctc_loss_param { time_step: %d alphabet_size: 4 blank_label: 3 }" % steps,
                              {"x": inputs["x"][:steps, item:item + 1], "label": label}, caffe.TRAIN)
            losses.append(float(single.forward()["y"]))
            single.backward()
            self.close(gradient[:steps, item], single.blobs["x"].diff[:, 0])
        self.close(loss, np.mean(losses))
        with_blank = self.net("CTCLoss", "ctc_loss_param { blank_index: 3 }", inputs)
        self.close(with_blank.forward()["y"], loss)
        # The blank and numbers that are no labels end a sequence; the last label of the alphabet is one.
        inputs["label"][:, 0] = [3, 2, 0, 0, -1]
        inputs["label"][:, 2] = [3, 1, 4, -1, -1]
        net = self.net("CTCLoss", "ctc_loss_param { blank_index: 0 }", inputs)
        expected = self.net("CtcLoss", "ctc_loss_param { time_step: 5 alphabet_size: 4 }", {
            "x": inputs["x"][:, [0, 2]], "label": np.array([[3, 2], [3, 1]], np.float32)}).forward()["y"]
        middle = self.net("CtcLoss", "ctc_loss_param { time_step: 3 alphabet_size: 4 }", {
            "x": inputs["x"][:3, [1]], "label": np.ones((1, 1), np.float32)}).forward()["y"]
        self.close(net.forward()["y"], (2 * expected + middle) / 3)
        # An item of one step without labels is skipped.
        net.blobs["clip"].data[1, 1], net.blobs["label"].data[:, 1] = 0, -1
        self.close(net.forward()["y"], 2 * expected / 3)
        net.backward()
        self.assertEqual(np.abs(net.blobs["x"].diff[:, 1]).max(), 0)
        for kind, names in (("CTCLoss", ("x", "clip", "label")), ("WarpCTCLoss", ("x", "label"))):
            arrays = {name: inputs[name] for name in names}
            if kind == "WarpCTCLoss":
                arrays["label"] = inputs["label"].T
            with self.assertRaisesRegex(Exception, "blank_label 4 is not in the alphabet of 4 labels"):
                self.net(kind, "ctc_loss_param { blank_index: 4 }", arrays)

    def test_ctc_greedy_decoder(self):
        inputs = self.indicated_sequences()
        paths = np.array([[0, 1, 1], [0, 1, 3], [3, 3, 0], [2, 2, 0], [2, 2, 2]])  # (5, 3)
        inputs["x"] = 3 * np.eye(4, dtype=np.float32)[paths]
        decoded = [[0, 2, -1, -1, -1], [1, -1, -1, -1, -1], [1, 0, 2, -1, -1]]
        for names, tops in ((["x", "clip"], 1), (["x", "clip"], 2), (["x", "clip", "label"], 2),
                            (["x", "clip", "label"], 3)):
            extra = " ".join("top: 'y%d'" % i for i in range(1, tops))
            net = self.net("CTCGreedyDecoder", extra, {name: inputs[name] for name in names}, force=False)
            results = net.forward()
            self.close(results["y"], np.reshape(decoded, (3, 5, 1, 1)))
            if tops == 3 or len(names) == 2 and tops == 2:
                self.close(results["y1"].ravel(), [-15, -9, -15])
            if len(names) == 3:  # one label is missing in the first item, and one too many in the last
                self.close(results["y%d" % (tops - 1)].ravel(), 1 - (1 / 3 + 1 / 3) / 3)
        net = self.net("CTCGreedyDecoder", "ctc_decoder_param { blank_index: 2 ctc_merge_repeated: false }",
                       {name: inputs[name] for name in ("x", "clip")}, force=False)
        self.close(net.forward()["y"][:2, :, 0, 0], [[0, 0, 3, -1, -1], [1, 1, 3, -1, -1]])

    def test_ctc_greedy_decoder_of_caffe_ocr(self):
        """Without indicators of the ends of sequences. The first label is the blank by default."""
        paths = np.array([[1, 2, 0], [1, 0, 0], [0, 2, 0], [3, 3, 0], [3, 1, 0]])  # (5, 3)
        scores = np.eye(4, dtype=np.float32)[paths]
        decoder = self.net("CTCGreedyDecoder", "", {"x": scores}, force=False)
        self.close(decoder.forward()["y"].reshape(3, 5), [[1, 3, -1, -1, -1], [2, 2, 3, 1, -1], [-1] * 5])
        last = self.net("CTCGreedyDecoder", "ctc_decoder_param { blank_index: -1 }", {"x": scores}, force=False)
        self.close(last.forward()["y"].reshape(3, 5)[:2], [[1, 0, -1, -1, -1], [2, 0, 2, 1, -1]])
        # One of two labels is wrong, one of four is missing, and the last item is right, but has no labels.
        labels = np.array([[1, 2, 0, 0], [2, 3, 1, -1], [0, 0, 0, 0]], np.float32)
        net = self.net("CTCGreedyDecoder", "", {"x": scores, "label": labels}, force=False)
        self.close(net.forward()["y"], np.reshape([1 - (1 / 2 + 1 / 4) / 3, 0], (1, 2, 1, 1)))
        net.blobs["label"].data[1] = [2, 2, 3, 1]
        self.close(net.forward()["y"].ravel(), [1 - 1 / 2 / 3, 1 / 3])

    def test_labelsequence_accuracy(self):
        paths = [[0, 0, 2, 1], [1, 1, 1, 2], [0, 2, 0, 2], [2, 2, 2, 2]]
        scores = np.eye(3, dtype=np.float32)[paths]
        label = np.array([[0, 1], [1, 1], [0, 0], [2, 2]], np.float32)
        net = self.net("LabelsequenceAccuracy", "labelsequence_accuracy_param { blank_label: 2 }",
                       {"x": scores, "label": label}, force=False)
        # The second path is a single 1.
        self.close(net.forward()["y"], 3 / 4)

    def check_top_k(self, x, groups, k, text, phase=caffe.TEST):
        """`groups` are the dimensions along which elements compete."""
        net = self.net("TopK", "topk_param { %s }" % text, {"x": x}, phase)
        others = [axis for axis in range(x.ndim) if axis not in groups]
        rows = x.transpose(others + groups).reshape(int(np.prod([x.shape[axis] for axis in others])), -1)
        kept = np.zeros_like(rows)
        np.put_along_axis(kept, np.argsort(-rows, axis=1, kind="stable")[:, :k], 1, axis=1)
        mask = kept.reshape([x.shape[axis] for axis in others + groups]).transpose(np.argsort(others + groups))
        self.close(net.forward()["y"], x * mask)
        dy = net.blobs["y"].diff[...] = random_array(4, *x.shape)
        net.backward()
        self.close(net.blobs["x"].diff, dy * mask)

    def test_top_k(self):
        x = random_array(3, 4, 3, 5, 2)
        self.check_top_k(x, [1, 2, 3], 7, "k_num: 7 a: 1")
        self.check_top_k(x, [0], 2, "k_num: 2 a: 1 grouping: LIFETIME")
        self.check_top_k(x, [2, 3], 4, "k_num: 4 a: 1 grouping: CONV_SPATIAL")
        self.check_top_k(x, [1], 1, "k_num: 1 a: 1 grouping: CONV_CROSS_CHANNEL")
        self.check_top_k(x, [0], 3, "k_num: 3 a: 1 grouping: CONV_LIFETIME_SPATIAL")
        self.check_top_k(x, [0, 2, 3], 9, "k_num: 9 a: 1 grouping: CONV_LIFETIME_CHANNEL")
        # Counts are rounded down, and at least one; `a` counts in tests only.
        self.check_top_k(x, [1, 2, 3], 3, "k_perc: 0.11 a: 2", caffe.TRAIN)
        self.check_top_k(x, [1, 2, 3], 6, "k_perc: 0.11 a: 2")
        self.check_top_k(x, [1, 2, 3], 1, "k_num: 2 a: 0.1")
        self.check_top_k(x, [1, 2, 3], 30, "k_num: 1000 a: 1")
        # The layer keeps the first ones of equal elements.
        self.check_top_k(np.round(2 * x), [1, 2, 3], 7, "k_num: 7 a: 1")

    def test_continuation_indicator(self):
        net = self.net("ContinuationIndicator", "continuation_indicator_param { time_step: 3 batch_size: 2 }", {})
        self.close(net.forward()["y"], [[0, 0], [1, 1], [1, 1]])
        for axis, streams in ((0, 4), (1, 2), (2, 5)):
            net = self.net("ContinuationIndicator", "continuation_indicator_param { time_step: 3 axis: %d }" % axis,
                           {"x": np.full((4, 2, 5), np.nan, np.float32)}, force=False)
            self.close(net.forward()["y"], np.repeat([[0], [1], [1]], streams, 1))


if __name__ == "__main__":
    unittest.main()
