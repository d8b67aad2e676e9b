#!/usr/bin/env python3
"""Tests the packing of scripts/gpu-check, with a fake brewc."""

import json
import os
import subprocess
import sys
import tarfile
import unittest
from pathlib import Path
from unittest import mock

from common import NET, ROOT, Folder, write_tool

import cpu_reference
import deploy
import machine
import pack
import plan_store
import plans
import prototxt
import schedule
import table
import timed_nets
import tool
import unpack

BINARIES = Path(os.environ.get("BREW_BIN", ROOT / "build/release/bin"))
# A brewc that compiles for the CPU. For GPUs it only prints a report and writes its arguments
# as the plan, and rejects bf16.
BREWC = """#!/usr/bin/env python3
import json, os, sys
arguments = sys.argv[1:]
if "--target=cpu" in arguments:
    os.execv("{}", ["brewc"] + arguments)
if "--precision=bf16" in arguments:
    sys.exit("a.prototxt:1:1: warning: x\\nbrewc: error: this precision is not supported yet")
open(arguments[arguments.index("-o") + 1], "w").write(" ".join(arguments))
program = dict(flops=3, bytes=5, kernels=1, calls=1, roofline_seconds=1)
print(json.dumps(dict(programs=dict.fromkeys(
    ("forward_backward", "update", "deploy"), program))))
"""


class Prototxt(unittest.TestCase):
    def test_fields_are_parsed(self):
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

    def test_layers_of_a_phase_are_selected(self):
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

    def test_texts_of_layers_are_separated(self):
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

    def test_nets_for_inference_have_no_training_layers(self):
        for name, shapes in timed_nets.NETS.items():
            text = deploy.deploy_text(timed_nets.prototxt_of(name), shapes)
            for word in ("label", "Loss", "Accuracy", "DummyData", "TRAIN"):
                self.assertNotIn(word, text, name)
            for count in deploy.statistics_of(prototxt.parse(text)).values():
                self.assertGreater(count, 0, name)

    def test_starts_of_deep_nets_are_short_and_end_with_a_loss(self):
        for name, (full_net, last, _) in timed_nets.STARTS.items():
            net = prototxt.parse(timed_nets.prototxt_of(name))
            names = [prototxt.get(layer, "name") for layer in net["layer"]]
            self.assertEqual(names[-4:], [last, "pool_end", "fc_end", "loss"])
            self.assertLess(len(names), 50)
            self.assertEqual(timed_nets.shapes_of(name), timed_nets.NETS[full_net])

    def test_statistics_have_mean_0_and_variance_1(self):
        import h5py
        channels = deploy.statistics_of(prototxt.parse(NET))
        self.assertEqual(channels, {"n": 5})
        deploy.write_statistics(self.folder / "w.h5", channels)
        with h5py.File(self.folder / "w.h5", "r") as file:
            self.assertEqual([list(file["data/n/%d" % i]) for i in range(3)],
                             [[0] * 5, [1] * 5, [1]])


class PlanStore(Folder):
    def run_store(self, *arguments, **environment):
        return subprocess.run(
            [sys.executable, str(ROOT / "benchmarks/gpu/plan_store.py"),
             *map(str, arguments)], cwd=self.folder, capture_output=True,
            text=True, env=dict(os.environ, **environment))

    def test_plans_are_returned_for_equal_arguments_and_contents(self):
        write_tool(self.folder / "brewc", BREWC)
        (self.folder / "plans").mkdir()
        (self.folder / "net.prototxt").write_text("one")
        store_variables = {"BREW_PLAN_STORE": str(self.folder / "plans")}
        done = self.run_store("net.prototxt", "--target", "cuda", "-o", "p.plan",
                              BREW_PLAN_COMPILER=str(self.folder / "brewc"), **store_variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        # Returns the plan for equal contents under another name.
        (self.folder / "same.prototxt").write_text("one")
        done = self.run_store("same.prototxt", "--target", "cuda", "-o", "q.plan",
                              **store_variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / "q.plan").read_text(),
                         (self.folder / "p.plan").read_text())
        (self.folder / "same.prototxt").write_text("two")
        for arguments in (["same.prototxt", "--target", "cuda"],
                          ["net.prototxt", "--target", "cpu"]):
            done = self.run_store(*arguments, "-o", "r.plan", **store_variables)
            self.assertEqual(done.returncode, 3)
            self.assertIn("no plan was compiled for", done.stderr)
        # Returns the error of a plan that could not be compiled.
        (self.folder / "net.prototxt").write_text("three")
        for compiler in (str(self.folder / "brewc"), ""):
            done = self.run_store("net.prototxt", "--precision=bf16", "-o", "r.plan",
                                  BREW_PLAN_COMPILER=compiler, **store_variables)
            self.assertEqual(done.returncode, 1)
            self.assertIn("not supported yet", done.stderr)

    def test_the_output_is_not_part_of_the_key(self):
        self.assertEqual(plan_store.key_of(["a", "-o", "x", "b"]),
                         plan_store.key_of(["a", "b", "-o", "y"]))
        self.assertNotEqual(plan_store.key_of(["ab"]),
                            plan_store.key_of(["a", "b"]))


class Tool(Folder):
    """Tests with the real brew-run, and with faulty libraries."""

    def build_library(self, name, *options, source=""):
        path = self.folder / "lib" / "brew-run" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        (self.folder / "source.c").write_text(source)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", path, self.folder / "source.c",
                        "-nodefaultlibs", "-Wl,--no-as-needed", *options], check=True)
        return path

    def test_brew_run_needs_nothing_else(self):
        package_folder = self.folder / "gpu-check"
        package_folder.mkdir()
        tool.copy_tool(package_folder, BINARIES)
        for path in tool.elf_files(package_folder):
            for tag, value in tool.dynamic_entries(path):
                if path.name.startswith(("brew", "libbrew")) and tag == "RPATH":
                    self.assertNotIn(str(ROOT), value, path)
        names = [path.name for path in (package_folder / "lib" / "brew-run").iterdir()]
        self.assertIn("libdnnl.so.3", names)
        for word in ("opencv", "X11", "GLX", "lapack", "libc.so"):
            self.assertFalse([name for name in names if word in name], word)
        isolation = tool.try_tool(self.folder / "root", package_folder, [["--version"]])
        self.assertTrue(isolation)
        with mock.patch.object(tool, "isolated", return_value=None):
            self.assertEqual(tool.try_tool(self.folder / "root2", package_folder,
                                           [["--version"]]), "by its own loader")
        # Without a packed library it does not start, even if this machine has the library.
        (package_folder / "lib" / "brew-run" / "liblmdb.so.0").unlink()
        with self.assertRaisesRegex(tool.ToolError, "liblmdb.so.0, which is not packed"):
            tool.require_closed(package_folder)
        with self.assertRaisesRegex(tool.ToolError,
                                    "--version fails .*: .*liblmdb.so.0"):
            tool.try_tool(self.folder / "root3", package_folder, [["--version"]])

    def test_a_runpath_is_refused(self):
        (self.folder / "bin").mkdir()
        self.build_library("liba.so", "-Wl,-soname,liba.so")
        tool.require_closed(self.folder)
        self.build_library("libb.so", "-Wl,--enable-new-dtags,-rpath,/somewhere")
        with self.assertRaisesRegex(tool.ToolError,
                                    r"libb.so has a RUNPATH \(/somewhere\)"):
            tool.require_closed(self.folder)

    def test_only_libraries_of_the_gpu_machine_may_be_missing(self):
        (self.folder / "bin").mkdir()
        stub = self.build_library("libcudnn.so.9", "-Wl,-soname,libcudnn.so.9")
        self.build_library("libuser.so", stub, "-lm", "-lc")
        stub.unlink()
        tool.require_closed(self.folder)
        unknown = self.build_library("libother.so.1", "-Wl,-soname,libother.so.1")
        self.build_library("libuser.so", unknown)
        unknown.unlink()
        with self.assertRaisesRegex(tool.ToolError, "libuser.so needs libother.so.1"):
            tool.require_closed(self.folder)

    def test_an_rpath_of_this_machine_is_replaced(self):
        path = self.build_library("liba.so",
                                  "-Wl,--disable-new-dtags,-rpath,/a/build/folder/somewhere")
        (self.folder / "bin").mkdir()
        with self.assertRaisesRegex(tool.ToolError, "has the RPATH /a/build/folder"):
            tool.require_closed(self.folder)
        tool.set_rpath(path, "$ORIGIN")
        self.assertEqual(tool.dynamic_entries(path), [("RPATH", "$ORIGIN")])
        tool.require_closed(self.folder)


class Pack(Folder):
    def pack_rows(self, rows, shared=None):
        """Packs `rows` with the real tools and the fake brewc."""
        tools = self.folder / "bin"
        tools.mkdir()
        for name in ("brew-run", "brew-data"):
            (tools / name).symlink_to(BINARIES / name)
        write_tool(tools / "brewc", BREWC.format(BINARIES / "brewc"))
        with mock.patch.object(pack, "PRESET", 0):
            return pack.pack(tools, shared, "sm_90", self.folder / "p.tar.xz", rows)

    def test_a_package_contains_what_its_rows_need(self):
        rows = [row for row in schedule.all_rows() if row.name in (
            "machine", "cases cuda", "lenet train f32 brew", "lenet infer f32 brew",
            "lenet train bf16 brew", "agree lenet train f32", "agree lenet infer f32",
            "sanitize cases memcheck", "lenet train f32 torch eager", "losses f32")]
        self.assertEqual(len(rows), 10)
        lines = self.pack_rows(rows)
        self.assertEqual(lines[0], "left out: lenet-train-cuda-bf16: brewc: error: this "
                         "precision is not supported yet")
        self.assertRegex(lines[1], r"p.tar.xz: \d+\.\d MiB \(at most 34\); with the tree "
                         r"\d+\.\d MiB \(at most 60\)$")
        self.assertRegex(lines[2], "^brew-run of the unpacked package ran .*: "
                         "--version, eval$")
        with tarfile.open(self.folder / "p.tar.xz") as archive:
            archive.extractall(self.folder)
        package = self.folder / "gpu-check"
        for name in ("gpu-check", "bin/brew-run", "bin/brewc",
                     "benchmarks/gpu/device.py", "bench/lenet.prototxt",
                     "bench/lenet-train-cuda-f32.plan", "bench/losses-f32.plan",
                     "bench/mnist_lmdb/data.mdb",
                     "bench/lenet-infer-agree-cpu-f32.plan"):
            self.assertTrue((package / name).exists(), name)
        # Plans of expected errors and losses are not packed.
        self.assertFalse(list((package / "bench").glob("*-other*")))
        self.assertFalse(list((package / "bench").glob("losses-*-*")))
        index = json.loads((package / "bench/index.json").read_text())
        # Without the recorded cases, their rows are left out.
        self.assertEqual(index["rows"], [
            row.name for row in rows if "cases" not in row.name])
        expected_errors = index["expected_errors"]["agree lenet train f32"]
        self.assertIn("param_diff/conv1/0", expected_errors)
        self.assertTrue(all(0 <= error < 1e-4 for error in expected_errors.values()))
        losses = index["losses"]["f32"]
        self.assertGreaterEqual(len(losses["losses"]), 20)
        self.assertEqual(losses["tolerance"], cpu_reference.MIN_TOLERANCE)
        timed = (package / "bench/lenet-train-cuda-f32.plan").read_text()
        self.assertIn("--gpu-arch=sm_90", timed)
        self.assertIn("--batch=64 --input-shape=data=64,1,28,28", timed)
        # Inference uses a net without a loss.
        timed = (package / "bench/lenet-infer-cuda-f32.plan").read_text()
        self.assertTrue(timed.startswith("lenet_deploy.prototxt "), timed)
        self.assertIn("dim: 64 dim: 1 dim: 28", (
            package / "bench/lenet_deploy.prototxt").read_text())
        scores = (package / "bench/lenet_scores.prototxt").read_text()
        self.assertIn("dim: 8 dim: 1 dim: 28", scores)
        self.assertNotIn("Softmax", scores)
        # Without results the table is empty.
        done = subprocess.run([sys.executable, str(package / "gpu-check"), "table"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(table.HEAD, done.stdout)

    def test_every_row_names_the_plans_that_are_compiled(self):
        for row in schedule.all_rows():
            names = [plan.name for plan in plans.plans_of(row)]
            if row.kind in ("brew", "kernels"):
                self.assertEqual(names, [plans.timed_name(row)])
            elif row.kind == "agree":
                self.assertEqual(names, [plans.agree_name(row, "cuda", row.precision),
                                         plans.agree_name(row, "cpu", "f32")])
            elif row.kind == "losses":
                self.assertEqual(names, [plans.losses_name(row)])

    def test_filters_select_rows(self):
        default_rows = [row.name for row in schedule.select()]
        self.assertIn("losses f16", default_rows)
        self.assertNotIn("alexnet train bf16 brew", default_rows)
        selected_rows = [row.name for row in schedule.select(["alexnet"], ["infer"], ["f32"])]
        self.assertIn("alexnet infer f32 brew", selected_rows)
        self.assertIn("machine", selected_rows)
        for name in selected_rows:
            self.assertNotRegex(name, "train|bf16|lenet |vgg16")
        self.assertEqual(len(default_rows), len(set(default_rows)))

    def test_the_default_set_stays_small(self):
        nets = {row.net for row in schedule.select()}
        self.assertEqual(nets, {"", "lenet", "resnet50", "googlenet", "vgg16",
                                "mobilenet", *timed_nets.STARTS})

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

    def test_packages_above_the_limit_are_refused(self):
        file = self.folder / "p.tar.xz"
        file.write_bytes(b"x" * 3000000)
        self.assertIn("p.tar.xz: 2.9 MiB (at most 34)", pack.require_small(file))
        with mock.patch.object(pack, "LIMIT", 1 << 20):
            with self.assertRaisesRegex(pack.PackError, r"2.9 MiB \(at most 1\)"):
                pack.require_small(file)
        with mock.patch.object(pack, "tree_bytes", return_value=58 << 20):
            with self.assertRaisesRegex(pack.PackError,
                                        r"with the tree 60.9 MiB \(at most 60\)"):
                pack.require_small(file)

    def test_missing_packages_and_tools_are_reported(self):
        for words, text in ((["all"], "is not a package: create one with pack"),
                            (["table", "--package", str(self.folder)], "is not a package"),
                            (["pack", "--bin", str(self.folder)],
                             "there is no brewc in " + str(self.folder))):
            done = subprocess.run([sys.executable, str(ROOT / "scripts/gpu-check"), *words],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "^gpu-check: .*" + text)
            self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_a_python_package_that_is_missing_is_named_at_once(self):
        with mock.patch.object(pack.importlib.util, "find_spec",
                               lambda name: None if name == "h5py" else name):
            with self.assertRaisesRegex(pack.PackError,
                                        "has no h5py: apt-get install python3-h5py, or "
                                        ".* -m pip install h5py"):
                pack.pack(self.folder, None, "sm_90", self.folder / "p.tar.xz", [])


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
        previous_path = os.environ.get("LD_LIBRARY_PATH")
        os.environ["LD_LIBRARY_PATH"] = "/b:/c:"
        try:
            self.assertEqual(machine.library_path(["/a", "/b"]), "/a:/b:/c")
        finally:
            del os.environ["LD_LIBRARY_PATH"]
            if previous_path is not None:
                os.environ["LD_LIBRARY_PATH"] = previous_path


if __name__ == "__main__":
    unittest.main()
