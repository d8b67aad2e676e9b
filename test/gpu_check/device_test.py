#!/usr/bin/env python3
"""Tests how scripts/gpu-check runs rows: their order and time limits, the saved results, and
the cleanup of processes. Uses fake versions of brew-run."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tarfile
import time
import unittest
from unittest import mock

from common import Folder, write_index, write_tool

import cases
import device
import package
import processes
import results
import rows
import schedule

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
if "silent" not in names:
    print("%d passed, %d failed" % (len(names) - failed, failed))
"""


class Cases(Folder):
    def package_with(self, *names):
        for name in ["golden/layers/" + name + ".prototxt" for name in names] + [
                "golden/solvers/sgd/solver.prototxt", "models/lenet/expected.h5"]:
            file = self.folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("")
        (self.folder / "golden" / "check.py").write_text(CHECKER)
        write_index(self.folder)
        return package.Package(self.folder)

    def test_all_cases_are_checked(self):
        fake_package = self.package_with(*["case%d" % i for i in range(20)], "bad one", "bad two")
        result = cases.run(fake_package)
        self.assertEqual(result["summary"], "22 passed, 2 failed")
        self.assertEqual(sorted(result["failures"]),
                         ["FAIL bad one: why", "FAIL bad two: why"])
        with self.assertRaisesRegex(package.RowFailed, "22 passed, 2 failed"):
            rows.recorded_cases(fake_package, schedule.Row("cases cuda", "cases", 1))

    def test_cases_out_of_time_fail(self):
        fake_package = self.package_with("slow")
        fake_package.deadline = time.monotonic() + 2
        result = cases.run(fake_package)
        self.assertEqual(result["summary"], "2 passed, 1 failed")
        self.assertEqual(result["failures"], ["FAIL out of time among: slow"])

    def test_a_checker_that_prints_nothing_fails(self):
        result = cases.run(self.package_with("silent"))
        self.assertEqual(result["failures"], ["FAIL the checker printed nothing"])

    def test_a_wrapper_runs_brew_run(self):
        fake_package = self.package_with("one")
        (self.folder / "bin").mkdir()
        write_tool(self.folder / "bin" / "brewc", "")
        folder = self.folder / "wrapped"
        folder.mkdir()
        cases.wrapped(folder, self.folder / "bin", ["echo", "a word"], ["--no-tune"])
        done = subprocess.run([folder / "brew-run", "time"], capture_output=True,
                              text=True)
        self.assertEqual(done.stdout, "a word time --no-tune\n")
        self.assertIsNotNone(fake_package)


class Processes(Folder):
    def environment(self, mark="some mark"):
        return dict(os.environ, **{processes.MARK: mark})

    def test_output_is_complete(self):
        done = processes.run(["sh", "-c", "seq 20000; echo wrong >&2; exit 3"], 60,
                             self.environment(), self.folder, self.folder / "log.txt")
        self.assertEqual((done.status, done.stdout.split()[-1], done.stderr),
                         (3, "20000", "wrong\n"))
        log = (self.folder / "log.txt").read_text()
        self.assertTrue(log.startswith("$ sh -c seq"))
        self.assertIn("\n20000\nwrong\n[status 3, ", log)

    def test_hanging_programs_are_killed(self):
        # One process in the group, one in its own session.
        script = "sleep 77.25 & setsid sleep 77.25 & sleep 77.25"
        begin = time.monotonic()
        with self.assertRaisesRegex(processes.OutOfTime, "out of time after 1 s: sh -c"):
            processes.run(["sh", "-c", script], 1, self.environment("left over"),
                          self.folder, self.folder / "log.txt")
        self.assertLess(time.monotonic() - begin, 30)
        self.assertTrue(processes.pids_with_mark("left over"))
        self.assertEqual(processes.pids_with_mark("another"), [])
        self.assertEqual(processes.kill_leftovers("left over", self.environment()), [])
        self.assertEqual(processes.pids_with_mark("left over"), [])

    def test_programs_are_found_outside_path(self):
        self.assertTrue(processes.find_program("sh").endswith("/sh"))
        self.assertEqual(processes.find_program("no-such-program"), "no-such-program")
        with mock.patch.object(processes.glob, "glob", lambda pattern: (
                [pattern] if pattern.startswith("/opt/") else [])):
            self.assertTrue(processes.find_program("a-profiler").endswith("/a-profiler"))

    def test_remaining_gpu_processes_are_reported(self):
        write_tool(self.folder / "nvidia-smi", "#!/bin/sh\necho 4711\necho 4712\n")
        environment = dict(self.environment(), PATH="{}:{}".format(
            self.folder, os.environ["PATH"]))
        with mock.patch.dict(os.environ, environment):
            self.assertEqual(processes.kill_leftovers("x", environment, [4712], patience=0),
                             [4711])


class FakePackage(package.Package):
    """A package that runs programs without CUDA's libraries."""

    def __init__(self, folder):
        super().__init__(folder)
        self.environment = lambda more=(): dict(os.environ,
                                                **{processes.MARK: self.mark})


class Device(Folder):
    """Rows that fail or succeed as a test requires."""

    def setUp(self):
        super().setUp()
        names = [row.name for row in schedule.all_rows()]
        write_index(self.folder, rows=names)
        self.ran, self.failing = [], {}
        kinds = {kind: self.work for kind in rows.KINDS}
        for patch in (mock.patch.object(rows, "KINDS", kinds),
                      mock.patch.object(device, "Package", FakePackage)):
            patch.start()
            self.addCleanup(patch.stop)

    def work(self, fake_package, row):
        self.ran.append(row.name)
        if row.name in self.failing:
            raise self.failing[row.name]
        return {"median": 0.001}

    def call(self, function, *arguments, **options):
        self.ran = []
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            status = function(self.folder, *arguments, **options)
        return status, printed.getvalue()

    def rows(self, seconds=600, only=(".*train bf16 brew$",), again=False, **options):
        return self.call(device.run_rows, seconds, list(only), again, **options)

    def test_the_first_call_runs_its_rows_in_order(self):
        status, _ = self.call(device.run_calls, False, 520, None)
        self.assertEqual(status, 0)
        self.assertEqual(self.ran[:7], [
            "machine", "lenet train bf16 brew", "resnet50 train bf16 brew",
            "resnet50 train bf16 torch channels_last",
            "resnet50 train bf16 torch compile_graph", "rates", "cases cuda"])
        self.assertEqual(self.ran, [row.name for row in schedule.first_call()])
        # The second call runs its own rows first, then all others.
        self.call(device.run_calls, True, 180, None)
        second = [row.name for row in schedule.second_call()]
        self.assertEqual(self.ran[:len(second)], second)
        self.assertFalse(set(self.ran) & {"machine", "rates"})

    def test_patterns_set_the_order(self):
        self.rows(only=["^rates$", "resnet50 train bf16 brew$", "^machine$"])
        self.assertEqual(self.ran, ["rates", "resnet50 train bf16 brew", "machine"])

    def test_failed_rows_are_repeated_only_with_again(self):
        self.failing["vgg16 train bf16 brew"] = package.RowFailed("it broke", {"error": 2})
        status, printed = self.rows(only=["vgg16 train bf16 brew$", "rates"])
        self.assertEqual((status, self.ran), (1, ["vgg16 train bf16 brew", "rates"]))
        self.assertIn("FAILED: it broke", printed)
        saved = results.read(self.folder / "results" / "results.jsonl")
        self.assertEqual(saved["vgg16 train bf16 brew"]["error"], 2)
        # A failed row is only repeated with `again`.
        self.assertEqual(self.rows(only=["vgg16 train bf16 brew$", "rates"])[0], 0)
        self.assertEqual(self.ran, [])
        self.failing.clear()
        self.assertEqual(self.rows(only=["vgg16 train bf16 brew$"], again=True)[0], 0)
        self.assertEqual(self.ran, ["vgg16 train bf16 brew"])
        self.rows(only=["vgg16 train bf16 brew$"], again=True)
        self.assertEqual(self.ran, [])

    def test_a_failed_smoke_test_ends_the_run(self):
        copy = self.folder / "copy"
        for name in schedule.SMOKE_TEST:
            self.failing = {name: RuntimeError("no GPU")}
            status, printed = self.call(device.run_calls, False, 520, copy, again=True)
            self.assertEqual(status, device.SMOKE_FAILED)
            self.assertEqual(self.ran[-1], name)
            self.assertIn("the smoke test failed", printed)
            self.assertIn("no GPU", (copy / "results.jsonl").read_text())

    def test_a_row_that_usually_needs_longer_is_skipped(self):
        clock = mock.patch("time.monotonic", return_value=0.).start()
        self.addCleanup(mock.patch.stopall)
        limits = []

        def work(fake_package, row):
            limits.append(fake_package.time_left())
            clock.return_value += 30
            return self.work(fake_package, row)
        with mock.patch.dict(rows.KINDS, {"brew": work, "losses": work}):
            status, printed = self.rows(65, ["^(lenet|vgg16|resnet50) train bf16 brew$",
                                             "losses f32"])
        self.assertEqual(status, 0)
        self.assertEqual(self.ran, ["lenet train bf16 brew", "resnet50 train bf16 brew"])
        self.assertEqual(limits, [60, 30])
        self.assertIn("2 skipped for lack of time: vgg16 train bf16 brew, losses f32",
                      printed)

    def test_lack_of_time_is_not_a_failure(self):
        clock = mock.patch("time.monotonic", return_value=0.).start()
        self.addCleanup(mock.patch.stopall)

        def work(fake_package, row):
            clock.return_value += fake_package.time_left()
            raise processes.OutOfTime("out of time")
        with mock.patch.dict(rows.KINDS, {"brew": work}):
            status, printed = self.rows(45, ["^lenet train bf16 brew$"])
            self.assertEqual(status, 0)
            self.assertIn("1 skipped for lack of time: lenet train bf16 brew", printed)
            # With the full time limit of its kind it is a failure.
            self.assertEqual(self.rows(600, ["resnet50 train bf16 brew$"])[0], 1)

    def test_a_row_that_ran_out_of_time_while_tuning_is_repeated(self):
        clock = mock.patch("time.monotonic", return_value=0.).start()
        self.addCleanup(mock.patch.stopall)
        timing = self.folder / "results" / "results.timing"
        timing.parent.mkdir()
        tuned = []

        def work(fake_package, row):
            if not tuned or tuned[-1] < 2:
                tuned.append(len(tuned) + 1)
                timing.write_text("engine\n" * min(2, len(tuned)))
                clock.return_value += fake_package.time_left()
                raise processes.OutOfTime("out of time")
            return self.work(fake_package, row)
        with mock.patch.dict(rows.KINDS, {"brew": work}):
            status, printed = self.rows(600, ["^lenet train bf16 brew$"])
            self.assertEqual(status, device.SMOKE_FAILED)  # two attempts did not suffice
            self.assertEqual(len(tuned), 2)
            self.assertEqual(printed.count("repeating"), 1)
            # The next call repeats the row.
            self.assertEqual(self.rows(600, ["^lenet train bf16 brew$"])[0], 0)
            # A row without new engines hangs, and is not repeated in the same call.
            tuned.append(0)
            status, printed = self.rows(600, ["^resnet50 train bf16 brew$"])
            self.assertEqual(printed.count("repeating"), 0)

    def test_a_second_call_begins_with_a_failed_smoke_test(self):
        self.failing = {"lenet train bf16 brew": RuntimeError("no GPU")}
        self.call(device.run_calls, False, 520, None)
        status, _ = self.call(device.run_calls, True, 180, None)
        self.assertEqual((status, self.ran), (3, ["lenet train bf16 brew"]))
        self.failing = {}
        status, _ = self.call(device.run_calls, True, 180, None)
        self.assertEqual(self.ran[:2], ["lenet train bf16 brew",
                                        "resnet50 infer bf16 brew"])

    def test_remaining_gpu_processes_end_the_run(self):
        with mock.patch.object(processes, "kill_leftovers", return_value=[4711]):
            status, printed = self.rows()
        self.assertEqual((status, len(self.ran)), (1, 1))
        self.assertIn("processes 4711 still use the GPU", printed)

    def test_results_and_logs_are_copied_after_every_row(self):
        copy = self.folder / "out"

        def work(fake_package, row):
            fake_package.log().parent.mkdir(parents=True, exist_ok=True)
            fake_package.log().write_text("the log of " + row.name)
            return self.work(fake_package, row)
        with mock.patch.dict(rows.KINDS, {"rates": work}):
            self.rows(only=["rates"], copy=copy)
        self.assertEqual(json.loads((copy / "results.jsonl").read_text())["row"], "rates")
        with tarfile.open(copy / "logs.tar.gz") as archive:
            text = archive.extractfile("logs/rates.txt").read()
        self.assertEqual(text, b"the log of rates")
        self.assertEqual(sorted(path.name for path in copy.iterdir()),
                         ["logs.tar.gz", "results.jsonl"])

    def test_continues_from_another_machine(self):
        copy = self.folder / "out"
        self.rows(only=["rates"], copy=copy)
        (self.folder / "results" / "results.jsonl").unlink()
        for _ in range(2):
            self.rows(only=["rates", "machine"], earlier=[copy])
        lines = (self.folder / "results" / "results.jsonl").read_text().splitlines()
        self.assertEqual([json.loads(line)["row"] for line in lines],
                         ["rates", "machine"])

    def test_a_full_disk_does_not_stop_rows(self):
        full = OSError(28, "No space left on device")
        with mock.patch.object(results, "copy", side_effect=full):
            status, printed = self.rows(only=["rates", "machine"],
                                        copy=self.folder / "out")
        self.assertEqual((status, self.ran), (1, ["rates", "machine"]))
        self.assertEqual(printed.count("the results cannot be saved: [Errno 28]"), 1)

    def test_a_truncated_result_is_measured_again(self):
        self.rows(only=["rates", "machine"])
        file = self.folder / "results" / "results.jsonl"
        file.write_text(file.read_text()[:-20])
        self.rows(only=["rates", "machine"])
        self.assertEqual(self.ran, ["machine"])


class OlderSystem(Folder):
    def test_the_tool_runs_with_the_packed_library(self):
        write_index(self.folder)
        for name in ("bin", "lib/system"):
            (self.folder / name).mkdir(parents=True)
        tool = self.folder / "bin" / "brew-run"
        write_tool(tool, "#!/bin/sh\necho GLIBC_2.99 not found >&2; exit 1\n")
        write_tool(self.folder / "lib/system/ld-linux.so",
                   "#!/bin/sh\necho \"$GOMP_SPINCOUNT $@\"\n")
        package.Package(self.folder).prepare_tool()
        done = subprocess.run([str(tool), "time", "a plan"],
                              capture_output=True, text=True,
                              env=dict(os.environ, LD_LIBRARY_PATH="/cuda"))
        self.assertEqual(done.stdout, "10000 --library-path {0}/lib/system:"
                         "{0}/lib/brew-run:/cuda {1}.bin time a plan\n".format(
                             self.folder, tool))
        write_tool(tool, "#!/bin/sh\necho no >&2; exit 1\n")
        with self.assertRaisesRegex(package.RowFailed, "does not start: no"):
            package.Package(self.folder).prepare_tool()


class Results(Folder):
    def test_earlier_results_are_adopted_once(self):
        own, earlier = self.folder / "own/r.jsonl", self.folder / "earlier/r.jsonl"
        for path in (own, earlier):
            path.parent.mkdir()
        own.write_text('{"row": "a", "median": 1}\n{"row": "b", "failed": "x"}\n'
                       '{"row": "c", "fai')
        earlier.write_text("".join(json.dumps(result) + "\n" for result in (
            {"row": "a", "median": 2}, {"row": "b", "median": 3},
            {"row": "c", "median": 4}, {"row": "c", "median": 5},
            {"row": "d", "failed": "y"})))
        for _ in range(2):
            results.adopt(own, earlier.parent)
        self.assertEqual(own.read_text().splitlines()[2:], [
            '{"row": "c", "fai', '{"row": "b", "median": 3}',
            '{"row": "c", "median": 5}', '{"row": "d", "failed": "y"}'])
        self.assertEqual(results.read(own)["a"]["median"], 1)

    def test_engines_are_adopted_and_copied(self):
        own, earlier = self.folder / "own/r.jsonl", self.folder / "earlier/r.jsonl"
        earlier.parent.mkdir()
        timing, saved = own.with_suffix(".timing"), earlier.with_suffix(".timing")
        saved.write_text("format 1\nconv 1\tengine 3\t1.5\nconv 2\tengine 4\t2\n")
        results.adopt(own, earlier.parent)
        self.assertEqual(timing.read_text(), saved.read_text())
        timing.write_text("format 1\nconv 2\tengine 5\t1\n")
        for _ in range(2):
            results.adopt(own, earlier.parent)
        self.assertEqual(timing.read_text(), "format 1\nconv 2\tengine 5\t1\n"
                         "conv 1\tengine 3\t1.5\n")
        timing.write_text("format 2\n")
        results.adopt(own, earlier.parent)
        self.assertEqual(timing.read_text(), "format 2\n")
        # Copies the engines, even without results.
        results.copy(own, self.folder / "copy")
        self.assertEqual((self.folder / "copy/r.timing").read_text(), "format 2\n")
        self.assertFalse((self.folder / "copy/r.jsonl").exists())

    def test_copies_are_atomic(self):
        target = self.folder / "file"
        target.write_text("old")

        def write_half(path):
            path.write_text("ne")
            raise OSError(28, "No space left on device")
        with self.assertRaises(OSError):
            results.replace(target, write_half)
        self.assertEqual(target.read_text(), "old")
        self.assertEqual(list(self.folder.iterdir()), [target])


if __name__ == "__main__":
    sys.exit(unittest.main())
