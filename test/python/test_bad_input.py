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

from common import DEPLOY, TRAIN, Case, feed, fill, numbers


# Not all bottoms of layer 'r' have gradients; the compiler detects that.
NO_GRADIENT_OF_ALL = """
layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 4 dim: 5 } } }
layer { name: 'i' type: 'Input' top: 'i' input_param { shape { dim: 3 } } }
layer { name: 'z' type: 'Input' top: 'z' input_param { shape { dim: 3 dim: 3 } } }
layer { name: 'a' type: 'InnerProduct' bottom: 'x' top: 'a' inner_product_param { num_output: 3
  weight_filler { type: 'xavier' } } }
layer { name: 'r' type: 'BatchReindex' bottom: 'a' bottom: 'i' top: 'r' }
layer { name: 'l' type: 'EuclideanLoss' bottom: 'r' bottom: 'z' top: 'l' }
"""


class Odd(Exception):
    pass


class Fails(caffe.Layer):
    """Copies its bottom and raises in the function that ``param_str`` names."""

    def __init__(self, param):
        super().__init__(param)
        self.where = param.python_param.param_str

    def pass_by(self, where):
        if where == self.where:
            raise Odd(where)

    def setup(self, bottom, top):
        self.pass_by("setup")

    def reshape(self, bottom, top):
        self.pass_by("reshape")
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        self.pass_by("forward")
        top[0].data[...] = bottom[0].data

    def backward(self, top, propagate_down, bottom):
        self.pass_by("backward")
        bottom[0].diff[...] = top[0].diff


def with_layer(where):
    """Returns TRAIN with a layer that fails in `where`."""
    return TRAIN.replace("layer { name: 'ip2' type: 'InnerProduct' bottom: 'ip1'", """
layer { name: 'odd' type: 'Python' bottom: 'ip1' top: 'odd'
  python_param { module: '%s' layer: 'Fails' param_str: '%s' } }
layer { name: 'ip2' type: 'InnerProduct' bottom: 'odd'""" % (__name__, where))


class BadInput(Case):
    def net(self, text=DEPLOY, phase=caffe.TEST):
        net = caffe.Net(self.write(text), phase)
        fill(net)
        return net

    def solver(self, text):
        return self.write("train_net: '%s' base_lr: 0.1 lr_policy: 'fixed' max_iter: 9 snapshot_after_train: false "
                          "snapshot_prefix: 'x' random_seed: 1" % self.write(text), "solver.prototxt")

    def test_a_name_that_is_not_utf8(self):
        path = self.path("latin1.prototxt")
        with open(path, "wb") as file:
            file.write(b"# caf\xe9\n" + DEPLOY.replace("'small'", "'caf~'").encode().replace(b"~", b"\xe9"))
        for read in lambda: brew.compile(path), lambda: caffe.Net(path, caffe.TEST):
            with self.assertRaisesRegex(RuntimeError, "latin1.prototxt:2:11: error: 'name' is not UTF-8"):
                read()

    def test_a_failed_check(self):
        """A label out of range, which ends the process in Caffe."""
        net = self.net(TRAIN, caffe.TRAIN)
        feed(net)
        net.blobs["label"].data[1] = 7
        with self.assertRaises(RuntimeError) as caught:
            net.forward()
        self.assertIn("loss", str(caught.exception))
        feed(net)
        self.assertGreater(float(net.forward()["loss"]), 0)

    def test_a_failed_check_of_a_solver_and_of_a_session(self):
        file = self.solver(TRAIN)
        solver = caffe.SGDSolver(file)
        session = brew.compile(file).session(seed=1)
        for good in (True, False, True):
            feed(solver.net)
            if not good:
                solver.net.blobs["label"].data[1] = 7
            session.set_inputs(**{name: solver.net.blobs[name].data.copy() for name in ("data", "label")})
            for step in (solver.step, session.step):
                if good:
                    step(2)
                else:
                    with self.assertRaisesRegex(RuntimeError, "loss"):
                        step(2)
        self.assertEqual((solver.iter, session.iteration), (4, 4))

    def test_exceptions_of_layers(self):
        for where in ("setup", "reshape"):
            with self.assertRaisesRegex(Odd, where):
                caffe.Net(self.write(with_layer(where)), caffe.TRAIN)
        for where in ("reshape", "forward", "backward"):
            solver = caffe.SGDSolver(self.solver(with_layer("")))
            feed(solver.net)
            solver.step(1)
            layer = solver.net.layer_dict["odd"]
            layer.where = where
            before = solver.net.params["ip1"][0].data.copy()
            with self.assertRaisesRegex(Odd, where):
                solver.step(1)
            np.testing.assert_array_equal(solver.net.params["ip1"][0].data, before)  # no update after an incomplete pass
            layer.where = ""
            solver.step(1)
            self.assertEqual(solver.iter, 2)
            self.assertTrue((solver.net.params["ip1"][0].data != before).any())

    def test_nets_that_do_not_compile(self):
        for text in ("layer {", "layer { name: 'a' type: 'ReLU' bottom: 'x' top: 'x' }",
                     DEPLOY.replace("kernel_size: 3", "kernel_size: 30"), DEPLOY.replace("'Softmax'", "'Softmacks'"),
                     DEPLOY.replace("num_output: 5", "num_outputs: 5"),
                     DEPLOY + "layer { name: 'z' type: 'Slice' bottom: 'prob' top: 'y' top: 'z' loss_weight: 1 "
                     "slice_param { axis: 1 slice_point: 2 } }",
                     DEPLOY + "layer { name: 'z' type: 'Python' bottom: 'prob' top: 'z' }",
                     DEPLOY + "layer { name: 'z' type: 'TanH' bottom: 'fc' top: 'prob' }"):
            with self.assertRaises(RuntimeError):
                caffe.Net(self.write(text), caffe.TEST)

    def test_texts_of_two_files(self):
        """Both errors are reported; the second one repeats the message of the first."""
        os.mkdir(self.path("b{1}"))
        for text in ("layer {", DEPLOY.replace("num_output: 5", "num_outputs: 5")):
            for name in ("one.prototxt", "two.prototxt", "b{1}/three.prototxt", "one.prototxt"):
                path = self.write(text, name)
                with self.assertRaises(RuntimeError) as caught:
                    caffe.Net(path, caffe.TEST)
                self.assertTrue(str(caught.exception).startswith(path + ":"), caught.exception)
        self.assertIn("prob", caffe.Net(self.write(DEPLOY, "b{1}/fine.prototxt"), caffe.TEST).blobs)

    def test_nets_are_gone_where_something_did_not_compile(self):
        """Nets that run anyway, and rejected nets; each twice, because failures are cached."""
        def runs(path):
            net = caffe.Net(path, caffe.TRAIN)
            net.forward()
            net.backward()
            return net

        def is_refused(path):
            found = []

            class Net(caffe.Net):
                def __init__(self, *arguments):
                    found.append(weakref.ref(self))
                    super().__init__(*arguments)

            try:
                Net(path, caffe.TRAIN)
            except RuntimeError as failure:
                said.append(str(failure))
                return found[0]()
            self.fail("it compiles")

        said = []
        too_large = DEPLOY.replace("kernel_size: 3", "kernel_size: 30")
        for text, make in ((NO_GRADIENT_OF_ALL, runs), (too_large, is_refused)):
            path = self.write(text)
            for _ in range(3):
                net = make(path)
                gone = weakref.ref(net)
                del net
                gc.collect()
                self.assertIsNone(gone())
        self.assertIn("conv1", said[0])
        self.assertEqual(said, [said[0]] * 3)
        failed = []
        for _ in range(2):
            with self.assertRaises(brew.CompileError) as caught:
                _plan_cache.plan(text_format.Parse(text, caffe_pb2.NetParameter()))
            failed.append(caught.exception)
        self.assertIsNot(*failed)
        for of in (str, lambda failure: failure.diagnostics, lambda failure: failure.status):
            self.assertEqual(*map(of, failed))

    def test_repeated_failures_keep_no_frames_alive(self):
        """A layer without a backward pass raises the error each time."""
        net = caffe.Net(self.write("""force_backward: true
            layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 4 dim: 5 } } }
            layer { name: 'a' type: 'ArgMax' bottom: 'x' top: 'a' }"""), caffe.TEST)
        net.forward()

        def fails():
            mine = Odd()
            try:
                net.backward()
            except RuntimeError as failure:
                said.append((str(failure), len(traceback.extract_tb(failure.__traceback__))))
            return weakref.ref(mine)

        said = []
        gone = [fails() for _ in range(3)]
        gc.collect()
        self.assertEqual([each() for each in gone], [None] * 3)
        self.assertEqual(said, [said[0]] * 3)
        self.assertIn("layer 'a' (ArgMax): ArgMax has no gradient", said[0][0])

    def test_a_phase_that_is_none(self):
        for arguments in (("TEST",), ("a.caffemodel",), (7,), ()):
            with self.assertRaises((TypeError, ValueError)):
                caffe.Net(self.write(DEPLOY), *arguments)

    def test_wrong_arrays(self):
        net = self.net()
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

    def test_arrays_of_memory_data(self):
        net = self.net("""
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

    def test_names_that_are_not_there(self):
        net = self.net()
        with self.assertRaises(KeyError):
            net.blobs["nope"]
        with self.assertRaises(KeyError):
            net.forward(blobs=["nope"])
        with self.assertRaises(ValueError):
            net.forward(end="nope")

    def test_weights_that_do_not_fit(self):
        net = self.net()
        net.save(self.path("w.caffemodel"))
        before = {k: [b.data.copy() for b in v] for k, v in net.params.items()}
        other = self.net(DEPLOY.replace("num_output: 5", "num_output: 6"))
        mine = other.params["conv1"][0].data.copy()
        with self.assertRaises(RuntimeError) as caught:
            other.copy_from(self.path("w.caffemodel"))
        self.assertIn("fc", str(caught.exception))
        np.testing.assert_array_equal(other.params["conv1"][0].data, mine)  # nothing was loaded
        for name, text in (("t.caffemodel", "no weights"), ("t.h5", "no HDF5")):
            with self.assertRaises(RuntimeError):
                net.copy_from(self.write(text, name))
        with self.assertRaises(OSError):
            net.save(os.path.join(self.path("nowhere"), "w.caffemodel"))
        for name, blobs in net.params.items():
            for blob, values in zip(blobs, before[name]):
                np.testing.assert_array_equal(blob.data, values)

    def test_arrays_of_a_net_that_is_gone(self):
        net = self.net()
        arrays = [b.data for b in net.blobs.values()] + [p.data for v in net.params.values() for p in v]
        del net
        gc.collect()
        for array in arrays:
            array[...] = 1
        self.assertTrue(all((array == 1).all() for array in arrays))

    def test_two_threads_on_one_net(self):
        net = self.net(DEPLOY.replace("dim: 8 dim: 8", "dim: 64 dim: 64"))
        failures = []
        going = threading.Event()
        x = numbers(1, 2, 3, 64, 64)
        net.blobs["data"].data[...] = x
        expected = net.forward()["prob"].copy()

        def run():
            going.wait()
            for _ in range(30):
                try:
                    net.forward()
                except RuntimeError as failure:
                    failures.append(str(failure))

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        going.set()
        for thread in threads:
            thread.join()
        self.assertTrue(all("thread" in failure for failure in failures))
        np.testing.assert_array_equal(net.forward()["prob"], expected)

    def test_a_second_thread_is_refused(self):
        for text, use in ((DEPLOY, lambda net: net.forward()), (TRAIN, lambda net: net.backward())):
            net = self.net(text, caffe.TRAIN)
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

    def test_nets_of_several_threads(self):
        nets = [self.net() for _ in range(4)]
        x = numbers(1, 2, 3, 8, 8)
        expected, found = nets[0].forward(data=x)["prob"].copy(), [None] * 4

        def run(i):
            for _ in range(20):
                found[i] = nets[i].forward(data=x)["prob"].copy()

        threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for each in found:
            np.testing.assert_array_equal(each, expected)


if __name__ == "__main__":
    unittest.main()
