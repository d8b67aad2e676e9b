"""Tests sessions of brew: events, output gradients, arrays of other libraries, graphs and dumps."""
import gc
import json
import os
import threading
import unittest
import weakref
from unittest import mock

import brew
import numpy as np

from common import DEPLOY, TRAIN, Case, random_array

SOLVER = """net: '%s' base_lr: 0.1 lr_policy: 'fixed' momentum: 0.9 max_iter: 4 display: 2 snapshot: 2
test_iter: 1 test_interval: 2 snapshot_prefix: '%s'"""


class DlpackArray:
    """An array that supports only DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class GpuTensor:
    """Imitates a PyTorch tensor on a GPU."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        raise AssertionError("the tensor is on a GPU")

    def __dlpack_device__(self):
        return 2, 0

    def detach(self):
        return self

    def cpu(self):
        return self.array


class Tuning(Case):
    def test_sessions_reuse_tuned_choices(self):
        plan = brew.compile(DEPLOY)
        x = random_array(1, 2, 3, 8, 8)
        expected = plan.session(seed=1)(data=x)["prob"]
        session = plan.session(seed=1, timing_cache=self.path("net.timing"))
        self.assertFalse(os.path.exists(self.path("net.timing")))
        calls = session.tune()
        self.assertEqual({call.program for call in calls}, {"deploy"})
        self.assertIn("inner product", [call.kind for call in calls])
        self.assertIn(["fc"], [call.layers for call in calls])
        for call in calls:
            self.assertLessEqual(call.fastest_seconds, call.untuned_seconds)
            self.assertTrue(call.untuned and call.fastest)
        tuned = session(data=x)["prob"]
        np.testing.assert_allclose(tuned, expected, rtol=1e-5)
        reused = plan.session(seed=1, timing_cache=self.path("net.timing"))(data=x)["prob"]
        np.testing.assert_array_equal(reused, tuned)

    def test_an_unwritable_cache_raises(self):
        session = brew.compile(DEPLOY).session(timing_cache=self.path("none/net.timing"))
        with self.assertRaisesRegex(brew.Error, "none/net.timing"):
            session.tune()


class Arrays(Case):
    def test_dlpack_inputs(self):
        session = brew.compile(DEPLOY).session(seed=1)
        x = random_array(1, 2, 3, 8, 8)
        expected = session(data=x)["prob"]
        for values in (DlpackArray(x), GpuTensor(x), x.astype(np.float64), x.tolist(), DlpackArray(x.astype(np.float64))):
            np.testing.assert_array_equal(session(data=values)["prob"], expected)
        session.params["fc"] = [DlpackArray(random_array(2, 5, 36)), GpuTensor(random_array(3, 5))]
        np.testing.assert_array_equal(session.params["fc"][0], random_array(2, 5, 36))

    def test_exported_arrays_alias_the_memory(self):
        session = brew.compile(DEPLOY, keep="all").session(seed=1)
        session(data=random_array(1, 2, 3, 8, 8))
        for name in session.blobs:
            exported = session.blobs.exported(name)
            self.assertEqual(exported.__dlpack_device__(), (1, 0))
            np.testing.assert_array_equal(np.from_dlpack(exported), session.blobs[name])
        bias = np.from_dlpack(session.params.exported("fc", 1))
        session.params["fc"] = [None, np.arange(5)]
        self.assertEqual(bias.tolist(), [0, 1, 2, 3, 4])
        with self.assertRaises(KeyError):
            session.blobs.exported("nope")

    def test_exported_arrays_outlive_the_session(self):
        session = brew.compile(DEPLOY).session()
        session.params["fc"] = [None, np.arange(5)]
        bias = np.from_dlpack(session.params.exported("fc", 1))
        del session
        gc.collect()
        self.assertEqual(bias.tolist(), [0, 1, 2, 3, 4])

    def test_shapes_are_checked(self):
        session = brew.compile(DEPLOY).session()
        with self.assertRaises(ValueError):
            session.params["fc"] = [np.zeros((4, 36))]
        session.params["fc"] = [np.zeros((1, 1, 5, 36))]  # as in old files

    def test_missing_blobs_name_the_option_that_keeps_them(self):
        session = brew.compile(DEPLOY).session()
        for blobs in session(), session.blobs:
            with self.assertRaisesRegex(KeyError, r"'pool1' is not readable .*keep=\['pool1'\]"):
                blobs["pool1"]


class Devices(Case):
    def test_device_names(self):
        plan = brew.compile(DEPLOY)
        self.assertEqual(plan.session(device="cpu").device, "cpu")
        for device in ("cuda", "cuda:1", 0, "gpu"):
            with self.assertRaisesRegex(brew.Error, "target='cuda'"):
                plan.session(device=device)
        for device in ("tpu", "cuda:x", "cpu:1"):
            with self.assertRaises(ValueError):
                plan.session(device=device)


class Training(Case):
    """Options that monitor training, and requests from other threads."""

    def make_session(self, solver_text="", **options):
        net = self.write(TRAIN)
        solver = self.write((SOLVER + " " + solver_text) % (net, self.path("snap")), "s.prototxt")
        session = brew.compile(solver).session(seed=1, **options)
        for program in (0, session.plan.programs.index("test_0")):
            session._core.set_input(program, "data", random_array(7, 4, 6))
            session._core.set_input(program, "label", (np.arange(4) % 3).astype(np.float32))
        return session

    def test_stop_rules(self):
        session = self.make_session(stop_when="iter >= 1")
        with session.events.record("stopped_by_rule") as events:
            session.step(10)
        self.assertEqual(session.iteration, 1)
        self.assertFalse(session.stopped)
        self.assertEqual([e.iteration for e in events], [1])
        self.assertIn("iter >= 1 holds", events[0].text)
        session = self.make_session(stop_when=["test.acc < 0", "iter >= 3"])
        session.step(10)
        self.assertEqual(session.iteration, 3)
        # With a learning rate of 0, the loss does not improve.
        session = self.make_session(fields=dict(base_lr=0), patience="2:test.loss")
        with session.events.record("stopped_by_rule") as events:
            session.step(100)
        self.assertEqual(session.iteration, 4)
        self.assertIn("without improvement of test.loss", events[0].text)
        for options in (dict(stop_when="test.nope > 1"), dict(patience="0"), dict(snapshot_best="nope")):
            with self.assertRaises(brew.Error):
                self.make_session(**options)

    def test_nan_inputs_raise(self):
        session = self.make_session(check_nan=True)
        before = session.params["ip1"][0].copy()
        session._core.set_input(0, "data", np.full((4, 6), np.nan, np.float32))
        with self.assertRaisesRegex(brew.Error, "iteration 0: .*'data'"):
            session.step(1)
        np.testing.assert_array_equal(session.params["ip1"][0], before)

    def test_resume_from_snapshots(self):
        session = self.make_session(keep_snapshots=1, snapshot_best="test.loss", log_dir=self.path("log"))
        session.solve()
        states = sorted(f for f in os.listdir(self.path("")) if f.endswith("state"))
        self.assertEqual(states, ["snap_best_test.loss.solverstate", "snap_iter_4.solverstate"])
        with open(self.path("log/metrics.jsonl")) as lines:
            self.assertEqual({json.loads(line)["iteration"] for line in lines}, {0, 2, 4})
        expected = session.params["ip1"][0].copy()
        for options in (dict(resume=True), dict(snapshot=self.path("snap_iter_4.solverstate"))):
            resumed = self.make_session(**options)
            self.assertEqual(resumed.iteration, 4)
            np.testing.assert_array_equal(resumed.params["ip1"][0], expected)
        with self.assertRaisesRegex(brew.Error, "none.solverstate"):
            self.make_session(snapshot=self.path("none.solverstate"))

    def test_training_options_of_inference_plans_raise(self):
        with self.assertRaisesRegex(ValueError, "check_nan, log_dir: "):
            brew.compile(DEPLOY).session(check_nan=True, log_dir="log")

    def test_requests_of_other_threads(self):
        session = self.make_session()
        session.request_snapshot()
        session.pause()
        paused, reset = threading.Event(), threading.Event()
        remove_paused = session.events.listen(lambda event: paused.set(), "paused")
        remove_reset = session.events.listen(lambda event: reset.set(), "reset")
        initial = session.params["ip1"][0].copy()
        thread = threading.Thread(target=session.step, args=(10**9,))
        thread.start()
        try:
            self.assertTrue(paused.wait(60))
            session.set_field("base_lr", 0)
            self.assertEqual(float(session.field("base_lr")), 0)
            with self.assertRaisesRegex(brew.Error, "no_such_field"):
                session.set_field("no_such_field", 1)
            with self.assertRaisesRegex(brew.Error, "another thread"):
                session.learning_rate
            session.reset()
            self.assertTrue(reset.wait(60))
            session.resume()
        finally:
            session.stop()
            thread.join(60)
        self.assertFalse(thread.is_alive())
        self.assertTrue(session.stopped)
        # The snapshot was requested before training, so it precedes the first iteration.
        self.assertIn("snap_iter_0.solverstate", os.listdir(self.path("")))
        # The parameters are still initial, because the learning rate is still 0 after the reset.
        np.testing.assert_array_equal(session.params["ip1"][0], initial)
        self.assertEqual(session.learning_rate, 0)
        remove_paused(), remove_reset()

    def test_hooks(self):
        session = self.make_session()
        calls = []
        session.add_hook("mean: every 2 iterations do accumulate train.loss")
        session.add_hook("see: every 2 iterations if iter < 4 needs mean", lambda call: calls.append(
            (call.name, call.trigger, call.iteration, call.reason, session.metric("hook.mean"))))
        session.add_hook("at stop do call in background", lambda call: calls.append((call.trigger, call.background)))
        session.add_hook("after 3 iterations do set base_lr 0.25")
        self.assertTrue(np.isnan(session.metric("test.acc")))
        session.step(4)
        self.assertEqual([c[:4] for c in calls[:1]], [("see", "iteration", 2, "iter < 4 holds: iter = 2")])
        self.assertTrue(0 < calls[0][4] < 10)
        self.assertEqual(calls[1:], [("stop", True)])
        self.assertEqual(session.learning_rate, 0.25)
        session.remove_hook("see")
        with self.assertRaisesRegex(brew.Error, "no hook 'see'"):
            session.remove_hook("see")
        with self.assertRaisesRegex(brew.Error, "column 13: there is no action 'halt'"):
            session.add_hook("at start do halt")
        self.assertTrue(0 <= session.metric("test.acc") <= 1)

    def test_what_functions_of_hooks_may_do(self):
        session = self.make_session(init=["ip1.weights=constant(0.5)"])
        np.testing.assert_array_equal(session.params["ip1"][0], 0.5)
        refused, calls = [], {"step": lambda: session.step(1), "test": lambda: session.test(),
                              "restore": lambda: session.restore("none.solverstate"),
                              "snapshot": session.snapshot, "forward": session.forward,
                              "load": lambda: session.load_weights("none.caffemodel")}

        def look(call):
            for name, function in calls.items():
                with self.assertRaisesRegex(brew.Error, "function of a hook may not call this"):
                    function()
                refused.append(name)
            session.params["ip1"][0][...] = 2
            session.prepare()
            session.save_weights(self.path("seen.caffemodel"))
            session.request_snapshot()
        session.add_hook("after 2 iterations do call", look)
        session.add_hook("after 2 iterations do freeze ip1.* priority -1")
        with session.events.record("parameters_changed") as events:
            session.step(4)
        self.assertEqual(refused, list(calls))
        np.testing.assert_array_equal(session.params["ip1"][0], 2)
        self.assertEqual(session.metric("norm(ip1.weights)"), 2 * session.params["ip1"][0].size ** .5)
        self.assertTrue(os.path.exists(self.path("seen.caffemodel")))
        self.assertEqual([(e.iteration, e.text, e.routine) for e in events], [(2, 'freeze "ip1.*"', False)])
        with self.assertRaisesRegex(brew.Error, "allow-commands"):
            session.add_hook("at stop do run \"true\"")
        self.make_session(allow_commands=True).add_hook("at stop do run \"true\"")

    def test_exceptions_and_flags_of_hooks(self):
        session = self.make_session()

        def fail(call):
            raise KeyError(call.name)
        session.add_hook("bad: after 1 iterations", fail)
        with self.assertRaisesRegex(KeyError, "bad"):
            session.step(3)
        self.assertEqual(session.iteration, 1)
        session.add_hook("every iteration if external enough do stop")
        session.raise_flag("enough")
        session.step(3)
        self.assertEqual(session.iteration, 2)
        reference = weakref.ref(session)
        del session
        gc.collect()
        self.assertIsNone(reference())

    def test_hooks_of_files(self):
        with open(self.path("run.hooks"), "w") as file:
            file.write("at start do set base_lr 0.5\n")
        session = self.make_session(hooks=self.path("run.hooks"))
        session.step(1)
        self.assertEqual(session.learning_rate, 0.5)
        session.add_hooks(self.path("run.hooks"))
        with self.assertRaisesRegex(brew.Error, "none.hooks"):
            self.make_session(hooks=[self.path("none.hooks")])

    def test_step_times_and_throughput(self):
        session = self.make_session()
        session.time_layers()
        with session.events.record("step_times", "throughput") as events:
            session.step(4)
        times = [e for e in events if e.kind == "step_times"]
        self.assertEqual([e.iteration for e in times], [0])
        self.assertTrue(times[0].step_seconds and min(times[0].step_seconds) >= 0)
        speeds = [e for e in events if e.kind == "throughput"]
        self.assertEqual([e.iteration for e in speeds], [2])
        self.assertGreater(speeds[0].rate, 0)


class Events(Case):
    def make_session(self, **options):
        net = self.write(TRAIN)
        solver = self.write(SOLVER % (net, self.path("snap")), "s.prototxt")
        session = brew.compile(solver).session(seed=1, **options)
        for program in (0, session.plan.programs.index("test_0")):
            session._core.set_input(program, "data", random_array(7, 4, 6))
            session._core.set_input(program, "label", (np.arange(4) % 3).astype(np.float32))
        return session

    def test_recorded_events(self):
        session = self.make_session()
        with session.events.record("iteration", "test_done", "snapshot") as events:
            session.solve()
        session.step(1)
        iterations = [e for e in events if e.kind == "iteration"]
        self.assertEqual([e.iteration for e in iterations], [0, 1, 2, 3])
        self.assertLess(iterations[-1].loss, iterations[0].loss)
        self.assertAlmostEqual(iterations[0].learning_rate, 0.1, 6)
        tests = [e for e in events if e.kind == "test_done"]
        self.assertEqual([e.iteration for e in tests], [0, 2, 4])
        self.assertEqual([blob for blob, _, _ in tests[0].outputs], ["acc", "loss"])
        snapshots = [e for e in events if e.kind == "snapshot"]
        self.assertEqual(snapshots[0].file, self.path("snap_iter_2.caffemodel"))

    def test_listeners_hear_the_start_of_the_session(self):
        kinds = []
        self.make_session(on_event=lambda e: kinds.append(e.kind))
        self.assertEqual(kinds[0], "solver_set_up")
        self.assertIn("net_set_up", kinds)

    def test_removed_and_failing_listeners(self):
        session, iterations = self.make_session(), []

        def listen_once(event):
            iterations.append(session.iteration)
            stop()

        stop = session.events.listen(listen_once, "iteration")
        session.step(3)
        self.assertEqual(len(iterations), 1)

        def fail(event):
            raise ZeroDivisionError("from a listener")

        stop = session.events.listen(fail, "iteration")
        before = session.iteration
        with self.assertRaisesRegex(ZeroDivisionError, "from a listener"):
            session.step(5)
        stop()
        self.assertEqual(session.iteration, before + 1)  # the exception ends the run
        session.step(1)
        with self.assertRaisesRegex(ValueError, "there are no events 'nope'"):
            session.events.listen(print, "nope")

    def test_listeners_do_not_keep_the_session_alive(self):
        def open_session():
            session = self.make_session(on_event=lambda e: referenced.append(e))
            session.events.listen(lambda e: session.iteration)
            referenced.append(session)
            return weakref.ref(session)

        referenced = []
        reference = open_session()
        referenced.clear()
        gc.collect()
        self.assertIsNone(reference())


class Feeds(Case):
    def test_a_function_fills_batches(self):
        net = self.write(TRAIN)
        session = brew.compile(self.write(SOLVER % (net, self.path("snap")), "s.prototxt")).session(seed=1)
        calls = []

        def fill(arrays):
            calls.append(sorted(arrays))
            arrays["data"][:] = len(calls)

        session.set_inputs(label=[0, 1, 2, 0])
        session.set_feed(fill, "data")
        session.set_inputs("test_0", data=np.zeros((4, 6)), label=np.zeros(4))
        session.step(3)
        self.assertEqual(calls, [["data"]] * 3)
        with self.assertRaises(KeyError):
            session.set_feed(fill, "nope")
        with self.assertRaises(KeyError):
            session.set_inputs("nope", data=0)
        with self.assertRaises(ValueError):
            session.set_inputs(label=np.zeros(5))

        def fail(arrays):
            raise StopIteration("no more batches")

        session.set_feed(fail)
        with self.assertRaisesRegex(StopIteration, "no more batches"):
            session.step(1)
        session.set_feed(fill, "data")
        session.set_inputs(label=[0, 1, 2, 0])
        session.step(1)

    def test_feeds_do_not_keep_the_session_alive(self):
        def open_session():
            session = brew.compile(DEPLOY).session()
            session.set_feed(lambda arrays: session.inputs)
            return weakref.ref(session)

        reference = open_session()
        gc.collect()
        self.assertIsNone(reference())


class Gradients(Case):
    def test_updates_from_output_gradients(self):
        net = TRAIN[: TRAIN.index("layer { name: 'loss'")].replace("bottom: 'label'", "")
        net = "\n".join(line for line in net.splitlines() if "'label'" not in line)
        plan = brew.compile(net, output_gradient="ip2")
        session = plan.session(seed=1)
        session._core.set_input(0, "data", random_array(7, 4, 6))
        before = session.params["ip2"][1].copy()
        for _ in range(2):
            session.forward()
            session.output_gradients["ip2"] = random_array(3, 4, 3)
            session.backward()
            self.close(session.gradients["ip2"][1], random_array(3, 4, 3).sum(axis=0))
            session.update()
        self.close(session.params["ip2"][1], before - 2 * 0.01 * random_array(3, 4, 3).sum(axis=0))

    def test_a_plan_without_output_gradients(self):
        session = brew.compile(DEPLOY).session()
        self.assertEqual(list(session.output_gradients), [])
        with self.assertRaises(KeyError):
            session.output_gradients["prob"] = 1

    def test_bias_gradient_of_another_axis(self):
        """The channels of a convolution need not be dimension 1."""
        net = """
          layer { name: "x" type: "Input" top: "x"
            input_param { shape { dim: 2 dim: 4 dim: 3 dim: 5 } } }
          layer { name: "c" type: "Convolution" bottom: "x" top: "y" convolution_param {
            axis: 2 num_output: 4 kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }"""
        random = np.random.default_rng(3)
        dy = random.standard_normal((2, 4, 4, 5)).astype("f4")
        for precision, tolerance in (("f32", 1e-5), ("bf16", 2e-2)):
            session = brew.compile(net, output_gradient="y", keep=["y"], precision=precision).session(seed=1)
            session.set_inputs(x=random.standard_normal((2, 4, 3, 5)).astype("f4"))
            session.forward()
            session.output_gradients["y"] = dy
            session.backward()
            np.testing.assert_allclose(np.array(session.gradients["c"][1]), dy.sum(axis=(0, 1, 3)),
                                       tolerance, tolerance)


class Inspection(Case):
    def test_dump(self):
        plan = brew.compile(self.write(DEPLOY), batch=None)
        self.assertIn("brew.conv", plan.dump("import"))
        for phase in ("graph", "fused", "plan"):
            self.assertIn("module", plan.dump(phase))
        self.assertNotEqual(plan.dump("graph"), plan.dump("fused"))
        self.assertTrue(any(name.endswith(".ll") for name in plan.dump("kernels")))
        self.assertIn("all.mlir" if "all.mlir" in plan.dump("all") else "graph.mlir", plan.dump("all"))
        with self.assertRaises(brew.Error):
            plan.dump("nope")
        plan.save(self.path("n.plan"))
        with self.assertRaisesRegex(brew.Error, "opened"):
            brew.Plan.open(self.path("n.plan")).dump()

    def test_graph(self):
        plan = brew.compile(DEPLOY)
        layers, kernels = plan.graph(), plan.graph("fused")
        self.assertIn("conv1", str(layers))
        self.assertNotEqual(str(layers), str(kernels))
        layers.save(self.path("n.dot"))
        with open(self.path("n.dot")) as file:
            self.assertEqual(file.read(), layers.dot)
        with self.assertRaises(ValueError):
            plan.graph("plan")

    def fake_dot(self, text):
        """Returns a context in which a shell script replaces Graphviz's dot."""
        path = self.write("#!/bin/sh\n" + text, "dot")
        os.chmod(path, 0o755)
        return mock.patch.dict("os.environ", PATH=self.folder + ":/bin:/usr/bin")

    def test_graph_pictures(self):
        graph = brew.compile(DEPLOY).graph()
        with self.fake_dot("cat >/dev/null; echo \"<svg>$1</svg>\"\n"):
            self.assertEqual(graph.svg(), "<svg>-Tsvg</svg>\n")
            self.assertEqual(graph._repr_mimebundle_()["image/svg+xml"], "<svg>-Tsvg</svg>\n")
            graph.save(self.path("n.pdf"))
            with open(self.path("n.pdf")) as file:
                self.assertEqual(file.read(), "<svg>-Tpdf</svg>\n")
        with self.fake_dot("cat >/dev/null; echo cannot >&2; exit 1\n"):
            with self.assertRaisesRegex(RuntimeError, "cannot"):
                graph.svg()
        with self.fake_dot("exec sleep 60\n"), self.assertRaisesRegex(RuntimeError, "longer"):
            graph.svg(seconds=0.2)
        with mock.patch.dict("os.environ", PATH=self.path("nowhere")):
            with self.assertRaisesRegex(RuntimeError, "Graphviz"):
                graph.svg()
            bundle = graph._repr_mimebundle_()
            self.assertEqual(list(bundle), ["text/plain"])
            self.assertIn("conv1", bundle["text/plain"])

    def test_report_is_a_table(self):
        report = brew.compile(DEPLOY).report
        self.assertEqual(len(report.rows[0]), 1 + len(report.columns))
        self.assertIn("<th>arena_bytes</th>", report._repr_html_())
        json.dumps(report.data)


if __name__ == "__main__":
    unittest.main()
