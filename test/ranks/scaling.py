"""Compares the model of benchmarks/scaling with values computed by hand.

    scaling.py SIMULATE
"""
import json
import os
import subprocess
import sys
import tempfile

MB = 10**6


def simulate(report, *flags):
    """Returns the results of the script for a report, or its error message."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        with open(path, "w") as file:
            json.dump(report, file)
        process = subprocess.run([sys.executable, "-B", sys.argv[1], path, "--json", *flags],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return json.loads(process.stdout) if process.returncode == 0 else process.stderr


def make_report(starts):
    """Returns a report of brewc whose all-reduces start as `starts` says, in (bytes, seconds)."""
    return {"programs": {
        "forward_backward": {"roofline_seconds": 0.1, "all_reduce": {"starts": [
            {"bytes": size, "ready_seconds": ready} for size, ready in starts]}},
        "update": {"roofline_seconds": 0.01}}}


def expect_near(value, expected, case):
    if abs(value - expected) > 1e-9:
        sys.exit("%s: %r, expected %r" % (case, value, expected))


link = ["--latency-us", "0", "--gbytes", "1", "--ranks", "1,4"]
# In a ring of 4 ranks, 20 MB pass the link 1.5 times. That takes 30 ms, beginning at 50 ms, so the
# all-reduce is hidden behind the backward pass of 100 ms.
one, four = simulate(make_report([(20 * MB, 0.05)]), *link)
expect_near(one["efficiency"], 1, "one rank")
expect_near(four["step_seconds"], 0.11, "a sum that is hidden")
# An all-reduce that is ready at the end is not hidden; two all-reduces run in sequence.
four = simulate(make_report([(20 * MB, 0.1)]), *link)[1]
expect_near(four["step_seconds"], 0.14, "a sum at the end")
four = simulate(make_report([(40 * MB, 0.05), (20 * MB, 0.1)]), *link)[1]
expect_near(four["step_seconds"], 0.15, "two sums")
# With a sharded update, each rank computes a quarter of the update, and half a ring (the all-gather)
# follows.
expect_near(0.11 / four["sharded_efficiency"],
            0.14 + 0.0025 + 0.045, "a sharded update")
# With latency, a ring of 1024 ranks takes 2046 steps and a tree 20 steps.
tree = simulate(make_report([(1, 0.1)]), "--latency-us", "100", "--gbytes", "1000", "--ranks", "1024")
expect_near(round(tree[0]["step_seconds"], 6), 0.112, "a tree")
# A measured step time scales the times of all computations.
expect_near(simulate(make_report([(20 * MB, 0.05)]), "--step-ms", "200", *link)[1]["step_seconds"], 0.22,
            "a measured step")
jittered = simulate(make_report([]), "--jitter", "0.1", *link)
if not jittered[1]["step_seconds"] > jittered[0]["step_seconds"] > 0.1:
    sys.exit("the slowest of four ranks must be slower than one rank: %s" % jittered)
if "compiled with brewc --distributed" not in simulate({"programs": {"forward_backward": {}}}):
    sys.exit("a report of one rank is not rejected")
