"""Tests caffe.Net: partial runs, shared memory, and values equal to the values of compiled plans."""
import unittest

import brew
import caffe
import numpy as np
from caffe.proto import caffe_pb2

from common import DEPLOY, TRAIN, Case, fill, random_array

BRANCHES = """force_backward: true
layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 4 dim: 5 dim: 5 } } }
layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'c' convolution_param { num_output: 4 kernel_size: 3 pad: 1 } }
layer { name: 'bn' type: 'BatchNorm' bottom: 'c' top: 'c' batch_norm_param { use_global_stats: false } }
layer { name: 'sc' type: 'Scale' bottom: 'c' top: 'c' scale_param { bias_term: true } }
layer { name: 'r' type: 'ReLU' bottom: 'c' top: 'c' }
layer { name: 'a' type: 'Convolution' bottom: 'c' top: 'a' convolution_param { num_output: 4 kernel_size: 1 } }
layer { name: 'sum' type: 'Eltwise' bottom: 'a' bottom: 'c' top: 'sum' }
layer { name: 'lrn' type: 'LRN' bottom: 'sum' top: 'lrn' }
layer { name: 'cat' type: 'Concat' bottom: 'lrn' bottom: 'c' top: 'cat' }
layer { name: 'flat' type: 'Flatten' bottom: 'cat' top: 'flat' }
layer { name: 'ip' type: 'InnerProduct' bottom: 'flat' top: 'ip' inner_product_param { num_output: 3 } }
"""


class Values(Case):
    def compare(self, text, gradient_blob, inputs, phase=caffe.TRAIN):
        """Compares a net with a session of its plan, in both passes; returns the net and the session.

        The backward pass begins at `gradient_blob`, or at the loss if that is None."""
        net = caffe.Net(self.write(text), phase)
        fill(net, 3)
        session = brew.compile(text, phase="test" if phase == caffe.TEST else "train", gradients=True,
                               output_gradient=gradient_blob, keep="all").session()
        for layer, blobs in net.params.items():
            session.params[layer] = [b.data for b in blobs]
        for name, values in inputs.items():
            net.blobs[name].data[...] = values
            session._core.set_input(0, name, values)
        session._core.feed(0)
        net.forward()
        session._core.run(0, brew._core.Pass.FORWARD)
        if gradient_blob:
            gradient = random_array(5, *net.blobs[gradient_blob].shape)
            net.blobs[gradient_blob].diff[...] = gradient
            session.output_gradients[gradient_blob] = gradient
        net.backward()
        session._core.run(0, brew._core.Pass.BACKWARD)
        gradient_count = 0
        for name in session.blobs:
            if name in net.blobs:
                self.close(net.blobs[name].data, session.blobs[name], 2e-5)
        for layer in session.gradients:
            for blob, gradient in zip(net.params[layer], session.gradients[layer]):
                self.close(blob.diff, gradient, 5e-5)
                gradient_count += 1
        self.assertGreater(gradient_count, 1)
        return net, session

    def test_branches(self):
        net, session = self.compare(BRANCHES, "ip", {"x": random_array(1, 2, 4, 5, 5)})
        self.close(net.blobs["x"].diff, session.blob_gradients["x"], 5e-5)

    def test_loss(self):
        text = TRAIN.replace("include { phase: TEST }", "")
        net, _ = self.compare("force_backward: true " + text.replace("acc", "accuracy").split("layer { name: 'accuracy'")[0],
                              None, {"data": random_array(1, 4, 6), "label": np.float32([0, 1, 2, 1])})
        self.assertEqual(float(net.blobs["loss"].diff), 1)

    def test_diff_of_splits(self):
        net = caffe.Net(self.write("force_backward: true\n" + """
layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 3 } } }
layer { name: 'a' type: 'Power' bottom: 'x' top: 'a' power_param { scale: 2 } }
layer { name: 'b' type: 'Power' bottom: 'x' top: 'b' power_param { scale: 3 } }"""), caffe.TEST)
        net.backward(a=np.float32([1, 0, 1]), b=np.float32([0, 1, 1]))
        self.assertEqual(net.blobs["x"].diff.tolist(), [2, 3, 5])
        self.assertEqual(net.blobs["x_x_0_split_0"].diff.tolist(), [2, 0, 2])


class Nets(Case):
    def make_net(self, text=DEPLOY, phase=caffe.TEST):
        net = caffe.Net(self.write(text), phase)
        fill(net)
        return net

    def test_partial_runs_compose(self):
        net = self.make_net()
        x = random_array(1, 2, 3, 8, 8)
        expected = net.forward(data=x)["prob"].copy()
        net.blobs["prob"].data[...] = 0
        net.forward(end="relu1")
        net.forward(start="pool1")
        self.close(net.blobs["prob"].data, expected, 1e-6)

    def test_writes_between_partial_runs_take_effect(self):
        net = self.make_net()
        net.forward(data=random_array(1, 2, 3, 8, 8))
        net.blobs["pool1"].data[...] = 0
        net.forward(start="fc", end="fc")
        self.close(net.blobs["fc"].data[1], net.params["fc"][1].data)

    def test_backward_from_an_inner_blob(self):
        """As in deepdream, a step along the gradient of the image increases the norm of the inner blob."""
        net = self.make_net("force_backward: true\n" + DEPLOY)
        net.forward(data=random_array(1, 2, 3, 8, 8), end="pool1")
        net.blobs["pool1"].diff[...] = net.blobs["pool1"].data
        net.backward(start="pool1")
        step = 1e-2
        objective = (net.blobs["pool1"].data ** 2).sum() / 2
        direction = net.blobs["data"].diff.copy()
        self.assertGreater(np.abs(direction).max(), 0)
        net.blobs["data"].data[...] += step * direction
        net.forward(end="pool1")
        increase = (net.blobs["pool1"].data ** 2).sum() / 2 - objective
        self.assertGreater(increase, 0.5 * step * (direction ** 2).sum())

    def test_arrays_alias_the_memory_of_the_net(self):
        net = self.make_net()
        data, prob, weight = net.blobs["data"].data, net.blobs["prob"].data, net.params["fc"][0].data
        data[...] = random_array(1, 2, 3, 8, 8)
        net.forward()
        before = prob.copy()
        self.assertGreater(prob.sum(), 0)
        weight[...] = 0
        net.forward()
        self.assertGreater(np.abs(prob - before).max(), 0)
        self.assertTrue(np.shares_memory(prob, net.blobs["prob"].data))
        del net
        self.assertEqual(weight.sum(), 0)

    def test_reshape(self):
        net = self.make_net()
        expected = net.forward(data=random_array(1, 2, 3, 8, 8))["prob"].copy()
        net.blobs["data"].reshape(5, 3, 8, 8)
        net.reshape()
        self.assertEqual(net.blobs["prob"].shape, (5, 5))
        data = np.concatenate([random_array(1, 2, 3, 8, 8), random_array(2, 3, 3, 8, 8)])
        self.close(net.forward(data=data)["prob"][:2], expected, 1e-6)
        with self.assertRaises(RuntimeError):
            net.blobs["data"].reshape(1, 3, 16, 16)
            net.forward()

    def test_saved_weights(self):
        net = self.make_net()
        net.save(self.path("w.caffemodel"))
        net.save_hdf5(self.path("w.h5"))
        for name in ("w.caffemodel", "w.h5"):
            loaded = caffe.Net(self.path("net.prototxt"), self.path(name), caffe.TEST)
            np.testing.assert_array_equal(loaded.params["fc"][0].data, net.params["fc"][0].data)
        # The compiler reads such a file, too.
        plan = brew.compile(self.path("net.prototxt"), weights=self.path("w.caffemodel"))
        x = random_array(1, 2, 3, 8, 8)
        self.close(plan.session()(data=x)["prob"], net.forward(data=x)["prob"])

    def write_weights(self, net):
        """Writes a NetParameter and returns the path."""
        with open(self.path("message.caffemodel"), "wb") as file:
            file.write(net.SerializeToString())
        return self.path("message.caffemodel")

    def test_saved_nets_contain_the_complete_layers(self):
        net = self.make_net()
        net.save(self.path("w.caffemodel"))
        with open(self.path("w.caffemodel"), "rb") as file:
            saved = caffe_pb2.NetParameter.FromString(file.read())
        self.assertEqual([layer.name for layer in saved.layer], list(net._layer_names))
        self.assertEqual((saved.name, saved.layer[1].convolution_param.num_output), ("small", 4))
        self.assertEqual(list(saved.layer[1].blobs[0].shape.dim), [4, 3, 3, 3])

    def test_half_precision_weights_of_nvidia_caffe(self):
        net = self.make_net()
        message = caffe_pb2.NetParameter()
        blobs = message.layer.add(name="fc", type="InnerProduct").blobs
        values = [random_array(i, *blob.shape).astype(np.float16) for i, blob in enumerate(net.params["fc"])]
        for array in values:
            blobs.add(raw_data_type=caffe_pb2.BlobProto.FLOAT16, raw_data=array.tobytes()).shape.dim.extend(array.shape)
        net.copy_from(self.write_weights(message))
        for blob, array in zip(net.params["fc"], values):
            np.testing.assert_array_equal(blob.data, array.astype(np.float32))

    def test_batch_norm_weights_of_caffe_in_the_form_of_nvidia(self):
        text = """layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 2 } } }
layer { name: 'bn' type: 'BatchNorm' bottom: 'x' top: 'y' batch_norm_param { %s } }"""
        caffe_net = self.make_net(text % "")
        for blob, values in zip(caffe_net.params["bn"], ([2, 4], [6, 8], [2])):
            blob.data[...] = values
        caffe_net.save(self.path("w.caffemodel"))
        net = caffe.Net(self.write(text % "scale_bias: true"), caffe.TEST)
        net.copy_from(self.path("w.caffemodel"))
        self.assertEqual([blob.data.tolist() for blob in net.params["bn"][:2]], [[1, 2], [3, 4]])
        self.assertEqual(net.params["bn"][3].data.tolist(), [1, 1])  # the filler's values

    def test_errors_list_all_blobs_that_do_not_fit(self):
        self.make_net().save(self.path("w.caffemodel"))
        net = self.make_net(DEPLOY.replace("num_output: 5", "num_output: 6"))
        with self.assertRaises(RuntimeError) as caught:
            net.copy_from(self.path("w.caffemodel"))
        self.assertEqual(str(caught.exception), self.path("w.caffemodel") + """: the weights do not match the net
  layer 'fc' blob 0 is 5x36 there and 6x36 in the net
  layer 'fc' blob 1 is 5 there and 6 in the net
  are they of this net? (to learn a layer's parameters from scratch, rename the layer)""")

    def test_weights_of_another_net_give_a_warning(self):
        self.make_net().save(self.path("w.caffemodel"))
        net = self.make_net(DEPLOY.replace("name: 'conv1'", "name: 'conv1_new'").replace("name: 'fc'", "name: 'fc_new'"))
        with self.assertWarnsRegex(RuntimeWarning, "are these weights of another net"):
            net.copy_from(self.path("w.caffemodel"))

    def test_weights_in_the_prototxt(self):
        text = DEPLOY.replace("bottom: 'pool1' top: 'fc'", "bottom: 'pool1' top: 'fc' blobs { shape { dim: 5 dim: 36 } %s }"
                              " blobs { shape { dim: 5 } %s }" % ("data: 2 " * 180, "data: 3 " * 5))
        net = caffe.Net(self.write(text), caffe.TEST)
        self.assertEqual([set(blob.data.ravel().tolist()) for blob in net.params["fc"]], [{2}, {3}])
        with self.assertRaisesRegex(RuntimeError, "fc"):
            self.make_net(text.replace("dim: 5 dim: 36", "dim: 36 dim: 5"))

    def test_parameters_shared_by_name(self):
        text = """force_backward: true
layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 } } }
layer { name: 'a' type: 'InnerProduct' bottom: 'x' top: 'a' param { name: 'w' } inner_product_param { num_output: 3 bias_term: false } }
layer { name: 'b' type: 'InnerProduct' bottom: 'a' top: 'b' param { name: 'w' } inner_product_param { num_output: 3 bias_term: false } }"""
        net = self.make_net(text)
        w = np.float32([[1, 2, 0], [0, 1, 0], [0, 0, 3]])
        net.params["b"][0].data[...] = w
        x = random_array(1, 2, 3)
        self.close(net.forward(x=x)["b"], x @ w.T @ w.T)
        g = random_array(2, 2, 3)
        net.backward(b=g)
        self.close(net.params["a"][0].diff, g.T @ (x @ w.T) + (g @ w).T @ x)
        self.assertIs(net.params["a"][0].diff.base, net.params["b"][0].diff.base)

    def test_share_with_another_net(self):
        source, sharing = self.make_net(), self.make_net()
        sharing.share_with(source)
        source.params["fc"][0].data[...] = 0
        source.params["fc"][1].data[...] = np.arange(5)
        sharing.forward(data=random_array(1, 2, 3, 8, 8))
        self.close(sharing.blobs["fc"].data[0], np.arange(5))

    def test_random_seed(self):
        text = DEPLOY.replace("xavier", "gaussian")
        caffe.set_random_seed(5)
        weights1 = caffe.Net(self.write(text), caffe.TEST).params["fc"][0].data.copy()
        caffe.set_random_seed(5)
        weights2 = caffe.Net(self.path("net.prototxt"), caffe.TEST).params["fc"][0].data.copy()
        np.testing.assert_array_equal(weights1, weights2)
        self.assertGreater(weights1.std(), 0)

    def test_reshape_keeps_filled_parameters(self):
        net = caffe.Net(self.write(TRAIN.replace("xavier", "constant").replace("filler { type: 'constant'", "filler { type: 'constant' value: 3")),
                        caffe.TRAIN)
        net.blobs["data"].reshape(4, 7)
        self.assertEqual(net.params["ip1"][0].data.shape, (8, 6))
        self.assertTrue((net.params["ip1"][0].data == 3).all())

    def test_truncated_weights_change_nothing(self):
        net = self.make_net()
        net.save(self.path("w.caffemodel"))
        with open(self.path("w.caffemodel"), "rb") as file:
            data = file.read()
        before = net.params["fc"][0].data.copy()
        for length in range(1, len(data), 37):
            with open(self.path("t.caffemodel"), "wb") as file:
                file.write(data[:length])
            try:
                net.copy_from(self.path("t.caffemodel"))
            except RuntimeError:
                pass
        np.testing.assert_array_equal(net.params["fc"][0].data, before)

    def test_hooks_may_change_blobs(self):
        net = self.make_net()
        names = list(net._layer_names)

        def silence(i):
            if names[i] == "pool1":
                net.blobs["pool1"].data[...] = 0

        net.after_forward(silence)
        net.forward(data=random_array(1, 2, 3, 8, 8))
        self.close(net.blobs["fc"].data[0], net.params["fc"][1].data)

    def test_backward_uses_the_mask_of_dropout(self):
        net = self.make_net("""force_backward: true
layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 1000 } } }
layer { name: 'd' type: 'Dropout' bottom: 'x' top: 'x' }""", caffe.TRAIN)
        net.forward(x=np.ones(1000, np.float32))
        output = net.blobs["x"].data.copy()
        self.assertEqual(sorted(set(output.tolist())), [0, 2])
        net.blobs["x"].diff[...] = 1
        net.backward()
        np.testing.assert_array_equal(net.blobs["x"].diff, output)
        net.forward(x=np.ones(1000, np.float32))
        self.assertTrue((net.blobs["x"].data != output).any())

    def test_bottoms_without_gradients(self):
        net = caffe.Net(self.write("""
        layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 1 dim: 2 dim: 4 dim: 4 } } }
        layer { name: 'a' type: 'Convolution' bottom: 'x' top: 'a' convolution_param { num_output: 2 kernel_size: 1
          weight_filler { type: 'constant' value: 1 } } }
        layer { name: 'r' type: 'Convolution' bottom: 'x' top: 'r' convolution_param { num_output: 5 kernel_size: 4 } }
        layer { name: 'f' type: 'Flatten' bottom: 'r' top: 'rois' }
        layer { name: 'p' type: 'ROIPooling' bottom: 'a' bottom: 'rois' top: 'p' loss_weight: 1
          roi_pooling_param { pooled_w: 1 pooled_h: 1 spatial_scale: 1 } }
        """), caffe.TRAIN)
        net.blobs["x"].data[...] = random_array(1, 1, 2, 4, 4)
        net.forward()
        net.backward()
        self.assertGreater(np.abs(net.params["a"][0].diff).sum(), 0)

    def test_share_with_in_a_chain(self):
        a, b, c = (caffe.Net(self.write(DEPLOY), caffe.TEST) for _ in range(3))
        b.share_with(a)
        a.share_with(c)
        self.assertGreater(np.abs(b.params["fc"][0].data).sum(), 0)

    def test_hdf5_weights_of_layers_with_a_slash(self):
        text = DEPLOY.replace("'fc'", "'in/fc'")
        saved, loaded = (caffe.Net(self.write(text), caffe.TEST) for _ in range(2))
        saved.save_hdf5(self.path("w.h5"))
        loaded.params["in/fc"][0].data[...] = 0
        loaded.load_hdf5(self.path("w.h5"))
        self.close(loaded.params["in/fc"][0].data, saved.params["in/fc"][0].data)

    def test_messages_are_pickled(self):
        import pickle
        datum = caffe.proto.caffe_pb2.Datum(label=3)
        self.assertEqual(pickle.loads(pickle.dumps(datum)), datum)


if __name__ == "__main__":
    unittest.main()
