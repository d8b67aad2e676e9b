"""caffe.NCCL: solvers in several processes that train one net."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import brew
import caffe
import h5py
import numpy as np

from common import TRAIN, Case

RECORDS, BATCH, STEPS = 48, 4, 7

# Two layers that share their weights; each contributes to the gradient.
NET = """name: 'ranks'
layer { name: 'data' type: 'HDF5Data' top: 'data' top: 'label' hdf5_data_param { source: 'LIST' batch_size: %d MORE } }
layer { name: 'conv' type: 'Convolution' bottom: 'data' top: 'conv' convolution_param { num_output: 6 kernel_size: 3
  weight_filler { type: 'xavier' } } }
layer { name: 'relu' type: 'ReLU' bottom: 'conv' top: 'conv' }
layer { name: 'ip1' type: 'InnerProduct' bottom: 'conv' top: 'ip1' inner_product_param { num_output: 16
  weight_filler { type: 'xavier' } } }
layer { name: 'a' type: 'InnerProduct' bottom: 'ip1' top: 'a' param { name: 'w' } param { name: 'b' }
  inner_product_param { num_output: 16 weight_filler { type: 'xavier' } } }
layer { name: 'b' type: 'InnerProduct' bottom: 'a' top: 'b' param { name: 'w' } param { name: 'b' }
  inner_product_param { num_output: 16 weight_filler { type: 'xavier' } } }
layer { name: 'ip2' type: 'InnerProduct' bottom: 'b' top: 'ip2' inner_product_param { num_output: 3
  weight_filler { type: 'xavier' } } }
layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip2' bottom: 'label' top: 'loss' }
""" % BATCH

SOLVER = """base_lr: 0.05 momentum: 0.9 weight_decay: 0.001 lr_policy: 'fixed' max_iter: %d display: 2
snapshot_after_train: false """ % STEPS

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rank_program.py")


class Uses(Case):
    """Tests without other ranks."""

    def tearDown(self):
        caffe.set_solver_count(1)
        caffe.set_solver_rank(0)
        caffe.set_multiprocess(False)

    def test_one(self):
        """A single solver needs no other rank."""
        uid = caffe.NCCL.new_uid()
        self.assertIsInstance(uid, bytes)  # as in pycaffe
        self.assertNotEqual(uid, caffe.NCCL.new_uid())
        solver = caffe.SGDSolver(self.write("train_net: '%s' base_lr: 0.1 lr_policy: 'fixed' snapshot_prefix: 's'"
                                            % self.write(TRAIN), "s.prototxt"))
        nccl = caffe.NCCL(solver, uid)
        nccl.bcast()
        solver.add_callback(nccl)
        solver.net.after_backward(nccl)
        solver.step(2)
        self.assertEqual(solver.iter, 2)

    def test_mistakes(self):
        solver = caffe.SGDSolver(self.write("train_net: '%s' base_lr: 0.1 lr_policy: 'fixed' snapshot_prefix: 's'"
                                            % self.write(TRAIN), "s.prototxt"))
        for call in (lambda: caffe.set_solver_count(0), lambda: caffe.set_solver_rank(-1)):
            with self.assertRaises(ValueError):
                call()
        caffe.set_solver_count(2)
        with self.assertRaisesRegex(RuntimeError, "set_multiprocess"):
            caffe.NCCL(solver, caffe.NCCL.new_uid())
        caffe.set_multiprocess(True)
        caffe.set_solver_rank(2)
        with self.assertRaisesRegex(RuntimeError, "no rank 2 of 2"):
            caffe.NCCL(solver, caffe.NCCL.new_uid())
        caffe.set_solver_rank(1)
        for wrong in ("../elsewhere", b"../elsewhere", "\u00e9" * 32, b"\xe9" * 32):
            with self.assertRaisesRegex(ValueError, "not a uid"):
                caffe.NCCL(solver, wrong)
        with self.assertRaisesRegex(RuntimeError, "rank 1 cannot write snapshots"):
            solver.snapshot()
        with self.assertRaises(TypeError):
            solver.add_callback(lambda: None)
        plan = brew.compile(self.write(TRAIN), phase="test")
        for rank, ranks in (2, 2), (-1, 2):
            with self.assertRaisesRegex(brew.Error, "there is no rank %d of %d" % (rank, ranks)):
                brew._core.Session(plan._core, reader_rank=rank, reader_ranks=ranks)

    def test_seeds(self):
        """Each rank draws different random numbers; rank 0 draws the numbers of a single solver."""
        solver = self.write("train_net: '%s' random_seed: 5 base_lr: 0.1 lr_policy: 'fixed' snapshot_prefix: 's'"
                            % self.write(TRAIN), "s.prototxt")

        def drawn(rank, count):
            caffe.set_solver_count(count)
            caffe.set_solver_rank(rank)
            return caffe.SGDSolver(solver).net.params["ip1"][0].data.copy()

        alone = drawn(0, 1)
        np.testing.assert_array_equal(alone, drawn(0, 3))
        first, second = drawn(1, 3), drawn(2, 3)
        self.assertTrue((alone != first).any() and (first != second).any() and (alone != second).any())
        np.testing.assert_array_equal(first, drawn(1, 3))

    def test_share_of_records(self):
        """Rank i modulo N trains on record i; every rank tests on all records."""
        with h5py.File(self.path("d.h5"), "w") as file:
            file["data"] = np.arange(12, dtype="f4").reshape(12, 1)
        self.write(self.path("d.h5") + "\n", "d.txt")
        net = self.write("layer { name: 'd' type: 'HDF5Data' top: 'data' hdf5_data_param { source: '%s' batch_size: 2 } }"
                         % self.path("d.txt"))
        caffe.set_solver_count(3)
        caffe.set_solver_rank(1)
        for phase, wanted in (caffe.TRAIN, [1, 4, 7, 10, 1, 4]), (caffe.TEST, [0, 1, 2, 3, 4, 5]):
            made = caffe.Net(net, phase)
            self.assertEqual([int(v) for _ in range(3) for v in made.forward()["data"].ravel()], wanted)


@unittest.skipUnless(caffe.has_nccl(), "Open MPI, which connects ranks, is not installed")
class Ranks(Case):
    def setUp(self):
        super().setUp()
        random = np.random.RandomState(3)
        self.data = random.randn(RECORDS, 2, 6, 6).astype("f4")
        self.label = random.randint(0, 3, RECORDS).astype("f4")

    def solver(self, name, order=None, more="", source=""):
        """Writes a solver over the records in the given order; returns its file."""
        order = np.arange(RECORDS) if order is None else order
        with h5py.File(self.path(name + ".h5"), "w") as file:
            file["data"], file["label"] = self.data[order], self.label[order]
        self.write(self.path(name + ".h5") + "\n", name + ".txt")
        net = self.write(NET.replace("LIST", self.path(name + ".txt")).replace("MORE", source), name + ".prototxt")
        return self.write("train_net: '%s' snapshot_prefix: '%s' %s %s"
                          % (net, self.path(name), SOLVER, more or "random_seed: 7"), name + "_solver.prototxt")

    def interleaved(self, ranks):
        """Returns the order in which one rank with iter_size reads the batches of all ranks."""
        return [(step * BATCH + row) * ranks + rank for step in range(RECORDS // (ranks * BATCH))
                for rank in range(ranks) for row in range(BATCH)]

    def alone(self, ranks, more=""):
        """Returns the weights of one solver over the batches of all ranks."""
        solver = caffe.get_solver(self.solver("one%d" % ranks, self.interleaved(ranks),
                                              "random_seed: 7 iter_size: %d %s" % (ranks, more)))
        solver.step(STEPS)
        return {"%s_%d" % (name, i): blob.data.copy() for name, blobs in solver.net.params.items()
                for i, blob in enumerate(blobs)}

    def run_ranks(self, solver, ranks, *flags, status=0, command=()):
        environment = dict(os.environ, GLOG_minloglevel="0", TMPDIR=self.folder)
        process = subprocess.Popen([*command, sys.executable, "-B", PROGRAM, solver, str(ranks), *flags],
                                   cwd=self.folder, env=environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, start_new_session=True)
        try:
            log = process.communicate(timeout=240)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the launcher exits after its ranks
            self.fail("still running: " + process.communicate()[0])
        self.assertEqual(bool(process.returncode), bool(status), log)
        return log

    def weights(self, ranks, name="w"):
        """Returns the weights, after checking that they are equal on all ranks."""
        found = [dict(np.load("%s.%d.npz" % (self.path(name), rank))) for rank in range(ranks)]
        for other in found[1:]:
            self.same(found[0], other)
        return found[0]

    def same(self, a, b):
        self.assertEqual(sorted(a), sorted(b))
        for name in a:
            np.testing.assert_array_equal(a[name], b[name], err_msg=name)

    def near(self, a, b):
        for name in a:
            np.testing.assert_allclose(a[name], b[name], rtol=1e-4, atol=1e-5, err_msg=name)

    def test_values(self):
        """N ranks equal one solver with iter_size N over the same records, bit for bit."""
        many = self.solver("many", more="random_seed: 7 snapshot: 3")
        for ranks, method in (1, "fork"), (2, "fork"), (3, "spawn"):
            with self.subTest(ranks=ranks, method=method):
                log = self.run_ranks(many, ranks, "--dump", self.path("w"), "--method", method)
                self.same(self.alone(ranks), self.weights(ranks))
                # Only rank 0 logs and writes.
                self.assertEqual(log.count("Iteration 4 ("), 1, log)
                self.assertEqual(log.count("Snapshotting"), 2, log)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("brew-")], [])
        # All ranks resume from a snapshot; their readers start at the beginning.
        self.run_ranks(many, 2, "--snapshot", self.path("many_iter_6.solverstate"), "--dump", self.path("w"))
        self.weights(2)

    def test_iter_size(self):
        """Each rank accumulates several batches before the all-reduce."""
        many = self.solver("many", more="random_seed: 7 iter_size: 2 clip_gradients: 0.2")
        self.run_ranks(many, 2, "--dump", self.path("w"))
        found = self.weights(2)
        self.run_ranks(self.solver("other", more="random_seed: 7 iter_size: 2 clip_gradients: 0.2 "
                                                 "layer_wise_reduce: false"), 2, "--dump", self.path("w"))
        self.same(found, self.weights(2))

    def test_timing(self):
        """A rank may run layer by layer while others run fused nets."""
        many = self.solver("many")
        log = self.run_ranks(many, 2, "--timing", "--dump", self.path("w"))
        self.near(self.alone(2), self.weights(2))
        self.assertIn("backward [7, 6, 5, 4, 3, 2, 1, 0, 'before']", log)

    def test_shuffled(self):
        """Ranks partition shuffled records, also without a seed."""
        for seed in "random_seed: 7", "display: 0":
            with self.subTest(seed):
                many = self.solver("many", more=seed.replace("display: 0", "type: 'SGD'"), source="shuffle: true")
                self.run_ranks(many, 3, "--dump", self.path("w"))
                self.weights(3)

    def test_mpirun(self):
        """Ranks started by mpirun."""
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        many = self.solver("many")
        self.run_ranks(many, 2, "--dump", self.path("w"),
                       command=["mpirun", "--quiet", "--oversubscribe", *root, "-n", "2"])
        self.same(self.alone(2), self.weights(2))
        log = self.run_ranks(many, 3, status=1, command=["mpirun", "--quiet", "--oversubscribe", *root, "-n", "2"])
        self.assertIn("of 2, not", log)

    def test_mistakes(self):
        """A rank that fails, is killed or trains another net ends all ranks."""
        many = self.solver("many")
        for fail, words in (("1:raise", "ValueError: a rank's own mistake"),
                            ("0:raise", "ValueError: a rank's own mistake"),
                            ("1:kill", "rank 1 has ended"),
                            ("0:kill", "rank 0 has ended"),
                            ("1:solver", "rank 1 disagrees with rank 0: it has another solver")):
            with self.subTest(fail):
                log = self.run_ranks(many, 2, "--fail", fail, status=1)
                self.assertIn(words, log)
                self.assertNotIn("has done", log)

    def test_no_mpirun(self):
        """All ranks report a missing prerequisite."""
        many = self.solver("many")
        path = tempfile.mkdtemp(dir=self.folder)
        os.symlink(shutil.which("env"), os.path.join(path, "env"))
        log = self.run_ranks(many, 2, status=1, command=["env", "PATH=" + path])
        self.assertIn("mpirun cannot be started", log)
        self.assertIn("rank 0 could not connect the ranks", log)


if __name__ == "__main__":
    unittest.main()
