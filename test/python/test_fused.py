"""Fused runs of caffe.Net are indistinguishable from runs layer by layer."""
import unittest
import unittest.mock

import caffe
import numpy as np
from caffe._fused import FusedNetCache

from common import DEPLOY, TRAIN, Case, feed, fill, random_array

IN_PLACE = """force_backward: true
layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 dim: 5 dim: 5 } } }
layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'c' convolution_param { num_output: 4 kernel_size: 3 } }
layer { name: 's' type: 'Sigmoid' bottom: 'c' top: 'c' }
layer { name: 'ip' type: 'InnerProduct' bottom: 'c' top: 'ip' inner_product_param { num_output: 3 } }
"""
# The plan reorders the weights of ip to the order of its images, and splits the weights of fc.
PERMUTED_WEIGHTS = """
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
    def make_nets(self, text, phase=caffe.TEST):
        """Returns a net that may run fused, and a net that always runs layer by layer."""
        nets = caffe.Net(self.write(text), phase), layer_by_layer(caffe.Net(self.path("net.prototxt"), phase))
        for net in nets:
            fill(net, 4)
        return nets

    def assert_same(self, fused, layered, diffs=False):
        """Checks that the blobs and the parameters of the nets are equal within rounding."""
        for name in layered.blobs:
            self.close(fused.blobs[name].data, layered.blobs[name].data)
            if diffs:
                self.close(fused.blobs[name].diff, layered.blobs[name].diff)
        for name in layered.params:
            for a, b in zip(fused.params[name], layered.params[name]):
                self.close(a.data, b.data)
                self.close(a.diff, b.diff)

    def test_in_place_layers_on_inputs_and_views(self):
        head = """force_backward: true
        layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 2 dim: 3 dim: 2 dim: 2 } } }
        """
        for text in ("layer { name: 'r' type: 'ReLU' bottom: 'data' top: 'data' }"
                     "layer { name: 'i' type: 'InnerProduct' bottom: 'data' top: 'i' inner_product_param { num_output: 3 } }",
                     "layer { name: 'c' type: 'Convolution' bottom: 'data' top: 'c' convolution_param { num_output: 4 "
                     "kernel_size: 1 } } layer { name: 'f' type: 'Flatten' bottom: 'c' top: 'f' } "
                     "layer { name: 'r' type: 'ReLU' bottom: 'f' top: 'f' }"):
            fused, layered = self.make_nets(head + text)
            for net in (fused, layered):
                for seed in (1, 2):
                    net.forward(data=random_array(seed, 2, 3, 2, 2))
            self.assert_same(fused, layered)

    def test_backward_after_writes_to_blobs_and_weights(self):
        for written in ("x", "c", "ip", "weights"):
            fused, layered = self.make_nets(IN_PLACE)
            for net in (fused, layered):
                net.forward(x=random_array(1, 2, 3, 5, 5))
                if written == "weights":
                    net.params["ip"][0].data[...] *= 2
                else:
                    net.blobs[written].data[...] = random_array(2, *net.blobs[written].shape)
                net.blobs["ip"].diff[...] = random_array(3, 2, 3)
                net.backward()
            self.assert_same(fused, layered, diffs=True)

    def test_reshape_before_blobs_are_read(self):
        net = self.make_nets(DEPLOY)[0]
        net.forward(data=random_array(1, 2, 3, 8, 8))
        net.blobs["data"].reshape(1, 3, 8, 8)
        net.reshape()
        self.assertEqual(net.blobs["conv1"].data.shape, (1, 4, 6, 6))

    def test_only_one_net_runs_fused(self):
        fused, layered = self.make_nets(DEPLOY)
        x = random_array(1, 2, 3, 8, 8)
        for net in (fused, layered):
            net.forward(data=x)
        self.assertIsNotNone(fused._fused_nets.last)
        self.assertIsNone(layered._fused_nets.last)
        self.assert_same(fused, layered)

    def test_blobs_do_not_change_until_the_next_run(self):
        fused, layered = self.make_nets(DEPLOY)
        for net in (fused, layered):
            data = net.blobs["data"].data
            data[...] = random_array(1, 2, 3, 8, 8)
            net.forward()
            data[...] = 7  # must not change the blobs of the last run
            net.params["fc"][0].data[...] = 0
        del data
        for name in ("conv1", "pool1", "fc", "prob"):
            self.close(fused.blobs[name].data, layered.blobs[name].data)

    def test_retained_arrays_show_the_latest_run(self):
        fused, _ = self.make_nets(DEPLOY)
        fc = fused.blobs["fc"].data
        pool1_slice = fused.blobs["pool1"].data[0, 1:]
        fused.forward(data=random_array(1, 2, 3, 8, 8))
        first = fc.copy(), pool1_slice.copy()
        self.assertGreater(np.abs(first[0]).max(), 0)
        fused.forward(data=random_array(2, 2, 3, 8, 8))
        self.assertGreater(np.abs(fc - first[0]).max(), 0)
        self.assertGreater(np.abs(pool1_slice - first[1]).max(), 0)

    def test_writes_to_retained_parameters(self):
        fused, layered = self.make_nets(DEPLOY)
        for net in (fused, layered):
            weights = [p.data for v in net.params.values() for p in v]
            net.forward(data=random_array(1, 2, 3, 8, 8))
            for w in weights:
                w *= 0.5
            net.forward()
        self.assert_same(fused, layered)
        del weights, w
        for net in (fused, layered):
            net.forward()
            net.params["fc"][1].data[0] = 9
            net.forward()
        self.assert_same(fused, layered)

    def test_partial_after_fused(self):
        fused, layered = self.make_nets(DEPLOY)
        for net in (fused, layered):
            net.forward(data=random_array(1, 2, 3, 8, 8))
            net.blobs["pool1"].data[0] *= 2
            net.forward(start="fc")
        self.assert_same(fused, layered)

    def test_backward_after_fused(self):
        fused, layered = self.make_nets(IN_PLACE)
        for net in (fused, layered):
            net.forward(x=random_array(1, 2, 3, 5, 5))
            net.blobs["c"].data[0] = 0.25  # changes the weight gradient of `ip`
            net.backward(ip=random_array(2, 2, 3))
        self.assert_same(fused, layered, diffs=True)
        self.assertEqual(float(fused.blobs["c"].data[0, 0, 0, 0]), 0.25)

    def test_changing_batch_sizes(self):
        fused, layered = self.make_nets(DEPLOY)
        with unittest.mock.patch.object(FusedNetCache, "_MAX_BYTES", 4 << 20):
            for batch in (2, 5, 1, 2, 3, 4, 6, 7, 8, 9, 10, 2):
                for net in (fused, layered):
                    net.blobs["data"].reshape(batch, 3, 8, 8)
                    net.forward(data=random_array(batch, batch, 3, 8, 8))
                self.assert_same(fused, layered)
        self.assertIn(len(fused._fused_nets.plans), (2, 3))
        self.assertLessEqual(len(layered._layers[1].programs), 8)

    def test_shared_parameters(self):
        fused, layered = self.make_nets(DEPLOY)
        sharing = caffe.Net(self.path("net.prototxt"), caffe.TEST)
        sharing.share_with(fused)
        x = random_array(1, 2, 3, 8, 8)
        for _ in range(2):
            for net in (fused, sharing, layered):
                net.forward(data=x)
            self.assert_same(fused, layered)
            self.close(sharing.blobs["prob"].data, layered.blobs["prob"].data)
            for net in (fused, layered):
                net.params["conv1"][0].data[...] *= 0.5

    def test_branches_and_views(self):
        fused, layered = self.make_nets("""
layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 4 dim: 3 dim: 3 } } }
layer { name: 'a' type: 'Convolution' bottom: 'x' top: 'a' convolution_param { num_output: 4 kernel_size: 1 } }
layer { name: 'f' type: 'Flatten' bottom: 'a' top: 'f' }
layer { name: 'b' type: 'TanH' bottom: 'a' top: 'b' }
layer { name: 'g' type: 'Reshape' bottom: 'b' top: 'g' reshape_param { shape { dim: 0 dim: -1 } } }
layer { name: 'e' type: 'Eltwise' bottom: 'f' bottom: 'g' top: 'e' }""")
        for net in (fused, layered):
            net.forward(x=random_array(1, 2, 4, 3, 3))
        self.assertIsNotNone(fused._fused_nets.last)
        self.assert_same(fused, layered)

    def train_nets(self, net):
        """Returns the nets of two solvers after two iterations; the second net runs layer by layer."""
        net = self.write(net)
        file = self.write("train_net: '%s' base_lr: 0.1 lr_policy: 'fixed' max_iter: 9 "
                          "snapshot_after_train: false" % net, "s.prototxt")
        fused, layered = caffe.SGDSolver(file), caffe.SGDSolver(file)
        layer_by_layer(layered.net)
        for solver in (fused, layered):
            fill(solver.net, 4)
            feed(solver.net)
            solver.step(2)
        return fused.net, layered.net

    def test_gradients_of_each_reader(self):
        fused, layered = self.train_nets(TRAIN.replace("layer { name: 'ip2'", """
layer { name: 'tanh' type: 'TanH' bottom: 'ip1' top: 'tanh' }
layer { name: 'sum' type: 'Eltwise' bottom: 'ip1' bottom: 'tanh' bottom: 'ip1' top: 'sum' }
layer { name: 'ip2'""").replace("'ip2' type: 'InnerProduct' bottom: 'ip1'", "'ip2' type: 'InnerProduct' bottom: 'sum'"))
        self.assertIsNotNone(fused._fused_nets.found)
        splits = [name for name in fused.blobs if "_split_" in name]
        self.assertEqual(len(splits), 3, splits)
        self.assert_same(fused, layered, diffs=True)
        for name in splits:
            self.assertGreater(np.abs(fused.blobs[name].diff).max(), 0, name)

    def test_loss_weights_of_losses_with_readers(self):
        """As in Caffe, a gradient from above replaces the default weight of a loss, but an explicit
        loss_weight is added, because the loss is then split."""
        for weight, expected in (("", 0.5), ("loss_weight: 2", 2.5)):
            fused, layered = self.train_nets(TRAIN.replace("top: 'loss' }", "top: 'loss' %s }" % weight)
                                             + "layer { name: 'more' type: 'Power' bottom: 'loss' top: 'more' "
                                               "loss_weight: 0.5 }")
            self.assert_same(fused, layered, diffs=True)
            self.assertEqual(float(fused.blobs["loss"].diff), expected)

    def test_solvers(self):
        for fields in ("", "iter_size: 2"):
            text = TRAIN.replace("layer { name: 'loss'", """
layer { name: 'bn' type: 'BatchNorm' bottom: 'ip2' top: 'ip2' }
layer { name: 'loss'""")
            net = self.write(text)
            file = self.write("train_net: '%s' base_lr: 0.1 momentum: 0.9 lr_policy: 'fixed' max_iter: 9 "
                              "snapshot_after_train: false %s" % (net, fields), "s.prototxt")
            fused, layered = caffe.SGDSolver(file), caffe.SGDSolver(file)
            layer_by_layer(layered.net)
            for solver in (fused, layered):
                fill(solver.net, 4)
                for blob in solver.net.params["bn"]:
                    blob.data[...] = 0
                feed(solver.net)
            for _ in range(3):
                for solver in (fused, layered):
                    solver.step(2)
                self.assert_same(fused.net, layered.net)
                self.close(fused.net.blobs["ip1"].diff, layered.net.blobs["ip1"].diff)
            self.assertIsNotNone(fused.net._fused_nets.found)

    def test_the_fused_net_computes_on_the_memory_of_the_parameters(self):
        file = self.write("train_net: '%s' base_lr: 0.1 momentum: 0.9 lr_policy: 'fixed' max_iter: 9 "
                          "snapshot_after_train: false" % self.write(PERMUTED_WEIGHTS), "s.prototxt")
        fused, layered = caffe.SGDSolver(file), caffe.SGDSolver(file)
        layer_by_layer(layered.net)
        fused.net._forward_layers = None  # fails if called
        for solver in (fused, layered):
            fill(solver.net, 4)
            for blob in solver.net.params["bn"]:
                blob.data[...] = 0
            feed(solver.net)
        # With and without reads between the iterations.
        for steps in (1, 2, 2):
            for solver in (fused, layered):
                solver.step(steps)
            self.assert_same(fused.net, layered.net)
        plan = fused.net._fused_nets.found[1]
        self.assertTrue(plan.params)
        for tensor, blob in plan.params:
            self.assertTrue(tensor.is_in(blob._data), tensor.key)
        for tensor, blob in plan.param_gradients:
            self.assertTrue(tensor.is_in(blob._diff), tensor.key)


if __name__ == "__main__":
    unittest.main()
