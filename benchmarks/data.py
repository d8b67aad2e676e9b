#!/usr/bin/env python3
"""Measures how fast data layers bring batches, beside a PyTorch DataLoader and Caffe.

Makes pictures, and databases of them, in the work folder; measures Brew (brew-run time
--feed), every form of the DataLoader and, with --caffe, Caffe's data layer, one after the
other in each round, on the same files; prints records per second and, of each round by
itself, how many times the best form of the DataLoader's Brew's are. See README.md beside
this file.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

import feeds
import host
import tables
from process import MeasureError, run

ROOT = Path(__file__).resolve().parent.parent
HERE = Path(__file__).resolve().parent


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin",
                        help="folder of brewc, brew-run and brew-data")
    parser.add_argument("--python", default=sys.executable,
                        help="interpreter that has torch, torchvision, pillow and lmdb")
    parser.add_argument("--caffe", help="program of a build of BVLC Caffe")
    parser.add_argument("--case", action="append", choices=list(feeds.CASES),
                        help="may be repeated; default: all")
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2,
                        help="reader threads, and workers of the DataLoader")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2,
                        help="of a measurement, about")
    parser.add_argument("--work-dir", type=Path,
                        default=ROOT / "build/benchmarks/data")
    parser.add_argument("--results", type=Path,
                        help="file of JSON lines for what was measured")
    parser.add_argument("--markdown", action="store_true")
    return parser.parse_args()


class Measured:
    """Records per second of one program, by round."""

    def __init__(self, title, measure):
        self.title, self.measure = title, measure
        self.rates, self.failed = [], None

    def next_round(self):
        if self.failed:
            return
        try:
            self.rates.append(self.measure())
        except MeasureError as error:
            self.failed = str(error)
            print("  {}: not measured: {}".format(self.title, error),
                  file=sys.stderr)


class Feeds:
    """The programs on one case."""

    def __init__(self, options, case):
        self.options, self.case = options, case
        self.work = options.work_dir.resolve()
        # As many batches as the last measurement's rate needs.
        self.batches = 50

    def run(self, *command):
        return run(command, self.options.threads, self.work)

    def brew(self):
        done = self.run(self.options.bin.resolve() / "brew-run", "time", self.case + ".plan",
                        "--feed", "--iterations", self.batches, "--reader-threads",
                        self.options.threads, "--threads", self.options.threads)
        rate = self.options.batch / feeds.batch_seconds(done.stderr)
        self.batches = max(20, int(rate * self.options.seconds
                                   / self.options.batch))
        return rate

    def torch(self, form):
        done = self.run(self.options.python, HERE / "peers/torch_data.py",
                        self.case, form, "--batch", self.options.batch,
                        "--workers", self.options.threads, "--seconds",
                        self.options.seconds)
        return json.loads(done.stdout)["records_per_second"]

    def caffe(self):
        """Its net has nothing but the data layer, so a pass waits for batches."""
        done = self.run(self.options.caffe, "time", "-model",
                        self.case + ".prototxt", "-phase", "TRAIN",
                        "-iterations", self.batches)
        return self.options.batch / feeds.pass_seconds(done.stderr)

    def programs(self):
        found = [Measured("Brew", self.brew)]
        found += [Measured("PyTorch, " + title,
                           lambda form=form: self.torch(form))
                  for form, title in feeds.FORMS.items()]
        if self.options.caffe:
            found.append(Measured("Caffe", self.caffe))
        return found


def ratios(mine, others):
    """Of each round: how many times the best of `others` in it."""
    rounds = zip(mine.rates, *(other.rates for other in others if other.rates))
    return [own / max(rest) for own, *rest in rounds if rest]


def measure(options, case):
    """The rows of a case's table."""
    setting = Feeds(options, case)
    setting.run(options.bin.resolve() / "brewc", case + ".prototxt", "--phase",
                "train", "-o", case + ".plan")
    programs = setting.programs()
    for _ in range(options.rounds):
        for program in programs:
            program.next_round()
    own = programs[0]
    rows = []
    for number, program in enumerate(programs):
        if program.failed:
            rows.append([feeds.CASES[case] if not number else "", program.title,
                         tables.MISSING, tables.MISSING])
            continue
        peers = [program] if number else programs[1:1 + len(feeds.FORMS)]
        share = ratios(own, peers)
        rows.append([feeds.CASES[case] if not number else "", program.title,
                     "%.0f" % statistics.median(program.rates),
                     "%.2f" % statistics.median(share) if share
                     else tables.MISSING])
        if options.results:
            with open(options.results, "a") as file:
                print(json.dumps({"case": case, "program": program.title,
                                  "records_per_second": program.rates}),
                      file=file)
    return rows


def main():
    options = parse_arguments()
    options.work_dir.mkdir(parents=True, exist_ok=True)
    feeds.make(options)
    machine = host.describe(options.threads)
    print("{cpu}, {threads} threads, load {load}, {date}".format(**machine))
    if host.is_busy(machine["load"], machine["cpus"]):
        print("warning: this machine is busy; times say little",
              file=sys.stderr)
    rows = []
    for case in options.case or feeds.CASES:
        rows += measure(options, case)
    print("\n".join(tables.render(
        ["input", "program", "records/s", "Brew over it"], rows,
        options.markdown, left=2)))


if __name__ == "__main__":
    main()
