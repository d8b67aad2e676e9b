#!/usr/bin/env python3
"""Compares the throughput of data layers with a PyTorch DataLoader and Caffe.

Creates images and databases of them in the work folder. Measures Brew (brew-run time --feed),
every variant of the DataLoader and, with --caffe, Caffe's data layer, in turn in each round
and on the same files. Prints the records per second, and the ratio of Brew's rate to the rate
of the fastest DataLoader variant, computed per round. See README.md in this folder.
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
                        help="interpreter with torch, torchvision, pillow and lmdb")
    parser.add_argument("--caffe", help="the program `caffe` of BVLC Caffe")
    parser.add_argument("--case", action="append", choices=list(feeds.CASES),
                        help="may be repeated; default: all")
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2,
                        help="number of reader threads and of DataLoader workers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2,
                        help="approximate duration of a measurement")
    parser.add_argument("--work-dir", type=Path,
                        default=ROOT / "build/benchmarks/data")
    parser.add_argument("--results", type=Path,
                        help="write the measurements to this file as JSON lines")
    parser.add_argument("--markdown", action="store_true")
    return parser.parse_args()


class Measured:
    """Records per second of one program in each round."""

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
    """Measures the programs that read the data of one case."""

    def __init__(self, options, case):
        self.options, self.case = options, case
        self.work = options.work_dir.resolve()
        # The rate of the last measurement determines the number of batches.
        self.batches = 50

    def run(self, *command):
        return run(command, self.options.threads, self.work)

    def brew(self):
        """Returns the records per second of Brew."""
        completed = self.run(self.options.bin.resolve() / "brew-run", "time", self.case + ".plan",
                             "--feed", "--iterations", self.batches, "--reader-threads",
                             self.options.threads, "--threads", self.options.threads)
        rate = self.options.batch / feeds.batch_seconds(completed.stderr)
        self.batches = max(20, int(rate * self.options.seconds
                                   / self.options.batch))
        return rate

    def torch(self, form):
        """Returns the records per second of a DataLoader variant."""
        completed = self.run(self.options.python, HERE / "peers/torch_data.py",
                             self.case, form, "--batch", self.options.batch,
                             "--workers", self.options.threads, "--seconds",
                             self.options.seconds)
        return json.loads(completed.stdout)["records_per_second"]

    def caffe(self):
        """Returns the records per second of Caffe on a net of only the data layer, where a pass
        waits for batches."""
        completed = self.run(self.options.caffe, "time", "-model",
                             self.case + ".prototxt", "-phase", "TRAIN",
                             "-iterations", self.batches)
        return self.options.batch / feeds.pass_seconds(completed.stderr)

    def programs(self):
        """Returns the programs to measure, Brew first."""
        programs = [Measured("Brew", self.brew)]
        programs += [Measured("PyTorch, " + title,
                              lambda form=form: self.torch(form))
                     for form, title in feeds.FORMS.items()]
        if self.options.caffe:
            programs.append(Measured("Caffe", self.caffe))
        return programs


def ratios(own, peers):
    """Returns for each round the ratio of the rate of `own` to the best rate of `peers`."""
    rounds = zip(own.rates, *(peer.rates for peer in peers if peer.rates))
    return [own_rate / max(peer_rates) for own_rate, *peer_rates in rounds if peer_rates]


def measure(options, case):
    """Measures a case and returns its rows of the table."""
    case_feeds = Feeds(options, case)
    case_feeds.run(options.bin.resolve() / "brewc", case + ".prototxt", "--phase",
                   "train", "-o", case + ".plan")
    programs = case_feeds.programs()
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
        round_ratios = ratios(own, peers)
        rows.append([feeds.CASES[case] if not number else "", program.title,
                     "%.0f" % statistics.median(program.rates),
                     "%.2f" % statistics.median(round_ratios) if round_ratios
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
        print("warning: this machine is busy; the times are unreliable",
              file=sys.stderr)
    rows = []
    for case in options.case or feeds.CASES:
        rows += measure(options, case)
    print("\n".join(tables.render(
        ["input", "program", "records/s", "Brew over it"], rows,
        options.markdown, left=2)))


if __name__ == "__main__":
    main()
