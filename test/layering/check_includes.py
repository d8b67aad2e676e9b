#!/usr/bin/python3
"""Fails if a source includes a header of a library above its own.

usage: check_includes.py SOURCE_FOLDER

LIBRARIES is the allowed graph: for each folder, the other folders whose headers its sources may
include. A folder that has no row belongs to the row of its parent. docs/architecture.md
draws the same graph.
"""
import os
import re
import sys

COMMON = ["support", "plan", "formats", "caffe"]
DIALECTS = COMMON + ["dialects"]
# A row of runtime/ may also include the rows of runtime/ before it.
RUNTIME = COMMON + ["runtime"]

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
    "runtime/options": RUNTIME,
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


def library_of(path):
    """Returns the row of a file, or None if the file is in no library."""
    folder = os.path.dirname(path)
    while folder and folder not in LIBRARIES:
        folder = os.path.dirname(folder)
    return folder or None


def included_headers(source, path):
    """Yields (line number, path from the top) of each header of the repository that a file
    includes."""
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
                file_library = library_of(path)
                if not file_library or not file.endswith((".h", ".cpp", ".inl", ".in")):
                    continue
                for number, header in included_headers(source, path):
                    header_library = library_of(header)
                    if header_library is None or header_library == file_library:
                        continue
                    edges += 1
                    if header_library not in LIBRARIES[file_library]:
                        problems.append(f"{path}:{number}: {file_library} may not include {header}")
    if problems or not edges:
        sys.exit("\n".join(problems) or f"{source}: no includes found")
    print(f"{edges} includes of other libraries, none of a library above")


main()
