"""Runs Brew in the benchmarks: solvers, databases, plans, and the times of brew-run."""

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
# A net with a TEST phase needs these fields. The interval is so large that no test runs.
TEST_FIELDS = """test_iter: 1
test_interval: 1000000
test_initialization: false
"""
# Steps between two log lines. The time of a step is computed from the times of the lines;
# the interval is large enough to make the cost of logging negligible.
DISPLAY = 10
# The first intervals are not counted, because caches, pages and thread pools are cold.
WARM_UP_INTERVALS = 2
LOOP_INTERVALS = 10

# Newer versions of glog also print the year.
GLOG_ITERATION = re.compile(
    r"^I(?:\d{4})?(\d{4}) (\d\d):(\d\d):(\d\d)\.(\d{6}) .*\] "
    r"Iteration (\d+) \(")
STEP = {"train": re.compile(
            r"Average training step: \S+ ms\. \(median (\S+), min (\S+)\)"),
        # An inference program has no backward pass.
        "infer": re.compile(
            r"Average Forward-Backward: \S+ ms\. \(median (\S+), min (\S+)\)")}


def write_solver(folder, name, net, iterations):
    """Writes a solver file that trains the net `net` for a number of steps."""
    text = SOLVER.format(net=net, display=DISPLAY, iterations=iterations)
    if re.search(r"phase:\s*TEST", (folder / net).read_text()):
        text += TEST_FIELDS
    (folder / name).write_text(text)


def write_loop(folder, net):
    """Writes the net with its database and the solver of its training loop; returns the
    solver's name."""
    shutil.copy(workloads.HERE / "nets" / (net + ".prototxt"), folder)
    name = net + "_loop_solver.prototxt"
    # The last displayed iteration is one interval before max_iter.
    write_solver(folder, name, net + ".prototxt", DISPLAY * (
        LOOP_INTERVALS + WARM_UP_INTERVALS + 1))
    return name


def make_databases(folder, brew_data, mnist):
    """Creates the databases that are missing in the work folder."""
    if not (folder / "mnist_lmdb").exists():
        run([brew_data, "mnist", mnist / "train-images-idx3-ubyte.gz",
             mnist / "train-labels-idx1-ubyte.gz", "mnist_lmdb"], 1, folder)
    if not (folder / "cifar_lmdb").exists():
        # The content of the images does not affect the time of a step.
        generator = random.Random(1)
        with open(folder / "random.bin", "wb") as batch:
            for _ in range(2000):
                batch.write(bytes([generator.randrange(10)])
                            + generator.randbytes(3072))
        run([brew_data, "cifar10", "random.bin", "--output", "cifar_lmdb"], 1,
            folder)


def intervals(log):
    """Returns the seconds per step between the displayed iterations of a training log."""
    displayed = []
    for line in log.splitlines():
        match = GLOG_ITERATION.match(line)
        if match:
            day, hour, minute, second, micro, iteration = match.groups()
            # Use a leap year, because logs may omit the year.
            stamp = datetime(2000, int(day[:2]), int(day[2:]), int(hour),
                             int(minute), int(second), int(micro))
            displayed.append((int(iteration), stamp))
    seconds = [(late - early).total_seconds() / (last - first)
               for (first, early), (last, late) in zip(displayed, displayed[1:])]
    if len(seconds) <= WARM_UP_INTERVALS:
        raise MeasureError("too few displayed iterations in its log")
    return seconds[WARM_UP_INTERVALS:]


def encode_varint(value):
    """Encodes an integer as in protobuf."""
    result = b""
    while value > 0x7f:
        result += bytes([value & 0x7f | 0x80])
        value >>= 7
    return result + bytes([value])


def encode_field(number, payload):
    """Encodes a protobuf field of type bytes."""
    return encode_varint(number << 3 | 2) + encode_varint(len(payload)) + payload


def statistics_weights(channels):
    """Returns a caffemodel with the mean, variance and factor of BatchNorm layers.

    In an untrained net these are zero, and the values computed from them would be zero
    or infinite.
    """
    model = b""
    for name, count in channels.items():
        layer = encode_field(1, name.encode()) + encode_field(2, b"BatchNorm")
        for values in ([0.0] * count, [1.0] * count, [1.0]):
            shape = encode_field(1, encode_varint(len(values)))
            layer += encode_field(7, encode_field(7, shape) + encode_field(
                5, struct.pack("<%df" % len(values), *values)))
        model += encode_field(100, layer)
    return model


class Brew:
    """Runs brewc and brew-run in a work folder, which contains the plans."""

    def __init__(self, binaries, work, threads):
        self.binaries, self.work, self.threads = binaries, work, threads
        self.loops = set()  # plans of training loops that exist

    def run(self, tool, *arguments, threads=None):
        return run([self.binaries / tool, *arguments], threads or self.threads,
                   self.work)

    def version(self):
        return self.run("brewc", "--version").stdout.split()[-1]

    def build(self):
        """Returns a hash that identifies the binaries: one version has many builds."""
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
        """Writes the file that brewc compiles for a workload and returns its name."""
        net = workloads.write_net(workload, self.work)
        if workload.mode == "infer":
            return net
        solver = workload.key + "_solver.prototxt"
        write_solver(self.work, solver, net, 1)
        return solver

    def compile(self, workload, precision):
        """Compiles a plan; returns the seconds, the memory and figures of the report."""
        begin = time.perf_counter()
        completed = self.run("brewc", self.source(workload), "-o",
                             self.plan(workload, precision), "--report=json",
                             "--precision=" + precision)
        seconds = time.perf_counter() - begin
        programs = json.loads(completed.stdout)["programs"]
        timed = [programs[name] for name in (
            ("forward_backward", "update") if workload.mode == "train"
            else ("deploy",))]
        return {"seconds": seconds, "peak_bytes": completed.peak_bytes,
                "flops": sum(program["flops"] for program in timed),
                "calls": timed[0]["calls"], "kernels": timed[0]["kernels"],
                "memory": timed[0]["memory"]}

    def weights(self, workload):
        """Writes statistics for BatchNorm layers. Returns brew-run's arguments that load them."""
        if workload.mode == "train":
            return []  # training computes its own statistics
        text = (self.work / (workload.key + ".prototxt")).read_text()
        channels = statistics_of(parse(text))
        if not channels:
            return []
        path = self.work / (workload.key + ".caffemodel")
        path.write_bytes(statistics_weights(channels))
        return ["--weights", path.name, "--allow-missing-weights"]

    def step(self, workload, precision, steps):
        """Times one step with its batch in memory."""
        completed = self.run("brew-run", "time", self.plan(workload, precision),
                             "--random-input", "--threads", self.threads,
                             "--iterations", steps, *self.weights(workload))
        match = STEP[workload.mode].search(completed.stderr)
        if not match:
            raise MeasureError("brew-run printed no time of a step")
        return {"median": float(match.group(1)) / 1e3,
                "least": float(match.group(2)) / 1e3, "steps": steps,
                "peak_bytes": completed.peak_bytes}

    def loop(self, workload, precision):
        """Times a step of `brew-run train`, which reads its database."""
        plan = "{}_loop.{}.plan".format(workload.net, precision)
        if plan not in self.loops:  # an older brewc may have left one
            self.run("brewc", write_loop(self.work, workload.net), "-o", plan,
                     "--precision=" + precision)
            self.loops.add(plan)
        completed = self.run("brew-run", "train", plan, "--threads", self.threads)
        return loop_result(completed)


def loop_result(completed):
    """Returns the result fields from the log of a training loop."""
    seconds = intervals(completed.stderr)
    return {"median": statistics.median(seconds), "least": min(seconds),
            "steps": len(seconds) * DISPLAY, "peak_bytes": completed.peak_bytes}
