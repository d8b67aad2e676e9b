#!/usr/bin/env python3
"""Tests the tables of a file of results, and writing them into a page."""

import subprocess
import sys
import unittest
from unittest import mock

from common import MEMORY, ROOT, RUN, Folder

import report
import run
from process import MeasureError
from programs import LOOP, NO_UPDATE, Program
from records import Records
from tables import Results, render

PAGE = """# A page

before
<!-- generated: benchmarks/report.py FILE --write PAGE -->
old
<!-- end -->
after
"""


def sample_records(path=None):
    """Returns records of two workloads, with PyTorch in two variants and few other peers."""
    result = Records(path)
    result.add(**RUN)

    def add(workload, program, medians=(), failed=None, version=None):
        fields = dict(kind="time", workload=workload, program=program.key,
                      title=program.title, peer=program.peer,
                      variant=program.variant, precision=program.precision,
                      measure=program.measure)
        for number, median in enumerate(medians, 1):
            result.add(**fields, round=number, median=median, least=median / 2,
                       steps=3, peak_bytes=123456789, version=version)
        if failed:
            result.add(**fields, round=1, failed=failed, missing=True)

    train, infer = "lenet-64-train", "vgg16-1-infer"
    for workload, flops in ((train, 4e8), (infer, 8e9)):
        for precision in ("f32", "bf16"):
            result.add(kind="compile", workload=workload, precision=precision,
                       round=1, seconds=0.25, flops=flops, calls=11, kernels=6,
                       memory=MEMORY, peak_bytes=80e6)
        for rate in (1e11, 2e11, 1.5e11):
            result.add(kind="peak", workload=workload, precision="f32", size=512,
                       flops_per_second=rate)
        add(workload, Program("brew", "f32"), (0.005, 0.004, 0.003))
        add(workload, Program("torch", "f32", "eager"), (0.02,),
            version="2.15.0")
        add(workload, Program("torch", "f32", "channels_last"),
            (0.009, 0.01, 0.08), version="2.15.0")
        add(workload, Program("brew", "bf16"), (0.002,))
        add(workload, Program("torch", "bf16", "eager"), failed="it broke")
    add(train, Program("brew", "f32", "", LOOP), (0.006,))
    add(train, Program("caffe", "f32", "", LOOP), (0.03,))
    add(train, Program("caffe", "f32", "", NO_UPDATE), (0.02,))
    add(infer, Program("onnxruntime", "bf16"), failed="f32 only")
    # Missing in one part of an interrupted run, and measured in the other.
    add(infer, Program("opencv", "f32"), (0.008,), failed="not there")
    return result


def table_cells(lines):
    return [[cell.strip() for cell in line.strip("|").split("|")]
            for line in lines if line.startswith("|")]


class Tables(unittest.TestCase):
    def setUp(self):
        self.results = Results(sample_records())

    def test_columns_are_padded_and_aligned(self):
        self.assertEqual(render(["a", "b"], [["long name", 12345]], True), [
            "| a         |     b |", "| --------- | ----: |",
            "| long name | 12345 |"])
        self.assertEqual(render(["a", "b"], [["c", 1]], False),
                         ["a      b", "---  ---", "c      1"])

    def test_details_list_every_program_of_a_workload(self):
        rows = table_cells(self.results.details("lenet-64-train", True))[2:]
        self.assertEqual(rows[0], ["Brew", "f32", "4.000", "1.500", "-", "100.0",
                                   "50.0%", "123", "3"])
        self.assertEqual(rows[1], ["PyTorch: eager", "f32", "20.00", "10.00",
                                   "5.00", "20.0", "10.0%", "123", "1"])
        self.assertEqual(rows[2][:5], ["PyTorch: eager, channels-last (best)",
                                       "f32", "10.00", "4.500", "2.50"])
        # Loops are compared with Brew's loop; times without an update are not compared.
        by_name = {(row[0], row[1]): row for row in rows}
        self.assertEqual(by_name["BVLC Caffe: `caffe train`, reading LMDB",
                                 "f32"][4], "5.00")
        self.assertEqual(by_name["BVLC Caffe: `caffe time`, no update",
                                 "f32"][2:7], ["20.00", "10.00", "-", "-", "-"])
        # No peak was measured in bf16; PyTorch failed.
        self.assertEqual(by_name["Brew", "bf16"][6], "-")
        self.assertEqual(by_name["PyTorch: eager", "bf16"][2:],
                         ["not measured"] + ["-"] * 6)

    def test_summary_compares_peers_with_brew(self):
        table = table_cells(self.results.summary("train", True))
        self.assertEqual(table[2], ["LeNet, 64", "f32", "4.000", "1.500", "100.0",
                                    "50.0%", "2.50", "3.00", "channels_last",
                                    "123", "123"])
        self.assertEqual(table[3][6:9], ["-", "-", "-"])
        table = table_cells(self.results.summary("infer", True))
        self.assertEqual(table[0][6:11], [
            peer + " / Brew" for peer in ("PyTorch", "ONNX Runtime", "OpenVINO",
                                          "OpenCV", "Caffe")])
        self.assertEqual(table[2][6:11], ["2.50", "-", "-", "2.00", "-"])

    def test_reasons_list_programs_and_workloads(self):
        self.assertEqual(self.results.reasons(self.results.records.workloads), [
            ("PyTorch: eager, bf16", "it broke",
             ["lenet-64-train", "vgg16-1-infer"]),
            ("ONNX Runtime, bf16", "f32 only", ["vgg16-1-infer"])])

    def test_compilation_lists_time_and_memory(self):
        rows = table_cells(self.results.compilation(True))
        self.assertEqual(rows[2], ["LeNet, batch 64, training", "f32", "250.0",
                                   "250.0", "80.00", "4.00", "1.000", "0.500",
                                   "11 / 6"])

    def test_tables_without_measurements_are_empty(self):
        empty = Results(Records())
        for table in (empty.summary("train", True), empty.loops(True),
                      empty.compilation(True)):
            self.assertEqual(table, [])


class Report(Folder):
    def test_machine_lists_processor_versions_and_load(self):
        text = " ".join(report.machine(Results(sample_records())))
        for word in ("A processor", "no AMX", "avx512_bf16", "2 threads", "0.50",
                     "2026-01-02", "PyTorch 2.15.0", "Brew 0.1.0",
                     "f32 200 GFLOP/s", RUN["command"], "not finished"):
            self.assertIn(word, text)
        finished_run = sample_records()
        finished_run.add(kind="done", seconds=1)
        finished_run.add(**RUN)
        self.assertIn("not finished", " ".join(report.machine(Results(finished_run))))
        finished_run.add(kind="done", seconds=1)
        text = " ".join(report.machine(Results(finished_run)))
        self.assertNotIn("not finished", text)
        self.assertNotIn("Other work", text)
        self.assertIn("resumed once", text)
        busy = Records()
        busy.add(**dict(RUN, load=3))
        self.assertIn("Other work", " ".join(report.machine(Results(busy))))
        with self.assertRaises(report.ReportError):
            report.machine(Results(Records()))

    def test_a_page_is_rewritten_between_its_markers(self):
        for lines in (["new", "| a |"], ["newer"]):
            page = report.rewrite(PAGE, lines)
            self.assertEqual(page, PAGE.replace(
                "old", "\n" + "\n".join(lines) + "\n"))
            self.assertEqual(report.rewrite(page, ["x"]),
                             report.rewrite(PAGE, ["x"]))
        for broken in ("nothing", PAGE.replace("<!-- end -->", ""),
                       "<!-- end -->\n<!-- generated: benchmarks/report.py -->"):
            with self.assertRaisesRegex(report.ReportError, "lacks"):
                report.rewrite(broken, ["x"])

    def test_command_writes_the_tables_into_a_page(self):
        path, page = self.folder / "results.jsonl", self.folder / "page.md"
        sample_records(path)
        page.write_text(PAGE)
        command = [sys.executable, "-B", str(ROOT / "benchmarks/report.py")]
        for _ in range(2):
            subprocess.run(command + [str(path), "--write", str(page)], check=True)
        text = page.read_text()
        self.assertTrue(text.startswith(PAGE[:30]) and text.endswith("after\n"))
        for heading in ("Training", "Inference", "Not measured",
                        "Every program: VGG-16, batch 1, inference"):
            self.assertEqual(text.count("\n### " + heading + "\n"), 1, heading)
        self.assertNotIn(str(self.folder), text)
        done = subprocess.run(command + [str(self.folder / "none")],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("does not exist", done.stderr)

    def test_the_page_in_docs_has_the_markers(self):
        page = (ROOT / "docs" / "performance.md").read_text()
        self.assertIn("\nnew\n", report.rewrite(page, ["new"]))


class CommandLine(Folder):
    def parse(self, *words):
        return run.parse_arguments(["--work-dir", str(self.folder), *words])

    def test_the_command_has_no_paths(self):
        self.assertEqual(
            run.command_of(self.parse("--net", "lenet", "--mode", "infer",
                                      "--rounds", "2", "--no-compile",
                                      "--python", "/some/where/python",
                                      "--caffe", "/bin/sh")),
            "benchmarks/run.py --net lenet --mode infer --rounds 2 --no-compile"
            " --python PYTHON --caffe CAFFE")
        self.assertEqual(run.command_of(self.parse("--quick")),
                         "benchmarks/run.py --quick --python PYTHON")

    def test_results_are_not_overwritten(self):
        path = self.folder / "results.jsonl"
        path.write_text("")
        for words in (["--results", str(path)], ["--resume"]):
            with self.assertRaises(SystemExit), mock.patch("sys.stderr"):
                self.parse(*words)
        self.parse("--results", str(path), "--resume")

    def test_machines_are_not_mixed(self):
        arguments = self.parse()
        run_records = Records()
        run.begin_run(run_records, arguments, "0.1.0")
        run.begin_run(run_records, arguments, "0.1.0")
        arguments.threads = 3
        with self.assertRaisesRegex(MeasureError, "threads 2, and this is 3"):
            run.begin_run(run_records, arguments, "0.1.0")

    def test_builds_are_not_mixed(self):
        arguments = self.parse()
        run_records = Records()
        run.begin_run(run_records, arguments, "0.1.0", "one")
        with self.assertRaisesRegex(MeasureError, "build one, and this is two"):
            run.begin_run(run_records, arguments, "0.1.0", "two")


if __name__ == "__main__":
    unittest.main()
