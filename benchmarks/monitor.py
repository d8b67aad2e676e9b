#!/usr/bin/env python3
"""Measures the overhead of the monitor's page in a training run of LeNet.

Trains LeNet (batch 64) in turn without and with --monitor and a reader of its events, and
prints the time of an iteration of each, without the first 500."""
import argparse
import re
import statistics
import subprocess
import tempfile
import threading
import urllib.request
from pathlib import Path

from workloads import Workload, write_net

ROOT = Path(__file__).resolve().parent.parent
PAGE = re.compile(r"Monitor: http://(\S+?)/\?token=(\w+)")
LOSS = re.compile(r"I\d+ (\d+):(\d+):([\d.]+) .*Iteration (\d+).*loss = ")
WARM = 500  # iterations
DAY = 86400
SOLVER = """net: "%s" base_lr: 0.001 momentum: 0.9 lr_policy: "fixed" random_seed: 1
display: %d max_iter: %d snapshot_after_train: false
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin",
                        help="folder of brewc and brew-run")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def look_on(address, token, seen):
    """Reads the events of the page until the end of the stream."""
    with urllib.request.urlopen("http://%s/api/events?token=%s" % (address, token)) as events:
        while chunk := events.read1(65536):
            seen.append(len(chunk))


def train(options, folder, watched):
    """Trains; returns the milliseconds of an iteration."""
    command = [options.bin / "brew-run", "train", "net.plan", "--threads", str(options.threads)]
    process = subprocess.Popen(command + ["--monitor=:0"] * watched, cwd=folder, text=True,
                               stderr=subprocess.PIPE)
    marks, seen, reader = {}, [], None
    for line in process.stderr:
        if page := PAGE.search(line):
            reader = threading.Thread(target=look_on, args=(*page.groups(), seen), daemon=True)
            reader.start()
        if loss := LOSS.match(line):
            hours, minutes, seconds, iteration = loss.groups()
            marks[int(iteration)] = int(hours) * 3600 + int(minutes) * 60 + float(seconds)
    if process.wait() != 0:
        raise SystemExit("brew-run ended with status %d" % process.returncode)
    if watched:
        reader.join(5)
        if not seen:
            raise SystemExit("the page received no events")
    last = WARM + options.iterations
    return (marks[last] - marks[WARM]) % DAY / options.iterations * 1e3


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        net = write_net(Workload("lenet", 64, "train"), folder)
        (folder / "solver.prototxt").write_text(
            SOLVER % (net, WARM, WARM + options.iterations))
        subprocess.run([options.bin / "brewc", "solver.prototxt", "-o", "net.plan"], cwd=folder,
                       check=True, capture_output=True)
        times = {False: [], True: []}
        for _ in range(options.rounds):
            for watched in times:
                times[watched].append(train(options, folder, watched))
    for name, choose in ("least", min), ("median", statistics.median):
        alone, seen = choose(times[False]), choose(times[True])
        print("%s: %.3f ms alone, %.3f with an open page: %+.1f %%" % (
            name, alone, seen, 100 * (seen / alone - 1)))


if __name__ == "__main__":
    main()
