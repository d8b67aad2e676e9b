#!/usr/bin/env python3
"""Measures the overhead of the package `caffe` over its plans.

    PYTHONPATH=build/release/python benchmarks/python.py [--net lenet:64 --net resnet50:16]

For each net: compares `net.forward()` of phase TEST with `brew-run time` of the same plan, and an
iteration of `solver.step(100)` with the plan's training step; also times forward passes layer by
layer, and `Net(...)` when its plans are cached. Both sides run in turn for some rounds, and the
minimum counts; for training, where a call runs many iterations, the minimum of the means."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# At the end of the path, because other packages may have modules with these names.
sys.path = [folder for folder in sys.path if Path(folder).resolve() != HERE] + [str(HERE)]
from tables import render  # noqa: E402
from workloads import Workload, write_net  # noqa: E402

SOLVER = """net: "{net}" base_lr: 0.001 momentum: 0.9 weight_decay: 0.0005 lr_policy: "fixed"
max_iter: 1000000 snapshot_after_train: false random_seed: 1
"""
TIMES = {"forward": re.compile(r"Average Forward-Backward: \S+ ms\. \(median \S+, min (\S+)\)"),
         "step": re.compile(r"Average training step: (\S+) ms\.")}
# Limits on the overhead of the package: a fraction of the time, and seconds.
SHARE, MORE = 0.03, 20e-6
LIMIT_OF_NET = 0.05


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--net", action="append", metavar="NET:BATCH",
                        help="net of benchmarks/nets; may be repeated (default: lenet:64 and resnet50:16)")
    parser.add_argument("--bin", type=Path, default=HERE.parent / "build/release/bin", help="folder of brew-run")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="duration of one measurement")
    parser.add_argument("--no-train", action="store_true", help="do not measure solvers")
    return parser.parse_args()


def least(function, seconds):
    """Returns the minimum time of a call, of at least three calls, for about `seconds`."""
    best, end, calls = float("inf"), time.perf_counter() + seconds, 0
    while calls < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        function()
        best, calls = min(best, time.perf_counter() - begin), calls + 1
    return best


class Timer:
    """Runs `brew-run time` of a plan."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def save(self, data, name):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def least(self, plan, what, seconds, guess, count=0):
        done = subprocess.run(
            [self.options.bin / "brew-run", "time", plan, "--random-input", "--threads", str(self.options.threads),
             "--iterations", str(max(3, int(seconds / guess / 2)) if what == "forward" else count)], capture_output=True, text=True, check=True)
        return float(TIMES[what].search(done.stderr).group(1)) / 1e3


def forward_rows(options, timer, net_file, make):
    """Returns (title, seconds of the package, seconds of the plan) for a net's forward passes."""
    net = make(net_file)
    net.forward()
    whole = net._runs.last
    plan = timer.save(bytes(whole.plan), "forward.plan")
    stepwise = make(net_file)
    stepwise.before_forward(lambda layer: None)
    stepwise.forward()
    fused = timer.folder / "fused.plan"
    subprocess.run([options.bin / "brewc", net_file, "-o", fused], check=True, capture_output=True)
    one, single, own, best = [], [], [], []
    for _ in range(options.rounds):
        one.append(least(net.forward, options.seconds))
        single.append(least(stepwise.forward, options.seconds))
        own.append(timer.least(plan, "forward", options.seconds, one[0]))
        best.append(timer.least(fused, "forward", options.seconds, one[0]))
    return [("net.forward()", min(one), min(own)), ("compared to the plan without pinned blobs", min(one), min(best)),
            ("layer by layer", min(single), min(own))]


def step_rows(options, timer, net_file, solver_class):
    solver_file = timer.folder / "solver.prototxt"
    solver_file.write_text(SOLVER.format(net=net_file))
    solver = solver_class(str(solver_file))
    solver.step(2)
    plan = timer.folder / "solver.plan"
    subprocess.run([options.bin / "brewc", solver_file, "--keep", "all", "-o", plan], check=True, capture_output=True)
    guess = least(lambda: solver.step(1), 0)
    count = max(1, min(100, int(options.seconds / guess)))
    mine, own = [], []
    for _ in range(options.rounds):
        mine.append(least(lambda: solver.step(count), options.seconds) / count)
        own.append(timer.least(plan, "step", options.seconds, guess, count))
    return [("solver.step(%d)" % count, min(mine), min(own))]


def row(net, what, package, plan):
    return [net, what, "%.3f" % (plan * 1e3), "%.3f" % (package * 1e3), "%+.1f %%" % (100 * (package / plan - 1)),
            "yes" if package <= plan * (1 + SHARE) + MORE else "no"]


def main():
    options = arguments()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    os.environ.setdefault("GLOG_minloglevel", "2")
    import caffe

    rows, nets = [], []
    for given in options.net or ["lenet:64", "resnet50:16"]:
        name, _, batch = given.partition(":")
        with tempfile.TemporaryDirectory() as folder:
            timer = Timer(options, Path(folder))
            deploy = os.path.join(folder, write_net(Workload(name, int(batch), "infer"), Path(folder)))

            def make(path):
                return caffe.Net(str(path), caffe.TEST)

            rows += [row(given, *each) for each in forward_rows(options, timer, deploy, make)]
            seconds = least(lambda path=deploy: make(path), options.seconds)
            nets.append([given, "%.1f" % (seconds * 1e3), "yes" if seconds <= LIMIT_OF_NET else "no"])
            if not options.no_train:
                train = os.path.join(folder, write_net(Workload(name, int(batch), "train"), Path(folder)))
                rows += [row(given, *each) for each in step_rows(options, timer, train, caffe.SGDSolver)]
    print("\n".join(render(["net, batch", "what", "plan ms", "caffe ms", "more", "within 3 % + 20 us"], rows, True, 2)))
    print()
    print("\n".join(render(["net", "Net(...) ms, cached", "within 50 ms"], nets, True)))


if __name__ == "__main__":
    main()
