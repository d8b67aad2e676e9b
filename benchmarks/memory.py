#!/usr/bin/env python3
"""Measures the cost of a memory limit.

Compiles training steps without a limit and with --memory-limit at fractions of the size
of data and diff of all blobs in Caffe. Prints the size of the arena and the slowdown of a
training step, as predicted by brewc's roofline model and as measured. Each round runs all
plans of a net in turn. See README.md in this folder.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

import brew_side
import host
import tables
import workloads
from process import MeasureError

ROOT = Path(__file__).resolve().parent.parent
NETS = (("resnet50", 8), ("googlenet", 16), ("mobilenet", 16))
SHARES = (0.5, 0.25)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin",
                        help="folder of brewc and brew-run")
    parser.add_argument("--net", action="append", metavar="NET:BATCH",
                        help="may be repeated; default: "
                             + " ".join("%s:%d" % pair for pair in NETS))
    parser.add_argument("--share", action="append", type=float,
                        help="limit as a fraction of Caffe's memory; may be repeated; default: "
                             + " ".join(str(share) for share in SHARES))
    parser.add_argument("--precision", default="f32", choices=("f32", "bf16"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=6, help="number of steps of a round")
    parser.add_argument("--work-dir", type=Path,
                        default=ROOT / "build/benchmarks")
    parser.add_argument("--markdown", action="store_true")
    return parser.parse_args()


class LimitedPlans(brew_side.Brew):
    """Compiles and times plans of one training step with different limits."""

    def __init__(self, options, workload):
        super().__init__(options.bin.resolve(), options.work_dir.resolve(),
                         options.threads)
        self.options, self.workload = options, workload

    def name(self, share):
        return "{}.limit-{}.plan".format(self.workload.key, share or "none")

    def compile_limited(self, share, limit):
        """Compiles a plan with a limit in bytes (None: no limit). Returns the report on its
        program."""
        flags = ["--memory-limit=%d" % limit] if limit else []
        completed = self.run("brewc", self.source(self.workload), "-o",
                             self.name(share), "--report=json",
                             "--precision=" + self.options.precision, *flags)
        return json.loads(completed.stdout)["programs"]["forward_backward"]

    def time(self, share):
        """Returns the median time of a step in ms."""
        completed = self.run("brew-run", "time", self.name(share),
                             "--random-input", "--threads", self.options.threads,
                             "--iterations", self.options.steps)
        return float(brew_side.STEP["train"].search(completed.stderr).group(1))


def rows_of(options, workload):
    """Returns a row for each limit."""
    limited = LimitedPlans(options, workload)
    unlimited = limited.compile_limited(None, None)
    caffe = unlimited["memory"]["caffe_bytes"]
    reports, rows = {None: unlimited}, []
    for share in options.share or SHARES:
        try:
            reports[share] = limited.compile_limited(share, int(share * caffe))
        except MeasureError as error:
            print("%s at %g: %s" % (workload.title, share, error),
                  file=sys.stderr)
    times = {share: [] for share in reports}
    for _ in range(options.rounds):
        for share in reports:
            times[share].append(limited.time(share))
    for share, report in reports.items():
        predicted = report["roofline_seconds"] / unlimited["roofline_seconds"] - 1
        # The ratio is computed per round, so that slow phases of the machine affect both times.
        measured = statistics.median(
            limited_time / unlimited_time
            for limited_time, unlimited_time in zip(times[share], times[None]))
        arena = report["memory"]["arena_bytes"]
        rows.append([workload.title if share is None else "",
                     "none" if share is None else "%g" % share,
                     "%.1f" % (arena / 1e6), "%.3f" % (arena / caffe),
                     "%.1f" % statistics.median(times[share]),
                     "" if share is None else "%+.1f %%" % (100 * predicted),
                     "" if share is None
                     else "%+.1f %%" % (100 * (measured - 1))])
    return rows


def main():
    options = parse_arguments()
    options.work_dir.mkdir(parents=True, exist_ok=True)
    machine = host.describe(options.threads)
    print("{cpu}, {threads} threads, load {load}, {date}".format(**machine))
    if host.is_busy(machine["load"], machine["cpus"]):
        print("warning: this machine is busy; the times are unreliable",
              file=sys.stderr)
    rows = []
    for text in options.net or ["%s:%d" % pair for pair in NETS]:
        net, _, batch = text.partition(":")
        if net not in workloads.TITLES or not batch.isdigit():
            sys.exit("memory.py: --net expects NET:BATCH, not " + text)
        rows += rows_of(options, workloads.Workload(net, int(batch), "train"))
    print("\n".join(tables.render(
        ["net", "limit", "arena, MB", "arena / Caffe's", "step, ms",
         "predicted slowdown", "measured slowdown"], rows, options.markdown)))


if __name__ == "__main__":
    main()
