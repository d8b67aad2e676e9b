"""What must not end the process, nor leak."""
import gc
import os
import subprocess
import sys
import threading
import unittest

import caffe
import numpy as np

from common import DEPLOY, TRAIN, Case, feed, fill, numbers


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class BadInput(Case):
    def net(self, text=DEPLOY, phase=caffe.TEST):
        net = caffe.Net(self.write(text), phase)
        fill(net)
        return net

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
        for shape in ((-1, 3), (2.5, "x")):
            with self.assertRaises((RuntimeError, TypeError, ValueError)):
                net.blobs["data"].reshape(*shape)

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

    def test_fork_after_use(self):
        program = """
import os, sys, caffe, numpy as np
net = caffe.Net(sys.argv[1], caffe.TEST)
net.forward()
child = os.fork()
if child == 0:
    try:
        net.forward()
    except RuntimeError as failure:
        os._exit(7 if 'forked' in str(failure) else 8)
    os._exit(9)
status = os.waitpid(child, 0)[1]
net.forward()
sys.exit(os.WEXITSTATUS(status))
"""
        done = subprocess.run([sys.executable, "-c", program, self.write(DEPLOY)], timeout=60)
        self.assertEqual(done.returncode, 7)

    def test_a_thousand_nets(self):
        path = self.write("force_backward: true\n" + DEPLOY)
        x, g = numbers(1, 2, 3, 8, 8), numbers(2, 2, 5)

        def make(count):
            for _ in range(count):
                net = caffe.Net(path, caffe.TEST)
                net.forward(data=x)
                net.backward(prob=g)
            del net
            gc.collect()
            return resident()

        make(100)
        before = make(100)
        after = make(800)
        # A net takes some 60 kB: 800 that stayed would be 50 MB.
        self.assertLess(after - before, 4 << 20)


if __name__ == "__main__":
    unittest.main()
