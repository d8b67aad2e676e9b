#!/usr/bin/python3
"""Fails if a source includes a header of a library above its own.

usage: check_includes.py SOURCE_FOLDER

LIBRARIES is the allowed graph: each folder with the folders whose headers its sources may include,
beside its own. A folder that has no row belongs to the row of its parent. docs/architecture.md
draws the same graph.
"""
import os
import re
import sys

COMMON = ["support", "plan", "formats", "caffe"]
DIALECTS = COMMON + ["dialects"]
RUNTIME = COMMON + ["runtime"]  # of a row: and the rows of runtime/ before it

LIBRARIES = {
    "support": [],
    "plan": ["support"],
    "formats": ["support", "plan"],
    "caffe": ["support", "plan", "formats"],

    "dialects": COMMON,
    "frontends/prototxt": COMMON,
    "frontends/prototxt/import": DIALECTS + ["frontends/prototxt"],
    "passes": DIALECTS,
    "passes/analysis": DIALECTS + ["passes"],
    "passes/graph": DIALECTS + ["passes", "passes/analysis"],
    "passes/fused": DIALECTS + ["passes", "passes/analysis", "passes/graph"],
    "passes/plan": DIALECTS + ["passes", "passes/analysis", "passes/graph", "passes/fused"],

    "compiler/kernels": DIALECTS,
    "compiler": DIALECTS + ["frontends/prototxt", "frontends/prototxt/import", "passes",
                            "passes/analysis", "passes/graph", "passes/fused", "passes/plan",
                            "compiler/kernels"],

    "runtime": COMMON,
    "runtime/detection": RUNTIME,
    "runtime/host_layers": RUNTIME,
    "runtime/executor": RUNTIME,
    "runtime/comm": RUNTIME,
    "runtime/cpu": RUNTIME,
    "runtime/cuda": RUNTIME,
    "runtime/opencv": RUNTIME,
    "runtime/log": RUNTIME,
    "runtime/events": RUNTIME,
    "runtime/data": RUNTIME,
    "runtime/session": RUNTIME,
    "runtime/caffe_log": RUNTIME,
    "runtime/train": RUNTIME,
    "runtime/api": RUNTIME,
    "extras": RUNTIME,

    "tools": RUNTIME + ["compiler"],
    "tools/monitor": COMMON,
}
RUNTIME_ROWS = [name for name in LIBRARIES if name.startswith("runtime/")]
for number, name in enumerate(RUNTIME_ROWS):
    LIBRARIES[name] = LIBRARIES[name] + RUNTIME_ROWS[:number]
for name in ("extras", "tools"):
    LIBRARIES[name] = LIBRARIES[name] + RUNTIME_ROWS
LIBRARIES["tools"] += ["tools/monitor"]


def library(path):
    """The row of a file, or None if it is in no library."""
    folder = os.path.dirname(path)
    while folder and folder not in LIBRARIES:
        folder = os.path.dirname(folder)
    return folder or None


def included(source, path):
    """The headers of the repository that a file includes, by their paths from the top."""
    with open(os.path.join(source, path), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = re.match(r'\s*#include "([^"]+)"', line)
            if match:
                yield number, match.group(1)


def main():
    source = sys.argv[1]
    problems, edges = [], 0
    for top in sorted({name.split("/")[0] for name in LIBRARIES}):
        for folder, _, files in os.walk(os.path.join(source, top)):
            for file in sorted(files):
                path = os.path.relpath(os.path.join(folder, file), source)
                own = library(path)
                if not own or not file.endswith((".h", ".cpp", ".inl", ".in")):
                    continue
                for number, header in included(source, path):
                    other = library(header)
                    if other is None or other == own:
                        continue
                    edges += 1
                    if other not in LIBRARIES[own]:
                        problems.append(f"{path}:{number}: {own} may not include {header}")
    if problems or not edges:
        sys.exit("\n".join(problems) or f"{source}: no includes found")
    print(f"{edges} includes of other libraries, none of a library above")


main()
