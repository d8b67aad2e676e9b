#!/usr/bin/env python3
"""Measures training steps on the CPU: Brew, BVLC Caffe and PyTorch.

Prints a table of LeNet (batch 64) and CIFAR-10 quick (batch 100), f32: the
time of one training step in each program, measured in interleaved rounds of
one run, with Brew's compile time and memory. See README.md beside this file.
"""

import argparse
import os
import platform
import statistics
import sys
from pathlib import Path

import measure

ROOT = Path(__file__).resolve().parent.parent
NETS = {"lenet": "LeNet, batch 64",
        "cifar10_quick": "CIFAR-10 quick, batch 100"}


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin",
                        help="folder of brewc, brew-run and brew-data")
    parser.add_argument("--caffe", type=Path,
                        help="BVLC Caffe's program `caffe`, CPU_ONLY build")
    parser.add_argument("--python",
                        help="interpreter that has PyTorch (default: this one,"
                             " else /usr/bin/python3; 'none': no PyTorch)")
    parser.add_argument("--net", action="append", choices=sorted(NETS),
                        help="measure this net only (may be repeated)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=100,
                        help="steps in a round")
    parser.add_argument("--mnist", type=Path,
                        default=ROOT / "examples/mnist/data",
                        help="folder of MNIST's idx.gz files")
    parser.add_argument("--work-dir", type=Path,
                        default=ROOT / "build/benchmarks",
                        help="folder for databases, plans and logs")
    parser.add_argument("--markdown", action="store_true",
                        help="print Markdown tables")
    arguments = parser.parse_args()
    if arguments.iterations < measure.DISPLAY:
        parser.error(
            "--iterations must be at least {}".format(measure.DISPLAY))
    if arguments.rounds < 1 or arguments.threads < 1:
        parser.error("--rounds and --threads must be at least 1")
    # Programs run in the work folder, so every path must be absolute.
    for name in ("bin", "caffe", "mnist", "work_dir"):
        if getattr(arguments, name):
            setattr(arguments, name, getattr(arguments, name).resolve())
    if arguments.caffe and not os.access(arguments.caffe, os.X_OK):
        parser.error("--caffe {}: no such program".format(arguments.caffe))
    return arguments


def choose_python(wanted):
    """The interpreter for PyTorch, or None."""
    if wanted == "none":
        return None
    candidates = [wanted] if wanted else [sys.executable, "/usr/bin/python3"]
    for python in candidates:
        if measure.find_torch(python):
            return python
    if wanted:
        raise measure.MeasureError("{} cannot import torch".format(wanted))
    return None


class NetResult:
    """All that is measured of one net."""

    def __init__(self):
        self.compile_seconds = []
        self.report = None
        self.brew_step = measure.Samples()
        self.brew_loop = measure.Samples()
        self.caffe_loop = measure.Samples()
        self.caffe_forward_backward = measure.Samples()
        self.torch = {}
        self.torch_version = None

    def best_torch(self):
        """(variant, samples) of the fastest variant, or (None, None)."""
        if not self.torch:
            return None, None
        return min(self.torch.items(), key=lambda item: item[1].median)


def one_round(arguments, python, net, result):
    """Measures each program once, one after the other."""
    folder, threads = arguments.work_dir, arguments.threads
    brew_run = arguments.bin / "brew-run"
    result.brew_step.add_summary(*measure.brew_step(
        folder, brew_run, net, threads, arguments.iterations))
    result.brew_loop.add(measure.brew_loop(folder, brew_run, net, threads))
    if arguments.caffe:
        caffe = arguments.caffe
        result.caffe_loop.add(
            measure.caffe_loop(folder, caffe, net, threads))
        seconds = measure.caffe_forward_backward(
            folder, caffe, net, threads, arguments.iterations)
        result.caffe_forward_backward.add_summary(seconds, seconds)
    if python:
        result.torch_version, variants = measure.torch_steps(
            folder, python, net, threads, arguments.iterations)
        for name, seconds in variants.items():
            result.torch.setdefault(name, measure.Samples()).add(seconds)


def measure_net(arguments, python, net):
    folder = arguments.work_dir
    result = NetResult()
    # The last displayed iteration is one interval before max_iter.
    steps = arguments.iterations + measure.DISPLAY * (
        measure.WARM_UP_INTERVALS + 1)
    measure.write_solver(folder, net, steps)
    for _ in range(arguments.rounds):
        seconds, result.report = measure.compile_plan(
            folder, arguments.bin / "brewc", net)
        result.compile_seconds.append(seconds)
    for number in range(arguments.rounds):
        print("{}: round {} of {}".format(net, number + 1, arguments.rounds),
              file=sys.stderr, flush=True)
        one_round(arguments, python, net, result)
    return result


def milliseconds(samples):
    return ["{:.2f}".format(samples.median * 1e3),
            "{:.2f}".format(samples.min * 1e3)]


def time_rows(result):
    """Rows: what, median, least, Brew's advantage in the same measure."""
    step, loop = result.brew_step, result.brew_loop
    rows = [["Brew: step, batch in memory"] + milliseconds(step) + [""],
            ["Brew: `brew-run train`, reading LMDB"] + milliseconds(loop)
            + [""]]
    if result.caffe_loop.medians:
        caffe = result.caffe_loop
        rows.append(["BVLC Caffe: `caffe train`, reading LMDB"]
                    + milliseconds(caffe)
                    + ["{:.2f}".format(caffe.median / loop.median)])
        rows.append(["BVLC Caffe: `caffe time`, no update (mean of a run)"]
                    + milliseconds(result.caffe_forward_backward) + [""])
    best, _ = result.best_torch()
    for name, samples in sorted(result.torch.items(),
                                key=lambda item: item[1].median):
        mark = " (best)" if name == best else ""
        rows.append(["PyTorch: {}{}".format(name, mark)]
                    + milliseconds(samples)
                    + ["{:.2f}".format(samples.median / step.median)])
    return rows


def fact_rows(result):
    """Rows of compile time and memory."""
    memory = result.report["memory"]
    arena = memory["arena_bytes"]
    compile_ms = [seconds * 1e3 for seconds in result.compile_seconds]
    return [
        ["brewc, all programs (ms, median and min)",
         "{:.0f} / {:.0f}".format(statistics.median(compile_ms),
                                  min(compile_ms))],
        ["arena_bytes", str(arena)],
        ["arena_bytes / lower_bound_bytes",
         "{:.3f}".format(arena / memory["lower_bound_bytes"])],
        ["arena_bytes / caffe_bytes",
         "{:.3f}".format(arena / memory["caffe_bytes"])],
        ["vendor calls / kernels in forward_backward",
         "{} / {}".format(result.report["calls"], result.report["kernels"])],
    ]


def print_table(header, rows, markdown):
    table = [header] + rows
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    for number, row in enumerate(table):
        cells = [cell.ljust(width) if i == 0 else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        print("| " + " | ".join(cells) + " |" if markdown
              else "  ".join(cells).rstrip())
        if number == 0:
            rules = ["-" * width if i == 0 else "-" * (width - 1) + ":"
                     for i, width in enumerate(widths)]
            print("| " + " | ".join(rules) + " |" if markdown
                  else "  ".join("-" * width for width in widths))
    print()


def cpu_name():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def describe(arguments, python, load, results):
    version = next((result.torch_version for result in results.values()
                    if result.torch_version), None)
    print("Training steps on {} ({} CPUs), {} threads, f32; load average at "
          "the start {:.2f}.".format(cpu_name(), os.cpu_count(),
                                     arguments.threads, load))
    print("{} interleaved rounds of {} steps; median: of the rounds' medians; "
          "min: of all rounds.".format(arguments.rounds, arguments.iterations))
    print("A step is forward, backward and SGD update (momentum, weight "
          "decay). Batch in memory: each step timed alone. Reading LMDB: time "
          "between log lines {} steps apart, so Caffe and `brew-run train` "
          "are compared in the same measure.".format(measure.DISPLAY))
    print("Peers: BVLC Caffe {}; PyTorch {}.".format(
        "measured" if arguments.caffe else "not measured (give --caffe)",
        version if python else "not measured (torch not importable)"))
    print()


def main():
    arguments = parse_arguments()
    load = os.getloadavg()[0]
    if load > 0.5 * os.cpu_count():
        print("warning: load average {:.2f}: other work on this machine will "
              "distort the times".format(load), file=sys.stderr)
    try:
        python = choose_python(arguments.python)
        measure.prepare(arguments.work_dir, arguments.bin / "brew-data",
                        arguments.mnist)
        results = {net: measure_net(arguments, python, net)
                   for net in (arguments.net or NETS)}
    except (measure.MeasureError, OSError) as error:
        print("lenet_cpu.py: {}".format(error), file=sys.stderr)
        return 1

    describe(arguments, python, load, results)
    for net, result in results.items():
        print("### " + NETS[net] if arguments.markdown else NETS[net])
        print()
        print_table(["one training step", "median ms", "min ms",
                     "times Brew's"], time_rows(result), arguments.markdown)
        print_table(["compiler and memory", "value"], fact_rows(result),
                    arguments.markdown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
