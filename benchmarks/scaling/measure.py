#!/usr/bin/env python3
"""Compares two ranks with one thread each and one rank with two threads, in Brew and PyTorch.

    benchmarks/scaling/measure.py BINARIES --python PEERS/bin/python
        [--net resnet50] [--batch 8] [--steps 4] [--rounds 3] [--shard-update] [--work]
        [--json FILE]

BINARIES is the folder of brewc and brew-run; PEERS is an environment with
benchmarks/requirements.txt; without --python, PyTorch is not measured. Each step takes
2 * batch images: half of them on each of two ranks, or all of them on one. PyTorch
all-reduces gradients with DistributedDataParallel over Gloo. The programs run in turn;
each round runs all of them. Prints medians over the rounds.

With --work, compares the CPU time of Brew's step: the sum over two ranks with one thread
each, and one rank with one thread and all images. The difference is the duplicated work plus the
communication. CPU time is also meaningful on a busy machine, but does not include the
time that ranks wait for each other.
"""
import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import workloads  # noqa: E402

WARM_UP = 2
DATA = """layer {{ name: "data" type: "DummyData" top: "data" top: "label"
  dummy_data_param {{ shape {{ {data} }} shape {{ dim: {batch} }}
    data_filler {{ type: "constant" value: 0.5 }}
    data_filler {{ type: "constant" value: 1 }} }} }}
"""
SOLVER = """net: "{net}" base_lr: 0.001 momentum: 0.9 weight_decay: 0.0005
lr_policy: "fixed" display: 1 max_iter: {steps} snapshot_after_train: false
random_seed: 1
"""
ITERATION_LINE = re.compile(r"(\d\d:\d\d:\d\d\.\d+) .*\] Iteration (\d+) \(")


def environment_with_threads(threads):
    result = dict(os.environ, OMP_NUM_THREADS=str(threads))
    result["MKL_NUM_THREADS"] = str(threads)
    return result


def run_or_exit(command, threads, folder):
    completed = subprocess.run([str(word) for word in command], cwd=folder, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=environment_with_threads(threads))
    if completed.returncode:
        sys.exit("%s failed:\n%s" % (command, completed.stderr[-2000:]))
    return completed


class Brew:
    def __init__(self, binaries, options, folder):
        self.binaries, self.folder = binaries.resolve(), folder
        self.shard = options.shard_update
        for batch in options.batch, 2 * options.batch:
            self.compile(options.net, batch, options.steps)

    def compile(self, net, batch, steps):
        dims = (batch,) + tuple(workloads.SHAPES[net]["data"][1:])
        text = workloads.training_text(workloads.prototxt_of(net), {})
        name = "%s-%d" % (net, batch)
        (self.folder / (name + ".prototxt")).write_text(DATA.format(
            data=" ".join("dim: %d" % dim for dim in dims), batch=batch) + text)
        (self.folder / (name + "_solver.prototxt")).write_text(
            SOLVER.format(net=name + ".prototxt", steps=steps + WARM_UP + 1))
        run_or_exit([self.binaries / "brewc", name + "_solver.prototxt", "--distributed",
                     "-o", name + ".plan"], 2, self.folder)

    def train(self, net, batch, ranks, threads, *extra_flags):
        return run_or_exit([self.binaries / "brew-run", "train",
                            "%s-%d.plan" % (net, batch), "--ranks", ranks,
                            "--threads", threads,
                            *(["--shard-update"] if self.shard and ranks > 1 else []),
                            *extra_flags], threads, self.folder)

    def seconds(self, net, batch, ranks, threads):
        """Returns the median time between lines of the log, which has a line for each step."""
        completed = self.train(net, batch, ranks, threads)
        log_times = [datetime.strptime(time, "%H:%M:%S.%f")
                     for time, _ in ITERATION_LINE.findall(completed.stderr)]
        steps = [(b - a).total_seconds() for a, b in zip(log_times, log_times[1:])]
        return statistics.median(steps[WARM_UP - 1:])

    def work(self, net, batch, ranks, steps):
        """Returns the CPU seconds of a step, summed over ranks with one thread each."""
        def cpu_seconds(iterations):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            self.train(net, batch, ranks, 1, "--max-iter", iterations)
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        warm_up_seconds = cpu_seconds(WARM_UP)
        return (cpu_seconds(WARM_UP + steps) - warm_up_seconds) / steps


def measure(options, folder):
    brew = Brew(options.binaries, options, folder)
    rows = {}

    def add(name, seconds):
        rows.setdefault(name, []).append(seconds)
        print("%-28s %8.1f ms" % (name, seconds * 1e3), file=sys.stderr)

    for _ in range(options.rounds):
        for ranks, threads in (1, 2), (2, 1):
            batch = 2 * options.batch // ranks
            if options.work:
                add("brew, %d x 1 threads, work" % ranks,
                    brew.work(options.net, batch, ranks, options.steps))
                continue
            add("brew, %d x %d threads" % (ranks, threads),
                brew.seconds(options.net, batch, ranks, threads))
            if not options.python:
                continue
            completed = run_or_exit([options.python, HERE / "ddp.py", options.net, batch,
                                     ranks, threads, options.steps, WARM_UP], threads, folder)
            add("pytorch, %d x %d threads" % (ranks, threads),
                float(completed.stdout.split()[-1]))
    return {name: statistics.median(seconds) for name, seconds in rows.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binaries", type=Path)
    parser.add_argument("--python", help="interpreter with PyTorch")
    parser.add_argument("--net", default="resnet50")
    parser.add_argument("--batch", type=int, default=8, help="batch of each of the two ranks")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shard-update", action="store_true",
                        help="each of Brew's ranks updates its shard of the parameters")
    parser.add_argument("--work", action="store_true",
                        help="compare CPU times of ranks with one thread, only for Brew")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seconds = measure(options, Path(folder))
    images = 2 * options.batch
    for name, value in seconds.items():
        print("%-28s %8.1f ms%s" % (name, value * 1e3, "" if options.work else
                                    " %8.2f images/s" % (images / value)))
    ratios = {}
    for program in "brew", "pytorch":
        one_rank, two_ranks = (seconds.get("%s, %s threads" % (program, ranks_and_threads))
                               for ranks_and_threads in ("1 x 2", "2 x 1"))
        if one_rank and two_ranks:
            ratios["%s, two ranks against one" % program] = one_rank / two_ranks
    if options.work:
        ratios["brew, work of one rank over that of two"] = (
            seconds["brew, 1 x 1 threads, work"] / seconds["brew, 2 x 1 threads, work"])
    elif options.python:
        ratios["brew against pytorch, two ranks"] = (
            seconds["pytorch, 2 x 1 threads"] / seconds["brew, 2 x 1 threads"])
    for name, ratio in ratios.items():
        print("%-40s %.3f%s" % (name, ratio,
                                "" if options.work else " times the throughput"))
    if options.json:
        options.json.write_text(json.dumps({"seconds": seconds, "ratios": ratios},
                                           indent=2) + "\n")


if __name__ == "__main__":
    main()
