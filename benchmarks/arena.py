#!/usr/bin/env python3
"""Prints the arena sizes of plans.

Compiles training steps of the nets in nets/ and prints the arena size, and its ratio to
the size of data and diff of all blobs in Caffe, for the CPU in f32 and for a GPU in bf16.
With --prototxts, compiles every net of a folder and prints how far the arenas exceed their
lower bounds, the largest sum of bytes that are live at the same time. No plan is run. See
README.md in this folder.
"""

import argparse
import json
import sys
from pathlib import Path

import brew_side
import tables
import workloads
from process import MeasureError, run

ROOT = Path(__file__).resolve().parent.parent
NETS = ("alexnet", "googlenet", "resnet50", "vgg16", "mobilenet", "squeezenet")
TARGETS = {"f32": [], "bf16": ["--target=cuda", "--gpu-arch=sm_90",
                               "--precision=bf16"]}
# A prototxt is compiled as a training net and as an inference net.
PHASES = (("--phase=train", "--gradients"), ("--phase=test",))
# An arena that exceeds its bound by at most this ratio counts as optimal.
NEAR_OPTIMAL = 0.01
# Time limit for one net of a folder, in seconds.
TIME_LIMIT = 120
# Declares the data as a data layer does: each step reads a new batch, whose memory is reused
# after its last use. The blob of an Input layer occupies its memory all the time.
DUMMY_DATA = """layer {{ name: "{blob}" type: "DummyData" top: "{blob}" dummy_data_param {{
  shape {{ {dims} }} data_filler {{ type: "uniform" }} }} }}
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin",
                        help="folder of brewc")
    parser.add_argument("--net", action="append", choices=sorted(workloads.TITLES),
                        help="may be repeated; default: " + " ".join(NETS))
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--precision", action="append", choices=TARGETS,
                        help="f32 is for the CPU, bf16 for a GPU; may be repeated; "
                             "default: both")
    parser.add_argument("--flag", action="append", default=[],
                        help="for brewc, such as --without=PASS; may be repeated")
    parser.add_argument("--prototxts", type=Path, metavar="FOLDER",
                        help="compile all nets below this folder instead")
    parser.add_argument("--work-dir", type=Path,
                        default=ROOT / "build/benchmarks")
    parser.add_argument("--markdown", action="store_true")
    return parser.parse_args()


def program_of(compiler, arguments):
    """Returns brewc's report on the only or the training program of a plan."""
    completed = compiler.run("brewc", *arguments, "--report=json")
    programs = json.loads(completed.stdout)["programs"]
    return programs.get("forward_backward") or next(iter(programs.values()))


def rows_of_net(options, compiler, net):
    workload = workloads.Workload(net, options.batch, "train")
    text = workloads.training_text(workloads.prototxt_of(net), workload.shapes,
                                   DUMMY_DATA)
    (compiler.work / (workload.key + "-arena.prototxt")).write_text(text)
    source = workload.key + "-arena_solver.prototxt"
    brew_side.write_solver(compiler.work, source,
                           workload.key + "-arena.prototxt", 1)
    rows = []
    for precision in options.precision or TARGETS:
        program = program_of(compiler, [source, *TARGETS[precision],
                                        *options.flag])
        memory = program["memory"]
        arena = memory["arena_bytes"]
        rows.append([workload.title, precision, "%.1f" % (arena / 1e6),
                     "%.3f" % (arena / max(memory["lower_bound_bytes"], 1)),
                     "%.3f" % (arena / memory["caffe_bytes"]),
                     "%.3f" % (program["roofline_seconds"] * 1e3)])
    return rows


def gaps_of(options, path):
    """Returns {phase: excess of the arena over its bound} for the phases that compile."""
    gaps = {}
    for phase in PHASES:
        try:
            completed = run([options.bin.resolve() / "brewc", path, *phase,
                             "--report=json", *options.flag], 1,
                            options.work_dir.resolve(), TIME_LIMIT)
        except MeasureError:
            continue  # not a net, or its data is missing
        for program in json.loads(completed.stdout)["programs"].values():
            memory = program["memory"]
            if memory["lower_bound_bytes"]:
                gaps[phase[0]] = (memory["arena_bytes"]
                                  / memory["lower_bound_bytes"] - 1)
    return gaps


def print_gaps(options):
    excesses = []
    for path in sorted(options.prototxts.resolve().rglob("*.prototxt")):
        for phase, gap in gaps_of(options, path).items():
            excesses.append((gap, path.relative_to(options.prototxts.resolve()), phase))
    if not excesses:
        sys.exit("arena.py: no net in %s compiles" % options.prototxts)
    near_optimal = sum(gap <= NEAR_OPTIMAL for gap, _, _ in excesses)
    print("%d programs; %d arenas (%.1f %%) are within %g %% of their bound, %d are "
          "equal to it" % (len(excesses), near_optimal, 100 * near_optimal / len(excesses),
                           100 * NEAR_OPTIMAL,
                           sum(gap == 0 for gap, _, _ in excesses)))
    for gap, path, phase in sorted(excesses, reverse=True)[:20]:
        if gap > NEAR_OPTIMAL:
            print("%5.1f %%  %s %s" % (100 * gap, path, phase))


def main():
    options = parse_arguments()
    options.work_dir.mkdir(parents=True, exist_ok=True)
    if options.prototxts:
        print_gaps(options)
        return
    compiler = brew_side.Brew(options.bin.resolve(), options.work_dir.resolve(), 1)
    rows = []
    for net in options.net or NETS:
        rows += rows_of_net(options, compiler, net)
    print("\n".join(tables.render(
        ["net", "type", "arena, MB", "over its bound", "over Caffe's",
         "step by the roofline, ms"], rows, options.markdown, left=2)))


if __name__ == "__main__":
    main()
