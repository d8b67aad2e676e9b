"""Tests the persistent state of layers, and that passes do not change values that they only read."""
import unittest

import brew
import caffe
import numpy as np
from brew._core import Pass

from common import Case, random_array

INPUTS = """layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 8 dim: 4 dim: 6 dim: 6 } } }
layer { name: 'l' type: 'Input' top: 'l' input_param { shape { dim: 8 dim: 1 dim: 6 dim: 6 } } }
layer { name: 'copy' type: 'Power' bottom: 'x' top: 'a' power_param { scale: 1 } }
"""


class Data(caffe.Layer):
    """Outputs batches whose label is the sign of a column."""

    def setup(self, bottom, top):
        self.random = np.random.RandomState(0)

    def reshape(self, bottom, top):
        top[0].reshape(64, 10)
        top[1].reshape(64)

    def forward(self, bottom, top):
        top[0].data[...] = self.random.randn(64, 10)
        top[1].data[...] = top[0].data[:, 0] > 0

    def backward(self, top, propagate_down, bottom):
        pass


class UnchangedBottoms(Case):
    """A layer's own values (random numbers, files, class weights) do not overwrite its bottoms."""

    def run_passes(self, text, phase=caffe.TRAIN, retains_arrays=False):
        """Runs four forward passes layer by layer; yields the net, its images and its labels after each."""
        net = caffe.Net(self.write(INPUTS + text), phase)
        net.before_forward(lambda layer: None)  # layer by layer
        arrays = [blob.data for blob in net.blobs.values()] if retains_arrays else []
        for seed in range(4):
            x = random_array(seed, 8, 4, 6, 6) + 2
            labels = np.random.RandomState(seed).randint(0, 4, (8, 1, 6, 6))
            net.blobs["x"].data[...], net.blobs["l"].data[...] = x, labels
            net.forward()
            yield net, x, labels
        del arrays

    def check(self, text, **options):
        for retains_arrays in (False, True):
            for net, x, labels in self.run_passes(text, retains_arrays=retains_arrays, **options):
                self.close(net.blobs["a"].data, x)
                np.testing.assert_array_equal(net.blobs["l"].data, labels)
                self.assertGreater(np.abs(net.blobs["y"].data).max(), 0)

    def test_dropout(self):
        text = "layer { name: 'd' type: 'Dropout' bottom: 'a' top: 'y' }"
        self.check(text)
        for net, x, _ in self.run_passes(text):
            y = net.blobs["y"].data
            self.close(y[y != 0], 2 * x[y != 0])
            self.assertAlmostEqual((y != 0).mean(), 0.5, delta=0.1)  # a share of 1152 values

    def test_dropout_in_place(self):
        for net, x, _ in self.run_passes("layer { name: 'd' type: 'Dropout' bottom: 'a' top: 'a' }"):
            a = net.blobs["a"].data
            self.close(a[a != 0], 2 * x[a != 0])
            self.assertAlmostEqual((a != 0).mean(), 0.5, delta=0.1)

    def test_stochastic_pooling(self):
        self.check("layer { name: 'p' type: 'Pooling' bottom: 'a' top: 'y' pooling_param { pool: STOCHASTIC "
                   "kernel_size: 2 stride: 2 } }")

    def test_class_weights(self):
        self.check("layer { name: 's' type: 'SoftmaxWithLoss' bottom: 'a' bottom: 'l' top: 'y' loss_param { "
                   "weight_by_label_freqs: true class_weighting: 1 class_weighting: 2 class_weighting: 3 "
                   "class_weighting: 4 } }")

    def test_infogain_matrix_of_a_file(self):
        with open(self.path("h.binaryproto"), "wb") as file:
            file.write(caffe.io.array_to_blobproto(np.eye(4).reshape(1, 1, 4, 4)).SerializeToString())
        self.check("layer { name: 'soft' type: 'Softmax' bottom: 'a' top: 'p' } "
                   "layer { name: 's' type: 'InfogainLoss' bottom: 'a' bottom: 'l' top: 'y' "
                   "infogain_loss_param { source: '%s' } }" % self.path("h.binaryproto"))

    def test_a_net_with_dropout_learns(self):
        solver = caffe.SGDSolver(self.write("""base_lr: 0.1 momentum: 0.9 lr_policy: 'fixed' max_iter: 200 snapshot_prefix: 's'
            random_seed: 3 net_param {
            layer { name: 'data' type: 'Python' top: 'data' top: 'label' python_param { module: 'test_states' layer: 'Data' } }
            layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'ip' inner_product_param { num_output: 32
              weight_filler { type: 'xavier' } } }
            layer { name: 'drop' type: 'Dropout' bottom: 'ip' top: 'drop' }
            layer { name: 'score' type: 'InnerProduct' bottom: 'drop' top: 'score' inner_product_param { num_output: 2
              weight_filler { type: 'xavier' } } }
            layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'score' bottom: 'label' top: 'loss' } }"""))
        solver.step(200)
        self.assertLess(float(solver.net.blobs["loss"].data), 0.3)


class RecurrentStates(Case):
    """States persist from one forward pass to the next, whether or not gradients are computed."""

    def make_net(self, kind, force_backward, phase):
        return caffe.Net(self.write("""%s
            layer { name: 'in' type: 'Input' top: 'x' top: 'cont' input_param { shape { dim: 1 dim: 1 dim: 4 }
              shape { dim: 1 dim: 1 } } }
            layer { name: 'r' type: '%s' bottom: 'x' bottom: 'cont' top: 'h' recurrent_param { num_output: 3
              weight_filler { type: 'constant' value: 0.2 } } }""" % ("force_backward: true" * force_backward, kind)), phase)

    def test_states_persist_between_passes(self):
        x = np.ones((1, 1, 4), np.float32)
        for kind in ("LSTM", "RNN"):
            reference = None
            for force_backward in (False, True):
                for phase in (caffe.TEST, caffe.TRAIN):
                    net = self.make_net(kind, force_backward, phase)
                    steps = []
                    for t in range(4):
                        steps.append(net.forward(x=x, cont=np.full((1, 1), float(t > 0)))["h"].copy())
                        if force_backward and t == 1:  # a backward pass between two forward passes
                            net.blobs["h"].diff[...] = 1
                            net.backward()
                    for before, after in zip(steps, steps[1:]):
                        self.assertGreater(np.abs(before - after).max(), 1e-4)
                    restarted = net.forward(x=x, cont=np.zeros((1, 1)))["h"]
                    self.close(restarted, steps[0])
                    reference = reference or steps
                    self.close(steps, reference)

    def test_partial_runs_store_states(self):
        session = brew.compile("""
            layer { name: 'in' type: 'Input' top: 'x' top: 'cont' input_param { shape { dim: 1 dim: 1 dim: 4 }
              shape { dim: 1 dim: 1 } } }
            layer { name: 'r' type: 'LSTM' bottom: 'x' bottom: 'cont' top: 'h' recurrent_param { num_output: 3
              weight_filler { type: 'constant' value: 0.2 } } }
            layer { name: 'p' type: 'InnerProduct' bottom: 'h' top: 'p' inner_product_param { num_output: 2 } }""",
                               keep="all").session(seed=1)
        session.set_inputs(x=np.ones((1, 1, 4)), cont=np.ones((1, 1)))
        session._core.feed(0)
        steps = []
        for _ in range(3):
            session.run_layers("r", "r")
            steps.append(session.blobs["h"].copy())
        for before, after in zip(steps, steps[1:]):
            self.assertGreater(np.abs(before - after).max(), 1e-4)

    def test_gradients_use_the_state_before_the_forward_pass(self):
        """Each backward pass reads the state at the beginning of its forward pass, however often it runs."""
        net = self.make_net("LSTM", True, caffe.TRAIN)
        x = np.ones((1, 1, 4), np.float32)
        net.forward(x=x, cont=np.zeros((1, 1)))

        def objective(values):
            copy = self.make_net("LSTM", True, caffe.TRAIN)
            for target, source in zip(copy.params["r"], net.params["r"]):
                target.data[...] = source.data
            copy.forward(x=x, cont=np.zeros((1, 1)))
            return float(copy.forward(x=values, cont=np.ones((1, 1)))["h"].sum())

        net.forward(x=x, cont=np.ones((1, 1)))
        for _ in range(2):
            net.blobs["h"].diff[...] = 1
            net.backward()
            for i in range(4):
                shifted = x.copy()
                shifted[0, 0, i] += 1e-2
                slope = (objective(shifted) - objective(x)) / 1e-2
                self.assertAlmostEqual(float(net.blobs["x"].diff[0, 0, i]), slope, delta=2e-3)  # finite differences in f32


class SharedStatistics(Case):
    """Layers that share running statistics update them in the order of the layers."""

    NET = """layer { name: 'in' type: 'Input' top: 'a' top: 'b' input_param { shape { dim: 4 dim: 3 } } }
    layer { name: 'bn1' type: 'BatchNorm' bottom: 'a' top: 'na' param { lr_mult: 0 name: 'm' } param { lr_mult: 0 name: 'v' } param { lr_mult: 0 name: 'f' } }
    layer { name: 'bn2' type: 'BatchNorm' bottom: 'b' top: 'nb' param { lr_mult: 0 name: 'm' } param { lr_mult: 0 name: 'v' } param { lr_mult: 0 name: 'f' } }
    layer { name: 'ip' type: 'InnerProduct' bottom: 'na' top: 'ip' inner_product_param { num_output: 3 weight_filler { type: 'constant' value: 0.3 } } }
    layer { name: 'loss' type: 'EuclideanLoss' bottom: 'ip' bottom: 'nb' top: 'loss' }
    """
    SOLVER = "base_lr: 0.01 lr_policy: 'fixed' max_iter: 3 snapshot_prefix: 's' net_param { %s }" % NET

    def setUp(self):
        super().setUp()
        random = np.random.RandomState(7)
        self.batches = [((random.randn(4, 3) * 2 + 1).astype("f4"), (random.randn(4, 3) - 3).astype("f4"))
                        for _ in range(3)]
        mean, variance, factor = np.zeros(3), np.zeros(3), 0.0
        for batch in self.batches:
            for values in batch:
                factor = factor * 0.999 + 1
                mean = mean * 0.999 + values.mean(0)
                variance = variance * 0.999 + values.var(0) * 4 / 3
        self.expected = mean, variance, factor

    def check(self, params):
        for layer in ("bn1", "bn2"):
            for actual, expected in zip(params[layer], self.expected):
                self.close(getattr(actual, "data", actual), expected, 1e-4)

    def test_trainer(self):
        session = brew.compile(self.SOLVER).session(seed=1)
        for a, b in self.batches:
            session.set_inputs(a=a, b=b)
            session.step(1)
        self.check(session.params)

    def test_forward_passes_alone(self):
        for output_gradient in (None, "ip"):
            plan = brew.compile(self.NET, phase="train", gradients=True, output_gradient=output_gradient)
            session = plan.session(seed=1)
            for a, b in self.batches:
                session._core.set_input(0, "a", a)
                session._core.set_input(0, "b", b)
                session._core.feed(0)
                session._core.run(0, Pass.FORWARD)
            self.check(session.params)

    def test_net(self):
        net = caffe.Net(self.write(self.NET), caffe.TRAIN)
        for a, b in self.batches:
            net.forward(a=a, b=b)
        self.check(net.params)

    def test_solver(self):
        for layer_by_layer in (False, True):
            solver = caffe.SGDSolver(self.write(self.SOLVER))
            if layer_by_layer:
                solver.net.before_forward(lambda layer: None)
            for a, b in self.batches:
                solver.net.blobs["a"].data[...], solver.net.blobs["b"].data[...] = a, b
                solver.step(1)
            self.check(solver.net.params)


class Statistics(Case):
    NET = """layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 4 dim: 3 } } }
    layer { name: 'bn' type: 'BatchNorm' bottom: 'x' top: 'n' %s }
    layer { name: 'ip' type: 'InnerProduct' bottom: 'n' top: 'ip' inner_product_param { num_output: 1 weight_filler { type: 'constant' value: 1 } } }
    layer { name: 'loss' type: 'Reduction' bottom: 'ip' top: 'loss' loss_weight: 1 reduction_param { operation: SUMSQ } }
    """

    def train_once(self, settings, layer_by_layer):
        """Returns the net of a solver after one iteration. `settings` are fields of the BatchNorm layer."""
        solver = caffe.SGDSolver(self.write("base_lr: 0.01 lr_policy: 'fixed' max_iter: 3 snapshot_prefix: 's' net_param { %s }"
                                            % self.NET % settings))
        if layer_by_layer:
            solver.net.before_forward(lambda layer: None)
        solver.net.blobs["x"].data[...] = random_array(1, 4, 3)
        solver.step(1)
        return solver.net

    def test_a_net_that_begins_with_batch_norm(self):
        for layer_by_layer in (False, True):
            net = self.train_once("", layer_by_layer)
            self.close(net.params["bn"][0].data, random_array(1, 4, 3).mean(0))
            self.assertGreater(np.abs(net.params["ip"][0].data - 1).max(), 1e-4)

    def test_scale_and_bias_of_batch_norm_learn(self):
        session = brew.compile("base_lr: 0.01 lr_policy: 'fixed' max_iter: 3 snapshot_prefix: 's' net_param { %s }"
                               % self.NET % "batch_norm_param { scale_bias: true }").session(seed=1)
        session.set_inputs(x=random_array(1, 4, 3))
        session.step(1)
        for layer_by_layer in (False, True):
            net = self.train_once("batch_norm_param { scale_bias: true }", layer_by_layer)
            self.assertGreater(np.abs(net.params["bn"][3].data - 1).max(), 1e-4)
            for blob, values in zip(net.params["bn"], session.params["bn"]):
                self.close(blob.data.ravel(), values.ravel())


if __name__ == "__main__":
    unittest.main()
