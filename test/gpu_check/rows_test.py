#!/usr/bin/env python3
"""Tests the rows of scripts/gpu-check: their order, what they run, their table."""

import json
import os
import re
import unittest

from common import NET, Folder, write_tool

import deploy
import device
import pack
import table

class Order(Folder):
    def test_what_only_a_gpu_can_show_comes_first(self):
        (self.folder / "bench").mkdir()
        (self.folder / "golden").mkdir()
        (self.folder / "bench" / "index.json").write_text(
            json.dumps({"lenet": {}, "vgg16": {}}))
        (self.folder / "settings.json").write_text('{"archs": "sm_90"}')
        rows = [name for name, _ in device.Package(self.folder).rows()]
        self.assertEqual(rows[:5], ["machine", "cases cuda", "rates",
                                    "agree lenet train f32",
                                    "agree vgg16 train f32"])
        self.assertEqual(rows[-1], "cases cpu")
        choices = pack.CHOICES["lenet"]
        self.assertEqual(len(rows), 4 + 2 * 2 * 3 * (2 + len(pack.VARIANTS))
                         + len(choices))
        def first(text):
            return next(i for i, row in enumerate(rows)
                        if re.search(text, row))
        for earlier, later in (("vgg16 train bf16 brew", "torch eager"),
                               ("infer f32 brew", "channels_last"),
                               ("train bf16 brew$", "brew without"),
                               ("brew without", "agree .* train bf16"),
                               ("compile_graph", "torch compile$")):
            self.assertLess(first(earlier), first(later))
        # PyTorch's best form is measured while the GPU is as warm as for Brew.
        brews = [i for i, row in enumerate(rows) if row.endswith(" brew")]
        self.assertEqual(len(brews), 2 * 2 * 3)
        for i in brews:
            self.assertEqual(rows[i + 1], rows[i].replace(
                " brew", " torch compile_graph"))


# Keeps its arguments; what it computes is in a file, if there is one to write.
BREW_RUN = """#!/bin/sh
echo "$@" >> commands
echo "0] Average on the GPU: 1 ms. (median 2, min 1)" >&2
echo "0] CUDA graph: 3 nodes; GPU memory: 4 bytes" >&2
for last; do test "$before" = --outputs && cp computed.h5 "$last"; before=$last; done
exit 0
"""


class Rows(Folder):
    def setUp(self):
        super().setUp()
        for name in ("bin", "bench"):
            (self.folder / name).mkdir()
        write_tool(self.folder / "bin" / "brew-run", BREW_RUN)
        (self.folder / "settings.json").write_text('{"archs": "sm_90"}')
        plans = {"net-{}-{}".format(mode, rest): {"plan": mode + rest, "flops": 1,
                                                  "bytes": 1}
                 for mode in pack.MODES for rest in
                 ("cuda-f32", "agree-cuda-f32", "agree-cpu-f32")}
        (self.folder / "bench" / "index.json").write_text(json.dumps(
            {"net": {"steps": 7, "plans": plans,
                     "inputs": ["x=4,3,8,8", "label=4"],
                     "agree_inputs": ["x=2,3,8,8", "label=2"]}}))
        (self.folder / "bench" / "net_deploy.prototxt").write_text(
            deploy.deploy_text(NET, {"x": (4, 3, 8, 8)}))
        self.package = device.Package(self.folder)

    def commands(self):
        file = self.folder / "bench" / "commands"
        commands = [line.split() for line in file.read_text().splitlines()]
        file.unlink()
        return commands

    def test_brew_is_timed_on_one_batch_with_the_kept_engines(self):
        timing = str(self.folder / "results.timing")
        weights = str(self.folder / "bench" / "net.weights.h5")
        for mode, more in (("train", []), ("infer", ["--weights", weights, "--allow-missing-weights"])):
            result = self.package.brew("net", mode, "f32")
            self.assertEqual(result["median"], 2e-3)
            self.assertEqual(self.commands(), [
                ["time", mode + "cuda-f32", "--random-input", "--iterations",
                 "7", "--timing-cache", timing] + more])
        self.assertTrue(os.path.exists(weights))

    def test_compared_are_the_engines_that_are_timed(self):
        import h5py
        with h5py.File(self.folder / "bench" / "computed.h5", "w") as file:
            file["data/c"] = [1.0, 2.0]
        for mode, read in (("train", ["label", "x"]), ("infer", ["x"])):
            result = self.package.agree("net", mode, "f32")
            self.assertEqual(result, {"error": 0.0, "blob": "data/c"})
            on_gpu, on_cpu = self.commands()
            self.assertNotIn("--no-tune", on_gpu)
            place = on_gpu.index("--timing-cache")
            self.assertEqual(on_gpu[place + 1],
                             str(self.folder / "results.timing"))
            self.assertNotIn("--timing-cache", on_cpu)
            for command in (on_gpu, on_cpu):
                self.assertEqual("--weights" in command, mode == "infer")
            with h5py.File(self.folder / "bench" / "inputs.h5", "r") as file:
                self.assertEqual(sorted(file["inputs"]), read)

    def test_what_a_pass_is_worth(self):
        plans = self.package.index["net"]["plans"]
        for name in ("net-train-cuda-bf16", "net-train-cuda-bf16-without-some-pass"):
            plans[name] = {"plan": name, "flops": 1, "bytes": 1}
        result = self.package.choice("net", "some-pass")
        self.assertEqual([command[1] for command in self.commands()],
                         ["net-train-cuda-bf16", "net-train-cuda-bf16-without-some-pass"])
        self.assertEqual((result["median"], result["whole"], result["whole_nodes"]),
                         (2e-3, 2e-3, 3))

    def test_pytorch_runs_the_same_net(self):
        asked = []
        self.package.server.ask = lambda words, limit: asked.append(words)
        for mode in pack.MODES:
            self.package.torch("net", mode, "f32", "compile_graph")
        self.assertEqual([words[0] for words in asked],
                         ["net.prototxt", "net_deploy.prototxt"])
        self.assertEqual([words.count("--input") for words in asked], [2, 1])


class Table(Folder):
    def test_rows(self):
        (self.folder / "bench").mkdir()
        (self.folder / "bench" / "index.json").write_text(json.dumps(
            {"lenet": {"inputs": ["data=64,1,28,28", "label=64"]}}))
        (self.folder / "settings.json").write_text('{"archs": "sm_90"}')
        results = [
            {"row": "rates", "device": "GPU X", "torch": "2", "cuda": "13.0",
             "bytes_per_second": 1e12,
             "flops": {"f32": 1e13, "tf32": 1e14, "bf16": 2e14}},
            {"row": "cases cuda", "summary": "61 passed, 1 failed",
             "failures": ["FAIL softmax: why"]},
            {"row": "agree lenet train f32", "error": 1e-6, "blob": "data/ip2"},
            {"row": "lenet train f32 brew", "median": 1e-4, "nodes": 22,
             "peak_bytes": 8 << 20, "flops": 1e8, "bytes": 5e7},
            {"row": "lenet train f32 torch eager", "median": 5e-4,
             "peak_bytes": 64 << 20},
            {"row": "lenet train f32 torch compile", "median": 3e-4,
             "peak_bytes": 32 << 20},
            {"row": "lenet train f32 torch channels_last", "failed": "no\nmore"},
            {"row": "lenet train bf16 brew without join-launches", "median": 2e-4,
             "nodes": 22, "whole": 1e-4, "whole_nodes": 19},
            {"row": "lenet infer f32 brew", "failed": "RuntimeError: x"}]
        (self.folder / "results.jsonl").write_text(
            "".join(json.dumps(result) + "\n" for result in results))
        text = table.table(self.folder)
        for line in (
                "GPU X, PyTorch 2, CUDA 13.0; copies 1000 GB/s, products f32 "
                "10.0, tf32 100, bf16 200 TFLOP/s.",
                "Recorded cases, cuda: 61 passed, 1 failed",
                "    FAIL softmax: why",
                "GPU against CPU, lenet train f32: relative difference 1e-06 "
                "(data/ip2)",
                "| lenet, 64 | train | f32 | 0.100 | 640000 | 0.300 | compile | "
                "3.00 | 8 | 32 | 22 | 50% |",
                "| lenet, 64 | infer | f32 | failed |  | not run |  |  |  |  |  "
                "|  |",
                "- lenet train bf16 brew without join-launches: 0.200 ms (22 nodes of "
                "its graph), with it 0.100 ms (19)",
                "- lenet train f32 torch channels_last: no"):
            self.assertIn(line, text.splitlines())


if __name__ == "__main__":
    unittest.main()
