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
URL_FILE = re.compile(r"Monitor: http://.*token is in (\S+)\)")
PAGE = re.compile(r"http://(\S+?)/\?token=(\w+)")
LOSS = re.compile(r"I\d+ (\d+):(\d+):([\d.]+) .*Iteration (\d+).*loss = ")
WARM_UP_ITERATIONS = 500
DAY = 86400
SOLVER = """net: "%s" base_lr: 0.001 momentum: 0.9 lr_policy: "fixed" random_seed: 1
display: %d max_iter: %d snapshot_after_train: false
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin",
                        help="folder of brewc and brew-run")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def read_events(address, token, sizes):
    """Reads the events of the page until the end of the stream. Appends their sizes to `sizes`."""
    with urllib.request.urlopen("http://%s/api/events?token=%s" % (address, token)) as events:
        while chunk := events.read1(65536):
            sizes.append(len(chunk))


def train(options, folder, with_monitor):
    """Trains LeNet. Returns the milliseconds of an iteration after the warm-up."""
    command = [options.bin / "brew-run", "train", "net.plan", "--threads", str(options.threads)]
    process = subprocess.Popen(command + ["--monitor=:0"] * with_monitor, cwd=folder, text=True,
                               stderr=subprocess.PIPE)
    iteration_times, event_sizes, reader = {}, [], None
    for line in process.stderr:
        if url_file := URL_FILE.search(line):
            page = PAGE.match(Path(url_file.group(1)).read_text())
            reader = threading.Thread(target=read_events, args=(*page.groups(), event_sizes),
                                      daemon=True)
            reader.start()
        if loss := LOSS.match(line):
            hours, minutes, seconds, iteration = loss.groups()
            iteration_times[int(iteration)] = int(hours) * 3600 + int(minutes) * 60 + float(seconds)
    if process.wait() != 0:
        raise SystemExit("brew-run ended with status %d" % process.returncode)
    if with_monitor:
        reader.join(5)
        if not event_sizes:
            raise SystemExit("the page received no events")
    last = WARM_UP_ITERATIONS + options.iterations
    seconds = (iteration_times[last] - iteration_times[WARM_UP_ITERATIONS]) % DAY
    return seconds / options.iterations * 1e3


def main():
    options = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        net = write_net(Workload("lenet", 64, "train"), folder)
        (folder / "solver.prototxt").write_text(
            SOLVER % (net, WARM_UP_ITERATIONS, WARM_UP_ITERATIONS + options.iterations))
        subprocess.run([options.bin / "brewc", "solver.prototxt", "-o", "net.plan"], cwd=folder,
                       check=True, capture_output=True)
        times = {False: [], True: []}
        for _ in range(options.rounds):
            for with_monitor in times:
                times[with_monitor].append(train(options, folder, with_monitor))
    for name, choose in ("least", min), ("median", statistics.median):
        without_page, with_page = choose(times[False]), choose(times[True])
        print("%s: %.3f ms alone, %.3f with an open page: %+.1f %%" % (
            name, without_page, with_page, 100 * (with_page / without_page - 1)))


if __name__ == "__main__":
    main()
