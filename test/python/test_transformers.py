"""Compares layers of transformers with NumPy computations of their formulas."""
import math
import os
import subprocess
import sys
import unittest

import caffe
import numpy as np

from common import Case, random_array
from test_fork_layers import blob_input


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def norm(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-10)


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / np.sqrt(2)))


def gelu_by_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def attention(query, key, value, heads, readable):
    """`readable` has a row for each query, and is broadcast to (items, heads, queries, keys)."""
    def split(x):
        return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)
    q, k, v = (split(x) for x in (query, key, value))
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
    y = softmax(np.where(readable, scores, -1e30)) @ v
    return y.transpose(0, 2, 1, 3).reshape(query.shape)


def causal(length):
    return np.tril(np.ones((length, length), bool))


class Products:
    """The inner products of a layer, with its parameters in turn."""

    def __init__(self, params):
        self.params = [np.float64(param.data) for param in params]

    def __call__(self, x):
        w, b = self.params.pop(0), self.params.pop(0)
        return x @ w.T + b

    def causal_attention(self, x, heads):
        query, key, value = np.split(self(x), 3, axis=-1)
        return self(attention(query, key, value, heads, causal(x.shape[1])))

    def attention(self, query, key, value, heads, readable):
        return self(attention(self(query), self(key), self(value), heads, readable))


class Transformers(Case):
    def net(self, kind, text, inputs, phase=caffe.TEST):
        """Returns a net of one layer with random parameters, whose bottoms are `inputs` (name: array)."""
        net = caffe.Net(self.write("".join(blob_input(name, array.shape) for name, array in inputs.items()) +
                                   "layer { name: 'layer' type: '%s' %s top: 'y' %s }" % (
                                       kind, " ".join("bottom: '%s'" % name for name in inputs), text)), phase)
        for name, array in inputs.items():
            net.blobs[name].data[...] = array
        for i, param in enumerate(net.params.get("layer", [])):
            param.data[...] = 0.5 * random_array(20 + i, *param.data.shape)
        return net

    def check(self, kind, text, inputs, formula):
        """`formula` takes the Products of the layer."""
        net = self.net(kind, text, inputs)
        products = Products(net.params.get("layer", []))
        self.close(net.forward()["y"], formula(products))
        self.assertEqual(products.params, [])

    def test_gelu(self):
        x = 3 * random_array(1, 2, 3, 4)
        self.check("Gelu", "", {"x": x}, lambda _: gelu(x))
        self.check("GELU", "gelu_param { enable_bert_version: true }", {"x": x}, lambda _: gelu_by_tanh(x))

    def test_positional_encoder(self):
        x = random_array(2, 2, 5, 6)
        angles = np.arange(5)[:, None] / 10000 ** (2 * np.arange(6) / 6)
        encoding = np.where(np.arange(6) % 2, np.cos(angles), np.sin(angles))
        self.check("PositionalEncoder", "positional_encoder_param { embed: 6 block_size: 5 }", {"x": x},
                   lambda _: encoding + np.sqrt(6) * x)

    def test_causal_self_attention(self):
        x = random_array(3, 2, 33, 6)
        self.check("CausalSelfAttention", "causal_self_attention_param { embed: 6 heads: 3 }", {"x": x},
                   lambda products: products.causal_attention(x, 3))

    def test_multihead_attention(self):
        query, key, value = random_array(4, 2, 3, 8), random_array(5, 2, 5, 8), random_array(6, 2, 5, 8)
        for shape in (2, 5), (2, 3, 5), (1, 1, 3, 5):
            mask = np.float32(random_array(7, *shape) > -0.5)
            mask[..., 0] = 1
            per_query = mask[:, None, None] if len(shape) == 2 else mask.reshape(shape[0], 1, 3, 5)
            self.check("MultiheadAttention", "multihead_attention_param { embed: 8 heads: 2 }",
                       {"q": query, "k": key, "v": value, "mask": mask},
                       lambda products, m=per_query: products.attention(query, key, value, 2, m > 0))

    def test_query_without_keys_gets_zeros(self):
        x, mask = random_array(8, 2, 3, 4), np.float32([[1, 1, 0], [0, 0, 0]])
        net = self.net("MultiheadAttention", "multihead_attention_param { embed: 4 heads: 2 }",
                       {"q": x, "k": x, "v": x, "mask": mask})
        bias = net.params["layer"][-1].data
        self.close(net.forward()["y"][1], np.broadcast_to(bias, (3, 4)))

    def test_transformer_blocks(self):
        x, encoded = random_array(9, 2, 4, 6), random_array(10, 2, 5, 6)
        mask, encoded_mask = np.float32([[1, 1, 1, 0], [1, 1, 1, 1]]), np.float32([[1, 1, 0, 1, 0], [0, 1, 1, 1, 1]])
        settings = "transformer_block_param { embed: 6 heads: 2 layers: 1 %s }"

        def mlp(products, x, function):
            return x + products(function(products(norm(x))))

        def relu(x):
            return np.maximum(x, 0)

        self.check("TransformerBlock", settings % "", {"x": x},
                   lambda p: mlp(p, x + p.causal_attention(norm(x), 2), relu))
        self.check("TransformerBlock", settings % "block_type: CAUSAL_SELF_ATTENTION2 activation: GELU", {"x": x},
                   lambda p: mlp(p, x + p.attention(norm(x), norm(x), norm(x), 2, causal(4)), gelu))
        readable, encoded_readable = (m[:, None, None] > 0 for m in (mask, encoded_mask))
        self.check("TransformerBlock", settings % "block_type: ENCODER activation: GELU_BERT",
                   {"x": x, "mask": mask},
                   lambda p: mlp(p, x + p.attention(norm(x), norm(x), norm(x), 2, readable), gelu_by_tanh))

        def decoder(products):
            y = x + products.attention(norm(x), norm(x), norm(x), 2, readable)
            y = y + products.attention(norm(y), encoded, encoded, 2, encoded_readable)
            return mlp(products, y, lambda z: z / (1 + np.exp(-z)))

        self.check("TransformerBlock", settings % "block_type: DECODER activation: SILU",
                   {"x": x, "mask": mask, "e": encoded, "emask": encoded_mask}, decoder)

    def test_initial_weights(self):
        def deviations(kind, block, text):
            net = caffe.Net(self.write(blob_input("x", (1, 2, 128)) + "layer { name: 'layer' type: '%s' bottom: 'x' "
                                       "top: 'y' %s { embed: 128 heads: 4 layers: 8 %s } }" % (kind, block, text)),
                            caffe.TEST)
            return [param.data.std() for param in net.params["layer"]]
        # GPT-2's: a quarter of 0.02 for products that are added to the bottom of one of eight layers.
        for actual, expected in zip(deviations("TransformerBlock", "transformer_block_param", ""),
                                    [0.02, 0, 0.005, 0, 0.02, 0, 0.005, 0]):
            self.assertAlmostEqual(actual, expected, delta=0.05 * expected)
        self.assertEqual(len(deviations("CausalSelfAttention", "causal_self_attention_param", "bias_term: false")), 2)

    def test_attention_dropout_drops_weights(self):
        # With one position the only weight is 1, and the top is the value, or 0 if it is dropped.
        x = np.ones((500, 1, 4), np.float32)
        net = self.net("CausalSelfAttention", "causal_self_attention_param { embed: 4 heads: 2 attn_dropout: 0.25 }",
                       {"x": x}, caffe.TRAIN)
        weights, _, projection, bias = (param.data for param in net.params["layer"])
        for param in net.params["layer"][1], net.params["layer"][3]:
            param.data[...] = 0
        projection[...] = np.eye(4)
        y = net.forward()["y"][:, 0].reshape(500, 2, 2)
        value = (np.ones(4) @ weights[8:].T).reshape(2, 2) / 0.75
        kept = y[..., 0] != 0
        self.close(y, kept[..., None] * value)
        self.assertTrue(0.65 < kept.mean() < 0.85)

    def test_softmax_logarithm_and_nll_loss(self):
        x, labels = 30 * random_array(11, 2, 4, 3), np.float32([[0, 2, 1], [3, 3, 0]])
        logs = x - np.log(np.exp(np.float64(x)).sum(1, keepdims=True))
        self.check("Softmax", "softmax_param { algorithm: LOG }", {"x": x}, lambda _: logs)
        self.check("Softmax", "softmax_param { algorithm: FAST algorithm_train: LOG }", {"x": x},
                   lambda _: np.exp(logs))
        at_labels = np.take_along_axis(logs, np.int64(labels)[:, None], 1)
        self.check("NLLLoss", "", {"x": np.float32(logs), "label": labels}, lambda _: -at_labels.mean())


class TokenizedData(Case):
    TEXT = "Größe: 12 €\n𝄞 und 7\n"

    def net(self, settings=""):
        path = self.write(self.TEXT, "text.txt")
        return caffe.Net(self.write(
            "layer { name: 'data' type: 'TokenizedData' top: 'tokens' top: 'pos' top: 'next' tokenized_data_param { "
            "source: '%s' batch_size: 2 block_size: 4 %s } }" % (path, settings)), caffe.TRAIN)

    def numbers(self):
        units = np.frombuffer(self.TEXT.encode("utf-16-le"), np.uint16)
        return np.searchsorted(np.unique(units), units)

    def test_sections_are_those_of_the_file_of_starts(self):
        starts = self.write("noise\nidx = 3\nidx = 0\nidx = 13\n", "starts.txt")
        net, numbers = self.net("debug_index_file: '%s'" % starts), self.numbers()
        for first, second in ((3, 0), (13, 3), (0, 13)):
            net.forward()
            for row, start in enumerate((first, second)):
                self.assertEqual(list(net.blobs["tokens"].data[row]), list(numbers[start:start + 4]))
                self.assertEqual(list(net.blobs["next"].data[row]), list(numbers[start + 1:start + 5]))
            self.assertEqual(net.blobs["pos"].data.tolist(), [[0, 1, 2, 3]])

    def test_sections_are_random_and_depend_on_the_seed(self):
        def batches(seed):
            net = self.net("seed: %d" % seed)
            return [net.forward()["tokens"].tolist() for _ in range(5)]
        sections = {tuple(self.numbers()[i:i + 4]) for i in range(len(self.numbers()) - 5)}
        drawn = batches(1)
        self.assertTrue({tuple(row) for batch in drawn for row in batch} <= sections)
        self.assertEqual(drawn, batches(1))
        self.assertNotEqual(drawn, batches(2))

    def test_errors(self):
        for text, message in (("short", "need at least 10"), (b"\xff" * 50, "not UTF-8 at byte 0")):
            path = self.write("", "text.txt")
            with open(path, "wb") as file:
                file.write(text if isinstance(text, bytes) else text.encode())
            net = self.write("layer { name: 'data' type: 'TokenizedData' top: 'a' top: 'b' top: 'c' "
                             "tokenized_data_param { source: '%s' batch_size: 1 block_size: 8 } }" % path)
            with self.assertRaisesRegex(Exception, message):
                caffe.Net(net, caffe.TRAIN).forward()


ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EXAMPLE = os.path.join(ROOT, "examples", "gpt")


class Gpt(Case):
    """The example, with smaller batches and without dropout."""

    def solver(self, iterations):
        folder = os.path.dirname(self.write("", "empty"))
        subprocess.run([sys.executable, os.path.join(EXAMPLE, "make_text.py"), os.path.join(ROOT, "docs"), folder],
                       check=True)
        with open(os.path.join(EXAMPLE, "gpt_train_test.prototxt")) as file:
            net = file.read()
        for old, new in (("dropout: 0.1", "dropout: 0"), ("dropout_ratio: 0.1", "dropout_ratio: 0"),
                         ("batch_size: 16", "batch_size: 4"), ('"train.txt"', '"%s"' % os.path.join(folder, "train.txt")),
                         ('"test.txt"', '"%s"' % os.path.join(folder, "test.txt"))):
            self.assertIn(old, net)
            net = net.replace(old, new)
        with open(os.path.join(EXAMPLE, "gpt_solver.prototxt")) as file:
            text = file.read().replace('"gpt_train_test.prototxt"', '"%s"' % self.write(net, "net.prototxt"))
        return caffe.get_solver(self.write(text.replace("display: 100", "display: 0"), "solver.prototxt"))

    def loss(self, net):
        """Returns the loss of a batch by NumPy, with the parameters of the net."""
        tokens, following = (np.int64(net.blobs[name].data) for name in ("tokens", "next"))
        x = np.float64(net.params["wte"][0].data[tokens] + net.params["wpe"][0].data[:64])
        for i in range(1, 5):
            products = Products(net.params["block%d" % i])
            x = x + products.causal_attention(norm(x), 4)
            x = x + products(gelu(products(norm(x))))
        prob = softmax(norm(x) @ np.float64(net.params["head"][0].data).T)
        return -np.log(np.take_along_axis(prob, following[..., None], -1)).mean()

    def test_training(self):
        solver = self.solver(20)
        net = solver.net
        losses = []
        for step in range(20):
            if step in (0, 19):
                expected = self.loss_after_forward(net)
                self.assertAlmostEqual(float(net.blobs["loss"].data), expected, delta=1e-4 * expected)
            solver.step(1)
            losses.append(float(net.blobs["loss"].data))
        self.assertAlmostEqual(losses[0], np.log(96), delta=0.1)
        self.assertLess(np.mean(losses[-3:]), losses[0] - 0.8)

    def loss_after_forward(self, net):
        net.forward()
        return self.loss(net)


if __name__ == "__main__":
    unittest.main()
