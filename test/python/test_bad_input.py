"""Errors that must not end the process."""
import gc
import os
import threading
import traceback
import unittest
import weakref

import brew
import caffe
import numpy as np
from caffe import _plan_cache
from caffe.proto import caffe_pb2
from google.protobuf import text_format

from common import DEPLOY, TRAIN, Case, feed, fill, random_array


# Bottom 'i' of layer 'r' has no gradient; the compiler detects that.
BOTTOM_WITHOUT_GRADIENT = """
layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 4 dim: 5 } } }
layer { name: 'i' type: 'Input' top: 'i' input_param { shape { dim: 3 } } }
layer { name: 'z' type: 'Input' top: 'z' input_param { shape { dim: 3 dim: 3 } } }
layer { name: 'a' type: 'InnerProduct' bottom: 'x' top: 'a' inner_product_param { num_output: 3
  weight_filler { type: 'xavier' } } }
layer { name: 'r' type: 'BatchReindex' bottom: 'a' bottom: 'i' top: 'r' }
layer { name: 'l' type: 'EuclideanLoss' bottom: 'r' bottom: 'z' top: 'l' }
"""


class LayerError(Exception):
    pass


class FailingLayer(caffe.Layer):
    """Copies its bottom and raises in the function that ``param_str`` names."""

    def __init__(self, param):
        super().__init__(param)
        self.failing_function = param.python_param.param_str

    def maybe_fail(self, function):
        if function == self.failing_function:
            raise LayerError(function)

    def setup(self, bottom, top):
        self.maybe_fail("setup")

    def reshape(self, bottom, top):
        self.maybe_fail("reshape")
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        self.maybe_fail("forward")
        top[0].data[...] = bottom[0].data

    def backward(self, top, propagate_down, bottom):
        self.maybe_fail("backward")
        bottom[0].diff[...] = top[0].diff


def with_failing_layer(function):
    """Returns TRAIN with a Python layer that raises in `function`, or in no function if it is empty."""
    return TRAIN.replace("layer { name: 'ip2' type: 'InnerProduct' bottom: 'ip1'", """
layer { name: 'odd' type: 'Python' bottom: 'ip1' top: 'odd'
  python_param { module: '%s' layer: 'FailingLayer' param_str: '%s' } }
layer { name: 'ip2' type: 'InnerProduct' bottom: 'odd'""" % (__name__, function))


class BadInput(Case):
    def make_net(self, text=DEPLOY, phase=caffe.TEST):
        net = caffe.Net(self.write(text), phase)
        fill(net)
        return net

    def write_solver(self, text):
        return self.write("train_net: '%s' base_lr: 0.1 lr_policy: 'fixed' max_iter: 9 snapshot_after_train: false "
                          "snapshot_prefix: 'x' random_seed: 1" % self.write(text), "solver.prototxt")

    def test_a_name_that_is_not_utf8(self):
        path = self.path("latin1.prototxt")
        with open(path, "wb") as file:
            file.write(b"# caf\xe9\n" + DEPLOY.replace("'small'", "'caf~'").encode().replace(b"~", b"\xe9"))
        for read in lambda: brew.compile(path), lambda: caffe.Net(path, caffe.TEST):
            with self.assertRaisesRegex(RuntimeError, "latin1.prototxt:2:11: error: 'name' is not UTF-8"):
                read()

    def test_a_label_out_of_range_raises(self):
        """In Caffe such a label ends the process."""
        net = self.make_net(TRAIN, caffe.TRAIN)
        feed(net)
        net.blobs["label"].data[1] = 7
        with self.assertRaises(RuntimeError) as caught:
            net.forward()
        self.assertIn("loss", str(caught.exception))
        feed(net)
        self.assertGreater(float(net.forward()["loss"]), 0)

    def test_solver_and_session_survive_a_label_out_of_range(self):
        file = self.write_solver(TRAIN)
        solver = caffe.SGDSolver(file)
        session = brew.compile(file).session(seed=1)
        for is_valid in (True, False, True):
            feed(solver.net)
            if not is_valid:
                solver.net.blobs["label"].data[1] = 7
            session.set_inputs(**{name: solver.net.blobs[name].data.copy() for name in ("data", "label")})
            for step in (solver.step, session.step):
                if is_valid:
                    step(2)
                else:
                    with self.assertRaisesRegex(RuntimeError, "loss"):
                        step(2)
        self.assertEqual((solver.iter, session.iteration), (4, 4))

    def test_exceptions_of_python_layers_propagate(self):
        for function in ("setup", "reshape"):
            with self.assertRaisesRegex(LayerError, function):
                caffe.Net(self.write(with_failing_layer(function)), caffe.TRAIN)
        for function in ("reshape", "forward", "backward"):
            solver = caffe.SGDSolver(self.write_solver(with_failing_layer("")))
            feed(solver.net)
            solver.step(1)
            layer = solver.net.layer_dict["odd"]
            layer.failing_function = function
            before = solver.net.params["ip1"][0].data.copy()
            with self.assertRaisesRegex(LayerError, function):
                solver.step(1)
            np.testing.assert_array_equal(solver.net.params["ip1"][0].data, before)  # no update after an incomplete pass
            layer.failing_function = ""
            solver.step(1)
            self.assertEqual(solver.iter, 2)
            self.assertTrue((solver.net.params["ip1"][0].data != before).any())

    def test_invalid_nets_raise(self):
        for text in ("layer {", "layer { name: 'a' type: 'ReLU' bottom: 'x' top: 'x' }",
                     DEPLOY.replace("kernel_size: 3", "kernel_size: 30"), DEPLOY.replace("'Softmax'", "'Softmacks'"),
                     DEPLOY.replace("num_output: 5", "num_outputs: 5"),
                     DEPLOY + "layer { name: 'z' type: 'Slice' bottom: 'prob' top: 'y' top: 'z' loss_weight: 1 "
                     "slice_param { axis: 1 slice_point: 2 } }",
                     DEPLOY + "layer { name: 'z' type: 'Python' bottom: 'prob' top: 'z' }",
                     DEPLOY + "layer { name: 'z' type: 'TanH' bottom: 'fc' top: 'prob' }"):
            with self.assertRaises(RuntimeError):
                caffe.Net(self.write(text), caffe.TEST)

    def test_equal_nets_in_several_files(self):
        """The error of each file has its path, although the failure of an equal net is cached."""
        os.mkdir(self.path("b{1}"))
        for text in ("layer {", DEPLOY.replace("num_output: 5", "num_outputs: 5")):
            for name in ("one.prototxt", "two.prototxt", "b{1}/three.prototxt", "one.prototxt"):
                path = self.write(text, name)
                with self.assertRaises(RuntimeError) as caught:
                    caffe.Net(path, caffe.TEST)
                self.assertTrue(str(caught.exception).startswith(path + ":"), caught.exception)
        self.assertIn("prob", caffe.Net(self.write(DEPLOY, "b{1}/fine.prototxt"), caffe.TEST).blobs)

    def test_failures_keep_no_nets_alive(self):
        """Covers a net that runs although its fused plan does not compile, and a rejected net. Each is
        created several times, because failures are cached."""
        def create_and_run(path):
            net = caffe.Net(path, caffe.TRAIN)
            net.forward()
            net.backward()
            return net

        def create_rejected(path):
            nets = []

            class Net(caffe.Net):
                def __init__(self, *arguments):
                    nets.append(weakref.ref(self))
                    super().__init__(*arguments)

            try:
                Net(path, caffe.TRAIN)
            except RuntimeError as failure:
                messages.append(str(failure))
                return nets[0]()
            self.fail("the net compiles")

        messages = []
        too_large = DEPLOY.replace("kernel_size: 3", "kernel_size: 30")
        for text, create in ((BOTTOM_WITHOUT_GRADIENT, create_and_run), (too_large, create_rejected)):
            path = self.write(text)
            for _ in range(3):
                net = create(path)
                reference = weakref.ref(net)
                del net
                gc.collect()
                self.assertIsNone(reference())
        self.assertIn("conv1", messages[0])
        self.assertEqual(messages, [messages[0]] * 3)
        errors = []
        for _ in range(2):
            with self.assertRaises(brew.CompileError) as caught:
                _plan_cache.plan(text_format.Parse(text, caffe_pb2.NetParameter()))
            errors.append(caught.exception)
        self.assertIsNot(*errors)
        for get in (str, lambda failure: failure.diagnostics, lambda failure: failure.status):
            self.assertEqual(*map(get, errors))

    def test_repeated_failures_keep_no_frames_alive(self):
        """A layer without a backward pass raises the error each time."""
        net = caffe.Net(self.write("""force_backward: true
            layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 4 dim: 5 } } }
            layer { name: 'a' type: 'ArgMax' bottom: 'x' top: 'a' }"""), caffe.TEST)
        net.forward()

        def fail_with_local():
            local = LayerError()
            try:
                net.backward()
            except RuntimeError as failure:
                failures.append((str(failure), len(traceback.extract_tb(failure.__traceback__))))
            return weakref.ref(local)

        failures = []
        references = [fail_with_local() for _ in range(3)]
        gc.collect()
        self.assertEqual([reference() for reference in references], [None] * 3)
        self.assertEqual(failures, [failures[0]] * 3)
        self.assertIn("layer 'a' (ArgMax): ArgMax has no gradient", failures[0][0])

    def test_missing_and_invalid_phases_raise(self):
        for arguments in (("TEST",), ("a.caffemodel",), (7,), ()):
            with self.assertRaises((TypeError, ValueError)):
                caffe.Net(self.write(DEPLOY), *arguments)

    def test_wrong_input_arrays_raise(self):
        net = self.make_net()
        for values in (np.zeros((2, 3, 8, 9)), np.zeros((3, 3, 8, 8))):
            with self.assertRaises(Exception):
                net.forward(data=values)
        with self.assertRaises(ValueError):
            net.blobs["data"].data[...] = "cat"
        out = net.forward(data=np.ones((2, 3, 8, 8), np.int64))["prob"]
        self.close(out.sum(axis=1), [1, 1])
        with self.assertRaises((TypeError, ValueError)):
            net.forward(data=np.full((2, 3, 8, 8), "cat"))
        with self.assertRaises((TypeError, ValueError)):
            net.blobs["data"].data[...] = [[1, 2], [3]]
        for shape in ((-1, 3), (2.5, "x")):
            with self.assertRaises((RuntimeError, TypeError, ValueError)):
                net.blobs["data"].reshape(*shape)

    def test_wrong_arrays_of_memory_data_raise(self):
        net = self.make_net("""
            layer { name: 'in' type: 'MemoryData' top: 'x' top: 'label'
                    memory_data_param { batch_size: 2 channels: 3 height: 4 width: 4 } }""")
        data, labels = np.zeros((4, 3, 4, 4), np.float32), np.zeros(4, np.float32)
        for wrong in ((data.astype(np.float64), labels), (data, labels.astype(np.int64)), (data[:3], labels[:3]),
                      (data[:, :2], labels), (data.transpose(0, 1, 3, 2)[:, :, ::2], labels), (data, labels[:2]),
                      (data[:0], labels[:0])):
            with self.assertRaises(RuntimeError):
                net.set_input_arrays(*wrong)
        with self.assertRaisesRegex(RuntimeError, "set_input_arrays"):
            net.forward()
        net.set_input_arrays(data + 1, labels)
        self.assertEqual(float(net.forward()["x"].min()), 1)

    def test_unknown_names_raise(self):
        net = self.make_net()
        with self.assertRaises(KeyError):
            net.blobs["nope"]
        with self.assertRaises(KeyError):
            net.forward(blobs=["nope"])
        with self.assertRaises(ValueError):
            net.forward(end="nope")

    def test_errors_of_nets_name_every_wrong_layer(self):
        path = self.write("""layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 } } }
            layer { name: 'a' type: 'ReLU' bottom: 'y' top: 'a' }
            layer { name: 'b' type: 'InnerProduct' bottom: 'x' top: 'x' inner_product_param { num_output: 3 } }
            layer { name: 'c' type: 'TanH' bottom: 'x' top: 'c' loss_weight: 1 loss_weight: 2 }
            layer { name: 'd' type: 'InnerProduct' bottom: 'x' top: 'a' param {} param {} param {} }""", "e.prototxt")
        with self.assertRaises(RuntimeError) as caught:
            caffe.Net(path, caffe.TEST)
        errors = [line.removeprefix(path + ":") for line in str(caught.exception).splitlines() if "error:" in line]
        self.assertEqual(errors, [
            "2:44: error: layer 'a' (ReLU): bottom blob 'y' is not produced by any layer before it",
            "4:65: error: layer 'c' (TanH): loss_weight is given 2 times for 1 top; it takes one for each, or none",
            "5:64: error: layer 'd' (InnerProduct): top blob 'a' is already produced by layer 'a'",
            "5:91: error: layer 'd' (InnerProduct): param is given 3 times, but the layer has 2 parameters",
            "5:13: error: layer 'd' (InnerProduct): num_output is missing"])

    def test_errors_of_nets_name_the_line(self):
        path = self.write("layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 1 dim: 1 dim: 4 dim: 4 } } }\n"
                          "layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'c' include { stage: 'big' }\n"
                          "  convolution_param { num_output: 1 kernel_size: 9 } }\n")
        caffe.Net(path, caffe.TEST)
        message = "%s:2:1: error: layer 'c' (Convolution): kernel height 9 is larger" % path
        with self.assertRaises(RuntimeError) as caught:
            caffe.Net(path, caffe.TEST, stages=["big"])
        self.assertTrue(str(caught.exception).startswith(message), caught.exception)
        solver = self.write("net: 'net.prototxt' base_lr: 1 lr_policy: 'fixed' train_state { stage: 'big' }",
                            "solver.prototxt")
        with self.assertRaises(RuntimeError) as caught:
            caffe.get_solver(solver)
        self.assertTrue(str(caught.exception).startswith(message), caught.exception)

    def test_failed_loads_change_no_weights(self):
        net = self.make_net()
        net.save(self.path("w.caffemodel"))
        before = {k: [b.data.copy() for b in v] for k, v in net.params.items()}
        wider_net = self.make_net(DEPLOY.replace("num_output: 5", "num_output: 6"))
        conv1_before = wider_net.params["conv1"][0].data.copy()
        with self.assertRaises(RuntimeError) as caught:
            wider_net.copy_from(self.path("w.caffemodel"))
        self.assertIn("fc", str(caught.exception))
        np.testing.assert_array_equal(wider_net.params["conv1"][0].data, conv1_before)  # nothing was loaded
        for name, text in (("t.caffemodel", "no weights"), ("t.h5", "no HDF5")):
            with self.assertRaises(RuntimeError):
                net.copy_from(self.write(text, name))
        with self.assertRaises(OSError):
            net.save(os.path.join(self.path("nowhere"), "w.caffemodel"))
        for name, blobs in net.params.items():
            for blob, values in zip(blobs, before[name]):
                np.testing.assert_array_equal(blob.data, values)

    def test_arrays_outlive_their_net(self):
        net = self.make_net()
        arrays = [b.data for b in net.blobs.values()] + [p.data for v in net.params.values() for p in v]
        del net
        gc.collect()
        for array in arrays:
            array[...] = 1
        self.assertTrue(all((array == 1).all() for array in arrays))

    def test_concurrent_passes_of_a_net_run_or_raise(self):
        net = self.make_net(DEPLOY.replace("dim: 8 dim: 8", "dim: 64 dim: 64"))
        failures = []
        start = threading.Event()
        x = random_array(1, 2, 3, 64, 64)
        net.blobs["data"].data[...] = x
        expected = net.forward()["prob"].copy()

        def run():
            start.wait()
            for _ in range(30):
                try:
                    net.forward()
                except RuntimeError as failure:
                    failures.append(str(failure))

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        start.set()
        for thread in threads:
            thread.join()
        self.assertTrue(all("thread" in failure for failure in failures))
        np.testing.assert_array_equal(net.forward()["prob"], expected)

    def test_a_second_thread_is_rejected(self):
        for text, use in ((DEPLOY, lambda net: net.forward()), (TRAIN, lambda net: net.backward())):
            net = self.make_net(text, caffe.TRAIN)
            inside, done = threading.Event(), threading.Event()

            def wait(layer, inside=inside, done=done):
                inside.set()
                done.wait(30)

            net.before_forward(wait)
            thread = threading.Thread(target=net.forward)
            thread.start()
            self.assertTrue(inside.wait(30))
            with self.assertRaisesRegex(RuntimeError, "another thread"):
                use(net)
            done.set()
            thread.join()
            net.forward()

    def test_threads_with_separate_nets(self):
        nets = [self.make_net() for _ in range(4)]
        x = random_array(1, 2, 3, 8, 8)
        expected, results = nets[0].forward(data=x)["prob"].copy(), [None] * 4

        def run(i):
            for _ in range(20):
                results[i] = nets[i].forward(data=x)["prob"].copy()

        threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for result in results:
            np.testing.assert_array_equal(result, expected)


if __name__ == "__main__":
    unittest.main()
