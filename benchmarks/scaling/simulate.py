#!/usr/bin/env python3
"""Models the scaling of training on many ranks.

    brewc solver.prototxt --distributed --report=json > report.json
    benchmarks/scaling/simulate.py report.json [--step-ms MS] [--latency-us US]
        [--gbytes GB] [--jitter SIGMA] [--ranks N,N,...] [--json]

Reads the all-reduces of a step and the times at which their gradients are ready from the
report. Prints for each number of ranks N the time of a step and the efficiency: the
throughput over N times one rank's throughput (weak scaling: each rank has its own batch).
docs/scaling.md describes the model.
"""
import argparse
import json
import math
import random

SEED = 1
STEPS = 200


def ring_seconds(ranks, size, latency, rate):
    """Returns the seconds of a reduce-scatter and an all-gather around a ring."""
    return 2 * (ranks - 1) * latency + 2 * (ranks - 1) / ranks * size / rate


def tree_seconds(ranks, size, latency, rate):
    """Returns the seconds of a pipelined reduction and broadcast in a binary tree."""
    return 2 * math.ceil(math.log2(ranks)) * latency + 2 * size / rate


def all_reduce_seconds(ranks, size, latency, rate):
    """Returns the seconds of an all-reduce by the faster algorithm, as libraries choose it."""
    if ranks == 1:
        return 0
    return min(ring_seconds(ranks, size, latency, rate), tree_seconds(ranks, size, latency, rate))


def all_gather_seconds(ranks, size, latency, rate):
    """Returns the seconds of an all-gather around a ring."""
    return ring_seconds(ranks, size, latency, rate) / 2 if ranks > 1 else 0


def backward_seconds(starts, compute, seconds_of_all_reduce):
    """Returns the seconds of the forward and backward pass. `starts`: (bytes, seconds at which
    the gradients are ready) of each all-reduce. The all-reduces run in order, each when its
    gradients are ready. The pass ends when the last computing step and the last all-reduce have
    ended."""
    link_free = 0
    for size, ready in starts:
        link_free = max(link_free, ready) + seconds_of_all_reduce(size)
    return max(compute, link_free)


def simulate(starts, compute, update, ranks, options, random_numbers, sharded):
    """Returns the mean time of a step including its update. The computing time of each rank
    is multiplied by exp(x), x normal with standard deviation `jitter`; all ranks wait for the
    slowest. With `sharded`, each rank updates its shard of the parameters. An all-gather
    follows, which overlaps with nothing."""
    link = options.latency_us * 1e-6, options.gbytes * 1e9

    def seconds_of_all_reduce(size):
        return all_reduce_seconds(ranks, size, *link)

    after_backward = update
    if sharded:
        parameter_bytes = sum(size for size, _ in starts)
        after_backward = update / ranks + all_gather_seconds(ranks, parameter_bytes, *link)
    total = 0
    for _ in range(STEPS if options.jitter else 1):
        slowest = 1
        if options.jitter:
            slowest = math.exp(max(random_numbers.gauss(0, options.jitter) for _ in range(ranks)))
        total += after_backward + backward_seconds(
            [(size, ready * slowest) for size, ready in starts], compute * slowest,
            seconds_of_all_reduce)
    return total / (STEPS if options.jitter else 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("report")
    parser.add_argument("--step-ms", type=float,
                        help="measured time of forward_backward, instead of the roofline's")
    parser.add_argument("--latency-us", type=float, default=50)
    parser.add_argument("--gbytes", type=float, default=2, help="per second and rank")
    parser.add_argument("--jitter", type=float, default=0)
    parser.add_argument("--ranks", default="1,2,4,8,16,32,64,128,256,512,1024")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with open(options.report) as file:
        programs = json.load(file)["programs"]
    forward_backward = programs["forward_backward"]
    if "all_reduce" not in forward_backward:
        parser.error("the report is not of a plan compiled with brewc --distributed")
    compute = forward_backward["roofline_seconds"]
    scale = options.step_ms / 1e3 / compute if options.step_ms else 1
    starts = [(start["bytes"], start["ready_seconds"] * scale)
              for start in forward_backward["all_reduce"]["starts"]]
    update = programs["update"]["roofline_seconds"] * scale
    rows = []
    one_rank = compute * scale + update
    for ranks in map(int, options.ranks.split(",")):
        plain, sharded = (simulate(starts, compute * scale, update, ranks, options,
                                   random.Random(SEED), sharded_update)
                          for sharded_update in (False, True))
        rows.append({"ranks": ranks, "step_seconds": plain, "efficiency": one_rank / plain,
                     "sharded_efficiency": one_rank / sharded})
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    print("%6s %10s %11s %9s" % ("ranks", "step", "efficiency", "sharded"))
    for row in rows:
        print("%6d %8.2fms %10.1f%% %8.1f%%" % (
            row["ranks"], row["step_seconds"] * 1e3, 100 * row["efficiency"],
            100 * row["sharded_efficiency"]))


if __name__ == "__main__":
    main()
