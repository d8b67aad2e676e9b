#!/usr/bin/env python3
"""Runs benchmarks/run.py with only Brew: the report lists the peers as not measured.

usage: run_test.py --bin FOLDER
"""

import argparse
import subprocess
import sys
import unittest

from common import ROOT, Folder

from records import Records

TOOLS = None


class Run(Folder):
    def run_benchmarks(self, *words):
        return subprocess.run(
            [sys.executable, "-B", str(ROOT / "benchmarks/run.py"), "--bin", TOOLS,
             "--python", "/nowhere/python", "--work-dir", str(self.folder / "w"),
             "--results", str(self.folder / "r.jsonl"), "--rounds", "1",
             "--seconds", "0.001", "--markdown", *words],
            capture_output=True, text=True)

    def test_inference_is_measured_once_and_resumed(self):
        words = ["--net", "mobilenet", "--batch", "1", "--mode", "infer"]
        done = self.run_benchmarks(*words, "--precision", "f32")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("### MobileNet, batch 1, inference", done.stdout)
        self.assertRegex(done.stdout, r"\| Brew +\| f32 +\| +\d")
        self.assertRegex(done.stdout, r"\| OpenVINO +\| f32 +\| +not measured")
        self.assertIn("- BVLC Caffe, f32: not measured: no --caffe", done.stdout)
        records = Records(self.folder / "r.jsonl")
        brew = records.of("time", peer="brew")
        self.assertEqual(len(brew), 1)
        self.assertGreater(brew[0]["median"], 0)
        # MobileNet takes 1.14 GFLOP per image.
        self.assertGreater(records.of("compile")[0]["flops"], 1.1e9)
        self.assertGreater(records.of("peak")[0]["flops_per_second"], 0)
        self.assertEqual(len(records.of("done")), 1)
        # A second run is refused; with --resume, Brew's time is not measured twice.
        done = self.run_benchmarks(*words, "--precision", "f32")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--resume", done.stderr)
        done = self.run_benchmarks(*words, "--precision", "f32", "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        records = Records(self.folder / "r.jsonl")
        self.assertEqual(len(records.of("time", peer="brew")), 1)
        self.assertEqual(len(records.of("run")), 2)

    def test_training_is_measured(self):
        done = self.run_benchmarks("--net", "lenet", "--batch", "2", "--mode", "train",
                                   "--precision", "bf16")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\| Brew +\| bf16 +\| +\d")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    options, unittest_arguments = parser.parse_known_args()
    TOOLS = options.bin
    unittest.main(argv=[sys.argv[0]] + unittest_arguments)
