#!/usr/bin/env python3
"""Measures how brewc's time grows with a net's depth.

Compiles pre-activation ResNets for CIFAR-10 (He et al. 2016, bottleneck
blocks, training with momentum) of several depths and prints the seconds of
each phase and of the slowest passes, the peak memory, and the slope of time
against depth on logarithmic scales (1: time is linear). See README.md in this
folder.
"""

import argparse
import math
import re
import sys
from pathlib import Path

import brew_side
import tables
from process import MeasureError, run

ROOT = Path(__file__).resolve().parent.parent
DEPTHS = (110, 218, 434, 1001)
PHASES = ("import", "graph", "fused", "plan", "kernels")
# Three stages of blocks with three convolutions each. Each stage has (depth - 2) / 9 blocks,
# rounded down; the 2 are the first convolution and the last inner product.
LAYERS_PER_ROUND = 9
# `0.1234 ( 5.6%)  Name`; passes are indented more than phases.
TIMING = re.compile(r"^\s+(\d+\.\d+) \(\s*\d+\.\d+%\)  (\s*)(\w+)$", re.M)

DATA = """name: "preresnet{depth}"
layer {{ name: "data" type: "DummyData" top: "data" top: "label"
  dummy_data_param {{
    shape {{ dim: {batch} dim: 3 dim: 32 dim: 32 }} shape {{ dim: {batch} }}
    data_filler {{ type: "gaussian" std: 1 }}
    data_filler {{ type: "uniform" min: 0 max: 9.9 }} }} }}
"""
CONVOLUTION = """layer {{ name: "{name}" type: "Convolution" bottom: "{bottom}"
  top: "{name}" convolution_param {{ num_output: {channels} kernel_size: {kernel}
    stride: {stride} pad: {pad} bias_term: false
    weight_filler {{ type: "msra" }} }} }}
"""
ACTIVATION = """layer {{ name: "{name}_bn" type: "BatchNorm" bottom: "{bottom}"
  top: "{name}" }}
layer {{ name: "{name}_scale" type: "Scale" bottom: "{name}" top: "{name}"
  scale_param {{ bias_term: true }} }}
layer {{ name: "{name}_relu" type: "ReLU" bottom: "{name}" top: "{name}" }}
"""
SUM = """layer {{ name: "{name}" type: "Eltwise" bottom: "{branch}"
  bottom: "{shortcut}" top: "{name}" }}
"""
HEAD = """layer {{ name: "pool" type: "Pooling" bottom: "{bottom}" top: "pool"
  pooling_param {{ pool: AVE global_pooling: true }} }}
layer {{ name: "fc" type: "InnerProduct" bottom: "pool" top: "fc"
  inner_product_param {{ num_output: 10 weight_filler {{ type: "msra" }} }} }}
layer {{ name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label"
  top: "loss" }}
"""


def convolution(name, bottom, channels, kernel, stride=1):
    return CONVOLUTION.format(name=name, bottom=bottom, channels=channels,
                              kernel=kernel, stride=stride, pad=kernel // 2)


def block(name, bottom, width, stride, first):
    """Returns the layers of a bottleneck block; the last top is `name`."""
    text = ACTIVATION.format(name=name + "_a", bottom=bottom)
    shortcut = bottom
    if first:
        shortcut = name + "_shortcut"
        text += convolution(shortcut, name + "_a", 4 * width, 1, stride)
    text += convolution(name + "_conv1", name + "_a", width, 1)
    text += ACTIVATION.format(name=name + "_b", bottom=name + "_conv1")
    text += convolution(name + "_conv2", name + "_b", width, 3, stride)
    text += ACTIVATION.format(name=name + "_c", bottom=name + "_conv2")
    text += convolution(name + "_conv3", name + "_c", 4 * width, 1)
    return text + SUM.format(name=name, branch=name + "_conv3",
                             shortcut=shortcut)


def resnet(depth, batch):
    """Returns the prototxt of the net."""
    text = DATA.format(depth=depth, batch=batch)
    text += convolution("conv0", "data", 16, 3)
    bottom = "conv0"
    for stage in range(3):
        for number in range((depth - 2) // LAYERS_PER_ROUND):
            name = "stage{}_{}".format(stage + 1, number + 1)
            first = number == 0
            text += block(name, bottom, 16 << stage,
                          2 if first and stage else 1, first)
            bottom = name
    text += ACTIVATION.format(name="last", bottom=bottom)
    return text + HEAD.format(bottom="last")


def compile_net(arguments, depth):
    """Compiles a net; returns (total seconds, {phase or pass: seconds}, peak MB)."""
    net = "preresnet{}".format(depth)
    (arguments.work_dir / (net + ".prototxt")).write_text(
        resnet(depth, arguments.batch))
    solver = net + "_solver.prototxt"
    brew_side.write_solver(arguments.work_dir, solver, net + ".prototxt", 1)
    completed = run([arguments.brewc, solver, "-o", net + ".plan", "--mlir-timing"]
                    + arguments.flag, 1, arguments.work_dir)
    seconds = {}
    for value, _, name in TIMING.findall(completed.stderr):
        seconds[name] = seconds.get(name, 0) + float(value)
    return seconds.pop("Total"), seconds, completed.peak_bytes / (1 << 20)


def slope(points):
    """Returns the slope of the least-squares line through (log x, log y)."""
    logs = [(math.log(x), math.log(y)) for x, y in points if y > 0]
    if len(logs) < 2:
        return None
    x_mean = sum(x for x, _ in logs) / len(logs)
    y_mean = sum(y for _, y in logs) / len(logs)
    return (sum((x - x_mean) * (y - y_mean) for x, y in logs)
            / sum((x - x_mean) ** 2 for x, _ in logs))


def table_row(name, depths, values, digits=2):
    slope_of_row = slope(list(zip(depths, values)))
    return [name] + ["{:.{}f}".format(value, digits) for value in values] + [
        "" if slope_of_row is None else "{:.2f}".format(slope_of_row)]


def table_rows(arguments, results):
    """Returns the table's rows: total, phases, slowest passes, and memory."""
    depths = [depth for depth, _, _, _ in results]
    table = [table_row("all, seconds", depths, [total for _, total, _, _ in results])]
    last = results[-1][2]
    passes = sorted((name for name in last
                     if name not in PHASES and name != "Rest"),
                    key=last.get, reverse=True)[:arguments.passes]
    for name in [phase for phase in PHASES if phase in last] + passes:
        label = name if name in PHASES else "pass " + name
        table.append(table_row(label, depths, [seconds.get(name, 0)
                                               for _, _, seconds, _ in results]))
    table.append(table_row("memory, MB", depths,
                           [memory for _, _, _, memory in results], 0))
    return table


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brewc", type=Path,
                        default=ROOT / "build/release/bin/brewc")
    parser.add_argument("--depth", type=int, action="append",
                        help="layers of a net (may be repeated; default: {})"
                        .format(", ".join(str(depth) for depth in DEPTHS)))
    parser.add_argument("--batch", type=int, default=8,
                        help="images in a batch")
    parser.add_argument("--passes", type=int, default=5,
                        help="number of passes to show: the slowest of the deepest net")
    parser.add_argument("--flag", action="append", default=[],
                        help="passed to brewc (may be repeated), such as"
                             " --flag=--precision=bf16")
    parser.add_argument("--work-dir", type=Path,
                        default=ROOT / "build/benchmarks",
                        help="folder for nets and plans")
    parser.add_argument("--markdown", action="store_true",
                        help="print a Markdown table")
    arguments = parser.parse_args()
    arguments.depth = sorted(set(arguments.depth or DEPTHS))
    if arguments.depth[0] < LAYERS_PER_ROUND + 2 or arguments.batch < 1:
        parser.error("--depth must be at least {} and --batch at least 1"
                     .format(LAYERS_PER_ROUND + 2))
    for name in ("brewc", "work_dir"):
        setattr(arguments, name, getattr(arguments, name).resolve())
    return arguments


def main():
    arguments = parse_arguments()
    try:
        arguments.work_dir.mkdir(parents=True, exist_ok=True)
        results = []
        for depth in arguments.depth:
            print("{} layers".format(depth), file=sys.stderr, flush=True)
            results.append((depth,) + compile_net(arguments, depth))
    except (MeasureError, OSError) as error:
        print("compile.py: {}".format(error), file=sys.stderr)
        return 1
    print("\n".join(tables.render(
        ["layers"] + [str(depth) for depth in arguments.depth] + ["slope"],
        table_rows(arguments, results), arguments.markdown)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
