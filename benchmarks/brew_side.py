"""Brew's side: solvers and databases, plans, and brew-run's times."""

import hashlib
import json
import random
import re
import shutil
import statistics
import struct
import time
from datetime import datetime

import workloads
from deploy import statistics_of
from process import MeasureError, run
from prototxt import parse

SOLVER = """net: "{net}"
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
# Steps between two log lines, from whose times the step of a training loop is
# computed: enough that writing the lines does not count.
DISPLAY = 10
# Intervals at the beginning that are not counted: caches, pages and thread
# pools are still cold.
WARM_UP_INTERVALS = 2
LOOP_INTERVALS = 10

# Newer versions of glog print the year too.
GLOG_ITERATION = re.compile(
    r"^I(?:\d{4})?(\d{4}) (\d\d):(\d\d):(\d\d)\.(\d{6}) .*\] "
    r"Iteration (\d+) \(")
STEP = {"train": re.compile(
            r"Average training step: \S+ ms\. \(median (\S+), min (\S+)\)"),
        # A program without a backward pass.
        "infer": re.compile(
            r"Average Forward-Backward: \S+ ms\. \(median (\S+), min (\S+)\)")}


def write_solver(folder, name, net, iterations):
    """Writes the solver of a net's file for a number of steps."""
    text = SOLVER.format(net=net, display=DISPLAY, iterations=iterations)
    if re.search(r"phase:\s*TEST", (folder / net).read_text()):
        text += TEST_FIELDS
    (folder / name).write_text(text)


def write_loop(folder, net):
    """The net with its database, and the solver of its training loop."""
    shutil.copy(workloads.HERE / "nets" / (net + ".prototxt"), folder)
    name = net + "_loop_solver.prototxt"
    # The last displayed iteration is one interval before max_iter.
    write_solver(folder, name, net + ".prototxt", DISPLAY * (
        LOOP_INTERVALS + WARM_UP_INTERVALS + 1))
    return name


def make_databases(folder, brew_data, mnist):
    """Makes the databases that are not yet in the work folder."""
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


def intervals(log):
    """Seconds per step between the displayed iterations of a training log."""
    shown = []
    for line in log.splitlines():
        match = GLOG_ITERATION.match(line)
        if match:
            day, hour, minute, second, micro, iteration = match.groups()
            # A leap year, since not every log names its year.
            stamp = datetime(2000, int(day[:2]), int(day[2:]), int(hour),
                             int(minute), int(second), int(micro))
            shown.append((int(iteration), stamp))
    seconds = [(late - early).total_seconds() / (last - first)
               for (first, early), (last, late) in zip(shown, shown[1:])]
    if len(seconds) <= WARM_UP_INTERVALS:
        raise MeasureError("too few displayed iterations in its log")
    return seconds[WARM_UP_INTERVALS:]


def varint(value):
    result = b""
    while value > 0x7f:
        result += bytes([value & 0x7f | 0x80])
        value >>= 7
    return result + bytes([value])


def field(number, payload):
    """A protobuf field of bytes."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def statistics_weights(channels):
    """A caffemodel with the mean, variance and factor of BatchNorm layers.

    A net that has seen nothing yet has zeros there, and so would be, or infinite,
    all that is computed behind them.
    """
    model = b""
    for name, count in channels.items():
        layer = field(1, name.encode()) + field(2, b"BatchNorm")
        for values in ([0.0] * count, [1.0] * count, [1.0]):
            shape = field(1, varint(len(values)))
            layer += field(7, field(7, shape) + field(
                5, struct.pack("<%df" % len(values), *values)))
        model += field(100, layer)
    return model


class Brew:
    """brewc and brew-run, and the plans they share in a work folder."""

    def __init__(self, binaries, work, threads):
        self.binaries, self.work, self.threads = binaries, work, threads
        self.loops = set()  # plans of training loops that are there

    def run(self, tool, *words, threads=None):
        return run([self.binaries / tool, *words], threads or self.threads,
                   self.work)

    def version(self):
        return self.run("brewc", "--version").stdout.split()[-1]

    def build(self):
        """A name for these very binaries: a version has many builds."""
        digest = hashlib.sha256()
        libraries = sorted((self.binaries.parent / "lib").glob("libbrew*.so*"))
        for path in [self.binaries / "brewc", self.binaries / "brew-run",
                     *libraries]:
            if path.is_file():
                digest.update(path.read_bytes())
        return digest.hexdigest()[:12]

    def plan(self, workload, precision):
        return "{}.{}.plan".format(workload.key, precision)

    def source(self, workload):
        """What brewc compiles for a workload."""
        net = workloads.write_net(workload, self.work)
        if workload.mode == "infer":
            return net
        solver = workload.key + "_solver.prototxt"
        write_solver(self.work, solver, net, 1)
        return solver

    def compile(self, workload, precision):
        """Compiles a plan: seconds, memory, and what the plan's report says."""
        begin = time.perf_counter()
        done = self.run("brewc", self.source(workload), "-o",
                        self.plan(workload, precision), "--report=json",
                        "--precision=" + precision)
        seconds = time.perf_counter() - begin
        programs = json.loads(done.stdout)["programs"]
        timed = [programs[name] for name in (
            ("forward_backward", "update") if workload.mode == "train"
            else ("deploy",))]
        return {"seconds": seconds, "peak_bytes": done.peak_bytes,
                "flops": sum(program["flops"] for program in timed),
                "calls": timed[0]["calls"], "kernels": timed[0]["kernels"],
                "memory": timed[0]["memory"]}

    def weights(self, workload):
        """Arguments that give BatchNorm layers statistics to work with."""
        if workload.mode == "train":
            return []  # it computes its own
        text = (self.work / (workload.key + ".prototxt")).read_text()
        channels = statistics_of(parse(text))
        if not channels:
            return []
        path = self.work / (workload.key + ".caffemodel")
        path.write_bytes(statistics_weights(channels))
        return ["--weights", path.name, "--allow-missing-weights"]

    def step(self, workload, precision, steps):
        """One step, its batch in memory."""
        done = self.run("brew-run", "time", self.plan(workload, precision),
                        "--random-input", "--threads", self.threads,
                        "--iterations", steps, *self.weights(workload))
        match = STEP[workload.mode].search(done.stderr)
        if not match:
            raise MeasureError("brew-run tells no time of a step")
        return {"median": float(match.group(1)) / 1e3,
                "least": float(match.group(2)) / 1e3, "steps": steps,
                "peak_bytes": done.peak_bytes}

    def loop(self, workload, precision):
        """A step of `brew-run train`, which reads its database."""
        plan = "{}_loop.{}.plan".format(workload.net, precision)
        if plan not in self.loops:  # an older brewc may have left one
            self.run("brewc", write_loop(self.work, workload.net), "-o", plan,
                     "--precision=" + precision)
            self.loops.add(plan)
        done = self.run("brew-run", "train", plan, "--threads", self.threads)
        return loop_result(done)


def loop_result(done):
    """What the log of a training loop says."""
    seconds = intervals(done.stderr)
    return {"median": statistics.median(seconds), "least": min(seconds),
            "steps": len(seconds) * DISPLAY, "peak_bytes": done.peak_bytes}
