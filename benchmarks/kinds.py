#!/usr/bin/env python3
"""Divides the time of training steps by kinds of work: convolutions and products by direction,
generated kernels by the layers that they compute.

Profiles each net several times (`brew-run time --profile`), with its batch in memory, and takes
the shortest time of each step of the plan. Prints, for each kind, the time, the operations and
bytes that the plan counts, and their rates as shares of the machine's limits: the fastest product
of the library (peak.py), and the rate at which a kernel reads and writes large arrays.
"""

import argparse
import collections
import json
import re
from pathlib import Path
from typing import NamedTuple

import brew_side
import host
import peak
import workloads  # finds gpu/prototxt.py
from prototxt import layers_of, parse

ROOT = Path(__file__).resolve().parent.parent
NETS = ("resnet50:8", "googlenet:16", "mobilenet:16", "vgg16:4")
# Kinds of generated kernels, by the first type that is among their layers.
KERNELS = (("BatchNorm", "normalization"), ("LRN", "normalization"),
           ("Convolution", "kernels of convolutions"), ("Pooling", "pooling"))
COPY = """layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 64000000 } } }
layer { name: "copy" type: "Power" bottom: "x" top: "y" power_param { scale: 2 } }
"""
COPY_BYTES = 2 * 4 * 64e6
COPIED = re.compile(r"\] +copy\tforward: \S+ ms\. \(median \S+, min (\S+)\)")


class Step(NamedTuple):
    """A step of a plan in a profile."""
    kind: str
    seconds: float
    flops: float
    bytes: float


def kind_of(event, types):
    """Returns the kind of a step. `types` are the types of the net's layers, by name."""
    implementation = event["args"]["implementation"]
    if " times (" in implementation:
        return "loops over time steps, " + event["cat"]
    if not implementation.startswith("kernel"):
        words = implementation.split()
        return " ".join(words[:-1] + [words[-1].lower().replace("_", " ")])
    of_layers = {types.get(name) for name in event["name"].split("+")}
    for layer_type, kind in KERNELS:
        if layer_type in of_layers:
            return "{}, {}".format(kind, event["cat"])
    return "other kernels, " + event["cat"]


def steps_of(profile, types):
    """Returns the steps of each iteration in a profile, in the order of the plan."""
    events = profile["traceEvents"] if isinstance(profile, dict) else profile
    found = collections.defaultdict(list)
    for event in sorted((e for e in events if e.get("ph") == "X"), key=lambda e: e["ts"]):
        if "implementation" in event["args"]:
            found[event["cat"], event["args"]["step"]].append(Step(
                kind_of(event, types), event["dur"] / 1e6, event["args"].get("flops", 0),
                event["args"].get("bytes", 0)))
    return found


def fastest(profiles):
    """Returns the fastest run of each step in several results of steps_of()."""
    return [min((step for profile in profiles for step in profile[key]),
                key=lambda step: step.seconds) for key in profiles[0]]


def sums(steps):
    """Returns {kind: Step with the sums of its steps}, the longest first."""
    result = {}
    for step in steps:
        before = result.get(step.kind, Step(step.kind, 0, 0, 0))
        result[step.kind] = Step(step.kind, *(a + b for a, b in zip(before[1:], step[1:])))
    return dict(sorted(result.items(), key=lambda item: -item[1].seconds))


def copy_rate(brew):
    """Returns the bytes per second that a kernel reads and writes."""
    (brew.work / "copy.prototxt").write_text(COPY)
    brew.run("brewc", "copy.prototxt", "-o", "copy.plan")
    completed = brew.run("brew-run", "time", "copy.plan", "--random-input", "--iterations", 10)
    return COPY_BYTES / min(float(text) / 1e3 for text in COPIED.findall(completed.stderr))


def profile_net(brew, workload, precision, rounds):
    brew.compile(workload, precision)
    text = (brew.work / (workload.key + ".prototxt")).read_text()
    types = {layer["name"][0]: layer["type"][0] for layer in layers_of(parse(text), "TRAIN")}
    profiles = []
    for _ in range(rounds):
        brew.run("brew-run", "time", brew.plan(workload, precision), "--random-input",
                 "--iterations", 3, "--profile", "profile.json")
        profiles.append(steps_of(json.loads((brew.work / "profile.json").read_text()), types))
    return sums(fastest(profiles))


def print_table(title, kinds, flops_limit, bytes_limit):
    total = sum(kind.seconds for kind in kinds.values())
    print("\n{}: {:.1f} ms\n".format(title, total * 1e3))
    print("| kind | ms | share | GFLOP | of the peak | GB | of the bandwidth |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for kind in kinds.values():
        print("| {} | {:.2f} | {:.1f} % | {:.1f} | {:.0f} % | {:.2f} | {:.0f} % |".format(
            kind.kind, kind.seconds * 1e3, 100 * kind.seconds / total, kind.flops / 1e9,
            100 * kind.flops / kind.seconds / flops_limit, kind.bytes / 1e9,
            100 * kind.bytes / kind.seconds / bytes_limit))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--net", action="append", metavar="NET:BATCH",
                        help="default: " + ", ".join(NETS))
    parser.add_argument("--precision", action="append", choices=("f32", "bf16"),
                        help="default: both")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin",
                        help="folder of brewc and brew-run")
    parser.add_argument("--work-dir", type=Path, default=ROOT / "build/benchmarks/kinds")
    options = parser.parse_args()
    work = options.work_dir.resolve()
    work.mkdir(parents=True, exist_ok=True)
    brew = brew_side.Brew(options.bin.resolve(), work, options.threads)
    machine = host.describe(options.threads)
    print("{cpu} ({flags}), {threads} threads, load average {load}".format(
        **dict(machine, flags=", ".join(machine["flags"]))))
    peak.compile_products(brew)
    bytes_limit = copy_rate(brew)
    print("reading and writing: {:.1f} GB/s".format(bytes_limit / 1e9))
    for precision in options.precision or ("f32", "bf16"):
        flops_limit = peak.measure(brew, precision, 2)["flops_per_second"]
        print("{} products: {:.0f} GFLOP/s".format(precision, flops_limit / 1e9))
        for entry in options.net or NETS:
            net, batch = entry.split(":")
            workload = workloads.Workload(net, int(batch), "train")
            print_table("{}, {}".format(workload.title, precision),
                        profile_net(brew, workload, precision, options.rounds), flops_limit,
                        bytes_limit)


if __name__ == "__main__":
    main()
