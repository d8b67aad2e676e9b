"""What must not end the process."""
import gc
import os
import threading
import unittest

import brew
import caffe
import numpy as np

from common import DEPLOY, TRAIN, Case, feed, fill, numbers


class Odd(Exception):
    pass


class Fails(caffe.Layer):
    """Hands its bottom on, and raises where ``param_str`` says."""

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
    """TRAIN with such a layer in it."""
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

    def test_a_failed_check(self):
        """A label that is no class, which ends a process of Caffe's."""
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
            np.testing.assert_array_equal(solver.net.params["ip1"][0].data, before)  # no update of half a pass
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
