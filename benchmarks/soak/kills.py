#!/usr/bin/env python3
"""Kills brew-run (SIGKILL) at random times while it trains with frequent snapshots, and
restarts it with --resume until training is complete. The last weights must equal the weights of
an uninterrupted run bit for bit, and the folder must contain only the snapshots that
--keep-snapshots and --snapshot-best select. Repeats this until --kills kills have happened.

The net reads shuffled, cropped and mirrored images, has dropout, and is tested while it trains.
Exits with status 1 if a check fails.
"""

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import Tools, arguments, randomness, write_png

NET = """
layer { name: "in" type: "ImageData" top: "data" top: "label"
  image_data_param { source: "list.txt" batch_size: 8 shuffle: true root_folder: "images/" }
  transform_param { mirror: true crop_size: 20 scale: 0.01 } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 8 kernel_size: 5 weight_filler { type: "xavier" } } }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool"
  pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "drop" type: "Dropout" bottom: "pool" top: "pool" }
layer { name: "ip" type: "InnerProduct" bottom: "pool" top: "ip"
  inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
"""
KEPT_SNAPSHOTS = 2


class Soak:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.tools, self.random = Tools(options, folder), randomness(options)
        (folder / "images").mkdir()
        for number in range(30):
            write_png(folder / ("images/%d.png" % number), 24, 24,
                      self.random.randbytes(24 * 24 * 3))
        self.tools.write("list.txt", "".join("%d.png %d\n" % (i, i % 5) for i in range(30)))
        self.tools.write("net.prototxt", NET)
        self.tools.write("solver.prototxt", (
            'net: "net.prototxt" base_lr: 0.01 lr_policy: "fixed" momentum: 0.9 max_iter: %d '
            'snapshot: 2 snapshot_prefix: "snap" random_seed: 3 display: 0 average_loss: 5 '
            'test_iter: 2 test_interval: 5 iter_size: 2 %s\n' % (
                options.iterations, "snapshot_format: HDF5" if options.hdf5 else "")))
        self.tools.compile("solver.prototxt", "net.plan")
        begin = time.monotonic()
        status, log_text = self.run_until_killed(None)
        self.seconds = time.monotonic() - begin
        if status:
            sys.exit("the uninterrupted run ends with status %d:\n%s" % (status, log_text))
        self.uninterrupted_weights = self.take_weights()

    def run_until_killed(self, seconds):
        """Runs brew-run, and kills it after `seconds` (None: never, but at most 300 s).
        Returns its exit status and log."""
        with open(self.folder / "log", "w+") as log:
            process = subprocess.Popen(
                [self.tools.tool("brew-run"), "train", "net.plan", "--resume", "--threads",
                 str(self.options.threads), "--reader-threads", str(self.random.choice((1, 2, 3))),
                 "--keep-snapshots", str(KEPT_SNAPSHOTS), "--snapshot-best", "test.loss"],
                cwd=self.folder, stderr=log, stdout=subprocess.DEVNULL)
            try:
                process.wait(seconds if seconds is not None else 300)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            log.seek(0)
            return process.returncode, log.read()

    def take_weights(self):
        """Checks which snapshots are left, removes them, and returns the last and the best
        weights."""
        suffix = ".h5" if self.options.hdf5 else ""
        files = {file.name: file.read_bytes() for file in self.folder.glob("snap_*")}
        names = sorted(files)
        expected = ["snap_%s.%s%s" % (base, kind, suffix)
                    for base in ["best_test.loss"] + ["iter_%d" % (self.options.iterations - 2 * i)
                                                      for i in range(KEPT_SNAPSHOTS)]
                    for kind in ("caffemodel", "solverstate")]
        if names != sorted(expected):
            sys.exit("unexpected snapshots are left: " + " ".join(names))
        for name in names:
            (self.folder / name).unlink()
        return (files["snap_iter_%d.caffemodel%s" % (self.options.iterations, suffix)],
                files["snap_best_test.loss.caffemodel" + suffix])

    def run(self):
        kills = completed_runs = skipped_snapshots = 0
        while kills < self.options.kills:
            # Some kills precede the first snapshot; most interrupt training or a snapshot.
            status, log_text = self.run_until_killed(self.random.uniform(0, self.seconds / 2))
            skipped_snapshots += log_text.count("Snapshot skipped")
            if status == -signal.SIGKILL:
                kills += 1
                continue
            if status:
                sys.exit("a resumed run ends with status %d:\n%s" % (status, log_text))
            completed_runs += 1
            self.compare(kills)
        status, log_text = self.run_until_killed(None)
        if status:
            sys.exit("the last run ends with status %d:\n%s" % (status, log_text))
        completed_runs += 1
        self.compare(kills)
        print("%d kills in %d trainings of %d iterations: each ended with the same weights; "
              "%d snapshots skipped" % (kills, completed_runs, self.options.iterations,
                                        skipped_snapshots))

    def compare(self, kills):
        last, best = self.take_weights()
        if last != self.uninterrupted_weights[0]:
            sys.exit("after %d kills the weights differ from the uninterrupted run" % kills)
        if best != self.uninterrupted_weights[1]:
            sys.exit("after %d kills the best weights differ from the uninterrupted run" % kills)


parser = arguments(__doc__)
parser.add_argument("--kills", type=int, default=50)
parser.add_argument("--iterations", type=int, default=200, help="number of iterations, even")
parser.add_argument("--hdf5", action="store_true", help="snapshots in HDF5")
options = parser.parse_args()
with tempfile.TemporaryDirectory() as temporary:
    Soak(options, options.work_dir.resolve() if options.work_dir else Path(temporary)).run()
