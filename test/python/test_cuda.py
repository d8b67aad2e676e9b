"""Tests plans for GPUs on the CUDA simulator in the folder BREW_CUDASIM."""
import os
import sys
import unittest

import brew
from brew import _cuda

from common import DEPLOY, Case, random_array


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
