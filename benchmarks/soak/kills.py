#!/usr/bin/env python3
"""Kills brew-run (SIGKILL) at random times while it trains with frequent snapshots, and
restarts it with --resume until training is complete. The last weights must equal the weights of
an uninterrupted run bit for bit, and the folder must contain only the snapshots that
--keep-snapshots and --snapshot-best select. Repeats this until --kills kills have happened.

The net reads shuffled, cropped and mirrored images, has dropout, and is tested while it trains.
Exits with status 1 on any other outcome.
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
KEPT = 2


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
        status, said = self.life(None)
        self.seconds = time.monotonic() - begin
        if status:
            sys.exit("the uninterrupted run ends with status %d:\n%s" % (status, said))
        self.whole = self.result()

    def life(self, seconds):
        """Starts brew-run, and kills it after `seconds`; returns its status and log."""
        with open(self.folder / "log", "w+") as log:
            process = subprocess.Popen(
                [self.tools.tool("brew-run"), "train", "net.plan", "--resume", "--threads",
                 str(self.options.threads), "--reader-threads", str(self.random.choice((1, 2, 3))),
                 "--keep-snapshots", str(KEPT), "--snapshot-best", "test.loss"],
                cwd=self.folder, stderr=log, stdout=subprocess.DEVNULL)
            try:
                process.wait(seconds if seconds is not None else 300)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            log.seek(0)
            return process.returncode, log.read()

    def result(self):
        """Returns the last and the best weights, and removes the snapshots from the folder."""
        end = ".h5" if self.options.hdf5 else ""
        files = {file.name: file.read_bytes() for file in self.folder.glob("snap_*")}
        names = sorted(files)
        wanted = ["snap_%s.%s%s" % (base, kind, end)
                  for base in ["best_test.loss"] + ["iter_%d" % (self.options.iterations - 2 * i)
                                                    for i in range(KEPT)]
                  for kind in ("caffemodel", "solverstate")]
        if names != sorted(wanted):
            sys.exit("left are " + " ".join(names))
        for name in names:
            (self.folder / name).unlink()
        return (files["snap_iter_%d.caffemodel%s" % (self.options.iterations, end)],
                files["snap_best_test.loss.caffemodel" + end])

    def run(self):
        kills = lives = passed_over = 0
        while kills < self.options.kills:
            # Some kills precede the first snapshot; most interrupt training or a snapshot.
            status, said = self.life(self.random.uniform(0, self.seconds / 2))
            passed_over += said.count("Snapshot skipped")
            if status == -signal.SIGKILL:
                kills += 1
                continue
            if status:
                sys.exit("a resumed run ends with status %d:\n%s" % (status, said))
            lives += 1
            self.compare(kills)
        status, said = self.life(None)
        if status:
            sys.exit("the last run ends with status %d:\n%s" % (status, said))
        lives += 1
        self.compare(kills)
        print("%d kills in %d trainings of %d iterations: each ended with the same weights; "
              "%d snapshots skipped" % (kills, lives, self.options.iterations, passed_over))

    def compare(self, kills):
        last, best = self.result()
        if last != self.whole[0]:
            sys.exit("after %d kills the weights differ from the uninterrupted run" % kills)
        if best != self.whole[1]:
            sys.exit("after %d kills the best weights differ from the uninterrupted run" % kills)


parser = arguments(__doc__)
parser.add_argument("--kills", type=int, default=50)
parser.add_argument("--iterations", type=int, default=200, help="even")
parser.add_argument("--hdf5", action="store_true", help="snapshots in HDF5")
options = parser.parse_args()
with tempfile.TemporaryDirectory() as temporary:
    Soak(options, options.work_dir.resolve() if options.work_dir else Path(temporary)).run()
