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

from pack import MODES, PRECISIONS, VARIANTS, case_flags

MEASURED = re.compile(r"Average on the GPU: \S+ ms\. "
                      r"\(median (\S+), min (\S+)\)")
NODES = re.compile(r"CUDA graph: (\d+) nodes; GPU memory: (\d+) bytes")


class Package:
    """The folder that pack.py made."""

    def __init__(self, folder):
        self.folder = folder
        self.index = json.loads((folder / "bench" / "index.json").read_text())
        self.archs = json.loads((folder / "settings.json").read_text())["archs"]
        self.results = folder / "results.jsonl"

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
        # GOMP_SPINCOUNT: brew-run would start itself anew to set it.
        tool.write_text("#!/bin/sh\nGOMP_SPINCOUNT=10000 exec '{}' "
                        "--library-path '{}:{}' '{}' \"$@\"\n".format(
                            loaders[0], loaders[0].parent,
                            self.folder / "lib" / "brew-run", binary))
        tool.chmod(0o755)

    def done(self):
        """Row name -> result."""
        results = {}
        if self.results.exists():
            for line in self.results.read_text().splitlines():
                try:
                    result = json.loads(line)
                    results[result["row"]] = result
                except (ValueError, KeyError):
                    continue  # the run was stopped while it wrote this line
        return results

    def rows(self):
        """(name, function) of all work, the most wanted first."""
        if (self.folder / "golden").exists():
            for target, flags in case_flags(self.archs):
                yield "cases " + target, lambda t=target, f=flags: \
                    self.cases(t, f)
        yield "rates", self.rates
        for net in self.index:
            for mode in MODES:
                yield ("agree {} {}".format(net, mode),
                       lambda n=net, m=mode: self.agree(n, m))
                for precision in PRECISIONS:
                    key = "{} {} {}".format(net, mode, precision)
                    yield (key + " brew", lambda n=net, m=mode, p=precision:
                           self.brew(n, m, p))
                    for variant in VARIANTS:
                        yield ("{} torch {}".format(key, variant),
                               lambda n=net, m=mode, p=precision, v=variant:
                               self.torch(n, m, p, v))

    def call(self, command, limit=400):
        done = subprocess.run([str(word) for word in command],
                              cwd=self.folder / "bench", text=True,
                              capture_output=True, timeout=limit,
                              env=dict(os.environ, GOMP_SPINCOUNT="10000"))
        if done.returncode != 0:
            text = (done.stderr or done.stdout).strip()
            raise RuntimeError("status {}: {}".format(done.returncode,
                                                      text[-600:]))
        return done.stdout, done.stderr

    def cases(self, target, flags):
        """The recorded cases' own checker."""
        done = subprocess.run(
            [sys.executable, str(self.folder / "golden" / "check.py"), "--bin",
             str(self.folder / "bin"), "--target", target,
             "--brewc-flags=" + flags], capture_output=True, text=True)
        lines = done.stdout.strip().splitlines()
        return {"summary": lines[-1] if lines else done.stderr[-600:],
                "failures": lines[:-1]}

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

    def agree(self, net, mode):
        """Largest relative difference between what the GPU's and the CPU's plan
        compute from the same inputs and weights."""
        import h5py
        import numpy
        outputs = []
        random = numpy.random.default_rng(1)
        inputs = self.folder / "bench" / "inputs.h5"
        with h5py.File(inputs, "w") as file:
            for text in self.index[net]["inputs"]:
                blob, dims = text.split("=")
                shape = [int(dim) for dim in dims.split(",")]
                file["inputs/" + blob] = (random.random(shape) if len(shape) > 1
                                          else random.integers(0, 2, shape))
        for target in ("cuda", "cpu"):
            plan = self.plan(net, mode, target, "f32")["plan"]
            output = self.folder / "bench" / (target + ".h5")
            command = [self.folder / "bin" / "brew-run", "eval", plan,
                       "--inputs", inputs, "--outputs", output]
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
                error = float(numpy.max(numpy.abs(a - b), initial=0)
                              / max(float(numpy.max(numpy.abs(b), initial=0)),
                                    1e-6))
                worst = max(worst, (error, name))
        return {"error": worst[0], "blob": worst[1]}

    def brew(self, net, mode, precision):
        plan = self.plan(net, mode, "cuda", precision)
        _, log = self.call([self.folder / "bin" / "brew-run", "time",
                            plan["plan"], "--iterations", 50])
        median, least = map(float, MEASURED.findall(log)[-1])
        nodes, held = map(int, NODES.findall(log)[-1])
        return {"median": median / 1e3, "least": least / 1e3, "nodes": nodes,
                "peak_bytes": held, "flops": plan["flops"],
                "bytes": plan["bytes"]}

    def torch(self, net, mode, precision, variant):
        command = [sys.executable,
                   self.folder / "benchmarks" / "gpu" / "torch_step.py",
                   net + ".prototxt", "--mode", mode, "--precision", precision,
                   "--variant", variant]
        for text in self.index[net]["inputs"]:
            command += ["--input", text]
        out, _ = self.call(command)
        return json.loads(out.strip().splitlines()[-1])


def run(folder, minutes, only, again):
    """Does rows until `minutes` are over; returns how many are left."""
    package = Package(folder)
    package.prepare_tool()
    stop = time.monotonic() + minutes * 60
    done = package.done()
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
        result.update(row=name, took=round(time.monotonic() - begin, 1))
        with open(package.results, "a") as file:
            file.write(json.dumps(result) + "\n")
        print("  " + summary(result), flush=True)
    return left


def summary(result):
    if "failed" in result:
        return "failed: " + result["failed"].splitlines()[0]
    if "median" in result:
        return "{:.3f} ms".format(result["median"] * 1e3)
    return ", ".join("{} {}".format(key, value)
                     for key, value in result.items()
                     if key not in ("row", "failures"))
