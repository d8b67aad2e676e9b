#!/usr/bin/env python3
"""Tests scripts/gpu-check without a GPU, with stand-ins for Brew's tools."""

import contextlib
import io
import json
import os
import re
import stat
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks" / "gpu"))

import cases  # noqa: E402
import device  # noqa: E402
import machine  # noqa: E402
import pack  # noqa: E402
import plan_store  # noqa: E402
import prototxt  # noqa: E402
import table  # noqa: E402
import torch_server  # noqa: E402

try:
    import torch
    import torch_net
except ImportError:
    torch = None

# Prints a report, and writes its arguments as the plan; knows no bf16.
BREWC = """#!/usr/bin/env python3
import json, sys
arguments = sys.argv[1:]
if "--precision=bf16" in arguments:
    sys.exit("brewc: this precision is not supported yet")
open(arguments[arguments.index("-o") + 1], "w").write(" ".join(arguments))
program = {"flops": 3, "bytes": 5, "kernels": 1, "calls": 1}
print(json.dumps({"programs": {name: program for name in
      ("forward_backward", "update", "main")}}))
"""


def write_tool(path, text):
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


class Folder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)


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
            for mode in pack.MODES])
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
        index = json.loads((package / "bench/index.json").read_text())
        self.assertEqual(index["lenet"]["plans"]["lenet-train-cuda-f32"],
                         {"plan": "lenet-train-cuda-f32.plan", "flops": 6,
                          "bytes": 10, "launches": 4})
        # The table of nothing is empty but whole.
        done = subprocess.run([sys.executable, str(package / "gpu-check"),
                               "table"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(table.HEAD, done.stdout)

    def test_too_large(self):
        limit, pack.LIMIT = pack.LIMIT, 1000
        try:
            with self.assertRaisesRegex(pack.PackError, "MiB; at most"):
                self.make(["lenet"])
        finally:
            pack.LIMIT = limit


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

    def test_what_lacked_time_is_left(self):
        class Slow(FakePackage):
            def work(self, name):
                time.sleep(0.2)
                return super().work(name)
        device.Package = Slow
        # One of them is done before the time is over, and may take longer.
        self.assertEqual(self.run_rows(minutes=0.3 / 60, only=["two", "three"]),
                         (["two", "three"], 0))
        (self.folder / "results.jsonl").unlink()
        self.assertEqual(self.run_rows(minutes=0.1 / 60, only=["two"]),
                         (["two"], 1))

    def test_a_line_that_was_cut_off_is_measured_again(self):
        self.run_rows()
        results = self.folder / "results.jsonl"
        results.write_text(results.read_text()[:-20])
        self.assertEqual(self.run_rows()[0], ["three"])


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
        self.assertEqual(len(rows), 4 + 2 * 2 * 3 * (2 + len(pack.VARIANTS)))
        def first(text):
            return next(i for i, row in enumerate(rows)
                        if re.search(text, row))
        for earlier, later in (("vgg16 train bf16 brew", "torch eager"),
                               ("infer f32 brew", "compile_graph"),
                               ("compile_graph", "torch compile$")):
            self.assertLess(first(earlier), first(later))


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
                "- lenet train f32 torch channels_last: no"):
            self.assertIn(line, text.splitlines())


@unittest.skipIf(torch is None, "PyTorch is not installed")
class TorchNet(unittest.TestCase):
    def build(self, name, phase, batch=None):
        shapes = {blob: (batch or shape[0],) + shape[1:]
                  for blob, shape in pack.NETS[name].items()}
        return torch_net.CaffeNet(prototxt.parse(pack.prototxt_of(name)), phase,
                                  shapes), shapes

    def test_parameters_and_losses(self):
        for name, parameters in (("lenet", 431080), ("cifar10_quick", 145578)):
            net, shapes = self.build(name, "TRAIN")
            self.assertEqual(sum(p.numel() for p in net.parameters()),
                             parameters)
            inputs = {blob: torch.zeros(shape, dtype=torch.long)
                      if len(shape) == 1 else torch.rand(shape)
                      for blob, shape in shapes.items()}
            loss = net(inputs)
            self.assertAlmostEqual(loss.item(), 2.3, delta=0.3)  # of ten classes
            loss.backward()

    def test_large_nets_have_their_papers_parameters(self):
        for name, parameters in (("alexnet", 60965224), ("vgg16", 138357544),
                                 ("googlenet", 6998552),
                                 ("resnet50", 25557032),
                                 ("squeezenet", 1248424),
                                 ("mobilenet", 4231976)):
            net, _ = self.build(name, "TEST", batch=1)
            self.assertEqual(sum(p.numel() for p in net.parameters()),
                             parameters, name)

    def test_caffes_pooling(self):
        # A window may reach over the border, but must begin inside.
        pool = torch_net.Pooling(prototxt.parse(
            "pool: AVE kernel_size: 3 stride: 2 pad: 1"))
        x = torch.ones(1, 1, 6, 6)
        y = pool(x)
        self.assertEqual(tuple(y.shape), (1, 1, 4, 4))
        # Caffe divides by the window clipped to the padded picture.
        self.assertAlmostEqual(y[0, 0, 0, 0].item(), 4 / 9, places=6)
        self.assertAlmostEqual(y[0, 0, 3, 3].item(), 1 / 4, places=6)

    def test_what_it_does_not_know_is_an_error(self):
        net = prototxt.parse(
            'layer { name: "l" type: "LSTM" bottom: "data" top: "y" }')
        with self.assertRaisesRegex(torch_net.Unsupported, "LSTM"):
            torch_net.CaffeNet(net, "TRAIN", {"data": (1, 2, 3, 4)})

    def test_the_timer_on_the_cpu(self):
        done = subprocess.run(
            [sys.executable, str(ROOT / "benchmarks/gpu/torch_step.py"),
             str(ROOT / "benchmarks/nets/lenet.prototxt"), "--input",
             "data=4,1,28,28", "--input", "label=4", "--device", "cpu",
             "--steps", "3", "--warm-up", "1", "--variant", "channels_last"],
            capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["steps"], 3)


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Server(Folder):
    def test_rows_of_one_process(self):
        server = torch_server.TorchServer(ROOT / "benchmarks" / "nets",
                                          self.folder / "log")
        self.addCleanup(server.stop)
        words = ["lenet.prototxt", "--input", "data=4,1,28,28", "--input",
                 "label=4", "--device", "cpu", "--steps", "3", "--warm-up", "1"]
        self.assertEqual(server.ask(words, 60)["steps"], 3)
        with self.assertRaisesRegex(RuntimeError, "none.prototxt"):
            server.ask(["none.prototxt"] + words[1:], 60)
        self.assertEqual(server.ask(words + ["--mode", "infer"], 60)["steps"], 3)
        with self.assertRaisesRegex(RuntimeError, "out of time"):
            server.ask(words + ["--steps", "1000000"], 3)
        self.assertEqual(server.ask(words, 60)["steps"], 3)


if __name__ == "__main__":
    unittest.main()
