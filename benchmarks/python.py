#!/usr/bin/env python3
"""Measures the overhead of the package `caffe` over its plans.

    PYTHONPATH=build/release/python benchmarks/python.py [--net lenet:64 --net resnet50:16]

For each net: compares `net.forward()` of phase TEST with `brew-run time` of the same plan, and an
iteration of `solver.step(N)` with the plan's training step, where N is at most 100 and fits into
`--seconds`. Also times forward passes layer by layer, and `Net(...)` when its plans are cached.
Package and plan run in turn, `--rounds` times. A forward pass counts with its minimum time, a
training step with the minimum over the rounds of the mean time of N iterations."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Search this folder last, because other packages may have modules with these names.
sys.path = [folder for folder in sys.path if Path(folder).resolve() != HERE] + [str(HERE)]
from tables import render  # noqa: E402
from workloads import Workload, write_net  # noqa: E402

SOLVER = """net: "{net}" base_lr: 0.001 momentum: 0.9 weight_decay: 0.0005 lr_policy: "fixed"
max_iter: 1000000 snapshot_after_train: false random_seed: 1
"""
TIMES = {"forward": re.compile(r"Average Forward-Backward: \S+ ms\. \(median \S+, min (\S+)\)"),
         "step": re.compile(r"Average training step: (\S+) ms\.")}
# Maximum overhead of the package: the sum of a fraction of the plan's time and some seconds.
MAX_RELATIVE_OVERHEAD, MAX_ADDED_SECONDS = 0.03, 20e-6
# Maximum time of `Net(...)` when its plans are cached.
MAX_NET_SECONDS = 0.05


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--net", action="append", metavar="NET:BATCH",
                        help="net of benchmarks/nets; may be repeated (default: lenet:64 and resnet50:16)")
    parser.add_argument("--bin", type=Path, default=HERE.parent / "build/release/bin", help="folder of brew-run")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="duration of one measurement")
    parser.add_argument("--no-train", action="store_true", help="do not measure solvers")
    return parser.parse_args()


def minimum_time(function, seconds):
    """Calls `function` for about `seconds`, at least three times. Returns the minimum time."""
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

    def measure(self, plan, kind, seconds, expected_time, count=0):
        """Returns the seconds of one execution of `plan`. For the kind "forward": the minimum for
        about `seconds`, if an execution takes `expected_time`. For "step": the mean of `count`."""
        completed = subprocess.run(
            [self.options.bin / "brew-run", "time", plan, "--random-input", "--threads", str(self.options.threads),
             "--iterations", str(max(3, int(seconds / expected_time / 2)) if kind == "forward" else count)],
            env=dict(os.environ, GLOG_minloglevel="0"), capture_output=True, text=True, check=True)
        return float(TIMES[kind].search(completed.stderr).group(1)) / 1e3


def forward_rows(options, timer, net_file, make_net):
    """Returns rows of (title, seconds of the package, seconds of the plan) for a net's forward passes."""
    net = make_net(net_file)
    net.forward()
    fused_net = net._fused_nets.last
    plan = timer.save(bytes(fused_net.plan), "forward.plan")
    layerwise_net = make_net(net_file)
    layerwise_net.before_forward(lambda layer: None)  # a net with hooks runs layer by layer
    layerwise_net.forward()
    unpinned_plan = timer.folder / "unpinned.plan"
    subprocess.run([options.bin / "brewc", net_file, "-o", unpinned_plan], check=True, capture_output=True)
    package_times, layerwise_times, plan_times, unpinned_times = [], [], [], []
    for _ in range(options.rounds):
        package_times.append(minimum_time(net.forward, options.seconds))
        layerwise_times.append(minimum_time(layerwise_net.forward, options.seconds))
        plan_times.append(timer.measure(plan, "forward", options.seconds, package_times[0]))
        unpinned_times.append(timer.measure(unpinned_plan, "forward", options.seconds, package_times[0]))
    return [("net.forward()", min(package_times), min(plan_times)),
            ("compared to the plan without pinned blobs", min(package_times), min(unpinned_times)),
            ("layer by layer", min(layerwise_times), min(plan_times))]


def step_rows(options, timer, net_file, solver_class):
    solver_file = timer.folder / "solver.prototxt"
    solver_file.write_text(SOLVER.format(net=net_file))
    solver = solver_class(str(solver_file))
    solver.step(2)
    plan = timer.folder / "solver.plan"
    subprocess.run([options.bin / "brewc", solver_file, "--keep", "all", "-o", plan], check=True, capture_output=True)
    expected_time = minimum_time(lambda: solver.step(1), 0)
    count = max(1, min(100, int(options.seconds / expected_time)))
    package_times, plan_times = [], []
    for _ in range(options.rounds):
        package_times.append(minimum_time(lambda: solver.step(count), options.seconds) / count)
        plan_times.append(timer.measure(plan, "step", options.seconds, expected_time, count))
    return [("solver.step(%d)" % count, min(package_times), min(plan_times))]


def table_row(net, title, package, plan):
    return [net, title, "%.3f" % (plan * 1e3), "%.3f" % (package * 1e3), "%+.1f %%" % (100 * (package / plan - 1)),
            "yes" if package <= plan * (1 + MAX_RELATIVE_OVERHEAD) + MAX_ADDED_SECONDS else "no"]


def main():
    options = parse_arguments()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    os.environ.setdefault("GLOG_minloglevel", "2")
    import caffe

    rows, nets = [], []
    for net_and_batch in options.net or ["lenet:64", "resnet50:16"]:
        name, _, batch = net_and_batch.partition(":")
        with tempfile.TemporaryDirectory() as folder:
            timer = Timer(options, Path(folder))
            deploy = os.path.join(folder, write_net(Workload(name, int(batch), "infer"), Path(folder)))

            def make_net(path):
                return caffe.Net(str(path), caffe.TEST)

            rows += [table_row(net_and_batch, *times) for times in forward_rows(options, timer, deploy, make_net)]
            seconds = minimum_time(lambda path=deploy: make_net(path), options.seconds)
            nets.append([net_and_batch, "%.1f" % (seconds * 1e3), "yes" if seconds <= MAX_NET_SECONDS else "no"])
            if not options.no_train:
                train = os.path.join(folder, write_net(Workload(name, int(batch), "train"), Path(folder)))
                rows += [table_row(net_and_batch, *times)
                         for times in step_rows(options, timer, train, caffe.SGDSolver)]
    print("\n".join(render(["net, batch", "what", "plan ms", "caffe ms", "more", "within 3 % + 20 us"], rows, True, 2)))
    print()
    print("\n".join(render(["net", "Net(...) ms, cached", "within 50 ms"], nets, True)))


if __name__ == "__main__":
    main()
