"""Fused runs of caffe.Net are indistinguishable from runs layer by layer."""
import unittest

import caffe
import numpy as np

from common import DEPLOY, TRAIN, Case, feed, fill, numbers

IN_PLACE = """force_backward: true
layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 dim: 5 dim: 5 } } }
layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'c' convolution_param { num_output: 4 kernel_size: 3 } }
layer { name: 's' type: 'Sigmoid' bottom: 'c' top: 'c' }
layer { name: 'ip' type: 'InnerProduct' bottom: 'c' top: 'ip' inner_product_param { num_output: 3 } }
"""
# The plan reorders the weights of ip to the order of its images, and splits the weights of fc.
PICTURES = """
layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 4 dim: 3 dim: 6 dim: 6 } } }
layer { name: 'label' type: 'Input' top: 'label' input_param { shape { dim: 4 } } }
layer { name: 'c' type: 'Convolution' bottom: 'data' top: 'c' convolution_param { num_output: 8 kernel_size: 3
  weight_filler { type: 'xavier' } } }
layer { name: 'bn' type: 'BatchNorm' bottom: 'c' top: 'bn' }
layer { name: 'ip' type: 'InnerProduct' bottom: 'bn' top: 'ip' inner_product_param { num_output: 3
  weight_filler { type: 'xavier' } } }
layer { name: 'pool' type: 'Pooling' bottom: 'bn' top: 'pool' pooling_param { pool: AVE global_pooling: true } }
layer { name: 'fc' type: 'InnerProduct' bottom: 'pool' top: 'fc' inner_product_param { num_output: 3
  weight_filler { type: 'xavier' } } }
layer { name: 'sum' type: 'Eltwise' bottom: 'ip' bottom: 'fc' top: 'sum' }
layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'sum' bottom: 'label' top: 'loss' }
"""


def layer_by_layer(net):
    """Makes a net always run layer by layer."""
    net.before_forward(lambda i: None)
    return net


class Fused(Case):
    def pair(self, text, phase=caffe.TEST):
        """Returns a net that may run fused, and one that never does."""
        nets = caffe.Net(self.write(text), phase), layer_by_layer(caffe.Net(self.path("net.prototxt"), phase))
        for net in nets:
            fill(net, 4)
        return nets

    def same(self, one, two, diffs=False):
        for name in two.blobs:
            self.close(one.blobs[name].data, two.blobs[name].data)
            if diffs:
                self.close(one.blobs[name].diff, two.blobs[name].diff)
        for name in two.params:
            for a, b in zip(one.params[name], two.params[name]):
                self.close(a.data, b.data)
                self.close(a.diff, b.diff)

    def test_in_place_of_sources_and_of_views(self):
        head = """force_backward: true
        layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 2 dim: 3 dim: 2 dim: 2 } } }
        """
        for text in ("layer { name: 'r' type: 'ReLU' bottom: 'data' top: 'data' }"
                     "layer { name: 'i' type: 'InnerProduct' bottom: 'data' top: 'i' inner_product_param { num_output: 3 } }",
                     "layer { name: 'c' type: 'Convolution' bottom: 'data' top: 'c' convolution_param { num_output: 4 "
                     "kernel_size: 1 } } layer { name: 'f' type: 'Flatten' bottom: 'c' top: 'f' } "
                     "layer { name: 'r' type: 'ReLU' bottom: 'f' top: 'f' }"):
            one, two = self.pair(head + text)
            for net in (one, two):
                for seed in (1, 2):
                    net.forward(data=numbers(seed, 2, 3, 2, 2))
            self.same(one, two)

    def test_backward_after_something_was_written(self):
        for what in ("x", "c", "ip", "weights"):
            one, two = self.pair(IN_PLACE)
            for net in (one, two):
                net.forward(x=numbers(1, 2, 3, 5, 5))
                if what == "weights":
                    net.params["ip"][0].data[...] *= 2
                else:
                    net.blobs[what].data[...] = numbers(2, *net.blobs[what].shape)
                net.blobs["ip"].diff[...] = numbers(3, 2, 3)
                net.backward()
            self.same(one, two, diffs=True)

    def test_another_shape_between_run_and_look(self):
        net = self.pair(DEPLOY)[0]
        net.forward(data=numbers(1, 2, 3, 8, 8))
        net.blobs["data"].reshape(1, 3, 8, 8)
        net.reshape()
        self.assertEqual(net.blobs["conv1"].data.shape, (1, 4, 6, 6))

    def test_it_is_used(self):
        one, two = self.pair(DEPLOY)
        x = numbers(1, 2, 3, 8, 8)
        for net in (one, two):
            net.forward(data=x)
        self.assertIsNotNone(one._fused_nets.last)
        self.assertIsNone(two._fused_nets.last)
        self.same(one, two)

    def test_values_stay_until_the_next_run(self):
        one, two = self.pair(DEPLOY)
        for net in (one, two):
            data = net.blobs["data"].data
            data[...] = numbers(1, 2, 3, 8, 8)
            net.forward()
            data[...] = 7  # no longer the input of the blobs
            net.params["fc"][0].data[...] = 0
        del data
        for name in ("conv1", "pool1", "fc", "prob"):
            self.close(one.blobs[name].data, two.blobs[name].data)

    def test_arrays_somebody_holds(self):
        one, _ = self.pair(DEPLOY)
        held = one.blobs["fc"].data
        part = one.blobs["pool1"].data[0, 1:]
        one.forward(data=numbers(1, 2, 3, 8, 8))
        first = held.copy(), part.copy()
        self.assertGreater(np.abs(first[0]).max(), 0)
        one.forward(data=numbers(2, 2, 3, 8, 8))
        self.assertGreater(np.abs(held - first[0]).max(), 0)
        self.assertGreater(np.abs(part - first[1]).max(), 0)

    def test_parameters_somebody_holds(self):
        one, two = self.pair(DEPLOY)
        for net in (one, two):
            weights = [p.data for v in net.params.values() for p in v]
            net.forward(data=numbers(1, 2, 3, 8, 8))
            for w in weights:
                w *= 0.5
            net.forward()
        self.same(one, two)
        del weights, w
        for net in (one, two):
            net.forward()
            net.params["fc"][1].data[0] = 9
            net.forward()
        self.same(one, two)

    def test_partial_after_fused(self):
        one, two = self.pair(DEPLOY)
        for net in (one, two):
            net.forward(data=numbers(1, 2, 3, 8, 8))
            net.blobs["pool1"].data[0] *= 2
            net.forward(start="fc")
        self.same(one, two)

    def test_backward_after_fused(self):
        one, two = self.pair(IN_PLACE)
        for net in (one, two):
            net.forward(x=numbers(1, 2, 3, 5, 5))
            net.blobs["c"].data[0] = 0.25  # the inner product's gradient depends on it
            net.backward(ip=numbers(2, 2, 3))
        self.same(one, two, diffs=True)
        self.assertEqual(float(one.blobs["c"].data[0, 0, 0, 0]), 0.25)

    def test_shapes(self):
        one, two = self.pair(DEPLOY)
        for batch in (2, 5, 1, 2, 3, 4, 6, 7, 8, 9, 10, 2):
            for net in (one, two):
                net.blobs["data"].reshape(batch, 3, 8, 8)
                net.forward(data=numbers(batch, batch, 3, 8, 8))
            self.same(one, two)
        self.assertLessEqual(len(one._fused_nets.plans), 4)
        self.assertLessEqual(len(two._layers[1].variants), 8)

    def test_shared_parameters(self):
        one, two = self.pair(DEPLOY)
        other = caffe.Net(self.path("net.prototxt"), caffe.TEST)
        other.share_with(one)
        x = numbers(1, 2, 3, 8, 8)
        for _ in range(2):
            for net in (one, other, two):
                net.forward(data=x)
            self.same(one, two)
            self.close(other.blobs["prob"].data, two.blobs["prob"].data)
            for net in (one, two):
                net.params["conv1"][0].data[...] *= 0.5

    def test_branches_and_views(self):
        one, two = self.pair("""
layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 4 dim: 3 dim: 3 } } }
layer { name: 'a' type: 'Convolution' bottom: 'x' top: 'a' convolution_param { num_output: 4 kernel_size: 1 } }
layer { name: 'f' type: 'Flatten' bottom: 'a' top: 'f' }
layer { name: 'b' type: 'TanH' bottom: 'a' top: 'b' }
layer { name: 'g' type: 'Reshape' bottom: 'b' top: 'g' reshape_param { shape { dim: 0 dim: -1 } } }
layer { name: 'e' type: 'Eltwise' bottom: 'f' bottom: 'g' top: 'e' }""")
        for net in (one, two):
            net.forward(x=numbers(1, 2, 4, 3, 3))
        self.assertIsNotNone(one._fused_nets.last)
        self.same(one, two)

    def solvers(self, net):
        """Returns two solvers after two iterations; the second one runs layer by layer."""
        net = self.write(net)
        file = self.write("train_net: '%s' base_lr: 0.1 lr_policy: 'fixed' max_iter: 9 "
                          "snapshot_after_train: false" % net, "s.prototxt")
        one, two = caffe.SGDSolver(file), caffe.SGDSolver(file)
        layer_by_layer(two.net)
        for solver in (one, two):
            fill(solver.net, 4)
            feed(solver.net)
            solver.step(2)
        return one.net, two.net

    def test_gradients_of_each_reader(self):
        one, two = self.solvers(TRAIN.replace("layer { name: 'ip2'", """
layer { name: 'tanh' type: 'TanH' bottom: 'ip1' top: 'tanh' }
layer { name: 'sum' type: 'Eltwise' bottom: 'ip1' bottom: 'tanh' bottom: 'ip1' top: 'sum' }
layer { name: 'ip2'""").replace("'ip2' type: 'InnerProduct' bottom: 'ip1'", "'ip2' type: 'InnerProduct' bottom: 'sum'"))
        self.assertIsNotNone(one._fused_nets.found)
        splits = [name for name in one.blobs if "_split_" in name]
        self.assertEqual(len(splits), 3, splits)
        self.same(one, two, diffs=True)
        for name in splits:
            self.assertGreater(np.abs(one.blobs[name].diff).max(), 0, name)

    def test_losses_that_are_read(self):
        """As in Caffe, a gradient from above replaces the default weight of a loss, but an explicit
        loss_weight is added, because the loss is then split."""
        for weight, expected in (("", 0.5), ("loss_weight: 2", 2.5)):
            one, two = self.solvers(TRAIN.replace("top: 'loss' }", "top: 'loss' %s }" % weight)
                                    + "layer { name: 'more' type: 'Power' bottom: 'loss' top: 'more' loss_weight: 0.5 }")
            self.same(one, two, diffs=True)
            self.assertEqual(float(one.blobs["loss"].diff), expected)

    def test_solvers(self):
        for more in ("", "iter_size: 2"):
            text = TRAIN.replace("layer { name: 'loss'", """
layer { name: 'bn' type: 'BatchNorm' bottom: 'ip2' top: 'ip2' }
layer { name: 'loss'""")
            net = self.write(text)
            file = self.write("train_net: '%s' base_lr: 0.1 momentum: 0.9 lr_policy: 'fixed' max_iter: 9 "
                              "snapshot_after_train: false %s" % (net, more), "s.prototxt")
            one, two = caffe.SGDSolver(file), caffe.SGDSolver(file)
            layer_by_layer(two.net)
            for solver in (one, two):
                fill(solver.net, 4)
                for blob in solver.net.params["bn"]:
                    blob.data[...] = 0
                feed(solver.net)
            for _ in range(3):
                for solver in (one, two):
                    solver.step(2)
                self.same(one.net, two.net)
                self.close(one.net.blobs["ip1"].diff, two.net.blobs["ip1"].diff)
            self.assertIsNotNone(one.net._fused_nets.found)

    def test_statistics_and_weights_lie_where_they_are_looked_at(self):
        file = self.write("train_net: '%s' base_lr: 0.1 momentum: 0.9 lr_policy: 'fixed' max_iter: 9 "
                          "snapshot_after_train: false" % self.write(PICTURES), "s.prototxt")
        one, two = caffe.SGDSolver(file), caffe.SGDSolver(file)
        layer_by_layer(two.net)
        one.net._forward_layers = None  # fails if called
        for solver in (one, two):
            fill(solver.net, 4)
            for blob in solver.net.params["bn"]:
                blob.data[...] = 0
            feed(solver.net)
        # With and without reading them in between.
        for steps in (1, 2, 2):
            for solver in (one, two):
                solver.step(steps)
            self.same(one.net, two.net)
        unaliased = [port.name[2] for port in one.net._fused_nets.found[1].unaliased]
        self.assertEqual(unaliased, [])


if __name__ == "__main__":
    unittest.main()
