#!/usr/bin/env python3
"""Says how large the arenas of plans are.

Compiles training steps of the nets in nets/ and prints the arena over what Caffe's
data and diff of all blobs would take, for the CPU in f32 and for a GPU in bf16; with
--prototxts, compiles every net of a folder and prints how far arenas lie above their
bounds, the largest sums of bytes that are alive at once. Nothing runs. See README.md
beside this file.
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
# What a prototxt may be: a net that is trained, and one that is not.
PHASES = (("--phase=train", "--gradients"), ("--phase=test",))
# An arena so much above its bound is as good as one at it.
CLOSE = 0.01
# Seconds for one net of a folder.
LIMIT = 120
# As from a data layer: it comes anew for each step, and lasts no longer than it is
# read. What a caller brings (Input) has a place of its own all the time.
ANEW = """layer {{ name: "{blob}" type: "DummyData" top: "{blob}" dummy_data_param {{
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
                        help="compile all nets below it instead")
    parser.add_argument("--work-dir", type=Path,
                        default=ROOT / "build/benchmarks")
    parser.add_argument("--markdown", action="store_true")
    return parser.parse_args()


def program_of(compiler, words):
    """What brewc reports of the only or the training program of a plan."""
    done = compiler.run("brewc", *words, "--report=json")
    programs = json.loads(done.stdout)["programs"]
    return programs.get("forward_backward") or next(iter(programs.values()))


def rows_of_net(options, compiler, net):
    workload = workloads.Workload(net, options.batch, "train")
    text = workloads.training_text(workloads.prototxt_of(net), workload.shapes,
                                   ANEW)
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
    """{phase: arena over bound} of the phases in which a prototxt compiles."""
    gaps = {}
    for phase in PHASES:
        try:
            done = run([options.bin.resolve() / "brewc", path, *phase,
                        "--report=json", *options.flag], 1,
                       options.work_dir.resolve(), LIMIT)
        except MeasureError:
            continue  # no net, or one whose data is elsewhere
        for program in json.loads(done.stdout)["programs"].values():
            memory = program["memory"]
            if memory["lower_bound_bytes"]:
                gaps[phase[0]] = (memory["arena_bytes"]
                                  / memory["lower_bound_bytes"] - 1)
    return gaps


def print_gaps(options):
    found = []
    for path in sorted(options.prototxts.resolve().rglob("*.prototxt")):
        for phase, gap in gaps_of(options, path).items():
            found.append((gap, path.relative_to(options.prototxts.resolve()), phase))
    if not found:
        sys.exit("arena.py: no net below %s compiles" % options.prototxts)
    close = sum(gap <= CLOSE for gap, _, _ in found)
    print("%d programs; the arena of %d (%.1f %%) is within %g %% of its bound, that "
          "of %d at it" % (len(found), close, 100 * close / len(found), 100 * CLOSE,
                           sum(gap == 0 for gap, _, _ in found)))
    for gap, path, phase in sorted(found, reverse=True)[:20]:
        if gap > CLOSE:
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
