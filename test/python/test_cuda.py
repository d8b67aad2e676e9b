"""Tests plans for GPUs on the CUDA simulator in the folder BREW_CUDASIM."""
import os
import sys
import unittest

import brew
import caffe
import numpy as np
from brew import _cuda

from common import DEPLOY, Case, fill, random_array


@unittest.skipUnless(os.path.exists(os.path.join(os.environ.get("BREW_CUDASIM", ""), "libcuda.so.1")),
                     "the CUDA simulator is not built")
class Simulated(Case):
    def test_run_and_export(self):
        x = random_array(1, 2, 3, 8, 8)
        options = dict(keep=["pool1", "fc"], layout="nchw")
        host = brew.compile(DEPLOY, **options).session(seed=1)
        session = brew.compile(DEPLOY, target="cuda", gpu_arch="sim", **options).session(seed=1, device="cuda:0")
        self.assertNotEqual(session.device, "cpu")
        for name in ("conv1", "fc"):
            session.params[name] = host.params[name]
        self.close(session(data=x)["prob"], host(data=x)["prob"])
        exported = session.blobs.exported("fc")
        self.assertEqual(exported.__dlpack_device__(), (2, 0))
        exported.__dlpack__()
        with self.assertRaises(brew.Error):
            session.plan.session(device="cpu")
        with self.assertRaises(brew.Error):
            session.plan.session(device=7)


NET = """force_backward: true
layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 4 dim: 5 dim: 5 } } }
layer { name: 't' type: 'Input' top: 't' input_param { shape { dim: 2 dim: 3 } } }
layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'c' convolution_param { num_output: 4 kernel_size: 3 pad: 1 } }
layer { name: 'bn' type: 'BatchNorm' bottom: 'c' top: 'c' batch_norm_param { use_global_stats: false } }
layer { name: 'sc' type: 'Scale' bottom: 'c' top: 'c' scale_param { bias_term: true } }
layer { name: 'r' type: 'ReLU' bottom: 'c' top: 'c' }
layer { name: 'sg' type: 'Sigmoid' bottom: 'c' top: 'sg' }
layer { name: 'sum' type: 'Eltwise' bottom: 'c' bottom: 'sg' top: 'sum' }
layer { name: 'ip' type: 'InnerProduct' bottom: 'sum' top: 'ip' inner_product_param { num_output: 3 } }
layer { name: 'loss' type: 'EuclideanLoss' bottom: 'ip' bottom: 't' top: 'loss' }
"""


@unittest.skipUnless(os.path.exists(os.path.join(os.environ.get("BREW_CUDASIM", ""), "libcuda.so.1")),
                     "the CUDA simulator is not built")
class Pycaffe(Case):
    """caffe.set_mode_gpu: the same values as in mode CPU."""

    def setUp(self):
        super().setUp()
        self.addCleanup(caffe.set_mode_cpu)

    def compare(self, run):
        """Calls run() in both modes and compares the arrays that it returns."""
        results = []
        for set_mode in (caffe.set_mode_cpu, caffe.set_mode_gpu):
            set_mode()
            results.append(run())
        self.assertEqual(len(results[0]), len(results[1]))
        for host, device in zip(*results):
            self.close(host, device, 2e-5)

    def test_passes(self):
        path = self.write(NET)

        def run(is_layered):
            net = caffe.Net(path, caffe.TEST)
            fill(net, 3)
            if is_layered:
                net.before_forward(lambda layer: None)
            arrays = []
            for seed in (1, 2):  # the parameters change in between
                net.forward(x=random_array(seed, 2, 4, 5, 5), t=random_array(9, 2, 3))
                arrays += [net.blobs[name].data.copy() for name in ("c", "ip", "loss")]
                net.backward()
                arrays += [net.blobs["x"].diff.copy(), net.params["c"][0].diff.copy(), net.params["bn"][1].data.copy()]
                net.params["ip"][0].data[...] *= 0.5
            return arrays

        for is_layered in (False, True):
            self.compare(lambda is_layered=is_layered: run(is_layered))

    def test_edits_between_the_passes(self):
        path = self.write("""force_backward: true
            layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 } } }
            layer { name: 's' type: 'Sigmoid' bottom: 'x' top: 's' }""")

        def run():
            net = caffe.Net(path, caffe.TEST)
            net.forward(x=random_array(1, 2, 3))
            net.blobs["s"].data[...] = 0.25
            net.backward(s=np.full((2, 3), 2, np.float32))
            return [net.blobs["x"].diff.copy()]

        self.compare(run)
        self.close(run()[0], np.full((2, 3), 2 * 0.25 * 0.75), 1e-6)

    def test_modes_change_between_passes(self):
        path = self.write(NET)
        inputs = dict(x=random_array(1, 2, 4, 5, 5), t=random_array(9, 2, 3))
        net, unchanged = caffe.Net(path, caffe.TEST), caffe.Net(path, caffe.TEST)
        for each in (net, unchanged):
            fill(each, 3)
        for set_mode in (caffe.set_mode_gpu, caffe.set_mode_cpu, caffe.set_mode_gpu):
            set_mode()
            loss = float(net.forward(**inputs)["loss"])
            caffe.set_mode_cpu()
            self.close(loss, float(unchanged.forward(**inputs)["loss"]), 2e-5)

    def test_solvers(self):
        file = self.write("train_net: '%s' base_lr: 0.1 momentum: 0.9 lr_policy: 'fixed' max_iter: 9 "
                          "snapshot_after_train: false" % self.write(NET), "s.prototxt")

        def run():
            solver = caffe.SGDSolver(file)
            fill(solver.net, 4)
            solver.net.blobs["x"].data[...] = random_array(1, 2, 4, 5, 5)
            solver.net.blobs["t"].data[...] = random_array(2, 2, 3)
            solver.step(3)
            return [blob.data.copy() for blobs in solver.net.params.values() for blob in blobs]

        self.compare(run)

    def test_missing_devices_raise(self):
        with self.assertRaisesRegex(RuntimeError, "there is no GPU 7"):
            caffe.set_device(7)


class Wheels(Case):
    def test_library_folders_contain_installed_wheels(self):
        for package in ("cublas", "cudnn"):
            os.makedirs(self.path("nvidia/%s/lib" % package))
        sys.path.append(self.folder)
        self.addCleanup(sys.path.remove, self.folder)
        folders = _cuda.library_folders()
        self.assertIn(self.path("nvidia/cublas/lib"), folders)
        self.assertIn(self.path("nvidia/cudnn/lib"), folders)

    def test_unloadable_libraries_are_left_to_the_runtime(self):
        os.makedirs(self.path("nvidia/cublas/lib"))
        self.write("no library", "nvidia/cublas/lib/libcublasLt.so.13")
        sys.path.append(self.folder)
        self.addCleanup(sys.path.remove, self.folder)
        self.addCleanup(setattr, _cuda, "_done", _cuda._done)
        _cuda._done = False
        _cuda.load_libraries()
        self.assertTrue(_cuda._done)


if __name__ == "__main__":
    unittest.main()
