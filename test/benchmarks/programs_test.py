#!/usr/bin/env python3
"""Tests how single programs are run and how their output is parsed."""

import os
import struct
import sys
import unittest
from pathlib import Path
from unittest import mock

from common import Folder

import brew_side
import programs
import process
from peers import caffe
from programs import LOOP, Measurer, Program, programs_of
from workloads import Workload

sys.path.append(str(Path(programs.__file__).parent / "gpu"))
import stopwatch  # noqa: E402

LOG = """I1121 10:00:0{}.500000  7 solver.cpp:239] Iteration {} (1 iter/s), loss = 1
"""
TIMES = """I1 1 caffe.cpp:417] Average Forward pass: 3 ms. (median 2, min 1)
I1 1 caffe.cpp:421] Average Forward-Backward: 7 ms. (median 6, min 5)
I1 1 caffe.cpp:421] Average training step: 9 ms. (median 8, min 7)
"""
TRAIN, INFER = Workload("lenet", 64, "train"), Workload("vgg16", 1, "infer")


class SelectedPrograms(unittest.TestCase):
    def keys(self, *arguments):
        return [program.key for program in programs_of(*arguments)]

    def test_training_is_compared_with_pytorch_and_caffe(self):
        self.assertEqual(self.keys(TRAIN, ("f32",)), [
            "brew f32 step", "torch eager f32 step",
            "torch channels_last f32 step", "torch compile f32 step",
            "caffe f32 no update", "brew f32 loop", "caffe f32 loop"])
        self.assertEqual(
            self.keys(Workload("lstm", 64, "train"), ("bf16",), False),
            ["brew bf16 step", "torch eager bf16 step", "caffe bf16 no update"])

    def test_quick_measures_one_form_of_pytorch(self):
        self.assertEqual(self.keys(INFER, ("bf16",), False, True)[:3], [
            "brew bf16 step", "torch channels_last bf16 step",
            "onnxruntime bf16 step"])

    def test_inference_measures_every_peer(self):
        keys = self.keys(INFER)
        self.assertEqual(len(keys), len(set(keys)))
        for precision in ("f32", "bf16"):
            self.assertEqual("torch bf16_weights %s step" % precision in keys,
                             precision == "bf16")
            for peer in ("brew", "onnxruntime", "openvino", "opencv", "caffe"):
                self.assertIn("{} {} step".format(peer, precision), keys)

    def test_every_program_has_a_title(self):
        for workload in (TRAIN, INFER):
            for program in programs_of(workload):
                self.assertTrue(program.title)
        self.assertEqual(Program("caffe", "f32", "", LOOP).title,
                         "BVLC Caffe: `caffe train`, reading LMDB")


class FakeBrew:
    threads = 2

    def __init__(self, work):
        self.work, self.requested_steps = work, []

    def step(self, workload, precision, steps):
        self.requested_steps.append(steps)
        # The first step is slow.
        seconds = 0.002 if steps > 1 else 0.01
        return {"median": seconds, "least": seconds}


class MeasurerTest(Folder):
    def setUp(self):
        super().setUp()
        self.brew = FakeBrew(self.folder)
        self.measure = Measurer(self.brew, "python", None, 1)

    def test_number_of_steps_fits_the_time(self):
        for _ in range(2):
            self.measure(TRAIN, Program("brew", "f32"))
        self.assertEqual(self.brew.requested_steps, [1, programs.TRIAL_STEPS, 500, 500])
        self.measure = Measurer(self.brew, "python", None, 0.001)
        self.brew.requested_steps.clear()
        self.measure(TRAIN, Program("brew", "f32"))
        self.assertEqual(self.brew.requested_steps, [1, 3])

    def test_unavailable_programs_report_the_reason(self):
        for program, reason in (
                (Program("caffe", "f32"), "no --caffe was given"),
                (Program("onnxruntime", "bf16"), "f32 only"),
                (Program("opencv", "bf16"), "f32 only")):
            with self.assertRaisesRegex(process.NotAvailable, reason):
                self.measure(INFER, program)
        self.measure.python = sys.executable
        with mock.patch.dict(programs.MODULES, torch=("no_such_module",)):
            with self.assertRaisesRegex(process.NotAvailable, "no_such_module"):
                self.measure(INFER, Program("torch", "f32", "eager"))
        self.measure = Measurer(self.brew, "/nowhere/python", None, 1)
        with self.assertRaisesRegex(process.NotAvailable, "nowhere"):
            self.measure(INFER, Program("openvino", "f32"))

    def test_peers_run_in_processes_and_export_changed_nets_only(self):
        commands = []

        def run(command, threads, work, limit=0):
            commands.append([str(word) for word in command])
            return process.Finished('noise\n{"median": 1, "peak_bytes": null}\n',
                                    "", 7)
        with mock.patch.object(programs, "run", run), \
                mock.patch.object(programs, "module_problem",
                                  lambda python, module: None):
            result = self.measure(TRAIN, Program("torch", "bf16", "compile"))
            self.assertEqual(result, {"median": 1, "peak_bytes": 7})
            words = commands.pop()
            for word in ("lenet-64-train.prototxt", "--precision=bf16",
                         "--variant=compile", "--foreach", "data=64,1,28,28"):
                self.assertIn(word, words)
            # A net is exported again only after it has changed.
            for peer in ("onnxruntime", "openvino"):
                self.measure(INFER, Program(peer, "f32"))
            self.assertEqual([Path(words[1]).name for words in commands],
                             ["export_onnx.py", "run_onnxruntime.py",
                              "run_openvino.py"])
            (self.folder / "vgg16-1-infer.onnx.prototxt").write_text("older")
            self.measure(INFER, Program("opencv", "f32"))
            self.assertEqual([Path(words[1]).name for words in commands[3:]],
                             ["export_onnx.py", "run_opencv.py"])

    def test_failed_export_is_not_repeated(self):
        commands = []

        def run(command, *rest):
            commands.append(command)
            raise process.MeasureError("it broke")
        with mock.patch.object(programs, "run", run), \
                mock.patch.object(programs, "module_problem",
                                  lambda python, module: None):
            for peer in ("onnxruntime", "openvino"):
                with self.assertRaisesRegex(process.MeasureError,
                                            "no ONNX file: it broke"):
                    self.measure(INFER, Program(peer, "f32"))
        self.assertEqual(len(commands), 1)


class Logs(Folder):
    def fake_run(self, text):
        return lambda *arguments, **named: process.Finished("", text, 11)

    def test_step_times_of_brew_are_parsed(self):
        runner = brew_side.Brew(Path("bin"), self.folder, 2)
        with mock.patch.object(brew_side, "run", self.fake_run(TIMES)):
            self.assertEqual(runner.step(TRAIN, "f32", 4), {
                "median": 0.008, "least": 0.007, "steps": 4, "peak_bytes": 11})
            (self.folder / "vgg16-1-infer.prototxt").write_text("")
            self.assertEqual(runner.step(INFER, "f32", 4)["median"], 0.006)
        with mock.patch.object(brew_side, "run", self.fake_run("")):
            with self.assertRaises(process.MeasureError):
                runner.step(TRAIN, "f32", 4)

    def test_step_times_of_caffe_are_parsed(self):
        with mock.patch.object(caffe, "run", self.fake_run(TIMES)):
            self.assertEqual(caffe.step("c", self.folder, 2, TRAIN, 4)["median"],
                             0.007)
            self.assertEqual(caffe.step("c", self.folder, 2, INFER, 4)["median"],
                             0.003)

    def test_times_of_loops_come_from_time_stamps(self):
        log = "".join(LOG.format(second, 10 * second) for second in range(5))
        self.assertEqual(brew_side.intervals(log), [0.1, 0.1])
        self.assertEqual(
            brew_side.loop_result(process.Finished("", log, 3)),
            {"median": 0.1, "least": 0.1, "steps": 20, "peak_bytes": 3})
        with self.assertRaises(process.MeasureError):
            brew_side.intervals("".join(log.splitlines(True)[:3]))

    def test_weights_of_statistics_are_a_net_message(self):
        model = brew_side.statistics_weights({"n" * 200: 3})
        self.assertIn(b"\x0a\xc8\x01" + b"n" * 200, model)
        self.assertIn(struct.pack("<3f", 1, 1, 1), model)
        self.assertEqual(model[:2], b"\xa2\x06")  # field 100 of type bytes


class Processes(Folder):
    def test_run_returns_output_and_peak_memory(self):
        done = process.run(
            ["sh", "-c", "echo out; echo err >&2; echo $OMP_NUM_THREADS"], 3,
            self.folder)
        self.assertEqual((done.stdout, done.stderr), ("out\n3\n", "err\n"))
        self.assertGreater(done.peak_bytes, 0)

    def test_peak_memory_excludes_the_parent(self):
        for parent_mib, child_mib in ((64, 4), (4, 128)):
            parent_memory = bytearray(b"x") * (parent_mib << 20)
            done = process.run(
                [sys.executable, "-c", "import time; x = bytearray(b'x') * "
                 "({} << 20); time.sleep(0.3)".format(child_mib)],
                1, self.folder)
            del parent_memory
            # The interpreter itself takes about 10 MB.
            self.assertGreater(done.peak_bytes, child_mib << 20)
            self.assertLess(done.peak_bytes, (child_mib + 40) << 20)

    def test_openblas_core_type_is_not_inherited(self):
        with mock.patch.dict(os.environ, OPENBLAS_CORETYPE="Prescott"):
            self.assertNotIn("OPENBLAS_CORETYPE",
                             process.environment(2, self.folder))

    def test_failures_and_timeouts_are_errors(self):
        with self.assertRaisesRegex(process.MeasureError,
                                    "status 3: the last word"):
            process.run(["sh", "-c", "echo first >&2; echo the last word >&2;"
                         "exit 3"], 1, self.folder)
        with self.assertRaisesRegex(process.MeasureError, "was stopped"):
            process.run(["sleep", "60"], 1, self.folder, 0.1)

    def test_stopwatch_takes_the_minimum_number_of_steps(self):
        calls = []
        seconds = stopwatch.time_for(lambda: calls.append(0), 1e-9)
        self.assertEqual(len(seconds), stopwatch.MIN_STEPS)
        self.assertGreater(len(calls), len(seconds))
        summary = stopwatch.summary("1.2", seconds)
        self.assertEqual(summary["version"], "1.2")
        self.assertGreater(summary["peak_bytes"], 0)


if __name__ == "__main__":
    unittest.main()
