"""Edge cases of pycaffe's interface that scripts use."""
import os
import unittest
from unittest import mock

import caffe
import numpy as np
from caffe import layers as L
from caffe import params as P
from caffe import _plan_cache

from common import DEPLOY, TRAIN, Case, feed, fill, random_array, resident_bytes

SHARED = """name: 'siamese'
layer { name: 'a' type: 'Input' top: 'a' input_param { shape { dim: 2 dim: 4 } } }
layer { name: 'b' type: 'Input' top: 'b' input_param { shape { dim: 2 dim: 4 } } }
layer { name: 'sim' type: 'Input' top: 'sim' input_param { shape { dim: 2 } } }
layer { name: 'ip' type: 'InnerProduct' bottom: 'a' top: 'fa' param { name: 'w' } param { name: 'c' }
  inner_product_param { num_output: 3 weight_filler { type: 'xavier' } } }
layer { name: 'ip_p' type: 'InnerProduct' bottom: 'b' top: 'fb' param { name: 'w' } param { name: 'c' }
  inner_product_param { num_output: 3 weight_filler { type: 'xavier' } } }
layer { name: 'loss' type: 'ContrastiveLoss' bottom: 'fa' bottom: 'fb' bottom: 'sim' top: 'loss' }
"""


class Rows(caffe.Layer):
    """The number of output rows is the number of positive inputs."""

    def setup(self, bottom, top):
        top[0].reshape(1, 4)

    def reshape(self, bottom, top):
        pass

    def forward(self, bottom, top):
        values = bottom[0].data[bottom[0].data > 0]
        top[0].reshape(len(values), 4)
        top[0].data[...] = values[:, np.newaxis]

    def backward(self, top, propagate_down, bottom):
        bottom[0].diff[...] = 0


class BlobsWithoutItems(Case):
    def test_layers_read_them(self):
        net = caffe.Net(self.write("""force_backward: true
            layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 3 } } }
            layer { name: 'rows' type: 'Python' bottom: 'x' top: 'rows' python_param { module: 'test_edge_cases' layer: 'Rows' } }
            layer { name: 'ip' type: 'InnerProduct' bottom: 'rows' top: 'ip' inner_product_param { num_output: 2
              weight_filler { type: 'constant' value: 1 } } }
            layer { name: 'r' type: 'ReLU' bottom: 'ip' top: 'ip' }
            layer { name: 'p' type: 'Power' bottom: 'ip' top: 'p' }"""), caffe.TEST)
        for values, rows in (([1, -1, 2], 2), ([-1, -2, -3], 0), ([-1, 5, -3], 1), ([-1, -1, -1], 0)):
            out = net.forward(x=np.float32(values))["p"]
            self.assertEqual(out.shape, (rows, 2))
            np.testing.assert_array_equal(out[:, 0], [4 * v for v in values if v > 0])
            net.clear_param_diffs()
            net.blobs["p"].diff[...] = 1
            net.backward()
            self.assertEqual(net.params["ip"][1].diff.tolist(), [rows, rows])

    def test_sums_of_nothing_are_zero(self):
        net = caffe.Net(self.write("""
            layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 0 dim: 4 } } }
            layer { name: 's' type: 'Reduction' bottom: 'x' top: 's' }"""), caffe.TEST)
        net.blobs["s"].data[...] = 5
        self.assertEqual(float(net.forward()["s"]), 0)

    def test_concat_of_no_items_raises(self):
        net = caffe.Net(self.write("""
            layer { name: 'x' type: 'Input' top: 'x' top: 'y' input_param { shape { dim: 0 dim: 4 } shape { dim: 2 dim: 4 } } }
            layer { name: 's' type: 'Concat' bottom: 'x' bottom: 'y' top: 's' concat_param { axis: 0 } }"""), caffe.TEST)
        with self.assertRaisesRegex(RuntimeError, "layer 's' .*no items"):
            net.forward()


class Resources(Case):
    def test_created_and_deleted_nets_leak_nothing(self):
        path = self.write(DEPLOY)

        def run_net():
            net = caffe.Net(path, caffe.TEST)
            net.forward(data=random_array(1, 2, 3, 8, 8))
            net.forward(end="pool1")
            return net.blobs["prob"].data.sum()

        for _ in range(20):
            run_net()
        descriptors, before = len(os.listdir("/proc/self/fd")), resident_bytes()
        for _ in range(100):
            run_net()
        self.assertLessEqual(len(os.listdir("/proc/self/fd")), descriptors)
        self.assertLess(resident_bytes() - before, 8 << 20)

    def test_kernels_keep_no_descriptors_open(self):
        path, before = self.write(DEPLOY), len(os.listdir("/proc/self/fd"))
        nets = [caffe.Net(path, caffe.TEST) for _ in range(8)]
        for net in nets:
            net.forward(end="fc")
        self.assertLess(len(os.listdir("/proc/self/fd")), before + 8)

    def test_the_cache_folder_stays_within_its_limit(self):
        for i in range(8):
            with open(self.path(str(i)), "wb") as file:
                file.write(bytes(1000))
            os.utime(self.path(str(i)), (i, i))
        limit, _plan_cache._ROOM = _plan_cache._ROOM, 5000
        self.addCleanup(setattr, _plan_cache, "_ROOM", limit)
        self.addCleanup(_plan_cache._written.cache_clear)
        _plan_cache._written.cache_clear()
        _plan_cache._count(self.path("7"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["5", "6", "7"])

    def test_damaged_cache_files_are_rebuilt(self):
        path = self.write(DEPLOY)
        # In a separate folder, because other processes write into the default folder.
        with mock.patch.object(_plan_cache, "_folder", lambda: self.folder):
            _plan_cache._plans.clear()
            caffe.Net(path, caffe.TEST)
            written = [name for name in os.listdir(self.folder) if name.endswith(".NetParameter")]
            self.assertEqual(len(written), 1)
            with open(self.path(written[0]), "wb") as file:
                file.write(b"\xff\xff\xff")
            _plan_cache._plans.clear()
            self.assertEqual(len(caffe.Net(path, caffe.TEST).layers), 6)
            self.assertGreater(os.path.getsize(self.path(written[0])), 3)


class Weights(Case):
    def test_shared(self):
        net = caffe.Net(self.write(SHARED), caffe.TRAIN)
        net.params["ip"][0].data[...] = random_array(1, 3, 4)
        np.testing.assert_array_equal(net.params["ip_p"][0].data, random_array(1, 3, 4))
        for name in "ab":
            net.blobs[name].data[...] = random_array(ord(name), 2, 4)
        net.blobs["sim"].data[...] = [0, 1]
        net.forward()
        net.backward()
        self.assertGreater(np.abs(net.params["ip"][0].diff).max(), 0)
        np.testing.assert_array_equal(net.params["ip"][0].diff, net.params["ip_p"][0].diff)
        self.assertEqual(len(net._learnable), 2)

    def test_hdf5_of_shared_parameters(self):
        try:
            import h5py
        except ImportError:
            self.skipTest("h5py is not installed")
        net = caffe.Net(self.write(SHARED), caffe.TRAIN)
        net.params["ip"][0].diff[...] = 3
        net.save_hdf5(self.path("w.h5"), write_diff=True)
        with h5py.File(self.path("w.h5")) as file:
            self.assertEqual(list(file["data/ip"]), ["0", "1"])
            self.assertEqual(list(file["data/ip_p"]), [])
            self.assertEqual(file["diff/ip_p/0"][0, 0], 3)
        net.params["ip"][0].data[...] = 0
        net.load_hdf5(self.path("w.h5"))
        self.assertGreater(np.abs(net.params["ip_p"][0].data).max(), 0)

    def test_weights_from_files_and_by_keyword(self):
        path = self.write(TRAIN)
        nets = [caffe.Net(path, caffe.TEST) for _ in range(2)]
        for seed, net in enumerate(nets):
            fill(net, seed)
            net.save(self.path("%d.caffemodel" % seed))
        net = caffe.Net(path, caffe.TEST, weights=self.path("0.caffemodel"))
        np.testing.assert_array_equal(net.params["ip1"][0].data, nets[0].params["ip1"][0].data)
        net.copy_from(self.path("1.caffemodel"))
        np.testing.assert_array_equal(net.params["ip2"][0].data, nets[1].params["ip2"][0].data)
        self.assertEqual(caffe.Net(network_file=path, phase=caffe.TEST, weights=self.path("1.caffemodel"))
                         .params["ip1"][1].data.tolist(), nets[1].params["ip1"][1].data.tolist())

    def test_share_with_shares_later_changes(self):
        path = self.write(TRAIN)
        train_net, test_net = caffe.Net(path, caffe.TRAIN), caffe.Net(path, caffe.TEST)
        test_net.share_with(train_net)
        train_net.params["ip1"][0].data[...] = 0.25
        self.assertEqual(test_net.params["ip1"][0].data[0, 0], 0.25)
        feed(test_net)
        first_loss = float(test_net.forward()["loss"])
        train_net.params["ip2"][0].data[...] += random_array(3, *train_net.params["ip2"][0].shape)
        self.assertNotEqual(float(test_net.forward()["loss"]), first_loss)


class Runs(Case):
    def test_start_and_end_over_layers_in_place(self):
        net = caffe.Net(self.write(DEPLOY), caffe.TEST)
        fill(net)
        net.forward(data=random_array(1, 2, 3, 8, 8))
        expected = net.blobs["prob"].data.copy()
        out = net.forward(end="conv1")
        self.assertEqual(list(out), ["conv1"])
        self.assertLess(out["conv1"].min(), 0)
        net.forward(start="relu1", end="relu1")
        self.assertGreaterEqual(net.blobs["conv1"].data.min(), 0)
        self.close(net.forward(start="pool1")["prob"], expected)
        self.assertEqual(sorted(net.forward(blobs=["fc"], start="fc")), ["fc", "prob"])

    def test_inputs_of_another_size(self):
        net = caffe.Net(self.write("""
            layer { name: 'x' type: 'Input' top: 'x' top: 'y' input_param { shape { dim: 1 dim: 2 dim: 6 dim: 6 } } }
            layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'c' convolution_param { num_output: 2 kernel_size: 1 } }
            layer { name: 's' type: 'Eltwise' bottom: 'c' bottom: 'y' top: 's' }"""), caffe.TEST)
        for size in (4, 9, 6):
            for name in "xy":
                net.blobs[name].reshape(3, 2, size, size)
            net.reshape()
            self.assertEqual(net.blobs["s"].data.shape, (3, 2, size, size))
            y = random_array(size, 3, 2, size, size)
            self.close(net.forward(x=y, y=y)["s"], y)
        net.blobs["x"].reshape(3, 2, 5, 5)
        with self.assertRaises(RuntimeError):
            net.forward()

    def test_hooks(self):
        net, seen = caffe.Net(self.write(TRAIN), caffe.TRAIN), []
        feed(net)
        net.before_forward(lambda i: seen.append(("bf", i)))
        net.after_backward(lambda i: seen.append(("ab", i)))
        net.forward()
        net.backward()
        count = len(net.layers)
        self.assertEqual(seen[:count], [("bf", i) for i in range(count)])
        self.assertEqual(seen[count:], [("ab", i) for i in reversed(range(count))])

    def test_wrong_arguments_raise(self):
        net = caffe.Net(self.write(DEPLOY), caffe.TEST)
        for kind, call in ((ValueError, lambda: net.forward(start="nope")), (ValueError, lambda: net.forward(end="nope")),
                           (KeyError, lambda: net.forward(blobs=["nope"])), (KeyError, lambda: net.blobs["nope"]),
                           (Exception, lambda: net.forward(nope=1)),
                           (ValueError, lambda: net.forward(data=random_array(1, 2, 3, 8, 7))),
                           (RuntimeError, lambda: net.copy_from(self.path("nowhere"))),
                           (TypeError, lambda: caffe.Net(self.path("net.prototxt"))),
                           (RuntimeError, lambda: caffe.Net(self.path("nowhere"), caffe.TEST)),
                           (RuntimeError, lambda: caffe.Net(self.write("layer {", "bad.prototxt"), caffe.TEST))):
            with self.assertRaises(kind):
                call()
        net.forward(data=random_array(1, 2, 3, 8, 8))

    def test_labels_have_no_gradient(self):
        net = caffe.Net(self.write(TRAIN.replace("bottom: 'label' top: 'loss'",
                                                 "bottom: 'label' top: 'loss' propagate_down: true propagate_down: true")),
                        caffe.TRAIN)
        feed(net)
        net.forward()
        with self.assertRaisesRegex(RuntimeError, "layer 'loss' .*cannot backpropagate to label inputs"):
            net.backward()


class Solving(Case):
    def make_solver(self, fields=""):
        net = self.write(TRAIN)
        solver = caffe.SGDSolver(self.write("net: '%s' base_lr: 0.1 lr_policy: 'fixed' snapshot_prefix: '%s' %s"
                                            % (net, self.path("snap"), fields), "s.prototxt"))
        fill(solver.net, 2)
        feed(solver.net)
        return solver

    def test_fields_written_at_run_time(self):
        solver = self.make_solver("max_iter: 10")
        bias = lambda: solver.net.params["ip2"][1].data.copy()  # noqa: E731
        before = bias()
        solver.step(1)
        update = solver.net.params["ip2"][1].diff.copy()
        self.close(bias(), before - update)
        solver.param.base_lr = 0.0
        before = bias()
        solver.step(1)
        np.testing.assert_array_equal(bias(), before)
        solver.param.base_lr, solver.param.weight_decay = 0.1, 0.5
        solver.param.regularization_type = "L1"
        solver.step(1)
        solver.param.regularization_type = "L3"
        with self.assertRaisesRegex(RuntimeError, "unknown regularization_type 'L3'"):
            solver.step(1)

    def test_gradients_are_those_of_the_last_iteration(self):
        solver, viewed = self.make_solver("momentum: 0"), self.make_solver("momentum: 0")
        views = [blob.diff for blobs in viewed.net.params.values() for blob in blobs]
        for _ in range(3):
            for any_solver in (solver, viewed):
                any_solver.step(1)
        for view, blob in zip(views, (blob for blobs in solver.net.params.values() for blob in blobs)):
            self.close(view, blob.diff)
        solver.net.forward()
        solver.net.clear_param_diffs()
        solver.net.backward()
        once = solver.net.params["ip1"][0].diff.copy()
        solver.net.backward()  # adds
        self.close(solver.net.params["ip1"][0].diff, 2 * once)

    def test_iter_size_averages_batches(self):
        solver, averaging = self.make_solver(), self.make_solver()
        solver.step(2)
        averaging.step(1)
        averaging.param.iter_size = 3  # the mean gradient of three equal batches
        averaging.step(1)
        for name in solver.net.params:
            self.close(solver.net.params[name][0].data, averaging.net.params[name][0].data)

    def test_frozen_parameters_keep_no_gradient(self):
        solver = caffe.SGDSolver(self.write(
            "train_net: '%s' base_lr: 0.1 lr_policy: 'fixed'" % self.write(TRAIN.replace(
                "name: 'ip1' type", "name: 'ip1' param { lr_mult: 0 } param { lr_mult: 0 } type")), "s.prototxt"))
        feed(solver.net)
        solver.net.params["ip1"][0].diff[...] = 7
        before = solver.net.params["ip1"][0].data.copy()
        solver.step(2)
        self.assertEqual(np.abs(solver.net.params["ip1"][0].diff).max(), 0)
        np.testing.assert_array_equal(solver.net.params["ip1"][0].data, before)


class NetSpecs(Case):
    def test_repeated_params_and_in_place_layers(self):
        n = caffe.NetSpec()
        n.data = L.Input(input_param=dict(shape=[dict(dim=[2, 3, 8, 8])]))
        n.conv = L.Convolution(n.data, num_output=4, kernel_size=[3, 1], pad=[1, 0],
                               param=[dict(lr_mult=1, decay_mult=1), dict(lr_mult=2, decay_mult=0)],
                               weight_filler=dict(type="xavier"))
        n.relu = L.ReLU(n.conv, in_place=True)
        n.pool = L.Pooling(n.relu, pool=P.Pooling.AVE, kernel_size=2, stride=2)
        n.a, n.b = L.Slice(n.pool, ntop=2, slice_param=dict(axis=1, slice_point=[1]))
        n.silence = L.Silence(n.b, ntop=0)
        net = caffe.Net(self.write(str(n.to_proto())), caffe.TEST)
        self.assertEqual(net.top_names["relu"], ["conv"])
        self.assertEqual(net.blobs["a"].data.shape, (2, 1, 4, 4))
        self.assertEqual([p.lr_mult for p in net._params[1].param], [1, 2])
        self.assertEqual(net.outputs, ["a"])


class Images(Case):
    def test_transformer_with_all_settings(self):
        t = caffe.io.Transformer({"data": (1, 3, 4, 4)})
        t.set_transpose("data", (2, 0, 1))
        t.set_channel_swap("data", (2, 1, 0))
        t.set_raw_scale("data", 2.0)
        t.set_mean("data", np.ones((3, 2, 2)))
        t.set_input_scale("data", 0.5)
        image = np.abs(random_array(1, 4, 4, 3))
        self.close(t.preprocess("data", image), (image[:, :, ::-1].transpose(2, 0, 1) * 2 - 1) * 0.5)
        self.close(t.deprocess("data", t.preprocess("data", image)), image)
        for call in (lambda: t.set_mean("data", np.ones(2)), lambda: t.set_mean("nope", np.ones(3)),
                     lambda: t.set_transpose("data", (0, 1)), lambda: t.set_channel_swap("data", (0, 1)),
                     lambda: t.preprocess("nope", image)):
            with self.assertRaises(Exception):
                call()

    def test_detector_with_context(self):
        path = self.write(DEPLOY)
        net = caffe.Net(path, caffe.TEST)
        net.save(self.path("w.caffemodel"))
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("Pillow is not installed")
        Image.fromarray((np.abs(random_array(1, 20, 30, 3)) * 255).astype(np.uint8)).save(self.path("i.png"))
        detector = caffe.Detector(path, self.path("w.caffemodel"), context_pad=2, mean=np.ones(3), input_scale=1.0)
        windows = np.array([[1, 2, 12, 18], [0, 0, 5, 5], [10, 20, 20, 30]])
        detections = detector.detect_windows([(self.path("i.png"), windows)])
        self.assertEqual(len(detections), 3)
        self.assertEqual(detections[0]["prediction"].shape, (5,))
        np.testing.assert_array_equal([detection["window"] for detection in detections], windows)

    def test_classifier(self):
        path = self.write(DEPLOY)
        net = caffe.Net(path, caffe.TEST)
        net.save(self.path("w.caffemodel"))
        classifier = caffe.Classifier(path, self.path("w.caffemodel"), image_dims=(10, 12), raw_scale=255,
                                      channel_swap=(2, 1, 0))
        images = [np.abs(random_array(i, 9, 11, 3)) for i in range(3)]
        for oversample in (True, False):
            out = classifier.predict(images, oversample)
            self.assertEqual(out.shape, (3, 5))
            self.close(out.sum(axis=1), np.ones(3))


if __name__ == "__main__":
    unittest.main()
