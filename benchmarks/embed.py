#!/usr/bin/env python3
"""Compares brew-run embed's t-SNE with openTSNE's.

Both programs lay out LeNet's ip1 features of 10,000 digits of MNIST's test set, in turn,
with their default settings and the same number of threads. Prints the median and minimum
seconds to compute the layout (neighbours, initialization and iterations; without reading
and the net), the CPU seconds of the round with the fewest (for Brew including reading and
the net), and the Kullback-Leibler divergence and trustworthiness of both last layouts,
computed by the same code. See README.md in this folder.
"""

import argparse
import re
import resource
import statistics
import sys
from datetime import datetime
from pathlib import Path

import tables
from process import MeasureError, run

ROOT = Path(__file__).resolve().parent.parent
PEER = ROOT / "benchmarks/peers/run_opentsne.py"
# Log lines at the beginning and the end of the layout.
LOG_PREFIX = r"^I\d{4} (\d\d:\d\d:\d\d\.\d{6}) .*\] "
BEGIN = re.compile(LOG_PREFIX + "Embedding ", re.M)
END = re.compile(LOG_PREFIX + r"Iteration (\d+) of \2,", re.M)
NPY = """import numpy as np, sys
np.save(sys.argv[2], np.fromfile(sys.argv[1], "<f4").reshape(int(sys.argv[3]), -1))"""


def time_of_line(text, pattern):
    """Returns the time of the log line that matches `pattern`."""
    match = pattern.search(text)
    if not match:
        raise MeasureError("no line of brew-run's log matches {}"
                           .format(pattern.pattern))
    return datetime.strptime(match.group(1), "%H:%M:%S.%f")


def brew_layout(arguments, projector):
    """Returns (seconds of the layout, CPU seconds of the process); writes brew.npy."""
    command = [arguments.bin / "brew-run", "embed", "ip1.plan", arguments.images,
               "--scale", "0.00390625", "--blob", "ip1", "--count",
               arguments.count, "--output", "brew.npy", "--threads",
               arguments.threads]
    if projector:
        command += ["--projector", "projector"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    log = run(command, arguments.threads, arguments.work_dir).stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    duration = time_of_line(log, END) - time_of_line(log, BEGIN)
    return (duration.total_seconds() % 86400,  # past midnight
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measure(arguments):
    """Returns a list of (seconds, CPU seconds) for Brew and one for openTSNE."""
    run([arguments.bin / "brewc", ROOT / "examples/mnist/lenet.prototxt",
         "--weights", arguments.weights, "--keep", "ip1", "--batch", 100, "-o",
         "ip1.plan"], arguments.threads, arguments.work_dir)
    ours, theirs = [brew_layout(arguments, True)], []
    run([arguments.python, "-c", NPY, "projector/features.bytes",
         "features.npy", arguments.count], 1, arguments.work_dir)
    for number in range(arguments.rounds):
        if number:
            ours.append(brew_layout(arguments, False))
        out = run([arguments.python, PEER, "layout", "features.npy",
                   "opentsne.npy", arguments.threads], arguments.threads,
                  arguments.work_dir).stdout
        theirs.append(tuple(float(word) for word in out.split()))
    return ours, theirs


def judge(arguments):
    """Returns [divergence, trustworthiness] of Brew's and of openTSNE's layout."""
    out = run([arguments.python, PEER, "judge", "features.npy", "brew.npy",
               "opentsne.npy"], arguments.threads, arguments.work_dir).stdout
    return [[float(word) for word in line.split()]
            for line in out.splitlines()]


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, type=Path,
                        help="interpreter that has openTSNE")
    parser.add_argument("--weights", required=True, type=Path,
                        help="weights of LeNet, a .caffemodel")
    parser.add_argument("--images", type=Path,
                        default=ROOT / "examples/mnist/data"
                                       "/t10k-images-idx3-ubyte.gz")
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work-dir", type=Path,
                        default=ROOT / "build/benchmarks")
    parser.add_argument("--markdown", action="store_true",
                        help="print a Markdown table")
    arguments = parser.parse_args()
    for name in ("weights", "images", "bin", "work_dir"):
        setattr(arguments, name, getattr(arguments, name).resolve())
    arguments.python = arguments.python.absolute()  # a virtual environment has a link
    return arguments


def main():
    arguments = parse_arguments()
    try:
        arguments.work_dir.mkdir(parents=True, exist_ok=True)
        times = measure(arguments)
        quality = judge(arguments)
    except (MeasureError, OSError) as error:
        print("embed.py: {}".format(error), file=sys.stderr)
        return 1
    rows = []
    for name, program_times, scores in zip(("Brew", "openTSNE"), times, quality):
        seconds, cpu_seconds = zip(*program_times)
        rows.append([name] + ["{:.1f}".format(value) for value in (
            statistics.median(seconds), min(seconds), min(cpu_seconds))]
            + ["{:.4f}".format(value) for value in scores])
    print("\n".join(tables.render(
        ["", "median s", "min s", "CPU s", "KL divergence", "trustworthiness"], rows,
        arguments.markdown)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
