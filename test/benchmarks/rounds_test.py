#!/usr/bin/env python3
"""Tests the order of measurements and the continuation of interrupted runs."""

import unittest

from common import Folder

from process import MeasureError, NotAvailable
from programs import Program
from records import Records
from rounds import Rounds
from workloads import Workload

WORKLOAD = Workload("lenet", 64, "train")
BREW = Program("brew", "f32")
EAGER = Program("torch", "f32", "eager")
CHANNELS_LAST = Program("torch", "f32", "channels_last")
PROGRAMS = [BREW, EAGER, CHANNELS_LAST]


class RoundsTest(Folder):
    """Tests rounds with a fake measurement, in which every program takes one second unless `seconds`
    has another time."""

    def setUp(self):
        super().setUp()
        self.path = self.folder / "results.jsonl"
        self.seconds, self.measured, self.compiled = {}, [], []

    def measure(self, workload, program):
        self.measured.append(program)
        seconds = self.seconds.get(program, 1)
        if isinstance(seconds, BaseException):
            raise seconds
        return {"median": seconds, "least": seconds, "steps": 3, "peak_bytes": 5}

    def compile(self, workload, precision):
        self.compiled.append(precision)
        return {"seconds": 1, "flops": 2}

    def run_rounds(self, count=2, programs=PROGRAMS):
        """Runs all rounds like a new process, with records read from the file."""
        self.measured.clear()
        self.compiled.clear()
        self.messages = []
        self.records = Records(self.path)
        Rounds(self.records, count, ("f32",), self.measure, self.compile,
               lambda precision: {"flops_per_second": 9, "size": 1},
               self.messages.append).run(WORKLOAD, programs)
        return list(self.measured)


class Order(RoundsTest):
    def test_each_round_measures_everything_once(self):
        self.assertEqual(self.run_rounds(3), PROGRAMS * 3)
        self.assertEqual(self.compiled, ["f32"] * 3)
        times = self.records.of("time")
        self.assertEqual([entry["round"] for entry in times],
                         [1] * 3 + [2] * 3 + [3] * 3)
        self.assertEqual(len(self.records.of("compile")), 3)
        self.assertEqual(len(self.records.of("peak")), 1)
        self.assertEqual(self.records.workloads, [WORKLOAD.key])

    def test_failed_programs_are_not_measured_again(self):
        self.seconds[EAGER] = NotAvailable("no torch")
        self.seconds[CHANNELS_LAST] = MeasureError("it broke")
        self.assertEqual(self.run_rounds(), PROGRAMS + [BREW])
        failed = [entry for entry in self.records.of("time")
                  if "failed" in entry]
        self.assertEqual([(entry["failed"], entry["missing"])
                          for entry in failed],
                         [("no torch", True), ("it broke", False)])
        self.assertTrue(any("not measured: no torch" in line
                            for line in self.messages))

    def test_programs_are_measured_if_a_plan_does_not_compile(self):
        def refuse(workload, precision):
            raise MeasureError("no such layer")
        self.compile = refuse
        self.assertEqual(self.run_rounds(1), PROGRAMS)
        self.assertEqual(self.records.of("compile"), [])

    def test_slow_variants_have_one_round(self):
        self.seconds[EAGER] = 1.6
        self.assertEqual(self.run_rounds(3), PROGRAMS + [BREW, CHANNELS_LAST] * 2)
        # A variant below the limit is measured in all rounds.
        self.seconds = {CHANNELS_LAST: 1.4}
        self.path.unlink()
        self.assertEqual(self.run_rounds(), PROGRAMS * 2)

    def test_programs_with_a_long_setup_have_fewer_rounds(self):
        compiled = Program("torch", "f32", "compile")
        order = self.run_rounds(5, [BREW, compiled])
        self.assertEqual((order.count(BREW), order.count(compiled)), (5, 3))

    def test_programs_without_variants_are_all_kept(self):
        openvino = Program("openvino", "f32")
        self.seconds[openvino] = 100
        self.assertEqual(self.run_rounds(2, [BREW, openvino]), [BREW, openvino] * 2)


class Resume(RoundsTest):
    def test_continues_after_the_last_result(self):
        self.seconds[CHANNELS_LAST] = KeyboardInterrupt()
        with self.assertRaises(KeyboardInterrupt):
            self.run_rounds()
        del self.seconds[CHANNELS_LAST]
        self.assertEqual(self.run_rounds(), [CHANNELS_LAST] + PROGRAMS)
        self.assertEqual(len(self.records.of("time")), 6)
        self.assertEqual(len(self.records.of("compile")), 2)
        self.assertEqual(len(self.records.of("peak")), 1)
        # All results exist, so nothing is measured or written again.
        size = self.path.stat().st_size
        self.assertEqual(self.run_rounds(), [])
        self.assertEqual(self.compiled, [])
        self.assertEqual(self.path.stat().st_size, size)
        self.assertEqual(self.run_rounds(3), PROGRAMS)

    def test_failed_programs_are_measured_in_a_new_run(self):
        self.seconds[EAGER] = NotAvailable("no torch")
        self.run_rounds()
        del self.seconds[EAGER]
        self.assertEqual(self.run_rounds(), [EAGER] * 2)
        self.assertEqual(self.run_rounds(), [])

    def test_slow_variants_stay_excluded(self):
        self.seconds[EAGER] = 2
        self.run_rounds()
        self.assertEqual(self.run_rounds(), [])

    def test_a_truncated_result_is_measured_again(self):
        self.run_rounds()
        text = self.path.read_text()
        self.path.write_text(text[:-20])
        self.assertEqual(self.run_rounds(), [CHANNELS_LAST])
        lines = self.path.read_text().splitlines()
        self.assertEqual(lines[-2] + "\n", text.splitlines()[-1][:-19] + "\n")
        self.assertEqual(len(Records(self.path).of("time")), 6)


if __name__ == "__main__":
    unittest.main()
