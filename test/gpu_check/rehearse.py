#!/usr/bin/python3
"""Rehearses scripts/gpu-check on a machine without a GPU.

  test/gpu_check/rehearse.py [--bin build/release/bin] [--shared ../shared]

Packs small nets under the names of the real ones for the CUDA simulator, and makes both calls
of `gpu-check all`, with fakes of PyTorch, nvidia-smi, ncu and compute-sanitizer. Also runs it
with faults: a row that hangs and leaves a process in its own session, one that crashes, one
that prints nothing, a full disk, and a tool that does not start. Takes about ten minutes;
needs the build of scripts/build.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks" / "gpu"))

import pack  # noqa: E402
import schedule  # noqa: E402
import timed_nets  # noqa: E402

SMALL_NET = """name: "{name}"
layer {{ name: "data" type: "DummyData" top: "data" top: "label"
  dummy_data_param {{ shape {{ dim: 2 dim: 3 dim: 16 dim: 16 }} shape {{ dim: 2 }}
    data_filler {{ type: "gaussian" std: 1 }} data_filler {{ type: "constant" }} }} }}
layer {{ name: "conv1" type: "Convolution" bottom: "data" top: "conv1"
  convolution_param {{ num_output: 8 kernel_size: 3 pad: 1 bias_term: false
    weight_filler {{ type: "msra" }} }} }}
layer {{ name: "bn1" type: "BatchNorm" bottom: "conv1" top: "conv1" }}
layer {{ name: "scale1" type: "Scale" bottom: "conv1" top: "conv1"
  scale_param {{ bias_term: true }} }}
layer {{ name: "relu1" type: "ReLU" bottom: "conv1" top: "conv1" }}
layer {{ name: "conv2" type: "Convolution" bottom: "conv1" top: "conv2"
  convolution_param {{ num_output: 8 kernel_size: 3 pad: 1
    weight_filler {{ type: "msra" }} }} }}
layer {{ name: "sum" type: "Eltwise" bottom: "conv1" bottom: "conv2" top: "sum" }}
layer {{ name: "pool" type: "Pooling" bottom: "sum" top: "pool"
  pooling_param {{ pool: AVE global_pooling: true }} }}
layer {{ name: "fc" type: "InnerProduct" bottom: "pool" top: "fc"
  inner_product_param {{ num_output: 4 weight_filler {{ type: "xavier" }} }} }}
layer {{ name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label" top: "loss" }}
"""
TORCH = """#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    print(json.dumps({"torch": "stand-in", "median": 0.5, "least": 0.4, "steps": 2,
                      "peak_bytes": None}), flush=True)
"""
RATES = """print('{"device": "simulator", "torch": "stand-in", "cuda": "13.0", '
      '"bytes_per_second": 1e9, "flops": {"f32": 1e9, "tf32": 1e9, "bf16": 1e9}}')
"""
# Fake ncu and compute-sanitizer: run the command after their own options.
PROFILER = """#!/bin/sh
names=
while [ $# -gt 0 ]; do
  case $1 in
    --kernel-name) names=$2; shift 2;;
    --clock-control|--section|--launch-count|--tool|--error-exitcode|--report-api-errors)
      shift 2;;
    *) break;;
  esac
done
[ -z "$names" ] || echo "$names"
exec "$@"
"""
# A brew-run that fails in some rows.
FAULTS = """#!/bin/sh
case "$*" in
  *resnet50-train-cuda-bf16-without-fuse-launches*)
    setsid sleep 500 & sleep 500;;
  *vgg16*) kill -SEGV $$;;
  *mobilenet-train-cuda*) exit 0;;
esac
exec {tool}.real "$@"
"""
HANG_LIMIT = 12


def shrink_nets(folder):
    """Makes the scripts pack small nets under the names of the real ones."""
    lenet = timed_nets.prototxt_of("lenet")
    for text, small in (("num_output: 20", "num_output: 4"),
                        ("num_output: 50 ", "num_output: 6 "),
                        ("num_output: 500", "num_output: 16"),
                        ("batch_size: 64", "batch_size: 4")):
        if text not in lenet:
            raise SystemExit("rehearse: lenet.prototxt has no " + text)
        lenet = lenet.replace(text, small)
    for net in timed_nets.NETS:
        (folder / (net + ".prototxt")).write_text(
            lenet if net == "lenet" else SMALL_NET.format(name=net))
        timed_nets.NETS[net] = ({"data": (4, 1, 28, 28), "label": (4,)}
                                if net == "lenet" else
                                {"data": (2, 3, 16, 16), "label": (2,)})
    for start, (full_net, _, _) in timed_nets.STARTS.items():
        timed_nets.STARTS[start] = (full_net, "relu1", "conv1")
    timed_nets.FOLDER = folder
    timed_nets.AGREE_BATCH = 4
    timed_nets.STEPS.clear()
    timed_nets.FEWER_STEPS = 2
    # A memory limit that these nets do not reach.
    schedule.ABLATIONS["with rematerialization"] = ["--memory-limit=100M"]


class Rehearsal:
    def __init__(self, work, archive, binaries):
        self.work, self.archive, self.failed = work, archive, 0
        self.environment = dict(
            os.environ, PATH=str(work / "programs") + ":" + os.environ["PATH"],
            BREW_CUDASIM=os.environ.get("BREW_CUDASIM",
                                        str(binaries.parent / "lib" / "cudasim")))
        (work / "programs").mkdir()
        for name, text in (("nvidia-smi", "#!/bin/sh\nexit 0\n"), ("ncu", PROFILER),
                           ("compute-sanitizer", PROFILER)):
            self.write_program(work / "programs" / name, text)

    @staticmethod
    def write_program(path, text):
        path.write_text(text)
        path.chmod(0o755)

    def unpack(self, name):
        folder = self.work / name
        subprocess.run([sys.executable, ROOT / "scripts/gpu-check", "unpack",
                        self.archive, folder], check=True)
        package = folder / "gpu-check"
        self.write_program(package / "benchmarks/gpu/torch_step.py", TORCH)
        (package / "benchmarks/gpu/rates.py").write_text(RATES)
        return package

    def gpu_check(self, package, *words):
        """Runs gpu-check. Returns (exit status, seconds)."""
        print("$ gpu-check " + " ".join(map(str, words)), flush=True)
        begin = time.monotonic()
        done = subprocess.run([sys.executable, package / "gpu-check", *words],
                              env=self.environment)
        return done.returncode, time.monotonic() - begin

    def expect(self, expectation, holds):
        print("{}: {}".format("ok" if holds else "NOT OK", expectation), flush=True)
        self.failed += not holds

    def read_results(self, folder):
        lines = (folder / "results.jsonl").read_text().splitlines()
        return {row["row"]: row for row in map(json.loads, lines)}

    def rehearse_both_calls(self):
        package, copy = self.unpack("whole"), self.work / "copy"
        first, seconds = self.gpu_check(package, "all", "--copy", copy)
        self.expect("the first call passes in 520 s ({:.0f})".format(seconds),
                    first == 0 and seconds <= 520)
        second, seconds = self.gpu_check(package, "all", "--second", "--copy", copy)
        self.expect("the second call passes in 180 s ({:.0f})".format(seconds),
                    second == 0 and seconds <= 180)
        rows = self.read_results(copy)
        missing = [row.name for row in schedule.select() if row.name not in rows]
        self.expect("every row was done" + (", except " + ", ".join(missing)
                                            if missing else ""), not missing)
        logs = subprocess.run(["tar", "tzf", copy / "logs.tar.gz"],
                              capture_output=True, text=True).stdout
        self.expect("the copy has the steps of ResNet-50 and all logs",
                    "resnet50_train_bf16_brew.steps.tsv" in logs
                    and "machine.txt" in logs)
        third, seconds = self.gpu_check(package, "all", "--copy", copy)
        self.expect("a third call has nothing to do", third == 0 and seconds < 20)
        self.gpu_check(package, "table")

    def rehearse_faults(self):
        package, copy = self.unpack("faulty"), self.work / "faulty-copy"
        tool = package / "bin" / "brew-run"
        tool.rename(tool.with_name("brew-run.real"))
        self.write_program(tool, FAULTS.format(tool=tool))
        limits = package / "benchmarks/gpu/schedule.py"
        limits.write_text(re.sub(r'"brew": \d+', '"brew": %d' % HANG_LIMIT,
                                 limits.read_text(), count=1))
        has_full_disk = self.mount_full_disk(copy)
        status, _ = self.gpu_check(package, "all", "--copy", copy)
        rows = self.read_results(package / "results")
        self.expect("rows that fail cause exit status 1", status == 1)
        for net, name, words in (
                ("resnet50", "without fuse-launches", "out of time"),
                ("vgg16", "", "status -11"), ("mobilenet", "", "printed no time")):
            row = " ".join(filter(None, (net, "train bf16 brew", name)))
            failed = rows.get(row, {}).get("failed", "nothing")
            self.expect("{}: {}".format(row, failed.splitlines()[0]), words in failed)
        failed_rows = [name for name, row in rows.items() if "failed" in row]
        self.expect("no other row fails: " + ", ".join(failed_rows),
                    len(failed_rows) == 3 and "googlenet train bf16 brew" in rows)
        sleeping = subprocess.run(["pgrep", "-fx", "sleep 500"], capture_output=True)
        self.expect("nothing is left running", sleeping.returncode == 1)
        if has_full_disk:
            self.expect("the full disk contains no incomplete file", all(
                path.suffix != ".new" for path in copy.iterdir()))
            subprocess.run(["umount", copy], check=True)

    def mount_full_disk(self, folder):
        """Mounts a file system of 16 kB at `folder`. Returns whether that is permitted."""
        folder.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs",
                               folder], capture_output=True)
        if done.returncode:
            print("skipped: the full disk (mount is not permitted)", flush=True)
        return done.returncode == 0

    def rehearse_broken_tool(self):
        package, copy = self.unpack("broken"), self.work / "broken-copy"
        self.write_program(package / "bin" / "brew-run", "#!/bin/sh\n"
                           "echo 'libx.so: cannot open shared object file' >&2; exit 127\n")
        status, seconds = self.gpu_check(package, "all", "--copy", copy)
        self.expect("a tool that does not start ends the run at once ({:.0f} s)".format(
            seconds), status == 3 and seconds < 30)
        self.expect("its row and its log are in the copy",
                    list(self.read_results(copy)) == ["machine"]
                    and (copy / "logs.tar.gz").exists())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin")
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "nets").mkdir()
        shrink_nets(work / "nets")
        archive = work / "gpu-check.tar.xz"
        lines = pack.pack(arguments.bin.resolve(),
                          arguments.shared if arguments.shared.exists() else None,
                          "sim", archive, schedule.select())
        print("\n".join(lines), flush=True)
        if any(line.startswith("left out") for line in lines):
            sys.exit("rehearse: every plan is needed")
        rehearsal = Rehearsal(work, archive, arguments.bin.resolve())
        rehearsal.rehearse_broken_tool()
        rehearsal.rehearse_faults()
        rehearsal.rehearse_both_calls()
    sys.exit("{} expectations did not hold".format(rehearsal.failed)
             if rehearsal.failed else None)


if __name__ == "__main__":
    main()
