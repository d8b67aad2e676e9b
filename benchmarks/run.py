#!/usr/bin/env python3
"""Measures Brew and its peers on the CPU, in interleaved rounds of one run.

Measures training steps and inference of the nets in nets/, in f32 and bf16, with Brew,
PyTorch, ONNX Runtime, OpenVINO, OpenCV's DNN module and BVLC Caffe, as far as they are
installed. Appends each result to a file, from which report.py writes docs/performance.md.
See README.md in this folder.
"""

import argparse
import os
import sys
import time
from datetime import datetime
from pathlib import Path

import host
import peak
import report
import workloads
from brew_side import Brew, make_databases
from process import MeasureError
from programs import Measurer, programs_of
from records import Records
from rounds import Rounds
from tables import Results

ROOT = Path(__file__).resolve().parent.parent
# Rounds and seconds of a measurement.
USUAL, QUICK = (5, 1.0), (2, 0.5)


def parse_arguments(command_line=None):
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    selection = parser.add_argument_group("what is measured")
    selection.add_argument("--net", action="append", choices=list(workloads.TITLES),
                           help="only this net (may be repeated)")
    selection.add_argument("--mode", choices=("train", "infer", "both"),
                           default="both", help="training steps, inference or both"
                           " (the default)")
    selection.add_argument("--batch", type=int, action="append",
                           help="batch size instead of each net's default batches (may be"
                                " repeated)")
    selection.add_argument("--precision", choices=("f32", "bf16", "both"),
                           default="both")
    selection.add_argument("--rounds", type=int, help="default: {}".format(USUAL[0]))
    selection.add_argument("--seconds", type=float,
                           help="duration of one measurement, at least three steps (default:"
                           " {:g})".format(USUAL[1]))
    selection.add_argument("--quick", action="store_true",
                           help="{} rounds of {:g} s, inference of one image only, one"
                           " variant of PyTorch, no torch.compile, and not the"
                           " slowest workloads".format(*QUICK))
    selection.add_argument("--no-compile", action="store_true",
                           help="without torch.compile, which takes minutes to compile"
                           " a net")
    selection.add_argument("--threads", type=int, default=2)
    paths = parser.add_argument_group("inputs and outputs")
    paths.add_argument("--bin", type=Path, default=ROOT / "build/release/bin",
                       help="folder of brewc, brew-run and brew-data")
    paths.add_argument("--python", default=sys.executable,
                       help="interpreter with the peers' modules (default:"
                            " this one), see requirements.txt")
    paths.add_argument("--caffe", type=Path,
                       help="BVLC Caffe's program `caffe` of a CPU_ONLY build")
    paths.add_argument("--mnist", type=Path,
                       default=ROOT / "examples/mnist/data",
                       help="folder of MNIST's idx.gz files")
    paths.add_argument("--work-dir", type=Path,
                       default=ROOT / "build/benchmarks",
                       help="folder for databases, plans and exported nets")
    paths.add_argument("--results", type=Path,
                       help="file for the results, one JSON line each (default:"
                            " one in the work folder, named after the time)")
    paths.add_argument("--resume", action="store_true",
                       help="continue the --results of an interrupted run; programs"
                            " that failed are tried again")
    paths.add_argument("--markdown", action="store_true",
                       help="print Markdown")
    arguments = parser.parse_args(command_line)
    defaults = QUICK if arguments.quick else USUAL
    arguments.rounds = defaults[0] if arguments.rounds is None else arguments.rounds
    arguments.seconds = (defaults[1] if arguments.seconds is None
                         else arguments.seconds)
    for name in ("rounds", "threads"):
        if getattr(arguments, name) < 1:
            parser.error("--{} must be at least 1".format(name))
    if arguments.seconds <= 0:
        parser.error("--seconds must be positive")
    if min(arguments.batch or [1]) < 1:
        parser.error("--batch must be at least 1")
    check_paths(parser, arguments)
    return arguments


def check_paths(parser, arguments):
    # Programs run in the work folder, so every path must be absolute.
    for name in ("bin", "caffe", "mnist", "work_dir", "results"):
        if getattr(arguments, name):
            setattr(arguments, name, getattr(arguments, name).absolute())
    if os.sep in arguments.python:
        # Not resolved: in a virtual environment it is a link to another interpreter.
        arguments.python = os.path.abspath(arguments.python)
    if arguments.resume and not arguments.results:
        parser.error("--resume needs --results")
    if arguments.caffe and not os.access(arguments.caffe, os.X_OK):
        parser.error("--caffe {}: no such program".format(arguments.caffe))
    if not arguments.results:
        arguments.results = arguments.work_dir / "results-{}.jsonl".format(
            datetime.now().strftime("%Y%m%d-%H%M%S"))
    if arguments.results.exists() and not arguments.resume:
        parser.error("{} exists already: continue with --resume, or choose another"
                     .format(arguments.results))


def command_of(arguments):
    """Returns the command that repeats the measurement, with placeholders for paths."""
    parts = ["benchmarks/run.py"]
    for name in ("net", "batch"):
        for value in getattr(arguments, name) or []:
            parts += ["--" + name, str(value)]
    for name, default in (("mode", "both"), ("precision", "both"),
                          ("threads", 2)):
        if getattr(arguments, name) != default:
            parts += ["--" + name, str(getattr(arguments, name))]
    defaults = QUICK if arguments.quick else USUAL
    for name, default in zip(("rounds", "seconds"), defaults):
        if getattr(arguments, name) != default:
            parts += ["--" + name, "{:g}".format(getattr(arguments, name))]
    for name in ("quick", "no_compile"):
        if getattr(arguments, name):
            parts.append("--" + name.replace("_", "-"))
    parts += ["--python", "PYTHON"] + ["--caffe", "CAFFE"] * bool(arguments.caffe)
    return " ".join(parts)


def begin_run(records, arguments, version, build=""):
    """Records the machine and the settings; rejects mixtures of machines, versions and settings."""
    current = dict(host.describe(arguments.threads), brew=version, build=build,
                   seconds=arguments.seconds)
    for earlier in records.of("run"):
        for name in ("cpu", "cpus", "threads", "brew", "build", "seconds"):
            if earlier.get(name) != current[name]:
                raise MeasureError("{} began with {} {}, and this is {}".format(
                    arguments.results, name, earlier.get(name), current[name]))
    records.add(kind="run", **current, rounds=arguments.rounds,
                command=command_of(arguments))


def say(text):
    print(text, file=sys.stderr, flush=True)


def measure(arguments):
    selected = workloads.select(arguments.net, arguments.mode, arguments.batch,
                                arguments.quick)
    if not selected:
        raise MeasureError("nothing is left to measure of these nets")
    precisions = (("f32", "bf16") if arguments.precision == "both"
                  else (arguments.precision,))
    arguments.work_dir.mkdir(parents=True, exist_ok=True)
    arguments.results.parent.mkdir(parents=True, exist_ok=True)
    brew = Brew(arguments.bin, arguments.work_dir, arguments.threads)
    records = Records(arguments.results)
    begin_run(records, arguments, brew.version(), brew.build())
    if any(workload.has_loop for workload in selected):
        make_databases(brew.work, arguments.bin / "brew-data", arguments.mnist)
    peak.compile_products(brew)
    measurer = Measurer(brew, arguments.python, arguments.caffe,
                        arguments.seconds)
    rounds = Rounds(records, arguments.rounds, precisions, measurer,
                    brew.compile, lambda precision: peak.measure(
                        brew, precision, arguments.seconds), say)
    begin = time.monotonic()
    for workload in selected:
        rounds.run(workload, programs_of(
            workload, precisions, not (arguments.no_compile or arguments.quick),
            arguments.quick))
        print("\n".join(["", "### " * arguments.markdown + workload.title, ""]
                        + report.workload_lines(Results(records), workload.key,
                                                arguments.markdown)), flush=True)
    records.add(kind="done", seconds=round(time.monotonic() - begin))
    return records


def main():
    arguments = parse_arguments()
    load = os.getloadavg()[0]
    if host.is_busy(load, os.cpu_count()):
        say("warning: load average {:.2f}: other work on this machine will distort"
            " the times".format(load))
    say("results: {}".format(arguments.results))
    try:
        records = measure(arguments)
    except (MeasureError, OSError) as error:
        say("run.py: {}".format(error))
        return 1
    except KeyboardInterrupt:
        say("\nstopped; continue with --resume --results {}".format(
            arguments.results))
        return 130
    results = Results(records)
    lines = [""] + report.machine(results) + [""] + report.legend(results)
    for heading, section in report.overview(results, arguments.markdown):
        lines += ["", "### " * arguments.markdown + heading, ""] + section
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
