"""Ways to measure one step of each program, used by cpu.py.

Every function runs one process.
"""

import datetime
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "gpu"))
from pack import NETS, shape_flags, shapes_text  # noqa: E402

# Nets that read a database, so that training loops can be compared too.
DATABASES = ("lenet", "cifar10_quick")
# Batches of the others, which a CPU takes in seconds at most.
BATCHES = {"alexnet": 16, "googlenet": 8, "squeezenet": 8, "resnet50": 8,
           "mobilenet": 8, "vgg16": 4}
# PyTorch's variants: what a table calls them, and torch_step.py's arguments.
EAGER = {"eager, contiguous": ["--variant=eager"],
         "eager, channels_last": ["--variant=channels_last"]}
TRACED = {"jit, contiguous": ["--variant=jit"],
          "jit, channels_last": ["--variant=jit_channels_last"]}

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
BREW_STEP = {
    "train": re.compile(
        r"Average training step: \S+ ms\. \(median (\S+), min (\S+)\)"),
    # A program without a backward pass.
    "infer": re.compile(
        r"Average Forward-Backward: \S+ ms\. \(median (\S+), min (\S+)\)")}
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


def shapes_of(net, batch=None):
    """{data top: dimensions}, with this batch or the net's usual one."""
    size = batch or BATCHES.get(net)
    return {top: (size or dims[0],) + dims[1:]
            for top, dims in NETS[net].items()}


def copy_nets(folder):
    """Puts the nets into the work folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for net in HERE.glob("nets/*.prototxt"):
        shutil.copy(net, folder)


def make_databases(folder, brew_data, mnist):
    """Puts the databases into the work folder."""
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
    if re.search(r"phase:\s*TEST", (folder / (net + ".prototxt")).read_text()):
        text += TEST_FIELDS
    (folder / name).write_text(text)
    return name


def plan_of(net, precision="f32"):
    return "{}.{}.plan".format(net, precision)


def compile_plan(folder, brewc, net, mode, batch, precision="f32"):
    """Compiles a solver, or for inference a net; returns (seconds, report of
    the program that is timed)."""
    command = [brewc, "-o", plan_of(net, precision), "--report=json",
               "--precision=" + precision]
    if mode == "infer":
        command += [net + ".prototxt", "--phase=test"]
    else:
        command += [net + "_solver.prototxt"]
    if mode == "infer" or batch or net not in DATABASES:
        command += shape_flags(net, shapes_of(net, batch))
    begin = time.perf_counter()
    report, _ = run(command, 1, folder)
    seconds = time.perf_counter() - begin
    program = "main" if mode == "infer" else "forward_backward"
    return seconds, json.loads(report)["programs"][program]


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


def brew_step(folder, brew_run, plan, mode, threads, iterations):
    """Brew's steps alone, the batch in memory: (median, least) seconds."""
    _, log = run([brew_run, "time", plan, "--random-input",
                  "--threads", threads, "--iterations", iterations], threads,
                 folder)
    match = BREW_STEP[mode].search(log)
    if not match:
        raise MeasureError("no time of a step in:\n" + log[-2000:])
    return float(match.group(1)) / 1e3, float(match.group(2)) / 1e3


def brew_loop(folder, brew_run, net, threads):
    """Steps of `brew-run train`, reading its database."""
    _, log = run([brew_run, "train", plan_of(net), "--threads", threads],
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


def torch_variants(net, mode):
    """{name: arguments} of the ways to run this net in PyTorch.

    What little there is to gain from tracing, and from updating all parameters
    at once, shows where a step is short; elsewhere it is left out.
    """
    if net not in DATABASES:
        return EAGER
    variants = dict(EAGER, **TRACED)
    if mode == "train":
        variants.update({name + ", foreach SGD": words + ["--foreach"]
                         for name, words in variants.items()})
    return variants


def torch_step(folder, python, net, mode, batch, words, threads, iterations):
    """(version, median, least seconds) of PyTorch's steps, the batch in memory;
    `words` say how, see torch_variants."""
    command = [python, HERE / "gpu" / "torch_step.py", net + ".prototxt",
               "--device=cpu", "--mode=" + mode,
               "--steps={}".format(iterations),
               "--warm-up={}".format(min(10, iterations))] + words
    for text in shapes_text(shapes_of(net, batch)):
        command += ["--input", text]
    out, _ = run(command, threads, folder)
    result = json.loads(out.splitlines()[-1])
    return result["torch"], result["median"], result["least"]


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
