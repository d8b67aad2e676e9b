"""Changes parameters as public scripts do through params[...].data: batch normalization merged into convolutions,
pruning with masks during training, siamese nets with shared weights, and filters edited by hand."""
import unittest

import caffe
import numpy as np

from common import Case, fill, random_array

NORMALIZED = """name: 'normalized'
layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 2 dim: 3 dim: 9 dim: 9 } } }
layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1' convolution_param { num_output: 4 kernel_size: 3
  bias_term: false weight_filler { type: 'xavier' } } }
layer { name: 'bn1' type: 'BatchNorm' bottom: 'conv1' top: 'conv1' }
layer { name: 'scale1' type: 'Scale' bottom: 'conv1' top: 'conv1' scale_param { bias_term: true } }
layer { name: 'relu1' type: 'ReLU' bottom: 'conv1' top: 'conv1' }
layer { name: 'conv2' type: 'Convolution' bottom: 'conv1' top: 'conv2' convolution_param { num_output: 5 kernel_size: 3
  weight_filler { type: 'xavier' } } }
layer { name: 'bn2' type: 'BatchNorm' bottom: 'conv2' top: 'conv2' batch_norm_param { eps: 0.01 } }
layer { name: 'scale2' type: 'Scale' bottom: 'conv2' top: 'conv2' scale_param { bias_term: true } }
layer { name: 'fc' type: 'InnerProduct' bottom: 'conv2' top: 'fc' inner_product_param { num_output: 3
  weight_filler { type: 'xavier' } } }
"""
CLASSES = """name: 'classes'
layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 8 dim: 6 } } }
layer { name: 'label' type: 'Input' top: 'label' input_param { shape { dim: 8 } } }
layer { name: 'ip1' type: 'InnerProduct' bottom: 'data' top: 'ip1' inner_product_param { num_output: 10 } }
layer { name: 'relu1' type: 'ReLU' bottom: 'ip1' top: 'ip1' }
layer { name: 'ip2' type: 'InnerProduct' bottom: 'ip1' top: 'ip2' inner_product_param { num_output: 3 } }
layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip2' bottom: 'label' top: 'loss' }
"""


class BatchNormalization(Case):
    def test_merged_layers_compute_the_same(self):
        net = caffe.Net(self.write(NORMALIZED), caffe.TEST)
        fill(net, 2, 1)
        for layer, factor in (("bn1", 0.5), ("bn2", 1.0)):
            mean, variance, scale = (blob.data for blob in net.params[layer])
            mean[...], variance[...], scale[...] = random_array(3, *mean.shape), np.arange(1, 1 + len(mean)), factor
        x = random_array(1, 2, 3, 9, 9)
        expected = net.forward(data=x)["fc"].copy()
        self.check_normalization(net)
        lines = [line for line in NORMALIZED.replace("bias_term: false weight_filler", "weight_filler").split("\nlayer ")
                 if "'bn" not in line and "'scale" not in line]
        merged = caffe.Net(self.write("\nlayer ".join(lines), "merged.prototxt"), caffe.TEST)
        self.assertEqual(list(merged.params), ["conv1", "conv2", "fc"])
        for number, eps in (("1", 1e-5), ("2", 0.01)):
            weights = net.params["conv" + number][0].data
            bias = net.params["conv" + number][1].data if number == "2" else np.zeros(len(weights))
            mean, variance, scale = (blob.data for blob in net.params["bn" + number])
            gamma, beta = (blob.data for blob in net.params["scale" + number])
            factor = gamma / np.sqrt(variance / scale + eps)
            merged.params["conv" + number][0].data[...] = weights * factor[:, None, None, None]
            merged.params["conv" + number][1].data[...] = (bias - mean / scale) * factor + beta
        for target, source in zip(merged.params["fc"], net.params["fc"]):
            target.data[...] = source.data
        self.close(merged.forward(data=x)["fc"], expected, 1e-4)
        merged.save(self.path("merged.caffemodel"))
        loaded = caffe.Net(self.path("merged.prototxt"), self.path("merged.caffemodel"), caffe.TEST)
        self.close(loaded.forward(data=x)["fc"], expected, 1e-4)

    def check_normalization(self, net):
        """Checks the first normalization, of values layer by layer, against NumPy."""
        net.forward(end="conv1")
        values = net.blobs["conv1"].data.copy()
        net.forward(start="bn1", end="relu1")
        mean, variance, scale = (blob.data[:, None, None] if blob.count > 1 else blob.data[0]
                                 for blob in net.params["bn1"])
        gamma, beta = (blob.data[:, None, None] for blob in net.params["scale1"])
        normalized = (values - mean / scale) / np.sqrt(variance / scale + 1e-5) * gamma + beta
        self.close(net.blobs["conv1"].data, np.maximum(normalized, 0), 1e-4)


class Pruning(Case):
    def make_solver(self):
        self.write(CLASSES)
        solver = caffe.SGDSolver(self.write("net: '%s' base_lr: 0.05 momentum: 0.9 weight_decay: 0.01 lr_policy: 'fixed' "
                                            "snapshot_prefix: 'x'" % self.path("net.prototxt"), "solver.prototxt"))
        fill(solver.net, 5)
        return solver

    def prune(self, net):
        """Sets half of the weights to zero, the smallest ones; returns the masks by layer."""
        masks = {}
        for name in ("ip1", "ip2"):
            weights = net.params[name][0].data
            masks[name] = np.abs(weights) > np.median(np.abs(weights))
            weights *= masks[name]
        return masks

    def check(self, hold_arrays, clear_gradients):
        solver, other = self.make_solver(), self.make_solver()
        net = solver.net
        masks = self.prune(net)
        self.assertEqual([int(m.sum()) for m in masks.values()], [30, 15])
        held = {name: net.params[name][0].data for name in masks} if hold_arrays else {}
        for target, source in zip([b for blobs in other.net.params.values() for b in blobs],
                                  [b for blobs in net.params.values() for b in blobs]):
            target.data[...] = source.data
        parameters = [blob for blobs in other.net.params.values() for blob in blobs]
        history, losses = [np.zeros_like(blob.data) for blob in parameters], []
        for step in range(12):
            x = random_array(step % 4, 8, 6)
            for n in (net, other.net):
                n.blobs["data"].data[...], n.blobs["label"].data[...] = x, (x[:, 0] > 0) + (x[:, 1] > 0)
            solver.step(1)
            losses.append(float(net.blobs["loss"].data))
            if clear_gradients:
                for blobs in net.params.values():
                    for blob in blobs:
                        blob.diff[...] = 0
            for name, mask in masks.items():
                weights = held.get(name)
                if weights is None:
                    weights = net.params[name][0].data
                weights[~mask] = 0
            # The same update and mask with NumPy.
            other.net.clear_param_diffs()
            other.net.forward()
            other.net.backward()
            for blob, update in zip(parameters, history):
                update *= 0.9
                update += 0.05 * (blob.diff + 0.01 * blob.data)
                blob.data[...] -= update
            for name, mask in masks.items():
                other.net.params[name][0].data[...] *= mask
            for name in ("ip1", "ip2"):
                for mine, theirs in zip(net.params[name], other.net.params[name]):
                    self.close(mine.data, theirs.data, 1e-4)
                self.assertFalse(net.params[name][0].data[~masks[name]].any())
        self.assertLess(np.mean(losses[-4:]), np.mean(losses[:4]))
        return net

    def test_masks_hold_during_training(self):
        for hold_arrays in (False, True):
            for clear_gradients in (False, True):
                with self.subTest(hold_arrays=hold_arrays, clear_gradients=clear_gradients):
                    net = self.check(hold_arrays, clear_gradients)
        net.save(self.path("pruned.caffemodel"))
        loaded = caffe.Net(self.path("net.prototxt"), self.path("pruned.caffemodel"), caffe.TEST)
        self.assertEqual((loaded.params["ip1"][0].data == 0).sum(), 30)


class Siamese(Case):
    NET = """name: 'siamese'
    layer { name: 'pair' type: 'Input' top: 'pair' input_param { shape { dim: 6 dim: 2 dim: 5 dim: 5 } } }
    layer { name: 'sim' type: 'Input' top: 'sim' input_param { shape { dim: 6 } } }
    layer { name: 'slice' type: 'Slice' bottom: 'pair' top: 'data' top: 'data_p' slice_param { slice_dim: 1 slice_point: 1 } }
    %s
    layer { name: 'loss' type: 'ContrastiveLoss' bottom: 'feat' bottom: 'feat_p' bottom: 'sim' top: 'loss'
      contrastive_loss_param { margin: 1.5 } }
    """ % "".join("""
    layer { name: 'conv%(p)s' type: 'Convolution' bottom: 'data%(p)s' top: 'conv%(p)s'
      param { name: 'conv_w' lr_mult: 1 } param { name: 'conv_b' lr_mult: 2 }
      convolution_param { num_output: 3 kernel_size: 3 weight_filler { type: 'xavier' } } }
    layer { name: 'tanh%(p)s' type: 'TanH' bottom: 'conv%(p)s' top: 'conv%(p)s' }
    layer { name: 'feat%(p)s' type: 'InnerProduct' bottom: 'conv%(p)s' top: 'feat%(p)s'
      param { name: 'feat_w' lr_mult: 1 } param { name: 'feat_b' lr_mult: 2 }
      inner_product_param { num_output: 2 weight_filler { type: 'xavier' } } }""" % {"p": p} for p in ("", "_p"))

    def feed(self, net, seed):
        pairs = random_array(seed, 6, 2, 5, 5)
        net.blobs["pair"].data[...], net.blobs["sim"].data[...] = pairs, np.arange(6) % 2
        return pairs

    def expected_loss(self, net):
        distance = np.sqrt(((net.blobs["feat"].data - net.blobs["feat_p"].data).astype(float) ** 2).sum(axis=1))
        similar = net.blobs["sim"].data
        return (similar * distance ** 2 + (1 - similar) * np.maximum(1.5 - distance, 0) ** 2).sum() / 12

    def test_branches_share_weights_and_sum_gradients(self):
        net = caffe.Net(self.write(self.NET), caffe.TRAIN)
        fill(net, 3, 0.7)
        for name in ("conv", "feat"):
            for mine, theirs in zip(net.params[name], net.params[name + "_p"]):
                self.assertTrue(np.shares_memory(mine.data, theirs.data))
        self.feed(net, 1)
        self.close(net.forward()["loss"], self.expected_loss(net))
        net.clear_param_diffs()
        net.backward()
        for name in ("conv", "feat"):
            for blob in net.params[name]:
                gradient, original = blob.diff.copy(), blob.data.copy()
                direction, losses = np.sign(gradient), []
                for sign in (1, -1):
                    blob.data[...] = original + sign * 1e-3 * direction
                    losses.append(float(net.forward()["loss"]))
                blob.data[...] = original
                self.close((losses[0] - losses[1]) / 2e-3, np.abs(gradient).sum(), 0.01)

    def test_training_separates_pairs(self):
        self.write(self.NET)
        solver = caffe.SGDSolver(self.write("net: '%s' base_lr: 0.1 momentum: 0.9 lr_policy: 'fixed' snapshot_prefix: 'x'"
                                            % self.path("net.prototxt"), "solver.prototxt"))
        fill(solver.net, 3, 0.7)
        losses = []
        for _ in range(40):
            self.feed(solver.net, 1)
            solver.step(1)
            losses.append(float(solver.net.blobs["loss"].data))
            self.close(losses[-1], self.expected_loss(solver.net), 1e-4)
        self.assertLess(losses[-1], 0.3 * losses[0])
        # A net with one branch takes the weights by layer name.
        solver.net.save(self.path("w.caffemodel"))
        branch = "layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 6 dim: 1 dim: 5 dim: 5 } } }"
        branch += self.NET[self.NET.index("layer { name: 'conv'"): self.NET.index("layer { name: 'conv_p'")]
        deploy = caffe.Net(self.write(branch, "deploy.prototxt"), self.path("w.caffemodel"), caffe.TEST)
        pairs = self.feed(solver.net, 1)
        solver.net.forward()
        self.close(deploy.forward(data=pairs[:, :1])["feat"], solver.net.blobs["feat"].data)


class Filters(Case):
    def test_filters_edited_by_hand(self):
        """A filter of a mean and one of a difference, as in the notebook of net surgery."""
        net = caffe.Net(self.write("""input: 'data' input_dim: 1 input_dim: 1 input_dim: 7 input_dim: 8
            layer { name: 'conv' type: 'Convolution' bottom: 'data' top: 'conv'
              convolution_param { num_output: 2 kernel_size: 3 stride: 1 weight_filler { type: 'gaussian' std: 0.01 } } }
            """), caffe.TEST)
        x = random_array(1, 1, 1, 7, 8)
        net.blobs["data"].data[...] = x
        before = net.forward()["conv"].copy()
        net.params["conv"][1].data[0] = 1.0
        self.close(net.forward()["conv"], before + np.float32([1, 0])[:, None, None])
        net.params["conv"][0].data[0] = 1 / 9
        net.params["conv"][0].data[1] = [[0, 0, 0], [-1, 0, 1], [0, 0, 0]]
        out = net.forward()["conv"][0]
        windows = np.lib.stride_tricks.sliding_window_view(x[0, 0], (3, 3))
        self.close(out[0], windows.mean(axis=(2, 3)) + 1)
        self.close(out[1], windows[:, :, 1, 2] - windows[:, :, 1, 0])


if __name__ == "__main__":
    unittest.main()
