#!/usr/bin/env python3
"""Measures steps on the CPU: Brew, BVLC Caffe and PyTorch.

Prints a table for each net, f32: the time of one training step (or, with
--mode infer, of one forward pass) in each program, measured in interleaved
rounds of one run, with Brew's compile time and memory. See README.md beside
this file.
"""

import argparse
import os
import platform
import statistics
import sys
from pathlib import Path

import measure

ROOT = Path(__file__).resolve().parent.parent
TITLES = {"lenet": "LeNet", "cifar10_quick": "CIFAR-10 quick",
          "alexnet": "AlexNet", "googlenet": "GoogLeNet",
          "squeezenet": "SqueezeNet", "resnet50": "ResNet-50",
          "mobilenet": "MobileNet", "vgg16": "VGG-16"}
# Steps in a round, unless the command line says how many.
STEPS = {net: 100 for net in measure.DATABASES}
FEWER_STEPS = 10


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
    parser.add_argument("--net", action="append", choices=list(TITLES),
                        help="measure this net (may be repeated; default: "
                             + " and ".join(measure.DATABASES) + ")")
    parser.add_argument("--all", action="store_true",
                        help="measure all nets")
    parser.add_argument("--mode", choices=("train", "infer"), default="train",
                        help="training steps, or forward passes of the TEST"
                             " phase")
    parser.add_argument("--batch", type=int,
                        help="images in a batch (default: each net's own)")
    parser.add_argument("--bf16", action="store_true",
                        help="also Brew's step with --precision=bf16")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--iterations", type=int,
                        help="steps in a round (default: {} of {}, {} of the"
                             " others)".format(STEPS["lenet"],
                                               " and ".join(STEPS),
                                               FEWER_STEPS))
    parser.add_argument("--mnist", type=Path,
                        default=ROOT / "examples/mnist/data",
                        help="folder of MNIST's idx.gz files")
    parser.add_argument("--work-dir", type=Path,
                        default=ROOT / "build/benchmarks",
                        help="folder for databases, plans and logs")
    parser.add_argument("--markdown", action="store_true",
                        help="print Markdown tables")
    arguments = parser.parse_args()
    if arguments.all:
        arguments.net = list(TITLES)
    arguments.net = arguments.net or list(measure.DATABASES)
    for name in ("rounds", "threads", "batch", "iterations"):
        if (getattr(arguments, name) or 1) < 1:
            parser.error("--{} must be at least 1".format(name))
    if (any(has_loop(arguments, net) for net in arguments.net)
            and (arguments.iterations or measure.DISPLAY) < measure.DISPLAY):
        parser.error("--iterations must be at least {}".format(measure.DISPLAY))
    # Programs run in the work folder, so every path must be absolute.
    for name in ("bin", "caffe", "mnist", "work_dir"):
        if getattr(arguments, name):
            setattr(arguments, name, getattr(arguments, name).resolve())
    if arguments.caffe and not os.access(arguments.caffe, os.X_OK):
        parser.error("--caffe {}: no such program".format(arguments.caffe))
    return arguments


def steps_of(arguments, net):
    return arguments.iterations or STEPS.get(net, FEWER_STEPS)


def has_loop(arguments, net):
    """Whether training from a database is measured."""
    return (net in measure.DATABASES and arguments.mode == "train"
            and not arguments.batch)


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
        self.brew_bf16_step = measure.Samples()
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
    brew_run, steps = arguments.bin / "brew-run", steps_of(arguments, net)
    for precision, samples in (("f32", result.brew_step),
                               ("bf16", result.brew_bf16_step)):
        if precision == "f32" or arguments.bf16:
            samples.add_summary(*measure.brew_step(
                folder, brew_run, measure.plan_of(net, precision),
                arguments.mode, threads, steps))
    if has_loop(arguments, net):
        result.brew_loop.add(measure.brew_loop(folder, brew_run, net, threads))
        if arguments.caffe:
            result.caffe_loop.add(measure.caffe_loop(
                folder, arguments.caffe, net, threads))
            seconds = measure.caffe_forward_backward(
                folder, arguments.caffe, net, threads, steps)
            result.caffe_forward_backward.add_summary(seconds, seconds)
    if python:
        for name, words in measure.torch_variants(net, arguments.mode).items():
            result.torch_version, median, least = measure.torch_step(
                folder, python, net, arguments.mode, arguments.batch, words,
                threads, steps)
            result.torch.setdefault(name, measure.Samples()).add_summary(
                median, least)


def measure_net(arguments, python, net):
    folder = arguments.work_dir
    result = NetResult()
    # The last displayed iteration is one interval before max_iter.
    steps = steps_of(arguments, net) + measure.DISPLAY * (
        measure.WARM_UP_INTERVALS + 1)
    measure.write_solver(folder, net, steps)
    for _ in range(arguments.rounds):
        seconds, result.report = measure.compile_plan(
            folder, arguments.bin / "brewc", net, arguments.mode,
            arguments.batch)
        result.compile_seconds.append(seconds)
    if arguments.bf16:
        measure.compile_plan(folder, arguments.bin / "brewc", net,
                             arguments.mode, arguments.batch, "bf16")
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
    rows = [["Brew: step, batch in memory"] + milliseconds(step) + [""]]
    if result.brew_bf16_step.medians:
        narrow = result.brew_bf16_step
        rows.append(["Brew: the same with `--precision=bf16`"]
                    + milliseconds(narrow)
                    + ["{:.2f}".format(narrow.median / step.median)])
    if loop.medians:
        rows.append(["Brew: `brew-run train`, reading LMDB"]
                    + milliseconds(loop) + [""])
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
        ["vendor calls / kernels",
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
    print("{} on {} ({} CPUs), {} threads, f32; load average at the start "
          "{:.2f}.".format("Training steps" if arguments.mode == "train"
                           else "Forward passes", cpu_name(), os.cpu_count(),
                           arguments.threads, load))
    print("{} interleaved rounds; median: of the rounds' medians; min: of all "
          "rounds.".format(arguments.rounds))
    if arguments.mode == "train":
        print("A step is forward, backward and SGD update (momentum, weight "
              "decay). Batch in memory: each step timed alone.")
    if any(has_loop(arguments, net) for net in results):
        print("Reading LMDB: time between log lines {} steps apart, so Caffe "
              "and `brew-run train` are compared in the same measure.".format(
                  measure.DISPLAY))
    print("Peers: BVLC Caffe {}; PyTorch {}.".format(
        "measured" if any(result.caffe_loop.medians
                          for result in results.values())
        else "not measured", version if python
        else "not measured (torch not importable)"))
    print()


def title(arguments, net):
    return "{}, batch {}, {} steps a round".format(
        TITLES[net], measure.shapes_of(net, arguments.batch)["data"][0],
        steps_of(arguments, net))


def summary_rows(results):
    """A row for each net: Brew's best figures beside PyTorch's."""
    rows = []
    for net, result in results.items():
        _, best = result.best_torch()
        if best:
            least = min(samples.min for samples in result.torch.values())
            rows.append([TITLES[net]] + milliseconds(result.brew_step)
                        + milliseconds(best)
                        + ["{:.2f}".format(
                            best.median / result.brew_step.median),
                           "{:.2f}".format(least / result.brew_step.min)])
    return rows


def print_result(arguments, net, result, heading):
    """The tables of one net, as soon as it is measured."""
    print("### " * arguments.markdown + title(arguments, net))
    print()
    print_table([heading, "median ms", "min ms", "times Brew's"],
                time_rows(result), arguments.markdown)
    print_table(["compiler and memory", "value"], fact_rows(result),
                arguments.markdown)
    sys.stdout.flush()


def main():
    arguments = parse_arguments()
    load = os.getloadavg()[0]
    heading = ("one training step" if arguments.mode == "train"
               else "one forward pass")
    if load > 0.25 * os.cpu_count():
        print("warning: load average {:.2f}: other work on this machine will "
              "distort the times".format(load), file=sys.stderr)
    try:
        python = choose_python(arguments.python)
        measure.copy_nets(arguments.work_dir)
        if any(has_loop(arguments, net) for net in arguments.net):
            measure.make_databases(arguments.work_dir,
                                   arguments.bin / "brew-data", arguments.mnist)
        results = {}
        for net in arguments.net:
            results[net] = measure_net(arguments, python, net)
            print_result(arguments, net, results[net], heading)
    except (measure.MeasureError, OSError) as error:
        print("cpu.py: {}".format(error), file=sys.stderr)
        return 1

    if len(results) > 1 and python:
        print_table([heading, "Brew median", "min", "PyTorch's best median",
                     "min", "ratio of medians", "of minima"],
                    summary_rows(results), arguments.markdown)
    describe(arguments, python, load, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
