#!/usr/bin/env python3
"""Times inference of small nets on an idle machine and beside a busy program, with one and two
threads, in Brew, OpenCV and ONNX Runtime, in interleaved rounds of one run.

The busy program computes without end on one thread. Prints a table of medians, and of means,
in which single steps that waited for a processor show.
"""

import argparse
import contextlib
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

import detector_nets
import host
from process import MeasureError, run

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "benchmarks/peers"
TIMES = re.compile(r"Average Forward-Backward: (\S+) ms\. \(median (\S+),")
PROGRAMS = {"brew": "Brew", "opencv": "OpenCV", "onnxruntime": "ONNX Runtime"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--net", action="append", choices=list(detector_nets.NETS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1, help="of one measurement")
    parser.add_argument("--threads", type=int, action="append", help="default: 1 and 2")
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin",
                        help="folder of brewc and brew-run")
    parser.add_argument("--python", default=sys.executable,
                        help="interpreter with the peers' modules, see requirements.txt")
    parser.add_argument("--work-dir", type=Path, default=ROOT / "build/benchmarks/busy")
    return parser.parse_args()


@contextlib.contextmanager
def busy_program(is_wanted):
    command = [sys.executable, "-c", "while True: pass"]
    process = subprocess.Popen(command) if is_wanted else None
    try:
        yield
    finally:
        if process:
            process.kill()
            process.wait()


class Measurer:
    def __init__(self, options):
        self.options, self.work = options, options.work_dir.resolve()
        self.bin = options.bin.resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.steps = {}

    def prepare(self, net):
        """Writes the net, and makes its plan and its ONNX file."""
        prototxt = net + ".prototxt"
        (self.work / prototxt).write_text(detector_nets.NETS[net]())
        run([self.bin / "brewc", prototxt, "-o", net + ".plan"], 2, self.work)
        run([self.options.python, PEERS / "export_onnx.py", prototxt, "-o", net + ".onnx"],
            2, self.work)

    def brew(self, net, threads):
        """Returns the median and the mean in ms."""
        def time(steps):
            done = run([self.bin / "brew-run", "time", net + ".plan", "--random-input",
                        "--threads", threads, "--iterations", steps],
                       threads, self.work)
            mean, median = map(float, TIMES.search(done.stderr).groups())
            return median, mean
        if net not in self.steps:  # as many as fill the time on the idle machine
            self.steps[net] = max(3, min(20000, round(
                self.options.seconds * 1e3 / time(20)[0])))
        return time(self.steps[net])

    def peer(self, name, net, threads):
        shape = re.search(r"dim: (\d+) dim: (\d+) dim: (\d+) dim: (\d+)",
                          (self.work / (net + ".prototxt")).read_text()).groups()
        done = run([self.options.python, PEERS / ("run_%s.py" % name), net + ".onnx",
                    "--threads", threads, "--seconds", self.options.seconds,
                    "--input", "data=" + ",".join(shape)], threads, self.work)
        result = json.loads(done.stdout.splitlines()[-1])
        return result["median"] * 1e3, result["mean"] * 1e3

    def __call__(self, program, net, threads):
        if program == "brew":
            return self.brew(net, threads)
        return self.peer(program, net, threads)


def measure(options, nets):
    """Returns {(net, threads, is busy, program): [(median, mean) of each round]}."""
    measurer, times = Measurer(options), {}
    for net in nets:
        measurer.prepare(net)
        measurer("brew", net, 1)  # determines the number of steps
    for number in range(options.rounds):
        for net in nets:
            for is_busy in (False, True):
                with busy_program(is_busy):
                    for threads in options.threads or (1, 2):
                        for program in PROGRAMS:
                            times.setdefault((net, threads, is_busy, program), []).append(
                                measurer(program, net, threads))
        print("round %d of %d" % (number + 1, options.rounds), file=sys.stderr, flush=True)
    return times


def table(times):
    lines = ["| net | threads | machine | " + " | ".join(PROGRAMS.values()) + " |",
             "|---|---:|---|" + "---:|" * len(PROGRAMS)]
    for net, threads, is_busy in dict.fromkeys(key[:3] for key in times):
        cells = []
        for program in PROGRAMS:
            rounds = times[net, threads, is_busy, program]
            median, mean = (statistics.median(values) for values in zip(*rounds))
            cells.append("%.3g (%.3g)" % (median, mean))
        lines.append("| %s | %d | %s | %s |" % (
            net, threads, "busy" if is_busy else "idle", " | ".join(cells)))
    return "\n".join(lines)


def main():
    options = parse_arguments()
    try:
        times = measure(options, options.net or list(detector_nets.NETS))
    except MeasureError as error:
        sys.exit("busy.py: %s" % error)
    print("%s, %d rounds; ms of one image: median (mean)\n" % (
        host.describe(2)["cpu"], options.rounds))
    print(table(times))


if __name__ == "__main__":
    main()
