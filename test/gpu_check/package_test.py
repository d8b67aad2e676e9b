#!/usr/bin/env python3
"""Tests how scripts/gpu-check packs, with a stand-in for brewc."""

import json
import os
import subprocess
import sys
import tarfile
import unittest
from pathlib import Path
from unittest import mock

from common import NET, ROOT, Folder, write_tool

import deploy
import machine
import pack
import plan_store
import prototxt
import table
import unpack

# Prints a report, and writes its arguments as the plan; knows no bf16.
BREWC = """#!/usr/bin/env python3
import json, sys
arguments = sys.argv[1:]
if "--precision=bf16" in arguments:
    sys.exit("brewc: this precision is not supported yet")
open(arguments[arguments.index("-o") + 1], "w").write(" ".join(arguments))
program = {"flops": 3, "bytes": 5, "kernels": 1, "calls": 1}
print(json.dumps({"programs": {name: program for name in
      ("forward_backward", "update", "deploy")}}))
"""


class Prototxt(unittest.TestCase):
    def test_fields(self):
        message = prototxt.parse("""
            # a comment
            name: "net" # another
            layer { type: 'Data' top: "a" top: "b" scale: 0.5 flag: true
                    dim: [1, 2], dim: 3; pool: MAX }
            layer < lr: -1e-3 >""")
        self.assertEqual(message["name"], ["net"])
        first, second = message["layer"]
        self.assertEqual(first["top"], ["a", "b"])
        self.assertEqual(first["dim"], [1, 2, 3])
        self.assertEqual(prototxt.get(first, "pool"), "MAX")
        self.assertIs(prototxt.get(first, "flag"), True)
        self.assertEqual(prototxt.get(second, "lr"), -1e-3)
        with self.assertRaises(prototxt.ParseError):
            prototxt.parse("layer { ! }")

    def test_phases(self):
        net = prototxt.parse("""
            layer { name: "both" }
            layer { name: "train" include { phase: TRAIN } }
            layer { name: "not test" exclude { phase: TEST } }""")
        self.assertEqual(
            [layer["name"][0] for layer in prototxt.layers_of(net, "TRAIN")],
            ["both", "train", "not test"])
        self.assertEqual(
            [layer["name"][0] for layer in prototxt.layers_of(net, "TEST")],
            ["both"])


    def test_texts_of_layers(self):
        texts = list(prototxt.layer_texts("""name: "a } net" # layer { not }
            layer { name: "a{" include { phase: TEST } } # }
            input_shape { dim: 1 } layer < top: 'b' >"""))
        self.assertEqual([prototxt.parse(text)["layer"][0] for text in texts],
                         [{"name": ["a{"], "include": [{"phase": ["TEST"]}]},
                          {"top": ["b"]}])


class Deploy(Folder):
    def test_a_net_for_inference_has_inputs_and_no_loss(self):
        shapes = {"x": (4, 3, 8, 8), "label": (4,)}
        for scores, types in ((True, []), (False, ["Softmax"])):
            net = prototxt.parse(deploy.deploy_text(NET, shapes, scores))
            self.assertEqual(
                [prototxt.get(layer, "type") for layer in net["layer"]],
                ["Input", "Convolution", "ReLU", "BatchNorm"] + types)
        self.assertEqual(net["layer"][0]["top"], ["x"])
        self.assertEqual(net["layer"][0]["input_param"],
                         [{"shape": [{"dim": [4, 3, 8, 8]}]}])
        self.assertEqual(net["layer"][-1]["bottom"], ["c"])

    def test_all_nets(self):
        for name, shapes in pack.NETS.items():
            text = deploy.deploy_text(pack.prototxt_of(name), shapes)
            for word in ("label", "Loss", "Accuracy", "DummyData", "TRAIN"):
                self.assertNotIn(word, text, name)
            for count in deploy.statistics_of(prototxt.parse(text)).values():
                self.assertGreater(count, 0, name)

    def test_statistics_that_pass_on_what_they_are_given(self):
        import h5py
        channels = deploy.statistics_of(prototxt.parse(NET))
        self.assertEqual(channels, {"n": 5})
        deploy.write_statistics(self.folder / "w.h5", channels)
        with h5py.File(self.folder / "w.h5", "r") as file:
            self.assertEqual([list(file["data/n/%d" % i]) for i in range(3)],
                             [[0] * 5, [1] * 5, [1]])


class PlanStore(Folder):
    def store(self, *arguments, **environment):
        return subprocess.run(
            [sys.executable, str(ROOT / "benchmarks/gpu/plan_store.py"),
             *map(str, arguments)], cwd=self.folder, capture_output=True,
            text=True, env=dict(os.environ, **environment))

    def test_plans_come_back_for_equal_arguments_and_contents(self):
        write_tool(self.folder / "brewc", BREWC)
        (self.folder / "plans").mkdir()
        (self.folder / "net.prototxt").write_text("one")
        kept = {"BREW_PLAN_STORE": str(self.folder / "plans")}
        done = self.store("net.prototxt", "--target", "cuda", "-o", "p.plan",
                          BREW_PLAN_COMPILER=str(self.folder / "brewc"), **kept)
        self.assertEqual(done.returncode, 0, done.stderr)
        # Elsewhere, under another name.
        (self.folder / "same.prototxt").write_text("one")
        done = self.store("same.prototxt", "--target", "cuda", "-o", "q.plan",
                          **kept)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / "q.plan").read_text(),
                         (self.folder / "p.plan").read_text())
        (self.folder / "same.prototxt").write_text("two")
        for arguments in (["same.prototxt", "--target", "cuda"],
                          ["net.prototxt", "--target", "cpu"]):
            done = self.store(*arguments, "-o", "r.plan", **kept)
            self.assertEqual(done.returncode, 3)
            self.assertIn("no plan was compiled for", done.stderr)
        # What could not be compiled says why.
        (self.folder / "net.prototxt").write_text("three")
        for compiler in (str(self.folder / "brewc"), ""):
            done = self.store("net.prototxt", "--precision=bf16", "-o", "r.plan",
                              BREW_PLAN_COMPILER=compiler, **kept)
            self.assertEqual(done.returncode, 1)
            self.assertIn("not supported yet", done.stderr)

    def test_the_output_is_no_part_of_the_key(self):
        self.assertEqual(plan_store.key_of(["a", "-o", "x", "b"]),
                         plan_store.key_of(["a", "b", "-o", "y"]))
        self.assertNotEqual(plan_store.key_of(["ab"]),
                            plan_store.key_of(["a", "b"]))


class Pack(Folder):
    def make(self, nets):
        tools = self.folder / "bin"
        tools.mkdir()
        write_tool(tools / "brewc", BREWC)
        # Something that is linked with a library of its own.
        (tools / "brew-run").write_bytes(Path(sys.executable).read_bytes())
        return pack.pack(tools, None, "sm_90", self.folder / "p.tar.xz", nets)

    def test_what_is_in_it(self):
        size, problems = self.make(["lenet"])
        self.assertGreater(size, 0)
        self.assertEqual(problems, [
            "lenet-{}-{}cuda-bf16: brewc: this precision is not supported yet"
            .format(mode, purpose) for purpose in ("", "agree-")
            for mode in pack.MODES] + [
            "lenet-train-cuda-bf16-without-join-launches: brewc: this precision is "
            "not supported yet"])
        with tarfile.open(self.folder / "p.tar.xz") as archive:
            archive.extractall(self.folder)
        package = self.folder / "gpu-check"
        for name in ("gpu-check", "bin/brew-run", "bin/brewc",
                     "benchmarks/gpu/device.py", "bench/lenet.prototxt",
                     "bench/lenet-train-cuda-f32.plan",
                     "bench/lenet-infer-agree-cpu-f32.plan"):
            self.assertTrue((package / name).exists(), name)
        # The C library comes from the machine itself.
        for library in (package / "lib" / "brew-run").iterdir():
            self.assertFalse(library.name.startswith("libc.so"), library)
        plan = (package / "bench/lenet-train-cuda-tf32.plan").read_text()
        self.assertIn("--gpu-arch=sm_90", plan)
        self.assertIn("--batch=64 --input-shape=data=64,1,28,28", plan)
        plan = (package / "bench/lenet-train-agree-cpu-f32.plan").read_text()
        self.assertIn("--input-shape=data=8,1,28,28", plan)
        # Inference is of a net without a loss, as one would run it.
        plan = (package / "bench/lenet-infer-cuda-f32.plan").read_text()
        self.assertTrue(plan.startswith("lenet_deploy.prototxt "), plan)
        self.assertNotIn("--phase", plan)
        self.assertIn("dim: 64 dim: 1 dim: 28", (
            package / "bench/lenet_deploy.prototxt").read_text())
        plan = (package / "bench/lenet-infer-agree-cpu-f32.plan").read_text()
        self.assertTrue(plan.startswith("lenet_scores.prototxt "), plan)
        scores = (package / "bench/lenet_scores.prototxt").read_text()
        self.assertIn("dim: 8 dim: 1 dim: 28", scores)
        self.assertNotIn("Softmax", scores)
        index = json.loads((package / "bench/index.json").read_text())
        self.assertEqual(index["lenet"]["plans"]["lenet-train-cuda-f32"],
                         {"plan": "lenet-train-cuda-f32.plan", "flops": 6,
                          "bytes": 10, "launches": 4})
        # The table of nothing is empty but whole.
        done = subprocess.run([sys.executable, str(package / "gpu-check"),
                               "table"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(table.HEAD, done.stdout)

    def test_unpacking_with_and_without_xz(self):
        with tarfile.open(self.folder / "p.tar.xz", "w:xz") as archive:
            write_tool(self.folder / "tool", "#!/bin/sh\n")
            archive.add(self.folder / "tool", "gpu-check/tool")
        calls = []
        with mock.patch.object(unpack.subprocess, "run",
                               lambda command, **_: calls.append(command)):
            with mock.patch.object(unpack.shutil, "which", lambda name: name):
                unpack.unpack(self.folder / "p.tar.xz", self.folder / "a")
            with mock.patch.object(unpack.shutil, "which",
                                   lambda name: name if name == "tar" else None):
                unpack.unpack(self.folder / "p.tar.xz", self.folder / "b")
        self.assertEqual([command[:2] for command in calls], [["tar", "xf"]])
        self.assertTrue(os.access(self.folder / "b/gpu-check/tool", os.X_OK))
        subprocess.run([sys.executable, str(ROOT / "scripts/gpu-check"),
                        "unpack", str(self.folder / "p.tar.xz"),
                        str(self.folder / "c")], check=True)
        self.assertTrue(os.access(self.folder / "c/gpu-check/tool", os.X_OK))

    def test_too_large(self):
        self.assertLessEqual(pack.LIMIT, 40 << 20)
        limit, pack.LIMIT = pack.LIMIT, 1000
        try:
            with self.assertRaisesRegex(pack.PackError, "MiB; at most"):
                self.make(["lenet"])
        finally:
            pack.LIMIT = limit

    def test_a_python_package_that_is_missing_is_named(self):
        with mock.patch.object(pack.importlib.util, "find_spec",
                               lambda name: None if name == "h5py" else name):
            with self.assertRaisesRegex(pack.PackError,
                                        "has no h5py: install python3-h5py"):
                self.make(["lenet"])


class Machine(Folder):
    def test_libraries_of_python_packages_come_first(self):
        for path in ("site/nvidia/cudnn/lib/libcudnn.so.9",
                     "site/nvidia/cu13/lib/libcublasLt.so.13",
                     "site/nvidia/nvtx/lib/libnvtx.so",
                     "cuda-13/lib64/libcublasLt.so.13",
                     "driver/libcuda.so.1", "other/libc.so.6"):
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("")
        folders = machine.library_folders(
            [str(self.folder / "site")],
            [str(self.folder / name) for name in
             ("driver", "other", "cuda-*/lib64", "none")])
        self.assertEqual([os.path.relpath(folder, self.folder)
                          for folder in folders],
                         ["site/nvidia/cu13/lib", "site/nvidia/cudnn/lib",
                          "driver", "cuda-13/lib64"])
        before = os.environ.get("LD_LIBRARY_PATH")
        os.environ["LD_LIBRARY_PATH"] = "/b:/c:"
        try:
            self.assertEqual(machine.library_path(["/a", "/b"]), "/a:/b:/c")
        finally:
            del os.environ["LD_LIBRARY_PATH"]
            if before is not None:
                os.environ["LD_LIBRARY_PATH"] = before


if __name__ == "__main__":
    unittest.main()
