"""Tests caffe.NCCL: solvers in several processes train one net."""
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

# Layers `a` and `b` share their weights, and both contribute to the gradient.
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


class SingleProcess(Case):
    """Tests that start no other ranks."""

    def tearDown(self):
        caffe.set_solver_count(1)
        caffe.set_solver_rank(0)
        caffe.set_multiprocess(False)

    def test_a_single_solver(self):
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

    def test_usage_errors(self):
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
        for uid in ("../elsewhere", b"../elsewhere", "\u00e9" * 32, b"\xe9" * 32):
            with self.assertRaisesRegex(ValueError, "not a uid"):
                caffe.NCCL(solver, uid)
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

        def initial_weights(rank, count):
            caffe.set_solver_count(count)
            caffe.set_solver_rank(rank)
            return caffe.SGDSolver(solver).net.params["ip1"][0].data.copy()

        single = initial_weights(0, 1)
        np.testing.assert_array_equal(single, initial_weights(0, 3))
        rank1, rank2 = initial_weights(1, 3), initial_weights(2, 3)
        self.assertTrue((single != rank1).any() and (rank1 != rank2).any() and (single != rank2).any())
        np.testing.assert_array_equal(rank1, initial_weights(1, 3))

    def test_share_of_records(self):
        """Rank i modulo N trains on record i; every rank tests on all records."""
        with h5py.File(self.path("d.h5"), "w") as file:
            file["data"] = np.arange(12, dtype="f4").reshape(12, 1)
        self.write(self.path("d.h5") + "\n", "d.txt")
        net = self.write("layer { name: 'd' type: 'HDF5Data' top: 'data' hdf5_data_param { source: '%s' batch_size: 2 } }"
                         % self.path("d.txt"))
        caffe.set_solver_count(3)
        caffe.set_solver_rank(1)
        for phase, expected in (caffe.TRAIN, [1, 4, 7, 10, 1, 4]), (caffe.TEST, [0, 1, 2, 3, 4, 5]):
            reader = caffe.Net(net, phase)
            self.assertEqual([int(v) for _ in range(3) for v in reader.forward()["data"].ravel()], expected)


@unittest.skipUnless(caffe.has_nccl(), "Open MPI, which connects ranks, is not installed")
class Ranks(Case):
    def setUp(self):
        super().setUp()
        random = np.random.RandomState(3)
        self.data = random.randn(RECORDS, 2, 6, 6).astype("f4")
        self.label = random.randint(0, 3, RECORDS).astype("f4")

    def write_solver(self, name, order=None, fields="", data_fields=""):
        """Writes a solver that trains on the records in the given order; returns its file.

        `fields` are further solver fields, `data_fields` further fields of the data layer."""
        order = np.arange(RECORDS) if order is None else order
        with h5py.File(self.path(name + ".h5"), "w") as file:
            file["data"], file["label"] = self.data[order], self.label[order]
        self.write(self.path(name + ".h5") + "\n", name + ".txt")
        net = self.write(NET.replace("LIST", self.path(name + ".txt")).replace("MORE", data_fields), name + ".prototxt")
        return self.write("train_net: '%s' snapshot_prefix: '%s' %s %s"
                          % (net, self.path(name), SOLVER, fields or "random_seed: 7"), name + "_solver.prototxt")

    def interleaved_order(self, ranks):
        """Returns the order in which one rank with iter_size reads the batches of all ranks."""
        return [(step * BATCH + row) * ranks + rank for step in range(RECORDS // (ranks * BATCH))
                for rank in range(ranks) for row in range(BATCH)]

    def train_alone(self, ranks, fields=""):
        """Returns the weights of one solver that trains on the batches of all ranks."""
        solver = caffe.get_solver(self.write_solver("one%d" % ranks, self.interleaved_order(ranks),
                                                    "random_seed: 7 iter_size: %d %s" % (ranks, fields)))
        solver.step(STEPS)
        return {"%s_%d" % (name, i): blob.data.copy() for name, blobs in solver.net.params.items()
                for i, blob in enumerate(blobs)}

    def run_ranks(self, solver, ranks, *flags, status=0, command=()):
        """Runs rank_program.py, optionally below a launcher `command`; returns its output."""
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

    def load_weights(self, ranks, name="w"):
        """Returns the dumped weights, after checking that they are equal on all ranks."""
        weights = [dict(np.load("%s.%d.npz" % (self.path(name), rank))) for rank in range(ranks)]
        for rank_weights in weights[1:]:
            self.assert_equal(weights[0], rank_weights)
        return weights[0]

    def assert_equal(self, a, b):
        self.assertEqual(sorted(a), sorted(b))
        for name in a:
            np.testing.assert_array_equal(a[name], b[name], err_msg=name)

    def assert_close(self, a, b):
        for name in a:
            np.testing.assert_allclose(a[name], b[name], rtol=1e-4, atol=1e-5, err_msg=name)

    def test_ranks_equal_one_solver(self):
        """N ranks equal one solver with iter_size N over the same records, bit for bit."""
        many = self.write_solver("many", fields="random_seed: 7 snapshot: 3")
        for ranks, method in (1, "fork"), (2, "fork"), (3, "spawn"):
            with self.subTest(ranks=ranks, method=method):
                log = self.run_ranks(many, ranks, "--dump", self.path("w"), "--method", method)
                self.assert_equal(self.train_alone(ranks), self.load_weights(ranks))
                # Only rank 0 logs and writes.
                self.assertEqual(log.count("Iteration 4 ("), 1, log)
                self.assertEqual(log.count("Snapshotting to"), 2, log)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("brew-")], [])
        # All ranks resume from a snapshot; their readers start at the beginning.
        self.run_ranks(many, 2, "--snapshot", self.path("many_iter_6.solverstate"), "--dump", self.path("w"))
        self.load_weights(2)

    def test_iter_size(self):
        """Each rank accumulates several batches before the all-reduce."""
        many = self.write_solver("many", fields="random_seed: 7 iter_size: 2 clip_gradients: 0.2")
        self.run_ranks(many, 2, "--dump", self.path("w"))
        expected = self.load_weights(2)
        self.run_ranks(self.write_solver("other", fields="random_seed: 7 iter_size: 2 clip_gradients: 0.2 "
                                                         "layer_wise_reduce: false"), 2, "--dump", self.path("w"))
        self.assert_equal(expected, self.load_weights(2))

    def test_a_rank_that_runs_layer_by_layer(self):
        """The hooks of --timing make rank 0 run layer by layer while rank 1 runs fused nets."""
        many = self.write_solver("many")
        log = self.run_ranks(many, 2, "--timing", "--dump", self.path("w"))
        self.assert_close(self.train_alone(2), self.load_weights(2))
        self.assertIn("backward [7, 6, 5, 4, 3, 2, 1, 0, 'before']", log)

    def test_shuffled_records(self):
        """Ranks partition shuffled records, also without a seed."""
        for fields in "random_seed: 7", "type: 'SGD'":
            with self.subTest(fields):
                many = self.write_solver("many", fields=fields, data_fields="shuffle: true")
                self.run_ranks(many, 3, "--dump", self.path("w"))
                self.load_weights(3)

    def test_mpirun(self):
        """Ranks started by mpirun."""
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        many = self.write_solver("many")
        self.run_ranks(many, 2, "--dump", self.path("w"),
                       command=["mpirun", "--quiet", "--oversubscribe", *root, "-n", "2"])
        self.assert_equal(self.train_alone(2), self.load_weights(2))
        log = self.run_ranks(many, 3, status=1, command=["mpirun", "--quiet", "--oversubscribe", *root, "-n", "2"])
        self.assertIn("of 2, not", log)

    def test_failing_ranks(self):
        """A rank that fails, is killed or trains another net ends all ranks."""
        many = self.write_solver("many")
        for fail, message in (("1:raise", "ValueError: a rank's own mistake"),
                              ("0:raise", "ValueError: a rank's own mistake"),
                              ("1:kill", "rank 1 has ended"),
                              ("0:kill", "rank 0 has ended"),
                              ("1:solver", "rank 1 disagrees with rank 0: it has another solver")):
            with self.subTest(fail):
                log = self.run_ranks(many, 2, "--fail", fail, status=1)
                self.assertIn(message, log)
                self.assertNotIn("has done", log)

    def test_missing_mpirun(self):
        """All ranks report a missing prerequisite."""
        many = self.write_solver("many")
        path = tempfile.mkdtemp(dir=self.folder)
        os.symlink(shutil.which("env"), os.path.join(path, "env"))
        log = self.run_ranks(many, 2, status=1, command=["env", "PATH=" + path])
        self.assertIn("mpirun cannot be started", log)
        self.assertIn("rank 0 could not connect the ranks", log)


if __name__ == "__main__":
    unittest.main()
