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


class Which(unittest.TestCase):
    def keys(self, *arguments):
        return [program.key for program in programs_of(*arguments)]

    def test_training(self):
        self.assertEqual(self.keys(TRAIN, ("f32",)), [
            "brew f32 step", "torch eager f32 step",
            "torch channels_last f32 step", "torch compile f32 step",
            "caffe f32 no update", "brew f32 loop", "caffe f32 loop"])
        self.assertEqual(
            self.keys(Workload("lstm", 64, "train"), ("bf16",), False),
            ["brew bf16 step", "torch eager bf16 step", "caffe bf16 no update"])

    def test_quick(self):
        self.assertEqual(self.keys(INFER, ("bf16",), False, True)[:3], [
            "brew bf16 step", "torch channels_last bf16 step",
            "onnxruntime bf16 step"])

    def test_inference(self):
        keys = self.keys(INFER)
        self.assertEqual(len(keys), len(set(keys)))
        for precision in ("f32", "bf16"):
            self.assertEqual("torch bf16_weights %s step" % precision in keys,
                             precision == "bf16")
            for peer in ("brew", "onnxruntime", "openvino", "opencv", "caffe"):
                self.assertIn("{} {} step".format(peer, precision), keys)

    def test_titles(self):
        for workload in (TRAIN, INFER):
            for program in programs_of(workload):
                self.assertTrue(program.title)
        self.assertEqual(Program("caffe", "f32", "", LOOP).title,
                         "BVLC Caffe: `caffe train`, reading LMDB")


class FakeBrew:
    threads = 2

    def __init__(self, work):
        self.work, self.asked = work, []

    def step(self, workload, precision, steps):
        self.asked.append(steps)
        # The first step is slow.
        seconds = 0.002 if steps > 1 else 0.01
        return {"median": seconds, "least": seconds}


class Measure(Folder):
    def setUp(self):
        super().setUp()
        self.brew = FakeBrew(self.folder)
        self.measure = Measurer(self.brew, "python", None, 1)

    def test_as_many_steps_as_the_time_takes(self):
        for _ in range(2):
            self.measure(TRAIN, Program("brew", "f32"))
        self.assertEqual(self.brew.asked, [1, programs.STEPS_TO_LOOK, 500, 500])
        self.measure = Measurer(self.brew, "python", None, 0.001)
        self.brew.asked.clear()
        self.measure(TRAIN, Program("brew", "f32"))
        self.assertEqual(self.brew.asked, [1, 3])

    def test_what_is_not_there_says_why(self):
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

    def test_peers(self):
        asked = []

        def run(command, threads, work, limit=0):
            asked.append([str(word) for word in command])
            return process.Finished('noise\n{"median": 1, "peak_bytes": null}\n',
                                    "", 7)
        with mock.patch.object(programs, "run", run), \
                mock.patch.object(programs, "module_problem",
                                  lambda python, module: None):
            result = self.measure(TRAIN, Program("torch", "bf16", "compile"))
            self.assertEqual(result, {"median": 1, "peak_bytes": 7})
            words = asked.pop()
            for word in ("lenet-64-train.prototxt", "--precision=bf16",
                         "--variant=compile", "--foreach", "data=64,1,28,28"):
                self.assertIn(word, words)
            # A net is exported again only after it has changed.
            for peer in ("onnxruntime", "openvino"):
                self.measure(INFER, Program(peer, "f32"))
            self.assertEqual([Path(words[1]).name for words in asked],
                             ["export_onnx.py", "run_onnxruntime.py",
                              "run_openvino.py"])
            (self.folder / "vgg16-1-infer.onnx.prototxt").write_text("older")
            self.measure(INFER, Program("opencv", "f32"))
            self.assertEqual([Path(words[1]).name for words in asked[3:]],
                             ["export_onnx.py", "run_opencv.py"])

    def test_a_net_that_cannot_be_exported_is_tried_once(self):
        asked = []

        def run(command, *rest):
            asked.append(command)
            raise process.MeasureError("it broke")
        with mock.patch.object(programs, "run", run), \
                mock.patch.object(programs, "module_problem",
                                  lambda python, module: None):
            for peer in ("onnxruntime", "openvino"):
                with self.assertRaisesRegex(process.MeasureError,
                                            "no ONNX file: it broke"):
                    self.measure(INFER, Program(peer, "f32"))
        self.assertEqual(len(asked), 1)


class Logs(Folder):
    def finished(self, text):
        return lambda *arguments, **named: process.Finished("", text, 11)

    def test_brews_steps(self):
        runner = brew_side.Brew(Path("bin"), self.folder, 2)
        with mock.patch.object(brew_side, "run", self.finished(TIMES)):
            self.assertEqual(runner.step(TRAIN, "f32", 4), {
                "median": 0.008, "least": 0.007, "steps": 4, "peak_bytes": 11})
            (self.folder / "vgg16-1-infer.prototxt").write_text("")
            self.assertEqual(runner.step(INFER, "f32", 4)["median"], 0.006)
        with mock.patch.object(brew_side, "run", self.finished("")):
            with self.assertRaises(process.MeasureError):
                runner.step(TRAIN, "f32", 4)

    def test_caffes_steps(self):
        with mock.patch.object(caffe, "run", self.finished(TIMES)):
            self.assertEqual(caffe.step("c", self.folder, 2, TRAIN, 4)["median"],
                             0.007)
            self.assertEqual(caffe.step("c", self.folder, 2, INFER, 4)["median"],
                             0.003)

    def test_loops(self):
        log = "".join(LOG.format(second, 10 * second) for second in range(5))
        self.assertEqual(brew_side.intervals(log), [0.1, 0.1])
        self.assertEqual(
            brew_side.loop_result(process.Finished("", log, 3)),
            {"median": 0.1, "least": 0.1, "steps": 20, "peak_bytes": 3})
        with self.assertRaises(process.MeasureError):
            brew_side.intervals("".join(log.splitlines(True)[:3]))

    def test_weights_for_statistics(self):
        model = brew_side.statistics_weights({"n" * 200: 3})
        self.assertIn(b"\x0a\xc8\x01" + b"n" * 200, model)
        self.assertIn(struct.pack("<3f", 1, 1, 1), model)
        self.assertEqual(model[:2], b"\xa2\x06")  # field 100 of type bytes


class Processes(Folder):
    def test_what_a_process_says_and_takes(self):
        done = process.run(
            ["sh", "-c", "echo out; echo err >&2; echo $OMP_NUM_THREADS"], 3,
            self.folder)
        self.assertEqual((done.stdout, done.stderr), ("out\n3\n", "err\n"))
        self.assertGreater(done.peak_bytes, 0)

    def test_memory_is_the_process_own(self):
        for of_this, of_child in ((64, 4), (4, 128)):
            here = bytearray(b"x") * (of_this << 20)
            done = process.run(
                [sys.executable, "-c", "import time; x = bytearray(b'x') * "
                 "({} << 20); time.sleep(0.3)".format(of_child)],
                1, self.folder)
            del here
            # The interpreter itself takes about 10 MB.
            self.assertGreater(done.peak_bytes, of_child << 20)
            self.assertLess(done.peak_bytes, (of_child + 40) << 20)

    def test_no_core_type_for_openblas(self):
        with mock.patch.dict(os.environ, OPENBLAS_CORETYPE="Prescott"):
            self.assertNotIn("OPENBLAS_CORETYPE",
                             process.environment(2, self.folder))

    def test_failures(self):
        with self.assertRaisesRegex(process.MeasureError,
                                    "status 3: the last word"):
            process.run(["sh", "-c", "echo first >&2; echo the last word >&2;"
                         "exit 3"], 1, self.folder)
        with self.assertRaisesRegex(process.MeasureError, "was stopped"):
            process.run(["sleep", "60"], 1, self.folder, 0.1)

    def test_stopwatch(self):
        calls = []
        seconds = stopwatch.time_for(lambda: calls.append(0), 1e-9)
        self.assertEqual(len(seconds), stopwatch.LEAST_STEPS)
        self.assertGreater(len(calls), len(seconds))
        summary = stopwatch.summary("1.2", seconds)
        self.assertEqual(summary["version"], "1.2")
        self.assertGreater(summary["peak_bytes"], 0)


if __name__ == "__main__":
    unittest.main()
