"""Compares ConvLSTM and its gradients with NumPy computations of the fork's unrolled net."""
import unittest

import caffe
import numpy as np

from common import random_array
from fork_case import ForkCase

SETTINGS = "lstm_conv_param { num_output: 3 kernel_size: 3 pad: 1 } "
EXPOSED = "recurrent_param { expose_hidden: true } "


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def convolve(x, weights):
    """Returns the convolution of images with 3 x 3 kernels and padding 1."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    height, width = x.shape[2:]
    return sum(np.einsum("ncyx,oc->noyx", padded[:, :, i:i + height, j:j + width], weights[:, :, i, j])
               for i in range(3) for j in range(3))


def unrolled(x, cont, h, c, weights, hidden_weights, bias, peepholes):
    """Returns the hidden states of all time steps, and the last states. Peepholes read the cell state before the step,
    whether or not a sequence starts."""
    outputs = []
    for x_now, cont_now in zip(x, cont[:, :, None, None, None]):
        gates = convolve(cont_now * h, hidden_weights) + bias[:, None, None]
        if weights is not None:
            gates = gates + convolve(x_now, weights)
        i, f, o, g = np.split(gates, 4, axis=1)
        if peepholes is not None:
            i, f, o = (gate + weight * c for gate, weight in zip((i, f, o), peepholes))
        c = cont_now * sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.array(outputs), h, c


class ConvLstm(ForkCase):
    cont = np.float32([[0, 1], [1, 1], [1, 0]])

    def params(self, net, ignores_x=False, has_peepholes=True):
        """Sets the parameters to random numbers. Returns them in the order of unrolled()."""
        blobs = [blob.data for blob in net.params["layer"]]
        names = ([] if ignores_x else ["x"]) + ["dummy"] * 2 + ["h", "bias"] + ["peephole"] * 3 * has_peepholes + \
            ["dummy"] * 2
        self.assertEqual(len(blobs), len(names))
        values = {"peephole": []}
        for seed, (blob, name) in enumerate(zip(blobs, names)):
            if name == "dummy":
                self.assertEqual((blob.shape, blob.tolist()), ((1,), [0]))
                continue
            blob[...] = random_array(seed + 20, *blob.shape)
            if name == "peephole":
                values[name].append(blob.astype(float))
            else:
                values[name] = blob.astype(float)
        return [values.get("x"), values["h"], values["bias"], values["peephole"] or None]

    def test_values_and_persistent_states(self):
        x = random_array(1, 3, 2, 4, 5, 6)
        net = self.net("ConvLSTM", SETTINGS, {"x": x, "cont": self.cont})
        # As in Caffe, peepholes start as 1.
        self.assertEqual([blob.data.shape for blob in net.params["layer"]],
                         [(12, 4, 3, 3), (1,), (1,), (12, 3, 3, 3), (12,), (5, 6), (5, 6), (5, 6), (1,), (1,)])
        self.close(net.params["layer"][5].data, np.ones((5, 6)))
        params = self.params(net)
        h = c = np.zeros((2, 3, 5, 6))
        for _ in range(2):
            expected, h, c = unrolled(x, self.cont, h, c, *params)
            self.close(net.forward()["y"], expected, 1e-5)

    def test_variants(self):
        x = random_array(1, 3, 2, 4, 5, 6)
        zeros = np.zeros((2, 3, 5, 6))
        for text, has_peepholes in ((SETTINGS + "lstm_debug_param { disable_hadamard: true }", False),
                                    (SETTINGS + "lstm_debug_param { axis_hadamard: 2 num_axes_hadamard: 3 }", True)):
            net = self.net("ConvLSTM", text, {"x": x, "cont": self.cont})
            params = self.params(net, has_peepholes=has_peepholes)
            self.close(net.forward()["y"], unrolled(x, self.cont, zeros, zeros, *params)[0], 1e-5)
        text = "lstm_conv_param { num_output: 3 kernel_size: 3 pad: 1 type: 'hidden' } " \
            "lstm_conv_param { num_output: 3 kernel_size: 1 type: 'input' } "
        net = self.net("ConvLSTM", text, {"x": x, "cont": self.cont})
        params = self.params(net)
        params[0] = np.pad(params[0], ((0, 0), (0, 0), (1, 1), (1, 1)))
        self.close(net.forward()["y"], unrolled(x, self.cont, zeros, zeros, *params)[0], 1e-5)

    def test_exposed_states(self):
        """A decoder, whose states have gradients."""
        inputs = {"x": random_array(1, 3, 2, 4, 5, 6), "cont": np.ones((3, 2), np.float32),
                  "h": random_array(2, 1, 2, 3, 5, 6), "c": random_array(3, 1, 2, 3, 5, 6)}
        net = self.net("ConvLSTM", SETTINGS + EXPOSED + "lstm_debug_param { ignore_x: true }", inputs, caffe.TRAIN,
                       tops=("y", "last_h", "last_c"))
        params = self.params(net, ignores_x=True)

        def loss(h, c):
            y, last_h, last_c = unrolled(inputs["x"], inputs["cont"], h, c, *params)
            return (factors["y"] * y).sum() + (factors["last_h"] * last_h).sum() + (factors["last_c"] * last_c).sum()
        net.forward()
        h, c = inputs["h"][0].astype(float), inputs["c"][0].astype(float)
        for name, expected in zip(("y", "last_h", "last_c"), unrolled(inputs["x"], inputs["cont"], h, c, *params)):
            self.close(net.blobs[name].data.reshape(expected.shape), expected, 1e-5)
        factors = {}
        for seed, name in enumerate(("y", "last_h", "last_c")):
            factors[name] = net.blobs[name].diff[...] = random_array(seed + 5, *net.blobs[name].shape)
        factors["last_h"], factors["last_c"] = factors["last_h"][0], factors["last_c"][0]
        net.backward()
        direction = [random_array(seed, *h.shape).astype(float) for seed in (8, 9)]
        step = 1e-5
        difference = (loss(h + step * direction[0], c + step * direction[1]) -
                      loss(h - step * direction[0], c - step * direction[1])) / (2 * step)
        gradient = (net.blobs["h"].diff[0] * direction[0]).sum() + (net.blobs["c"].diff[0] * direction[1]).sum()
        self.close(gradient, difference, 1e-3)


if __name__ == "__main__":
    unittest.main()
