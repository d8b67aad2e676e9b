"""Ways to measure one training step of each program, used by lenet_cpu.py.

Every function runs one process and returns a list of seconds per step.
"""

import datetime
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent

SOLVER = """net: "{net}.prototxt"
base_lr: 0.001
momentum: 0.9
weight_decay: 0.0005
lr_policy: "fixed"
display: {display}
max_iter: {iterations}
snapshot_after_train: false
random_seed: 1
solver_mode: CPU
"""
# A net with a TEST phase needs these; no test ever runs.
TEST_FIELDS = """test_iter: 1
test_interval: 1000000
test_initialization: false
"""
# Steps between two log lines, from whose times the step of a training run is
# computed: enough that writing the lines does not count.
DISPLAY = 10
# Intervals at the beginning that are not counted: caches, pages and thread
# pools are still cold.
WARM_UP_INTERVALS = 2

# Newer versions of glog print the year too.
GLOG_ITERATION = re.compile(
    r"^I(?:\d{4})?(\d{4}) (\d\d):(\d\d):(\d\d)\.(\d{6}) .*\] "
    r"Iteration (\d+) \(")
BREW_STEP = re.compile(
    r"Average training step: \S+ ms\. \(median (\S+), min (\S+)\)")
CAFFE_FORWARD_BACKWARD = re.compile(
    r"Average Forward-Backward: (\S+) ms\.")


class MeasureError(Exception):
    """A program failed or said something that was not understood."""


def peer_environment(threads):
    """The caller's environment with the same number of threads for all.

    OPENBLAS_CORETYPE can hold OpenBLAS back to an older instruction set.
    """
    environment = dict(os.environ)
    environment.pop("OPENBLAS_CORETYPE", None)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        environment[name] = str(threads)
    return environment


def run(command, threads, folder):
    """Runs a command in a folder; returns its (stdout, stderr)."""
    command = [str(word) for word in command]
    done = subprocess.run(command, cwd=folder, text=True,
                          env=peer_environment(threads),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise MeasureError("'{}' ended with status {}:\n{}".format(
            " ".join(command), done.returncode, done.stderr[-2000:]))
    return done.stdout, done.stderr


def prepare(folder, brew_data, mnist):
    """Puts nets, solvers and databases into the work folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for net in HERE.glob("nets/*.prototxt"):
        shutil.copy(net, folder)
    if not (folder / "mnist_lmdb").exists():
        run([brew_data, "mnist", mnist / "train-images-idx3-ubyte.gz",
             mnist / "train-labels-idx1-ubyte.gz", "mnist_lmdb"], 1, folder)
    if not (folder / "cifar_lmdb").exists():
        # What the pictures show does not change the time of any step.
        source = random.Random(1)
        with open(folder / "random.bin", "wb") as batch:
            for _ in range(2000):
                batch.write(bytes([source.randrange(10)])
                            + source.randbytes(3072))
        run([brew_data, "cifar10", "random.bin", "--output", "cifar_lmdb"], 1,
            folder)


def write_solver(folder, net, iterations):
    """Writes the solver for a number of steps; returns its file name."""
    name = "{}_solver.prototxt".format(net)
    text = SOLVER.format(net=net, display=DISPLAY, iterations=iterations)
    if net == "lenet":
        text += TEST_FIELDS
    (folder / name).write_text(text)
    return name


def compile_plan(folder, brewc, net):
    """Compiles a solver; returns (seconds, report of forward_backward)."""
    begin = time.perf_counter()
    report, _ = run([brewc, "{}_solver.prototxt".format(net), "-o",
                     net + ".plan", "--report=json"], 1, folder)
    seconds = time.perf_counter() - begin
    return seconds, json.loads(report)["programs"]["forward_backward"]


def intervals(log):
    """Seconds per step between the displayed iterations of a training log."""
    shown = []
    for line in log.splitlines():
        match = GLOG_ITERATION.match(line)
        if match:
            day, hour, minute, second, micro, iteration = match.groups()
            # A leap year, since not every log names its year.
            stamp = datetime.datetime(
                2000, int(day[:2]), int(day[2:]), int(hour), int(minute),
                int(second), int(micro))
            shown.append((int(iteration), stamp))
    seconds = [(late - early).total_seconds() / (last - first)
               for (first, early), (last, late) in zip(shown, shown[1:])]
    if len(seconds) <= WARM_UP_INTERVALS:
        raise MeasureError("too few displayed iterations in:\n" + log[-2000:])
    return seconds[WARM_UP_INTERVALS:]


def brew_step(folder, brew_run, net, threads, iterations):
    """Brew's steps alone, the batch in memory: (median, least) seconds."""
    _, log = run([brew_run, "time", net + ".plan", "--threads", threads,
                  "--iterations", iterations], threads, folder)
    match = BREW_STEP.search(log)
    if not match:
        raise MeasureError("no 'Average training step' in:\n" + log[-2000:])
    return float(match.group(1)) / 1e3, float(match.group(2)) / 1e3


def brew_loop(folder, brew_run, net, threads):
    """Steps of `brew-run train`, reading its database."""
    _, log = run([brew_run, "train", net + ".plan", "--threads", threads],
                 threads, folder)
    return intervals(log)


def caffe_loop(folder, caffe, net, threads):
    """Steps of `caffe train`, reading its database."""
    _, log = run([caffe, "train", "-solver", net + "_solver.prototxt"],
                 threads, folder)
    return intervals(log)


def caffe_forward_backward(folder, caffe, net, threads, iterations):
    """`caffe time`: forward and backward without update, mean of a run."""
    _, log = run([caffe, "time", "-model", net + ".prototxt", "-iterations",
                  iterations, "-phase", "TRAIN"], threads, folder)
    match = CAFFE_FORWARD_BACKWARD.search(log)
    if not match:
        raise MeasureError("no 'Forward-Backward' in:\n" + log[-2000:])
    return float(match.group(1)) / 1e3


def find_torch(python):
    """Whether this interpreter can import torch."""
    try:
        return subprocess.run([python, "-c", "import torch"],
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def torch_steps(folder, python, net, threads, iterations):
    """(version, {variant: seconds of every step}), the batch in memory."""
    out, _ = run([python, HERE / "pytorch_step.py", "--net", net, "--threads",
                  threads, "--iterations", iterations], threads, folder)
    result = json.loads(out)
    return result["version"], result["variants"]


class Samples:
    """Rounds of one quantity: median of the rounds' medians, least of all."""

    def __init__(self):
        self.medians = []
        self.least = []

    def add(self, seconds):
        self.add_summary(statistics.median(seconds), min(seconds))

    def add_summary(self, median, least):
        self.medians.append(median)
        self.least.append(least)

    @property
    def median(self):
        return statistics.median(self.medians)

    @property
    def min(self):
        return min(self.least)
