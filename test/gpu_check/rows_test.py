#!/usr/bin/env python3
"""Tests the rows of scripts/gpu-check: their commands, checks and table."""

import json
import math
import os
import unittest
from pathlib import Path

from common import NET, Folder, write_index, write_tool

import compare
import cpu_reference
import deploy
import package
import rows
import schedule
import table
import timed_nets

# A brew-run that appends its arguments to a file; its output and results come from files.
BREW_RUN = """#!/bin/sh
echo "$@" "$BREW_NCCL_SINGLE_RANK" >> commands
cat printed >&2
for last; do
  test "$before" = --outputs && cp "computed_$(echo $2 | grep -o -e cpu -e cuda).h5" "$last"
  test "$before" = --profile && cp trace.json "$last"
  test "$before" = --snapshot-prefix && cp weights "${last}_iter_20.caffemodel"
  before=$last
done
exit 0
"""
TIMES = ("0] Average on the GPU: 1 ms. (median 2, min 1)\n"
         "0] CUDA graph: 3 nodes; GPU memory: 4 bytes\n")


def step(number, layer, implementation, duration):
    return {"name": layer, "cat": "forward", "ph": "X", "dur": duration,
            "args": {"step": number, "implementation": implementation, "bytes": 4000,
                     "flops": 7}}


TRACE = {"traceEvents": [{"ph": "M", "name": "process_name", "args": {}},
                         step(0, "a", "kernel a_b", 2.0), step(1, "c", "convolution", 9.0),
                         step(2, "d", "kernel d", 7.0), step(0, "a", "kernel a_b", 4.0),
                         step(0, "a", "kernel a_b", 100.0)]}


class Rows(Folder):
    def setUp(self):
        super().setUp()
        (self.folder / "bin").mkdir()
        write_tool(self.folder / "bin" / "brew-run", BREW_RUN)
        plan = {"plan": "p", "flops": 1, "bytes": 1, "seconds": 1e-3}
        plans = {name: dict(plan, plan=name) for name in (
            "net-train-cuda-bf16", "net-infer-cuda-bf16", "net-train-agree-cuda-bf16",
            "net-train-agree-cpu-f32", "losses-f32", "losses-deterministic",
            "losses-one_rank")}
        plans["net-train-cuda-f32"] = {"error": "no"}
        write_index(self.folder, plans=plans, nets={
            "net": {"steps": 7, "inputs": ["x=4,3,8,8", "label=4"],
                    "agree_inputs": ["x=2,3,8,8", "label=2"]}},
            expected_errors={"agree net train bf16": {"data/c": 0.02, "data/d": 0.02}},
            losses={name: {"losses": [2.0, 1.0], "tolerance": 0.001}
                    for name in ("f32", "deterministic", "one_rank")})
        self.bench = self.folder / "bench"
        (self.bench / "net_deploy.prototxt").write_text(
            deploy.deploy_text(NET, {"x": (4, 3, 8, 8)}))
        (self.bench / "trace.json").write_text(json.dumps(TRACE))
        self.set_output(TIMES)
        self.package = package.Package(self.folder)

    def set_output(self, text):
        (self.bench / "printed").write_text(text)

    def take_commands(self):
        file = self.bench / "commands"
        commands = [line.split() for line in file.read_text().splitlines()]
        file.unlink()
        return commands

    def run_row(self, make, *words):
        row = make(1, *words)
        self.package.row = row.name
        return rows.KINDS[row.kind](self.package, row)

    def write_results(self, target, **values):
        import h5py
        with h5py.File(self.bench / "computed_{}.h5".format(target), "w") as file:
            for name, value in values.items():
                file["data/" + name] = value

    def test_brew_is_timed_on_one_batch_with_the_cached_engines(self):
        timing = str(self.folder / "results" / "results.timing")
        for mode, weight_flags in (("train", []), ("infer", [
                "--weights", str(self.bench / "net.weights.h5"),
                "--allow-missing-weights"])):
            result = self.run_row(schedule.brew, "net", mode, "bf16")
            self.assertEqual((result["median"], result["nodes"], result["peak_bytes"]),
                             (2e-3, 3, 4))
            [command] = self.take_commands()
            trace = command.pop(command.index("--profile") + 1)
            self.assertEqual(command, [
                "time", "net-" + mode + "-cuda-bf16", "--random-input", "--iterations",
                "7", "--profile", "--timing-cache", timing] + weight_flags)
            self.assertFalse(Path(trace).exists())
        self.assertTrue((self.bench / "net.weights.h5").exists())

    def test_every_step_is_kept(self):
        result = self.run_row(schedule.brew, "net", "train", "bf16")
        self.assertEqual((result["steps"], result["step_bytes"]), (3, 12000))
        self.assertAlmostEqual(result["step_sum"], 20e-6)
        lines = (self.package.logs / "net_train_bf16_brew.steps.tsv").read_text()
        self.assertEqual(lines.splitlines()[1:], [
            "0\tforward\ta\tkernel a_b\t4.000\t4000\t1\t7",
            "1\tforward\tc\tconvolution\t9.000\t4000\t0\t7",
            "2\tforward\td\tkernel d\t7.000\t4000\t1\t7"])
        self.assertEqual(rows.slowest_kernels(lines, 5), ["d", "a_b"])
        self.assertEqual(rows.slowest_kernels(lines, 1), ["d"])
        self.assertIn(TIMES, (self.package.logs / "net_train_bf16_brew.txt").read_text())

    def test_a_tool_that_prints_nothing_fails(self):
        self.set_output("")
        with self.assertRaisesRegex(package.RowFailed, "printed no time"):
            self.run_row(schedule.brew, "net", "train", "bf16")

    def test_a_loss_that_is_not_finite_fails(self):
        self.set_output("0] Initial loss: 2.5\n" + TIMES)
        self.run_row(schedule.brew, "net", "train", "bf16")
        for loss in ("nan", "-inf"):
            self.set_output("0] Initial loss: " + loss + "\n" + TIMES)
            with self.assertRaisesRegex(package.RowFailed, "the loss is " + loss):
                self.run_row(schedule.brew, "net", "train", "bf16")

    def test_a_plan_that_was_not_compiled_fails(self):
        with self.assertRaisesRegex(package.RowFailed, "net-train-cuda-f32: no"):
            self.run_row(schedule.brew, "net", "train", "f32")
        with self.assertRaisesRegex(package.RowFailed, "it is not in this package"):
            self.run_row(schedule.brew, "net", "infer", "f32")

    def test_agreeing_results_pass(self):
        self.write_results("cpu", c=[1.0, 2.0], d=[[3.0]])
        self.write_results("cuda", c=[1.0, 2.0], d=[[3.15]])
        result = self.run_row(schedule.agree, "net", "train", "bf16")
        self.assertEqual((result["blob"], result["compared"]), ("data/d", 2))
        self.assertAlmostEqual(result["ratio"], 2.5, places=4)
        on_gpu, on_cpu = self.take_commands()
        self.assertEqual(on_gpu[:2], ["eval", "net-train-agree-cuda-bf16"])
        self.assertIn("--no-tune", on_gpu)
        self.assertNotIn("--no-tune", on_cpu)
        self.assertIn("--gradients", on_gpu)
        # One row uses the measured engines.
        self.assertEqual([row.name for row in schedule.select()
                          if row.kind == "agree" and rows.is_tuned(row)],
                         ["agree lenet train bf16"])

    def test_disagreeing_results_fail(self):
        nan = math.nan
        self.write_results("cpu", c=[1.0, 2.0], d=[[3.0]])
        for values, words in (
                (dict(c=[1.0, 2.0], d=[[3.2]]), "data/d has an error of 0.067, 3.3 times"),
                (dict(c=[1.0, 2.0]), "only one side has data/d"),
                (dict(c=[1.0, 2.0], d=[[3.0]], e=[1.0]), "only one side has data/e"),
                (dict(c=[nan, 2.0], d=[[3.0]]), "data/c has values that are not finite"),
                (dict(c=[1.0, 2.0], d=[3.0]), "data/d has the shape"), ):
            self.write_results("cuda", **values)
            with self.assertRaisesRegex(package.RowFailed, words) as raised:
                self.run_row(schedule.agree, "net", "train", "bf16")
            if "error of" in words:
                self.assertEqual((raised.exception.result["first"],
                                  raised.exception.result["expected"]), ([3.2], [3.0]))
        self.write_results("cpu")
        with self.assertRaisesRegex(package.RowFailed, "nothing was compared"):
            self.run_row(schedule.agree, "net", "train", "bf16")

    def run_losses(self, name, printed, weights="w"):
        self.set_output(printed)
        (self.bench / "weights").write_text(weights)
        return self.run_row(schedule.losses, name)

    def test_losses_must_match_the_cpu(self):
        good = "Iteration 0, loss = 2.001\nIteration 1 (9 iter/s), loss = 1\n"
        result = self.run_losses("f32", good)
        self.assertAlmostEqual(result["deviation"], 0.0005)
        self.assertFalse(list(self.bench.glob("trained_run*")))
        self.take_commands()
        self.run_losses("deterministic", good)
        self.assertEqual([("--deterministic" in command) for command in self.take_commands()],
                         [True, True])
        for printed, words in (
                ("Iteration 0, loss = 2.1\nIteration 1, loss = 1\n", "losses are 0.05 off"),
                ("Iteration 0, loss = nan\nIteration 1, loss = 1\n", "losses are inf off"),
                ("Iteration 0, loss = 2\nIteration 1, loss = nan\n", "losses are inf off"),
                ("Iteration 0, loss = 2\n", "1 losses were displayed and not 2")):
            with self.assertRaisesRegex(package.RowFailed, words):
                self.run_losses("f32", printed)

    def test_two_runs_must_have_the_same_bits(self):
        write_tool(self.folder / "bin" / "brew-run",
                   BREW_RUN.replace("cp weights", "cp commands"))
        with self.assertRaisesRegex(package.RowFailed, "two runs gave different weights"):
            self.run_losses("deterministic", "Iteration 0, loss = 2\nIteration 1, loss = 1\n")

    def test_one_rank_must_have_used_nccl(self):
        text = "Iteration 0, loss = 2\nIteration 1, loss = 1\n"
        with self.assertRaisesRegex(package.RowFailed, "says nothing of NCCL"):
            self.run_losses("one_rank", text)
        self.run_losses("one_rank", "NCCL 2.27\n" + text)
        self.assertEqual(self.take_commands()[-1][-1], "1")  # BREW_NCCL_SINGLE_RANK

    def add_program(self, name, text):
        write_tool(self.folder / name, text)
        previous_path = os.environ["PATH"]
        os.environ["PATH"] = "{}:{}".format(self.folder, previous_path)
        self.addCleanup(os.environ.__setitem__, "PATH", previous_path)

    def test_the_slowest_kernels_are_profiled(self):
        row = schedule.Row("kernels net", "kernels", 2, "net", "train", "bf16")
        self.package.row = row.name
        with self.assertRaisesRegex(package.RowFailed, "was not measured yet"):
            rows.kernels(self.package, row)
        self.run_row(schedule.brew, "net", "train", "bf16")
        self.add_program("ncu", "#!/bin/sh\necho \"$@\" >&2\necho 'd (512, 1, 1)'\n")
        self.package.row = row.name
        result = rows.kernels(self.package, row)
        self.assertEqual(result, {"profiled": ["d"], "not_profiled": ["a_b"]})
        text = (self.package.logs / "kernels_net.txt").read_text()
        self.assertIn("--kernel-name regex:^(d|a_b)$ --launch-count 10", text)

    def sanitize(self, tool, status, output=""):
        self.add_program("compute-sanitizer", "#!/bin/sh\necho \"$@\"\ncat {0}/output\n"
                         "exit $(cat {0}/status)\n".format(self.bench))
        write_tool(self.folder / "bin" / "brew-run",
                   "#!/bin/sh\necho '  4 > a  kernel a_b: data.0'\n")
        (self.bench / "status").write_text(str(status))
        (self.bench / "output").write_text(output)
        row = schedule.Row("sanitize net " + tool, "sanitize", 2, "net", "train", "bf16",
                           tool)
        self.package.row = row.name
        return rows.sanitize(self.package, row)

    def test_sanitizer_findings_in_kernels_fail(self):
        self.assertEqual(self.sanitize("memcheck", 0)["summary"], "no findings")
        text = (self.package.logs / "sanitize_net_memcheck.txt").read_text()
        self.assertIn("--tool memcheck --error-exitcode 99 --report-api-errors no {} "
                      "eval net-train-agree-cuda-bf16".format(self.package.tool), text)
        self.assertRegex(text, "--no-tune\n")
        own = "========= Invalid read\n=========     at a_b+0x90 in x.cu:7\n"
        other = "========= Uninitialized\n=========     at 0x10 in sm90_gemm<float>(int)\n"
        with self.assertRaisesRegex(package.RowFailed, "findings in a_b$"):
            self.sanitize("memcheck", 99, own)
        with self.assertRaisesRegex(package.RowFailed, "findings in sm90_gemm$"):
            self.sanitize("memcheck", 99, other)
        with self.assertRaisesRegex(package.RowFailed, "findings in a_b, sm90_gemm$"):
            self.sanitize("initcheck", 99, other + own)
        errors = self.sanitize("initcheck", 99, other)
        self.assertEqual(errors["in_libraries"], ["sm90_gemm"])
        for status, output in ((1, own), (99, "")):
            with self.assertRaisesRegex(package.RowFailed, "status %d" % status):
                self.sanitize("initcheck", status, output)

    def test_pytorch_runs_the_same_net(self):
        measured_words = []
        self.package.server.measure = lambda words, limit: measured_words.append(words)
        for mode in timed_nets.MODES:
            self.run_row(schedule.torch, "net", mode, "f32", "compile_graph")
        self.assertEqual([words[0] for words in measured_words],
                         ["net.prototxt", "net_deploy.prototxt"])
        self.assertEqual([words.count("--input") for words in measured_words], [2, 1])


class Judging(unittest.TestCase):
    def test_a_small_expected_error_is_replaced_by_the_median(self):
        # The expected error of diff/a is the median of the expected errors that are not 0.
        expected_errors = {"diff/a": 0.0, "diff/b": 0.01, "diff/c": 0.02, "diff/d": 0.03,
                           "diff/e": 0.0}
        errors = dict(expected_errors, **{"diff/a": 0.05})
        worst = compare.judge(errors, expected_errors, "bf16")
        self.assertEqual((worst["blob"], worst["compared"]), ("diff/a", 5))
        self.assertAlmostEqual(worst["ratio"], 2.5)
        with self.assertRaisesRegex(compare.Disagreement, "diff/a has an error of 0.07"):
            compare.judge(dict(errors, **{"diff/a": 0.07}), expected_errors, "bf16")

    def test_groups_have_separate_expected_errors(self):
        expected_errors = {"data/loss": 1e-5, "diff/a": 0.1, "diff/b": 0.1}
        with self.assertRaisesRegex(compare.Disagreement, "data/loss has an error of 0.1"):
            compare.judge({"data/loss": 0.1, "diff/a": 0.1, "diff/b": 0.1}, expected_errors,
                          "bf16")
        # In bf16, an error of 5e-3 in a single number is accepted; in f32 it is not.
        compare.judge({"data/loss": 5e-3, "diff/a": 0.1, "diff/b": 0.1}, expected_errors, "bf16")
        with self.assertRaises(compare.Disagreement):
            compare.judge({"data/loss": 5e-3, "diff/a": 0.1, "diff/b": 0.1}, expected_errors,
                          "f32")

    def test_datasets_with_large_expected_errors_are_not_compared(self):
        good = {"diff/%d" % i: 0.1 for i in range(4)}
        # Datasets with an expected error as large as their values are not compared.
        worst = compare.judge(dict(good, **{"diff/x": 99.0}),
                              dict(good, **{"diff/x": 1.2}), "bf16")
        self.assertEqual(worst["compared"], 4)
        bad = dict.fromkeys(good, 0.8)
        with self.assertRaisesRegex(compare.Disagreement,
                                    "only 0 of 4 datasets in diff have an expected error"):
            compare.judge(good, bad, "bf16")

    def test_datasets_without_an_expected_error_fail(self):
        for errors in ({"a": 0.0, "b": 0.0}, {}):
            with self.assertRaisesRegex(compare.Disagreement, "no expected errors for"):
                compare.judge(errors, {"a": 0.0}, "f32")

    def test_losses_are_parsed_from_a_log(self):
        self.assertEqual(cpu_reference.losses_of(
            "I1 solver.cpp:218] Iteration 0 (0 iter/s, 0s/1 iters), loss = 2.5\n"
            "I1 solver.cpp:237]     Train net output #0: loss = 9 (* 1 = 9 loss)\n"
            "I1 solver.cpp:218] Iteration 20, loss = 0.25\n"), [2.5, 0.25])


class Table(Folder):
    def test_table_has_a_line_for_each_result(self):
        write_index(self.folder, nets={
            "lenet": {"inputs": ["data=64,1,28,28", "label=64"]}})
        measured = [
            {"row": "rates", "device": "GPU X", "torch": "2", "cuda": "13.0",
             "bytes_per_second": 1e12,
             "flops": {"f32": 1e13, "tf32": 1e14, "bf16": 2e14}},
            {"row": "cases cuda", "summary": "61 passed, 1 failed",
             "failures": ["FAIL softmax: why"], "failed": "61 passed, 1 failed"},
            {"row": "agree lenet train f32", "error": 1e-6, "blob": "data/ip2",
             "ratio": 0.5, "compared": 9},
            {"row": "losses f16", "deviation": 0.002, "tolerance": 0.01},
            {"row": "sanitize lenet memcheck", "summary": "no findings"},
            {"row": "lenet train f32 brew", "median": 1e-4, "nodes": 22,
             "peak_bytes": 8 << 20, "flops": 1e8, "bytes": 5e7},
            {"row": "lenet train f32 torch eager", "median": 5e-4,
             "peak_bytes": 64 << 20},
            {"row": "lenet train f32 torch compile", "median": 3e-4,
             "peak_bytes": 32 << 20},
            {"row": "lenet train f32 torch channels_last", "failed": "no\nmore"},
            {"row": "lenet train bf16 brew", "median": 1e-4, "nodes": 19,
             "peak_bytes": 8 << 20, "flops": 1e8, "bytes": 5e7},
            {"row": "lenet train bf16 brew without fuse-launches", "median": 2e-4,
             "nodes": 22},
            {"row": "lenet infer f32 brew", "failed": "RuntimeError: x"}]
        (self.folder / "results").mkdir()
        (self.folder / "results" / "results.jsonl").write_text(
            "".join(json.dumps(result) + "\n" for result in measured))
        text = table.table(self.folder)
        for line in (
                "GPU X, PyTorch 2, CUDA 13.0; copies 1000 GB/s, products f32 "
                "10.0, tf32 100, bf16 200 TFLOP/s.",
                "Recorded cases, cuda: 61 passed, 1 failed",
                "    FAIL softmax: why",
                "GPU against CPU, lenet train f32: error 1e-06 in data/ip2, 0.50 times a "
                "CPU plan's of the same precision; 9 blobs",
                "20 iterations of LeNet, f16: losses 0.002 off (at most 0.01)",
                "compute-sanitizer, lenet memcheck: no findings",
                "| lenet, 64 | train | f32 | 0.100 | 640000 | 0.300 | compile | "
                "3.00 | 8 | 32 | 22 | 50% |",
                "| lenet, 64 | infer | f32 | failed |  | not run |  |  |  |  |  "
                "|  |",
                "- lenet without fuse-launches: 0.200 ms (22 graph nodes); normally: "
                "0.100 ms",
                "- lenet train f32 torch channels_last: no"):
            self.assertIn(line, text.splitlines())


if __name__ == "__main__":
    unittest.main()
