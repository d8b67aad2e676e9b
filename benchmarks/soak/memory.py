#!/usr/bin/env python3
"""Trains LeNet for many iterations, with tests and snapshots, and samples the memory and the
number of open files of brew-run: neither may grow.

The images are random, and so few that the readers wrap around often. Compares the minima over
the last fifth of the samples with the minima over the second fifth, by which time every
operation has happened once. Exits with status 1 if the memory grew by more than --slack, or if
more files are open. The minima exclude the memory that brew-run needs while it
writes a snapshot; on a busy machine, it does so most of the time.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import ROOT, Tools, arguments, randomness, write_digits


def anonymous_bytes(pid):
    """Returns the bytes of resident memory without file pages, whose number the kernel decides."""
    for line in Path("/proc/%d/status" % pid).read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise OSError("no RssAnon")


def sample_process(process, log, seconds):
    """Returns a list of (bytes, open files, iteration), sampled while the process trains."""
    samples = []
    with open(log) as lines:
        iteration = 0
        while process.poll() is None:
            for line in lines:
                if "Optimization Done" in line:  # samples during the shutdown are meaningless
                    return samples
                words = line.split("] Iteration ", 1)
                if len(words) == 2 and words[1].split()[0].isdigit():
                    iteration = int(words[1].split()[0])
            try:
                samples.append((anonymous_bytes(process.pid),
                                len(os.listdir("/proc/%d/fd" % process.pid)), iteration))
            except OSError:
                break  # it has just ended
            time.sleep(seconds)
    return samples


def soak(options, folder):
    tools, random_numbers = Tools(options, folder), randomness(options)
    for name, count in ("train", 64 * 50), ("test", 100 * 5):
        write_digits(folder, name, count, random_numbers)
        tools.run("brew-data", "mnist", name + "-images", name + "-labels",
                  "mnist_%s_lmdb" % name, "--overwrite")
    net = (ROOT / "examples/mnist/lenet_train_test.prototxt").read_text()
    tools.write("net.prototxt", net.replace("batch_size: 64", "batch_size: %d" % options.batch))
    tools.write("solver.prototxt", (
        'net: "net.prototxt" base_lr: 0.01 momentum: 0.9 weight_decay: 0.0005 lr_policy: "inv" '
        'gamma: 0.0001 power: 0.75 display: 100 max_iter: %d test_iter: 5 test_interval: %d '
        'snapshot: %d snapshot_prefix: "lenet" random_seed: 1\n' % (
            options.iterations, options.interval, options.interval)))
    tools.compile("solver.prototxt", "lenet.plan")
    log = folder / "log"
    with open(log, "w") as log_file:
        process = subprocess.Popen(
            [tools.tool("brew-run"), "train", "lenet.plan", "--threads", str(options.threads),
             "--keep-snapshots", "3", "--snapshot-best", "test.loss"],
            cwd=folder, stderr=log_file, stdout=subprocess.DEVNULL)
    samples = sample_process(process, log, options.every)
    if process.wait():
        sys.exit("brew-run ended with status %d:\n%s" % (process.returncode,
                                                          log.read_text()[-2000:]))
    if len(samples) < 20:
        sys.exit("%d samples are too few; use more --iterations or a smaller --every"
                 % len(samples))
    fifth = len(samples) // 5
    early, late = samples[fifth:2 * fifth], samples[-fifth:]
    minimum = {name: [min(sample[i] for sample in part) for i in (0, 1)]
               for name, part in (("early", early), ("late", late))}
    print("%d iterations of LeNet, batch %d, a test and a snapshot every %d, %d samples" % (
        options.iterations, options.batch, options.interval, len(samples)))
    for name, part in ("early", early), ("late", late):
        print("iterations %6d to %6d: least %.2f MB, median %.2f MB, most %.2f MB; open files: "
              "least %d" % (part[0][2], part[-1][2], minimum[name][0] / 1e6,
                            statistics.median(s[0] for s in part) / 1e6,
                            max(s[0] for s in part) / 1e6, minimum[name][1]))
    grown_bytes = minimum["late"][0] - minimum["early"][0]
    if grown_bytes > options.slack * 1e6:
        sys.exit("memory grew by %.2f MB" % (grown_bytes / 1e6))
    # If syncing is slow, every sample may include a snapshot in progress, hence the tolerance of
    # 2. If each snapshot leaked a file, the difference would be far larger.
    if minimum["late"][1] > minimum["early"][1] + 2:
        sys.exit("more files are open at the end")
    left = sorted(file.name for file in folder.glob("lenet_iter_*"))
    if len(left) != 6:
        sys.exit("--keep-snapshots 3 left " + " ".join(left))
    print("flat")


parser = arguments(__doc__)
parser.add_argument("--iterations", type=int, default=100000)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--interval", type=int, default=500,
                    help="iterations between tests and snapshots")
parser.add_argument("--every", type=float, default=1.0, help="seconds between two samples")
parser.add_argument("--slack", type=float, default=1.0, help="allowed growth of memory, in MB")
options = parser.parse_args()
with tempfile.TemporaryDirectory() as temporary:
    soak(options, options.work_dir.resolve() if options.work_dir else Path(temporary))
