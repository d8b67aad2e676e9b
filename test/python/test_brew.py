"""Tests the package brew: compilation, plans, sessions, training and errors."""
import doctest
import errno
import os
import pathlib
import signal
import stat
import threading
import time
import unittest
import warnings
from unittest import mock

import brew
import numpy as np

from common import DEPLOY, TRAIN, Case, random_array

SOLVER = "net: '%s' base_lr: 0.1 lr_policy: 'fixed' momentum: 0.9 max_iter: %d snapshot_prefix: '%s'"


class Compiling(Case):
    def test_path_text_and_message(self):
        path = self.write(DEPLOY)
        by_path, by_text = brew.compile(path), brew.compile(DEPLOY)
        self.assertEqual(by_path.programs, ["deploy"])
        self.assertEqual(by_text.programs, ["deploy"])
        from caffe.proto import caffe_pb2
        from google.protobuf import text_format

        message = text_format.Parse(DEPLOY, caffe_pb2.NetParameter())
        self.assertEqual(brew.compile(message).programs, ["deploy"])

    def test_errors_have_locations(self):
        with self.assertRaises(brew.CompileError) as caught:
            brew.compile("\nlayer { name: 'a' type: 'ReLU' bottom: 'pool3' top: 'y' }\nlayer { name: 'b' type: 'Rely' }",
                         name="n.prototxt")
        first = caught.exception.errors[0]
        self.assertEqual((first.file, first.line), ("n.prototxt", 2))
        self.assertTrue(str(caught.exception).startswith("n.prototxt:2:"))
        self.assertIsInstance(caught.exception, brew.Error)

    def test_missing_file_and_option(self):
        with self.assertRaises(brew.CompileError) as caught:
            brew.compile(self.path("nowhere.prototxt"))
        self.assertEqual(caught.exception.status, 3)
        with self.assertRaises(brew.Error):
            brew.compile(DEPLOY, no_such_option=1)
        with self.assertRaises(brew.Error):
            brew.compile(DEPLOY, target="abacus")
        with self.assertRaises(TypeError):
            brew.compile(3)

    def test_file_names_that_look_like_prototxts(self):
        """An argument that names an existing file is a file name, even if it looks like a prototxt."""
        for folder in ("b{1}", "c: d", "e\nf"):
            os.mkdir(self.path(folder))
            path = self.write(DEPLOY, os.path.join(folder, "n.prototxt"))
            self.assertEqual(brew.compile(path).programs, ["deploy"])
            self.assertIn("Convolution", brew.upgrade(path))
        self.assertIn("TanH", brew.upgrade("layer { name: 'd' type: 'TanH' bottom: 'a' top: 'd' }" + " " * 5000))

    def test_options(self):
        plan = brew.compile(DEPLOY, batch=None, input_shapes={"data": [1, 3, 8, 8]}, keep=["pool1", "fc"])
        session = plan.session()
        self.assertEqual(session.inputs, {"data": (1, 3, 8, 8)})
        session(data=random_array(1, 1, 3, 8, 8))
        self.assertEqual(session.blobs["pool1"].shape, (1, 4, 3, 3))
        self.assertIn("keep", brew.options())

    def test_report(self):
        report = brew.compile(DEPLOY).report
        self.assertEqual(report.rows[0][0], "deploy")
        self.assertIn("<table>", report._repr_html_())
        self.assertIn("deploy", str(report))

    def test_upgrade(self):
        self.assertIn("type: \"TanH\"", brew.upgrade("layers { name: 'd' type: TANH bottom: 'a' top: 'd' }"))

    def test_other_threads_run_while_compiling(self):
        deep_net = DEPLOY + "".join("layer { name: 'p%d' type: 'Power' bottom: '%s' top: 'p%d' power_param { power: 1.5 } }\n"
                                    % (i, "prob" if i == 0 else "p%d" % (i - 1), i) for i in range(100))
        done, ticks = threading.Event(), 0
        thread = threading.Thread(target=lambda: (brew.compile(deep_net), done.set()))
        thread.start()
        while not done.is_set():
            ticks += 1  # does not advance while the compiler holds the GIL
            time.sleep(0.001)
        thread.join()
        self.assertGreater(ticks, 5)


class Plans(Case):
    def test_save_and_open(self):
        plan = brew.compile(DEPLOY)
        plan.save(self.path("n.plan"))
        opened = brew.Plan.open(self.path("n.plan"))
        self.assertEqual(bytes(opened), bytes(plan))
        self.assertEqual(opened.describe()["programs"][0]["name"], "deploy")

    def test_invalid_plans(self):
        with self.assertRaises(FileNotFoundError):
            brew.Plan.open(self.path("nowhere.plan"))
        with self.assertRaises(IsADirectoryError) as caught:
            brew.Plan.open(self.folder)
        self.assertEqual(caught.exception.filename, self.folder)
        with self.assertRaises(NotADirectoryError):
            brew.Plan.open(os.path.join(self.write("", "file"), "n.plan"))
        with mock.patch("builtins.open", side_effect=PermissionError), self.assertRaises(PermissionError):
            brew.Plan.open(self.path("n.plan"))
        with self.assertRaises(brew.Error):
            brew.Plan.open(self.write("no plan at all", "n.plan"))
        data = bytearray(bytes(brew.compile(DEPLOY)))
        data[len(data) // 2] ^= 1
        with open(self.path("d.plan"), "wb") as file:
            file.write(data)
        with self.assertRaises(brew.Error):
            brew.Plan.open(self.path("d.plan"))


class Sessions(Case):
    def test_call(self):
        session = brew.compile(DEPLOY, keep="all").session(threads=1, seed=3)
        out = session(data=random_array(1, 2, 3, 8, 8))
        self.assertEqual(list(out), ["prob"])
        np.testing.assert_allclose(out["prob"].sum(axis=1), 1, rtol=1e-6)
        self.assertEqual([p.shape for p in session.params["fc"]], [(5, 36), (5,)])
        session.params["fc"] = [np.zeros((5, 36)), np.arange(5)]
        expected = np.exp(np.arange(5)) / np.exp(np.arange(5)).sum()
        np.testing.assert_allclose(session(data=random_array(1, 2, 3, 8, 8))["prob"][0], expected, rtol=1e-6)

    def test_initial_weights(self):
        plan = brew.compile(DEPLOY)
        session = plan.session(seed=3)
        path = self.path("w.caffemodel")
        session.save_weights(path)
        for weights in (path, pathlib.Path(path), [path], [pathlib.Path(path)], iter([path])):
            loaded = plan.session(seed=4, weights=weights)
            np.testing.assert_array_equal(loaded.params["fc"][0], session.params["fc"][0])
        with self.assertRaises(TypeError):
            plan.session(weights=[3])

    def test_weights_that_lack_layers(self):
        """Missing weights of an inference net are an error that names the layers, unless allowed."""
        path = self.path("conv1.caffemodel")
        brew.compile(DEPLOY.split("layer { name: 'pool1'")[0]).session().save_weights(path)
        message = "no weights for 1 layer of the net .*: fc$"
        with self.assertRaisesRegex(brew.CompileError, message):
            brew.compile(DEPLOY, weights=path)
        with self.assertRaisesRegex(brew.Error, message):
            brew.compile(DEPLOY).session(weights=path)
        session = brew.compile(DEPLOY).session()
        with self.assertRaisesRegex(brew.Error, message):
            session.load_weights(path)
        session.params["fc"] = [random_array(1, 5, 36), random_array(2, 5)]
        session.load_weights(path)
        session = brew.compile(DEPLOY).session(weights=path, allow_missing_weights=True)
        session.load_weights(path)
        found = brew.compile(DEPLOY, weights=path, allow_missing_weights=True).warnings
        self.assertEqual(["no weights for 1 layer of the net, left to fillers: fc"], [w.message for w in found])

    def test_session_without_weights(self):
        """The first run of an inference net that has only its fillers' values gives a warning."""
        def warnings_of(use, **options):
            session = brew.compile(DEPLOY).session(**options)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                use(session)
            return [(w.category, w.filename) for w in caught]

        def run(session):
            session(data=random_array(1, 2, 3, 8, 8))

        def run_twice(session):
            run(session)
            run(session)

        path = self.path("w.caffemodel")
        brew.compile(DEPLOY).session().save_weights(path)
        self.assertEqual([(RuntimeWarning, __file__)], warnings_of(run_twice))
        self.assertEqual([], warnings_of(run, weights=path))
        self.assertEqual([], warnings_of(run, allow_missing_weights=True))
        self.assertEqual([], warnings_of(lambda session: (session.load_weights(path), run(session))))
        self.assertEqual([], warnings_of(lambda session: (session.params["fc"], run(session))))

    def test_wrong_inputs(self):
        session = brew.compile(DEPLOY).session()
        with self.assertRaises(KeyError):
            session(image=np.zeros((2, 3, 8, 8)))
        with self.assertRaises(ValueError):
            session(data=np.zeros((2, 3, 8, 7)))
        with self.assertRaises((TypeError, ValueError)):
            session(data="cat")
        with self.assertRaises(KeyError):
            session.blobs["nope"]
        with self.assertRaises(KeyError):
            session.params["nope"]
        with self.assertRaises(brew.Error):
            session.step()
        with self.assertRaises(KeyError):
            brew.compile(DEPLOY).session(program="train")

    def test_arrays_outlive_the_session(self):
        session = brew.compile(DEPLOY, layout="nchw").session()
        bias = session.params["fc"][1]
        bias[...] = 5
        del session
        self.assertEqual(bias.tolist(), [5] * 5)

    def test_a_second_thread_is_rejected(self):
        session = brew.compile(DEPLOY, input_shapes={"data": [64, 3, 64, 64]}).session(threads=1)
        session._core.feed(0)
        failures, start = [], threading.Event()

        def run():
            start.wait()
            try:
                for _ in range(50):
                    session._core.run(0)
            except brew.Error as failure:
                failures.append(str(failure))

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        start.set()
        for thread in threads:
            thread.join()
        self.assertTrue(failures)
        self.assertIn("another thread", failures[0])
        session._core.run(0)  # the session remains usable


class Files(Case):
    """Saves over existing files, links, pipes and devices."""

    def setUp(self):
        super().setUp()
        self.plan = brew.compile(DEPLOY)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_a_link_is_written_through(self):
        self.write("old", "real")
        os.symlink("real", self.path("link"))
        self.plan.save(self.path("link"))
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertEqual(self.read("real"), bytes(self.plan))
        os.symlink("nowhere/file", self.path("broken"))
        self.plan.save(self.path("broken"))  # a dangling link is replaced
        self.assertFalse(os.path.islink(self.path("broken")))
        self.assertEqual(sorted(os.listdir(self.folder)), ["broken", "link", "real"])

    def test_pipes_and_devices_stay(self):
        os.mkfifo(self.path("pipe"))
        read = []
        reader = threading.Thread(target=lambda: read.append(self.read("pipe")))
        reader.start()
        self.plan.save(self.path("pipe"))
        reader.join()
        self.assertEqual(read, [bytes(self.plan)])
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))
        self.plan.save("/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        with self.assertRaises(OSError) as caught:
            self.plan.save("/dev/full")
        self.assertEqual(caught.exception.errno, errno.ENOSPC)

    def test_unwritable_files(self):
        for path, kind in ((self.folder, IsADirectoryError), (self.path("none/a.plan"), FileNotFoundError)):
            with self.assertRaises(kind) as caught:
                self.plan.save(path)
            self.assertEqual(caught.exception.filename, path)

    def test_graphs_are_not_drawn_for_unwritable_files(self):
        """A file that cannot be written is an error before the graph is drawn."""
        graph = self.plan.graph()
        with mock.patch.object(graph, "_drawn", return_value=b"drawn") as drawn:
            with self.assertRaises(FileNotFoundError):
                graph.save(self.path("none/a.svg"))
            drawn.assert_not_called()
            graph.save(self.path("a.svg"))
        self.assertEqual(self.read("a.svg"), b"drawn")

    def test_permissions_follow_the_umask(self):
        old_umask = os.umask(0o027)
        try:
            self.plan.save(self.path("a.plan"))
        finally:
            os.umask(old_umask)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("a.plan")).st_mode), 0o640)


class Training(Case):
    def session(self, iterations=100):
        net = self.write(TRAIN)
        solver = self.write(SOLVER % (net, iterations, self.path("snap")), "s.prototxt")
        session = brew.compile(solver).session(seed=1)
        session._core.set_input(0, "data", random_array(7, 4, 6))
        session._core.set_input(0, "label", (np.arange(4) % 3).astype(np.float32))
        return session

    def test_seed(self):
        """The argument `seed` replaces the solver's random_seed, which is the default."""
        net = self.write(TRAIN)
        plans = [brew.compile("net: '%s' base_lr: 0.1 lr_policy: 'fixed' max_iter: 9 %s" % (net, fields))
                 for fields in ("", "random_seed: 5")]

        def weights(plan, **options):
            return plan.session(**options).params["ip1"][0].tolist()

        seed5_weights = weights(plans[1])
        self.assertEqual(seed5_weights, weights(plans[1], seed=5))
        self.assertEqual(seed5_weights, weights(plans[0], seed=5))
        self.assertEqual(seed5_weights, weights(plans[0], fields={"random_seed": 5}))
        for plan in plans:
            self.assertEqual(weights(plan, seed=0), weights(plan, seed=0))
            self.assertNotEqual(seed5_weights, weights(plan, seed=6))
        self.assertNotEqual(weights(plans[0]), weights(plans[0]))  # a different seed each time
        for seed in (-1, 1 << 63):
            with self.assertRaisesRegex(ValueError, "seed must be from 0"):
                plans[0].session(seed=seed)
        with self.assertRaises(TypeError):
            plans[0].session(seed=1.5)
        with self.assertRaisesRegex(ValueError, "fields set random_seed to 5"):
            plans[0].session(seed=6, fields={"random_seed": 5})

    def test_step_snapshot_restore(self):
        session = self.session()
        first = session.forward()
        session.step(20)
        self.assertEqual(session.iteration, 20)
        self.assertLess(session.trainer.smoothed_loss, first)
        session.snapshot()
        weights = session.params["ip1"][0].copy()
        session.step(5)
        self.assertGreater(np.abs(session.params["ip1"][0] - weights).max(), 0)
        session.restore(self.path("snap_iter_20.solverstate"))
        np.testing.assert_array_equal(session.params["ip1"][0], weights)
        self.assertEqual(session.iteration, 20)
        with self.assertRaises(brew.Error):
            session.restore(self.path("nowhere.solverstate"))

    def test_forward_backward_and_update(self):
        session = self.session()
        session.forward()
        session.backward()
        gradient = session.gradients["ip2"][1].copy()
        before = session.params["ip2"][1].copy()
        session.update()
        np.testing.assert_allclose(session.params["ip2"][1], before - 0.1 * gradient, rtol=1e-5, atol=1e-7)
        session.set_field("base_lr", 0.5)
        self.assertAlmostEqual(session.learning_rate, 0.5, 6)

    def test_unwritable_files_are_errors_before_the_work(self):
        """A snapshot prefix or timing cache that cannot be written is an error before the work begins."""
        def assert_rejected(function, *arguments,
                            message="cannot write to snapshot prefix '%s'" % self.path("none/snap")):
            with self.assertRaisesRegex(brew.Error, message):
                function(*arguments)

        session, plan = self.session(), brew.compile(DEPLOY)
        # Also without snapshots at intervals, since the end of a run writes one.
        assert_rejected(session.set_field, "snapshot_prefix", self.path("none/snap"))
        solver = SOLVER % (self.write(TRAIN), 100, self.path("none/snap"))
        unwritable = brew.compile(self.write(solver, "none.prototxt")).session(seed=1)
        assert_rejected(unwritable.set_field, "snapshot", 10)
        self.assertEqual(unwritable.trainer.field("snapshot"), "0")
        for action in ("snapshot", "save_best train.loss"):
            assert_rejected(unwritable.add_hook, "every 10 iterations do " + action)
        session.set_field("snapshot_prefix", self.path("snap"))
        session.set_field("snapshot", 10)
        assert_rejected(session.set_field, "snapshot_prefix", self.path("none/snap"))
        session.set_field("base_lr", 0.01)
        session.step(10)
        self.assertIn("snap_iter_10.caffemodel", os.listdir(self.folder))
        tune = plan.session(timing_cache=self.path("none/timing")).tune
        assert_rejected(tune, message="cannot write '%s'" % self.path("none/timing"))

    def test_interrupt(self):
        """The handler's exception propagates, and the session remains usable."""
        pending = [LookupError("once"), SystemExit(3)]

        def raise_pending(*signal_arguments):
            raise pending[0]

        for handler, kind in ((signal.default_int_handler, KeyboardInterrupt), (raise_pending, LookupError),
                              (raise_pending, SystemExit)):
            session = self.session(10 ** 9)
            # Shells make background processes ignore SIGINT.
            self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, handler))
            # The hook sends the signal from another thread, while this thread runs no Python code.
            session.add_hook("after 3 iterations do call in background",
                             lambda call: os.kill(os.getpid(), signal.SIGINT))
            with self.assertRaises(kind) as caught:
                session.step(10 ** 8)
            if handler is raise_pending:
                self.assertIs(caught.exception, pending.pop(0))
            iterations = session.iteration
            self.assertGreater(iterations, 0)
            session.step(2)
            self.assertEqual(session.iteration, iterations + 2)


def load_tests(loader, tests, pattern):
    tests.addTests(doctest.DocTestSuite(brew))
    return tests


if __name__ == "__main__":
    unittest.main()
