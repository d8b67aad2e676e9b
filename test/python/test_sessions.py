"""The package brew: events, output gradients, arrays of other libraries, graphs and texts."""
import gc
import json
import os
import threading
import unittest
import weakref
from unittest import mock

import brew
import numpy as np

from common import DEPLOY, TRAIN, Case, numbers

SOLVER = """net: '%s' base_lr: 0.1 lr_policy: 'fixed' momentum: 0.9 max_iter: 4 display: 2 snapshot: 2
test_iter: 1 test_interval: 2 snapshot_prefix: '%s'"""


class Foreign:
    """An array that supports only DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **more):
        return self.array.__dlpack__(**more)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnGpu:
    """Imitates a PyTorch tensor on a GPU."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **more):
        raise AssertionError("it lies on a GPU")

    def __dlpack_device__(self):
        return 2, 0

    def detach(self):
        return self

    def cpu(self):
        return self.array


class Tuning(Case):
    def test_measures_and_follows(self):
        plan = brew.compile(DEPLOY)
        x = numbers(1, 2, 3, 8, 8)
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
        again = plan.session(seed=1, timing_cache=self.path("net.timing"))(data=x)["prob"]
        np.testing.assert_array_equal(again, tuned)

    def test_no_place_for_the_file(self):
        session = brew.compile(DEPLOY).session(timing_cache=self.path("none/net.timing"))
        with self.assertRaisesRegex(brew.Error, "none/net.timing"):
            session.tune()


class Arrays(Case):
    def test_dlpack_in(self):
        session = brew.compile(DEPLOY).session(seed=1)
        x = numbers(1, 2, 3, 8, 8)
        expected = session(data=x)["prob"]
        for given in (Foreign(x), OnGpu(x), x.astype(np.float64), x.tolist(), Foreign(x.astype(np.float64))):
            np.testing.assert_array_equal(session(data=given)["prob"], expected)
        session.params["fc"] = [Foreign(numbers(2, 5, 36)), OnGpu(numbers(3, 5))]
        np.testing.assert_array_equal(session.params["fc"][0], numbers(2, 5, 36))

    def test_dlpack_out_is_the_memory(self):
        session = brew.compile(DEPLOY, keep="all").session(seed=1)
        session(data=numbers(1, 2, 3, 8, 8))
        for name in session.blobs:
            exported = session.blobs.exported(name)
            self.assertEqual(exported.__dlpack_device__(), (1, 0))
            np.testing.assert_array_equal(np.from_dlpack(exported), session.blobs[name])
        bias = np.from_dlpack(session.params.exported("fc", 1))
        session.params["fc"] = [None, np.arange(5)]
        self.assertEqual(bias.tolist(), [0, 1, 2, 3, 4])
        with self.assertRaises(KeyError):
            session.blobs.exported("nope")

    def test_outlives_the_session(self):
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


class Devices(Case):
    def test_names(self):
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

    def session(self, more="", **options):
        net = self.write(TRAIN)
        solver = self.write((SOLVER + " " + more) % (net, self.path("snap")), "s.prototxt")
        session = brew.compile(solver).session(seed=1, **options)
        for program in (0, session.plan.programs.index("test_0")):
            session._core.set_input(program, "data", numbers(7, 4, 6))
            session._core.set_input(program, "label", (np.arange(4) % 3).astype(np.float32))
        return session

    def test_rules(self):
        session = self.session(stop_when="iter >= 1")
        with session.events.record("stopped_by_rule") as seen:
            session.step(10)
        self.assertEqual(session.iteration, 1)
        self.assertFalse(session.stopped)
        self.assertEqual([e.iteration for e in seen], [1])
        self.assertIn("iter >= 1 holds", seen[0].text)
        session = self.session(stop_when=["test.acc < 0", "iter >= 3"])
        session.step(10)
        self.assertEqual(session.iteration, 3)
        # With a learning rate of 0, the loss does not improve.
        session = self.session(fields=dict(base_lr=0), patience="2:test.loss")
        with session.events.record("stopped_by_rule") as seen:
            session.step(100)
        self.assertEqual(session.iteration, 4)
        self.assertIn("without improvement of test.loss", seen[0].text)
        for wrong in (dict(stop_when="test.nope > 1"), dict(patience="0"), dict(snapshot_best="nope")):
            with self.assertRaises(brew.Error):
                self.session(**wrong)

    def test_nan_is_found(self):
        session = self.session(check_nan=True)
        before = [each.copy() for each in session.params["ip1"]]
        session._core.set_input(0, "data", np.full((4, 6), np.nan, np.float32))
        with self.assertRaisesRegex(brew.Error, "iteration 0: .*'data'"):
            session.step(1)
        np.testing.assert_array_equal(session.params["ip1"][0], before[0])

    def test_goes_on_from_snapshots(self):
        session = self.session(keep_snapshots=1, snapshot_best="test.loss", log_dir=self.path("log"))
        session.solve()
        states = sorted(f for f in os.listdir(self.path("")) if f.endswith("state"))
        self.assertEqual(states, ["snap_best_test.loss.solverstate", "snap_iter_4.solverstate"])
        with open(self.path("log/metrics.jsonl")) as lines:
            self.assertEqual({json.loads(line)["iteration"] for line in lines}, {0, 2, 4})
        expected = session.params["ip1"][0].copy()
        for options in (dict(resume=True), dict(snapshot=self.path("snap_iter_4.solverstate"))):
            again = self.session(**options)
            self.assertEqual(again.iteration, 4)
            np.testing.assert_array_equal(again.params["ip1"][0], expected)
        with self.assertRaisesRegex(brew.Error, "none.solverstate"):
            self.session(snapshot=self.path("none.solverstate"))

    def test_not_for_inference(self):
        with self.assertRaisesRegex(ValueError, "check_nan, log_dir: "):
            brew.compile(DEPLOY).session(check_nan=True, log_dir="log")

    def test_requests_of_other_threads(self):
        session = self.session()
        session.request_snapshot()
        session.pause()
        waits, resets = threading.Event(), threading.Event()
        paused = session.events.listen(lambda event: waits.set(), "paused")
        reset = session.events.listen(lambda event: resets.set(), "reset")
        first = session.params["ip1"][0].copy()
        trains = threading.Thread(target=session.step, args=(10**9,))
        trains.start()
        try:
            self.assertTrue(waits.wait(60))
            session.set_field("base_lr", 0)
            self.assertEqual(float(session.field("base_lr")), 0)
            with self.assertRaisesRegex(brew.Error, "no_such_field"):
                session.set_field("no_such_field", 1)
            with self.assertRaisesRegex(brew.Error, "another thread"):
                session.learning_rate
            session.reset()
            self.assertTrue(resets.wait(60))
            session.resume()
        finally:
            session.stop()
            trains.join(60)
        self.assertFalse(trains.is_alive())
        self.assertTrue(session.stopped)
        # The snapshot was requested before training, so it precedes the first iteration.
        self.assertIn("snap_iter_0.solverstate", os.listdir(self.path("")))
        # The initial parameters: after the reset the rate is still 0.
        np.testing.assert_array_equal(session.params["ip1"][0], first)
        self.assertEqual(session.learning_rate, 0)
        paused(), reset()

    def test_hooks(self):
        session = self.session()
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

    def test_hooks_raise_and_are_raised(self):
        session = self.session()

        def fails(call):
            raise KeyError(call.name)
        session.add_hook("bad: after 1 iterations", fails)
        with self.assertRaisesRegex(KeyError, "bad"):
            session.step(3)
        self.assertEqual(session.iteration, 1)
        session.add_hook("every iteration if external enough do stop")
        session.raise_flag("enough")
        session.step(3)
        self.assertEqual(session.iteration, 2)
        gone = weakref.ref(session)
        del session
        gc.collect()
        self.assertIsNone(gone())

    def test_hooks_of_files(self):
        with open(self.path("run.hooks"), "w") as file:
            file.write("at start do set base_lr 0.5\n")
        session = self.session(hooks=self.path("run.hooks"))
        session.step(1)
        self.assertEqual(session.learning_rate, 0.5)
        session.add_hooks(self.path("run.hooks"))
        with self.assertRaisesRegex(brew.Error, "none.hooks"):
            self.session(hooks=[self.path("none.hooks")])

    def test_times_of_steps(self):
        session = self.session()
        session.time_layers()
        with session.events.record("step_times", "throughput") as seen:
            session.step(4)
        times = [e for e in seen if e.kind == "step_times"]
        self.assertEqual([e.iteration for e in times], [0])
        self.assertTrue(times[0].step_seconds and min(times[0].step_seconds) >= 0)
        speeds = [e for e in seen if e.kind == "throughput"]
        self.assertEqual([e.iteration for e in speeds], [2])
        self.assertGreater(speeds[0].rate, 0)


class Telling(Case):
    def session(self, **options):
        net = self.write(TRAIN)
        solver = self.write(SOLVER % (net, self.path("snap")), "s.prototxt")
        session = brew.compile(solver).session(seed=1, **options)
        for program in (0, session.plan.programs.index("test_0")):
            session._core.set_input(program, "data", numbers(7, 4, 6))
            session._core.set_input(program, "label", (np.arange(4) % 3).astype(np.float32))
        return session

    def test_record(self):
        session = self.session()
        with session.events.record("iteration", "test_done", "snapshot") as seen:
            session.solve()
        session.step(1)
        iterations = [e for e in seen if e.kind == "iteration"]
        self.assertEqual([e.iteration for e in iterations], [0, 1, 2, 3])
        self.assertLess(iterations[-1].loss, iterations[0].loss)
        self.assertAlmostEqual(iterations[0].learning_rate, 0.1, 6)
        tests = [e for e in seen if e.kind == "test_done"]
        self.assertEqual([e.iteration for e in tests], [0, 2, 4])
        self.assertEqual([blob for blob, _, _ in tests[0].outputs], ["acc", "loss"])
        snapshots = [e for e in seen if e.kind == "snapshot"]
        self.assertEqual(snapshots[0].file, self.path("snap_iter_2.caffemodel"))

    def test_from_the_opening_on(self):
        seen = []
        self.session(on_event=lambda e: seen.append(e.kind))
        self.assertEqual(seen[0], "solver_set_up")
        self.assertIn("net_set_up", seen)

    def test_stop_and_exceptions(self):
        session, seen = self.session(), []

        def listen(event):
            seen.append(session.iteration)
            stop()

        stop = session.events.listen(listen, "iteration")
        session.step(3)
        self.assertEqual(len(seen), 1)

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

    def test_listeners_that_hold_the_session(self):
        def opened():
            session = self.session(on_event=lambda e: seen.append(e))
            session.events.listen(lambda e: session.iteration)
            seen.append(session)
            return weakref.ref(session)

        seen = []
        reference = opened()
        seen.clear()
        gc.collect()
        self.assertIsNone(reference())


class Feeding(Case):
    def test_a_function_makes_batches(self):
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

    def test_functions_that_hold_the_session(self):
        def opened():
            session = brew.compile(DEPLOY).session()
            session.set_feed(lambda arrays: session.inputs)
            return weakref.ref(session)

        reference = opened()
        gc.collect()
        self.assertIsNone(reference())


class Gradients(Case):
    def test_from_outside(self):
        net = TRAIN[: TRAIN.index("layer { name: 'loss'")].replace("bottom: 'label'", "")
        net = "\n".join(line for line in net.splitlines() if "'label'" not in line)
        plan = brew.compile(net, output_gradient="ip2")
        session = plan.session(seed=1)
        session._core.set_input(0, "data", numbers(7, 4, 6))
        before = session.params["ip2"][1].copy()
        for _ in range(2):
            session.forward()
            session.output_gradients["ip2"] = numbers(3, 4, 3)
            session.backward()
            self.close(session.gradients["ip2"][1], numbers(3, 4, 3).sum(axis=0))
            session.update()
        self.close(session.params["ip2"][1], before - 2 * 0.01 * numbers(3, 4, 3).sum(axis=0))

    def test_seeds_of_a_plan_without(self):
        session = brew.compile(DEPLOY).session()
        self.assertEqual(list(session.output_gradients), [])
        with self.assertRaises(KeyError):
            session.output_gradients["prob"] = 1


    def test_bias_of_another_axis(self):
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


class Looking(Case):
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

    def program(self, text):
        """Installs a fake of Graphviz's dot."""
        path = self.write("#!/bin/sh\n" + text, "dot")
        os.chmod(path, 0o755)
        return mock.patch.dict("os.environ", PATH=self.folder + ":/bin:/usr/bin")

    def test_pictures(self):
        picture = brew.compile(DEPLOY).graph()
        with self.program("cat >/dev/null; echo \"<svg>$1</svg>\"\n"):
            self.assertEqual(picture.svg(), "<svg>-Tsvg</svg>\n")
            self.assertEqual(picture._repr_mimebundle_()["image/svg+xml"], "<svg>-Tsvg</svg>\n")
            picture.save(self.path("n.pdf"))
            with open(self.path("n.pdf")) as file:
                self.assertEqual(file.read(), "<svg>-Tpdf</svg>\n")
        with self.program("cat >/dev/null; echo cannot >&2; exit 1\n"):
            with self.assertRaisesRegex(RuntimeError, "cannot"):
                picture.svg()
        with self.program("exec sleep 60\n"), self.assertRaisesRegex(RuntimeError, "longer"):
            picture.svg(seconds=0.2)
        with mock.patch.dict("os.environ", PATH=self.path("nowhere")):
            with self.assertRaisesRegex(RuntimeError, "Graphviz"):
                picture.svg()
            bundle = picture._repr_mimebundle_()
            self.assertEqual(list(bundle), ["text/plain"])
            self.assertIn("conv1", bundle["text/plain"])

    def test_report_is_a_table(self):
        report = brew.compile(DEPLOY).report
        self.assertEqual(len(report.rows[0]), 1 + len(report.columns))
        self.assertIn("<th>arena_bytes</th>", report._repr_html_())
        json.dumps(report.data)


if __name__ == "__main__":
    unittest.main()
