"""Compares the model of benchmarks/scaling with values computed by hand.

    scaling.py SIMULATE
"""
import json
import os
import subprocess
import sys
import tempfile

MB = 10**6


def run(report, *flags):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        with open(path, "w") as file:
            json.dump(report, file)
        done = subprocess.run([sys.executable, "-B", sys.argv[1], path, "--json", *flags],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def report(starts):
    return {"programs": {
        "forward_backward": {"roofline_seconds": 0.1, "all_reduce": {"starts": [
            {"bytes": size, "ready_seconds": ready} for size, ready in starts]}},
        "update": {"roofline_seconds": 0.01}}}


def near(value, expected, what):
    if abs(value - expected) > 1e-9:
        sys.exit("%s is %r, not %r" % (what, value, expected))


link = ["--latency-us", "0", "--gbytes", "1", "--ranks", "1,4"]
# 20 MB over 4 ranks in a ring: 1.5 times over the link, 30 ms; ready at 50 ms.
one, four = run(report([(20 * MB, 0.05)]), *link)
near(one["efficiency"], 1, "one rank")
near(four["step_seconds"], 0.11, "a sum that is hidden")
# An all-reduce that is ready at the end is not hidden; two all-reduces run in sequence.
four = run(report([(20 * MB, 0.1)]), *link)[1]
near(four["step_seconds"], 0.14, "a sum at the end")
four = run(report([(40 * MB, 0.05), (20 * MB, 0.1)]), *link)[1]
near(four["step_seconds"], 0.15, "two sums")
# Sharded: each rank does a quarter of the update; half a ring (the all-gather) follows.
near(0.11 / four["sharded_efficiency"],
     0.14 + 0.0025 + 0.045, "a sharded update")
# Latency: a ring of 1024 ranks takes 2046 steps, a tree 20.
far = run(report([(1, 0.1)]), "--latency-us", "100", "--gbytes", "1000", "--ranks", "1024")
near(round(far[0]["step_seconds"], 6), 0.112, "a tree")
# A measured time scales all computing times.
near(run(report([(20 * MB, 0.05)]), "--step-ms", "200", *link)[1]["step_seconds"], 0.22,
     "a measured step")
slow = run(report([]), "--jitter", "0.1", *link)
if not slow[1]["step_seconds"] > slow[0]["step_seconds"] > 0.1:
    sys.exit("the slowest of more ranks is slower: %s" % slow)
if "compiled with brewc --distributed" not in run({"programs": {"forward_backward": {}}}):
    sys.exit("a report of one rank is not refused")
