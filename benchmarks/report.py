#!/usr/bin/env python3
"""Prints the tables of a file of results (see run.py), or writes them into a page."""

import argparse
import sys
import textwrap
from pathlib import Path

import host
import workloads
from records import Records
from tables import Results

NAMES = {"torch": "PyTorch", "onnxruntime": "ONNX Runtime",
         "openvino": "OpenVINO", "opencv": "OpenCV", "caffe": "BVLC Caffe"}
BEGIN, END = "<!-- generated: benchmarks/report.py", "<!-- end -->"
MODES = {"train": "Training", "infer": "Inference"}
WIDTH = 96


class ReportError(Exception):
    """There are no results, or the page has no markers."""


def paragraph(text):
    return textwrap.wrap(text, WIDTH, break_long_words=False,
                         break_on_hyphens=False)


def machine(results):
    """Returns the machine, the date, the versions and the command of the measurement."""
    runs = results.records.of("run")
    if not runs:
        raise ReportError("the file of results contains no run")
    run = runs[0]
    vector_flags = [flag for flag in run["flags"] if not flag.startswith("amx")]
    text = ("Measured on {}, on {} ({} CPUs, {:.0f} GB; {}; {}), {} threads, load "
            "average at the start {:.2f}.").format(
        run["date"], run["cpu"], run["cpus"], run["memory_bytes"] / 1e9,
        ", ".join(vector_flags) or "no AVX2",
        "AMX" if "amx_bf16" in run["flags"] else "no AMX", run["threads"],
        run["load"])
    versions = ["Brew " + run["brew"]]
    versions += ["{} {}".format(NAMES[peer], version)
                 for peer, version in results.records.versions().items()
                 if peer in NAMES]
    if host.is_busy(run["load"], run["cpus"]):
        text += " **Other work was running**: the times are distorted."
    text += " Versions: {}.".format(", ".join(versions))
    peaks = ["{} {:.0f} GFLOP/s ({} x {})".format(
        precision, peak["flops_per_second"] / 1e9, peak["size"], peak["size"])
        for precision, peak in results.peaks.items()]
    if peaks:
        text += (" Peak (oneDNN's fastest square matrix product): {}."
                 .format(", ".join(peaks)))
    if len(runs) > 1:
        text += " The run was interrupted and resumed {}.".format(
            "once" if len(runs) == 2 else "%d times" % (len(runs) - 1))
    ends = [entry["kind"] for entry in results.records.entries
            if entry["kind"] in ("run", "done")]
    if ends[-1] != "done":
        text += (" **The run is not finished**: measurements missing below were "
                 "not reached.")
    return [*paragraph(text), "", "To repeat the measurement:", "", "    " + run["command"]]


def legend(results):
    rounds = results.records.of("run")[0]["rounds"]
    return paragraph(
        "{} {}. A time is the median of the rounds' medians; min is the shortest step "
        "of all rounds. A training step is a forward pass, a backward pass and an "
        "update by SGD with momentum and weight decay. Inference runs the net with "
        "probabilities instead of the loss. The batch is in memory. 'PEER / Brew' is "
        "the median time of the peer's fastest form, divided by Brew's for the same "
        "type; 'of minima' is this ratio for the min of PyTorch and Brew. GFLOP/s are "
        "computed from the operations that `brewc --report` counts for the f32 plan (a "
        "multiplication and an addition are two). MB are the peak memory of the whole "
        "process."
        .format(rounds, "interleaved rounds" if rounds > 1 else "round"))


def not_measured(results, keys):
    """Returns a list of the missing measurements with their reasons, as lines."""
    lines = []
    for program, reason, workload_titles in results.reasons(keys):
        scope = "" if len(workload_titles) == len(keys) else " ({})".format(
            ", ".join(workload_titles) if len(workload_titles) <= 3 else
            "{} of {} workloads".format(len(workload_titles), len(keys)))
        lines += textwrap.wrap("- {}: not measured: {}{}".format(
            program, reason.rstrip("."), scope), WIDTH, subsequent_indent="  ",
            break_long_words=False, break_on_hyphens=False)
    return lines


def overview(results, markdown=True):
    """Returns everything except the details: [(heading, lines)]."""
    sections = []
    for mode, heading in MODES.items():
        table = results.summary(mode, markdown)
        if table:
            sections.append((heading, table))
    loops = results.loops(markdown)
    if loops:
        sections.append(("Training loops with a database", loops))
    reasons = []
    for mode, heading in MODES.items():
        keys = [key for key in results.records.workloads
                if workloads.workload_of(key).mode == mode]
        lines = not_measured(results, keys)
        if lines:
            reasons += [heading + ":", ""] + lines + [""]
    if reasons:
        sections.append(("Not measured", reasons[:-1]))
    compilation = results.compilation(markdown)
    if compilation:
        sections.append(("Compile time and memory", compilation))
    return sections


def workload_lines(results, key, markdown):
    """Returns the table of one workload, with the reasons of missing values."""
    reasons = not_measured(results, [key])
    return results.details(key, markdown) + ([""] + reasons if reasons else [])


def full_report(records, markdown=True):
    """Returns the complete report of a file of results, as lines."""
    results = Results(records)
    lines = machine(results) + [""] + legend(results) + [""]
    sections = overview(results, markdown)
    sections += [("Every program: " + workloads.workload_of(key).title,
                  results.details(key, markdown))
                 for key in records.workloads]
    for heading, section in sections:
        lines += ["### " * markdown + heading, ""] + section + [""]
    return lines[:-1]


def rewrite(page, lines):
    """Returns the page's text with these lines between the markers."""
    before, begin, after_begin = page.partition(BEGIN)
    marker, newline, old_text = after_begin.partition("\n")
    _, end, after = old_text.partition(END)
    if not (begin and newline and end):
        raise ReportError("the page lacks the line '{} ... -->' or, after it, the "
                          "line '{}'".format(BEGIN, END))
    return "".join([before, begin, marker, "\n\n", "\n".join(lines), "\n\n", end,
                    after])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="file that run.py wrote")
    parser.add_argument("--write", type=Path, metavar="PAGE",
                        help="write the report between the markers of this page")
    parser.add_argument("--markdown", action="store_true",
                        help="print Markdown")
    arguments = parser.parse_args()
    try:
        if not arguments.results.exists():
            raise ReportError("{} does not exist".format(arguments.results))
        records = Records(arguments.results)
        lines = full_report(records, arguments.markdown or bool(arguments.write))
        if arguments.write:
            arguments.write.write_text(rewrite(arguments.write.read_text(),
                                               lines))
        else:
            print("\n".join(lines))
    except (ReportError, OSError) as error:
        print("report.py: {}".format(error), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
