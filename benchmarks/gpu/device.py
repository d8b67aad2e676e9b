"""What scripts/gpu-check does on the machine with a GPU.

Work is a list of rows. What a row gave is appended to results.jsonl at once, and
a later run goes on with the rows that are not there.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import cases
import machine
import results
from deploy import statistics_of, write_statistics
from pack import (CHOICE_PRECISION, CHOICES, MODES, PRECISIONS, VARIANTS,
                  case_flags)
from prototxt import parse
from torch_server import TorchServer

MEASURED = re.compile(r"Average on the GPU: \S+ ms\. "
                      r"\(median (\S+), min (\S+)\)")
NODES = re.compile(r"CUDA graph: (\d+) nodes; GPU memory: (\d+) bytes")
LAYER = re.compile(r"\]\s+(\S+)\t(forward|backward): \S+ ms\. \(median (\S+),")
# Steps of a net that are kept with its time: the slowest.
KEPT_LAYERS = 20
LONGEST_ROW = 400

# Which rows come first: what a GPU alone can show, then what is compared most.
# Behind each of Brew's comes PyTorch's in its best form: the GPU is as warm.
BOTH = r"(brew|torch " + VARIANTS[0] + ")$"
FIRST = [r"^machine$", r"^cases cuda$", r"^rates$", r"^agree .* train f32$",
         r" train \S+ " + BOTH, r" brew without ", r"^agree .* train ", r" infer \S+ " + BOTH,
         r"^agree .* infer ", r" train \S+ torch channels_last$",
         r" infer \S+ torch channels_last$", r" torch compile_autotune$",
         r" torch "]


class Package:
    """The folder that pack.py made."""

    def __init__(self, folder):
        self.folder = folder
        self.index = json.loads((folder / "bench" / "index.json").read_text())
        self.archs = json.loads((folder / "settings.json").read_text())["archs"]
        self.results = folder / "results.jsonl"
        self.stop = time.monotonic() + LONGEST_ROW
        self.libraries = machine.library_path()
        self.server = TorchServer(folder / "bench", folder / "torch.log")

    def limit(self):
        """Seconds that a row may take now."""
        return max(20.0, min(LONGEST_ROW, self.stop - time.monotonic()))

    def environment(self):
        """brew-run's: with CUDA's libraries, and without starting itself anew to
        set how long idle threads poll."""
        return dict(os.environ, LD_LIBRARY_PATH=self.libraries,
                    GOMP_SPINCOUNT="10000")

    def prepare_tool(self):
        """On a machine whose C library is older than the tool's, the tool runs
        with the one that travelled along."""
        tool = self.folder / "bin" / "brew-run"
        done = subprocess.run([str(tool), "--version"], capture_output=True,
                              text=True)
        if done.returncode == 0:
            return
        loaders = list((self.folder / "lib" / "system").glob("ld-linux*"))
        if "GLIBC" not in done.stderr or not loaders:
            raise SystemExit("gpu-check: brew-run does not start: "
                             + done.stderr.strip())
        binary = tool.with_name("brew-run.bin")
        tool.rename(binary)
        # The loader reads no LD_LIBRARY_PATH when it is given a path.
        tool.write_text("#!/bin/sh\nGOMP_SPINCOUNT=10000 exec '{}' "
                        "--library-path '{}:{}':\"$LD_LIBRARY_PATH\" "
                        "'{}' \"$@\"\n".format(
                            loaders[0], loaders[0].parent,
                            self.folder / "lib" / "brew-run", binary))
        tool.chmod(0o755)

    def done(self):
        """Row name -> result."""
        return results.read(self.results)

    def rows(self):
        """(name, function) of all work, the most wanted first."""
        def place(row):
            return next((i for i, pattern in enumerate(FIRST)
                         if re.search(pattern, row[0])), len(FIRST))
        return sorted(self.work(), key=place)

    def work(self):
        yield "machine", self.machine
        if (self.folder / "golden").exists():
            for target, flags in case_flags(self.archs):
                yield "cases " + target, lambda t=target, f=flags: cases.run(
                    self.folder, t, f, self.limit(), self.environment())
        yield "rates", self.rates
        for net in self.index:
            for mode in MODES:
                for precision in PRECISIONS:
                    key = "{} {} {}".format(net, mode, precision)
                    yield ("agree " + key, lambda n=net, m=mode, p=precision:
                           self.agree(n, m, p))
                    yield (key + " brew", lambda n=net, m=mode, p=precision:
                           self.brew(n, m, p))
                    for variant in VARIANTS:
                        yield ("{} torch {}".format(key, variant),
                               lambda n=net, m=mode, p=precision, v=variant:
                               self.torch(n, m, p, v))
            for choice in CHOICES.get(net, ()):
                yield ("{} train {} brew without {}".format(
                    net, CHOICE_PRECISION, choice),
                       lambda n=net, c=choice: self.choice(n, c))

    def call(self, command):
        done = subprocess.run([str(word) for word in command],
                              cwd=self.folder / "bench", text=True,
                              capture_output=True, timeout=self.limit(),
                              env=self.environment())
        if done.returncode != 0:
            text = (done.stderr or done.stdout).strip()
            raise RuntimeError("status {}: {}".format(done.returncode,
                                                      text[-600:]))
        return done.stdout, done.stderr

    def machine(self):
        """What is here: the GPU as Brew sees it, and the libraries it takes."""
        _, log = self.call([self.folder / "bin" / "brew-run", "device-query",
                            "-gpu", "0"])
        return {"libraries": self.libraries, "python": sys.version.split()[0],
                "query": [line.split("] ", 1)[-1]
                          for line in log.splitlines()]}

    def rates(self):
        """Copy bandwidth and rates of matrix products, for the roofline."""
        out, _ = self.call([sys.executable,
                            self.folder / "benchmarks" / "gpu" / "rates.py"])
        return json.loads(out)

    def plan(self, net, mode, target, precision):
        plan = self.index[net]["plans"]["{}-{}-{}-{}".format(net, mode, target,
                                                   precision)]
        if "error" in plan:
            raise RuntimeError("not compiled: " + plan["error"])
        return plan

    def inputs(self, net, mode, key="inputs"):
        """BLOB=d,d,... of what a mode reads: inference has no labels."""
        return [text for text in self.index[net][key]
                if mode == "train" or "," in text.split("=")[1]]

    def engines(self):
        """One cache for all rows: what training measured serves inference."""
        return ["--timing-cache", results.timing_of(self.results)]

    def weights(self, net, mode):
        """Training computes statistics of its own."""
        if mode == "train":
            return []
        net_file = self.folder / "bench" / (net + "_deploy.prototxt")
        channels = statistics_of(parse(net_file.read_text()))
        if not channels:
            return []
        path = self.folder / "bench" / (net + ".weights.h5")
        write_statistics(path, channels)
        return ["--weights", path, "--allow-missing-weights"]

    def agree(self, net, mode, precision):
        """Largest relative difference between what the GPU's plan and the CPU's
        f32 plan compute from the same inputs and weights."""
        import h5py
        import numpy
        outputs = []
        random = numpy.random.default_rng(1)
        inputs = self.folder / "bench" / "inputs.h5"
        with h5py.File(inputs, "w") as file:
            for text in self.inputs(net, mode, "agree_inputs"):
                blob, dims = text.split("=")
                shape = [int(dim) for dim in dims.split(",")]
                file["inputs/" + blob] = (random.random(shape) if len(shape) > 1
                                          else random.integers(0, 2, shape))
        for target, math in (("cuda", precision), ("cpu", "f32")):
            plan = self.plan(net, mode, "agree-" + target, math)["plan"]
            output = self.folder / "bench" / (target + ".h5")
            command = [self.folder / "bin" / "brew-run", "eval", plan,
                       "--inputs", inputs, "--outputs", output]
            command += self.weights(net, mode)
            # The engines that are fastest are those whose results count.
            command += self.engines() if target == "cuda" else []
            self.call(command + (["--gradients"] if mode == "train" else []))
            outputs.append(output)
        worst = (0.0, "")
        with h5py.File(outputs[0], "r") as gpu, h5py.File(outputs[1], "r") as cpu:
            names = []
            gpu.visititems(lambda name, item: names.append(name)
                           if isinstance(item, h5py.Dataset) else None)
            for name in names:
                if name not in cpu:
                    continue
                a, b = gpu[name][()], cpu[name][()]
                if not numpy.all(numpy.isfinite(a)):
                    return {"error": float("inf"), "blob": name}
                error = float(numpy.max(numpy.abs(a - b), initial=0)
                              / max(float(numpy.max(numpy.abs(b), initial=0)),
                                    1e-6))
                worst = max(worst, (error, name))
        return {"error": worst[0], "blob": worst[1]}

    def brew(self, net, mode, precision):
        plan = self.plan(net, mode, "cuda", precision)
        # One batch for all steps: to draw others takes longer than to measure.
        _, log = self.call([self.folder / "bin" / "brew-run", "time",
                            plan["plan"], "--random-input", "--iterations",
                            self.index[net]["steps"]] + self.engines()
                           + self.weights(net, mode))
        median, least = map(float, MEASURED.findall(log)[-1])
        nodes, held = map(int, NODES.findall(log)[-1])
        layers = sorted(((float(time), layer, direction) for
                         layer, direction, time in LAYER.findall(log)),
                        reverse=True)[:KEPT_LAYERS]
        return {"median": median / 1e3, "least": least / 1e3, "nodes": nodes,
                "peak_bytes": held, "flops": plan["flops"],
                "bytes": plan["bytes"],
                "layers": ["{} {} {:.4f}".format(layer, direction, time)
                           for time, layer, direction in layers]}

    def choice(self, net, without):
        """The whole step and the one without a pass, one after the other: what
        the pass is worth on this GPU."""
        whole = self.brew(net, "train", CHOICE_PRECISION)
        less = self.brew(net, "train", "{}-without-{}".format(CHOICE_PRECISION,
                                                              without))
        return dict(less, whole=whole["median"],
                    whole_nodes=whole["nodes"])

    def torch(self, net, mode, precision, variant):
        words = [net + ("" if mode == "train" else "_deploy") + ".prototxt",
                 "--mode", mode, "--precision", precision, "--variant", variant,
                 "--steps", str(self.index[net]["steps"])]
        for text in self.inputs(net, mode):
            words += ["--input", text]
        return self.server.ask(words, self.limit())


def run(folder, minutes, only, again, earlier=(), copy=None):
    """Does rows until `minutes` are over; returns how many are left."""
    package = Package(folder)
    package.prepare_tool()
    for path in earlier:
        results.adopt(package.results, path)
    stop = package.stop = time.monotonic() + minutes * 60
    done = package.done()
    save = (lambda: results.copy(package.results, copy)) if copy else lambda: None
    save()
    left = 0
    for name, work in package.rows():
        if only and not any(re.search(pattern, name) for pattern in only):
            continue
        known = done.get(name)
        if known and not ("failed" in known and again):
            continue
        if time.monotonic() > stop:
            left += 1
            continue
        print(name, flush=True)
        begin = time.monotonic()
        try:
            result = work()
        except Exception as error:  # a row that fails is a result too
            result = {"failed": "{}: {}".format(type(error).__name__, error)}
        if time.monotonic() > stop and was_cut_off(result):
            left += 1
            save()  # the engines that it has measured
            continue
        result.update(row=name, took=round(time.monotonic() - begin, 1))
        results.append(package.results, result)
        save()
        print("  " + summary(result), flush=True)
    package.server.stop()
    return left


def was_cut_off(result):
    """Whether a row lacked time, if there was none left."""
    return "failed" in result or any("out of time" in line for line in
                                     result.get("failures", []))


def summary(result):
    if "failed" in result:
        return "failed: " + result["failed"].splitlines()[0]
    if "median" in result:
        return "{:.3f} ms".format(result["median"] * 1e3)
    return ", ".join("{} {}".format(key, value)
                     for key, value in result.items()
                     if key not in ("row", "failures", "query", "libraries"))
