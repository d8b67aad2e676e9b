#!/usr/bin/env python3
"""Tests what scripts/gpu-check does on a machine, with stand-ins for brew-run."""

import contextlib
import io
import json
import os
import subprocess
import unittest
from unittest import mock

from common import Folder, write_tool

import cases
import device
import results

CHECKER = """
import sys
names = sys.argv[sys.argv.index("--only") + 1:]
if "slow" in names:
    import time
    print("FAIL slow: it is", flush=True)
    time.sleep(60)
for name in names:
    if name.startswith("bad"):
        print("FAIL " + name + ": why")
failed = sum(name.startswith("bad") for name in names)
print("%d passed, %d failed" % (len(names) - failed, failed))
"""


class Cases(Folder):
    def cases(self, *names):
        for name in ["golden/layers/" + name + ".prototxt" for name in names] + [
                "golden/solvers/sgd/solver.prototxt", "models/lenet/expected.h5"]:
            file = self.folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("")
        (self.folder / "golden" / "check.py").write_text(CHECKER)

    def test_all_are_checked_several_at_once(self):
        self.cases(*["case%d" % i for i in range(20)], "bad one", "bad two")
        result = cases.run(self.folder, "cuda", "--flags", 60)
        self.assertEqual(result["summary"], "22 passed, 2 failed")
        self.assertEqual(sorted(result["failures"]),
                         ["FAIL bad one: why", "FAIL bad two: why"])

    def test_out_of_time(self):
        self.cases("slow")
        result = cases.run(self.folder, "cuda", "--flags", 2)
        self.assertEqual(result["summary"], "2 passed, 1 failed")
        self.assertEqual(result["failures"],
                         ["FAIL slow: it is", "FAIL out of time among: slow"])


class FakePackage(device.Package):
    """Three rows; the second fails until it is repaired."""
    repaired = False
    ran = []

    def rows(self):
        yield "one", lambda: self.work("one")
        yield "two", lambda: self.work("two")
        yield "three", lambda: self.work("three")

    def prepare_tool(self):
        pass

    def work(self, name):
        self.ran.append(name)
        if name == "two" and not self.repaired:
            raise RuntimeError("it broke")
        return {"median": 0.001}


class OlderSystem(Folder):
    def test_the_tool_runs_with_the_library_that_travelled_along(self):
        for name in ("bench", "bin", "lib/system"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "bench" / "index.json").write_text("{}")
        (self.folder / "settings.json").write_text('{"archs": "sm_90"}')
        tool = self.folder / "bin" / "brew-run"
        write_tool(tool, "#!/bin/sh\necho GLIBC_2.99 not found >&2; exit 1\n")
        write_tool(self.folder / "lib/system/ld-linux.so",
                   "#!/bin/sh\necho \"$GOMP_SPINCOUNT $@\"\n")
        device.Package(self.folder).prepare_tool()
        done = subprocess.run([str(tool), "time", "a plan"],
                              capture_output=True, text=True,
                              env=dict(os.environ, LD_LIBRARY_PATH="/cuda"))
        self.assertEqual(done.stdout, "10000 --library-path {0}/lib/system:"
                         "{0}/lib/brew-run:/cuda {1}.bin time a plan\n".format(
                             self.folder, tool))
        write_tool(tool, "#!/bin/sh\necho no >&2; exit 1\n")
        with self.assertRaisesRegex(SystemExit, "does not start: no"):
            device.Package(self.folder).prepare_tool()


class Device(Folder):
    def setUp(self):
        super().setUp()
        (self.folder / "bench").mkdir()
        (self.folder / "bench" / "index.json").write_text("{}")
        (self.folder / "settings.json").write_text('{"archs": "sm_90"}')
        original = device.Package
        device.Package = FakePackage
        self.addCleanup(setattr, device, "Package", original)
        FakePackage.ran = []
        FakePackage.repaired = False

    def run_rows(self, minutes=1, only=None, again=False):
        FakePackage.ran = []
        with contextlib.redirect_stdout(io.StringIO()):
            left = device.run(self.folder, minutes, only, again)
        return FakePackage.ran, left

    def test_goes_on_where_it_stopped(self):
        self.assertEqual(self.run_rows(only=["o"]), (["one", "two"], 0))
        self.assertEqual(self.run_rows(minutes=-1), ([], 1))
        self.assertEqual(self.run_rows(), (["three"], 0))
        self.assertEqual(self.run_rows(), ([], 0))
        # A failed row is a result, unless it is asked for again.
        self.assertEqual(self.run_rows(again=True), (["two"], 0))
        FakePackage.repaired = True
        self.assertEqual(self.run_rows(again=True), (["two"], 0))
        self.assertEqual(self.run_rows(again=True), ([], 0))

    def test_results_go_along(self):
        copy = self.folder / "out" / "results.jsonl"
        copy.parent.mkdir()
        with contextlib.redirect_stdout(io.StringIO()):
            device.run(self.folder, 1, ["one"], False, (), copy)
        self.assertEqual(json.loads(copy.read_text())["row"], "one")
        (self.folder / "results.jsonl").unlink()
        FakePackage.ran = []
        with contextlib.redirect_stdout(io.StringIO()):
            device.run(self.folder, 1, None, False, [copy],
                       self.folder / "again.jsonl")
        self.assertEqual(FakePackage.ran, ["two", "three"])
        rows = [json.loads(line)["row"] for line in
                (self.folder / "again.jsonl").read_text().splitlines()]
        self.assertEqual(rows, ["one", "two", "three"])
        # Once more: nothing is there twice.
        with contextlib.redirect_stdout(io.StringIO()):
            device.run(self.folder, 1, None, False, [copy], None)
        self.assertEqual(len((self.folder / "results.jsonl").read_text()
                             .splitlines()), 3)

    def test_what_lacked_time_is_left(self):
        clock = mock.patch("time.monotonic", return_value=0.).start()
        self.addCleanup(mock.patch.stopall)

        class Slow(FakePackage):
            def work(self, name):
                clock.return_value += 20
                return super().work(name)
        device.Package = Slow
        # One of them is done before the time is over, and may take longer.
        self.assertEqual(self.run_rows(minutes=0.5, only=["two", "three"]),
                         (["two", "three"], 0))
        (self.folder / "results.jsonl").unlink()
        self.assertEqual(self.run_rows(minutes=0.1, only=["two"]),
                         (["two"], 1))

    def test_a_line_that_was_cut_off_is_measured_again(self):
        self.run_rows()
        results = self.folder / "results.jsonl"
        results.write_text(results.read_text()[:-20])
        self.assertEqual(self.run_rows()[0], ["three"])


class Results(Folder):
    def test_each_earlier_result_is_taken_over_once(self):
        own, earlier = self.folder / "own.jsonl", self.folder / "earlier.jsonl"
        own.write_text('{"row": "a", "median": 1}\n{"row": "b", "failed": "x"}\n'
                       '{"row": "c", "fai')
        earlier.write_text("".join(json.dumps(result) + "\n" for result in (
            {"row": "a", "median": 2}, {"row": "b", "median": 3},
            {"row": "c", "median": 4}, {"row": "c", "median": 5},
            {"row": "d", "failed": "y"})))
        for _ in range(2):
            results.adopt(own, earlier)
        self.assertEqual(own.read_text().splitlines()[2:], [
            '{"row": "c", "fai', '{"row": "b", "median": 3}',
            '{"row": "c", "median": 5}', '{"row": "d", "failed": "y"}'])
        self.assertEqual(results.read(own)["a"]["median"], 1)

    def test_engines_go_along(self):
        own, earlier = self.folder / "own.jsonl", self.folder / "earlier.jsonl"
        timing = self.folder / "own.timing"
        (self.folder / "earlier.timing").write_text(
            "format 1\nconv 1\tengine 3\t1.5\nconv 2\tengine 4\t2\n")
        results.adopt(own, earlier)
        self.assertEqual(timing.read_text(),
                         (self.folder / "earlier.timing").read_text())
        timing.write_text("format 1\nconv 2\tengine 5\t1\n")
        for _ in range(2):
            results.adopt(own, earlier)
        self.assertEqual(timing.read_text(), "format 1\nconv 2\tengine 5\t1\n"
                         "conv 1\tengine 3\t1.5\n")
        timing.write_text("format 2\n")
        results.adopt(own, earlier)
        self.assertEqual(timing.read_text(), "format 2\n")
        # Out again, whether there are results yet or not.
        results.copy(own, self.folder / "kept.jsonl")
        self.assertEqual((self.folder / "kept.timing").read_text(), "format 2\n")
        self.assertFalse((self.folder / "kept.jsonl").exists())


if __name__ == "__main__":
    unittest.main()
