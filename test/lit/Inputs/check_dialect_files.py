"""Fails if an operation that a .td file of a dialect defines is missing in the dialect's
reference page, or if no test checks the coverage of the file's operations.

usage: check_dialect_files.py SOURCE_FOLDER PAGES_FOLDER DIALECT_FOLDER DIALECT

The page is generated from a list of these files; this script finds files missing in the list.
"""
import glob
import os
import re
import sys

source, pages, folder, dialect = sys.argv[1:]
page = open(os.path.join(pages, folder + ".md")).read()
covered_files = set()
for test in glob.glob(os.path.join(source, "test/lit/dialects/**/*.mlir"), recursive=True):
    for line in open(test):
        if "RUN:" in line and "check_op_coverage.py" in line:
            covered_files |= set(re.findall(r"%source/(\S+\.td)", line))

problems, seen = [], 0
root = os.path.join(source, "dialects", folder)
for path in sorted(glob.glob(os.path.join(root, "**/*.td"), recursive=True)):
    names = re.findall(r'^def \w+Op : \w+<"(\w+)"', open(path).read(), re.M)
    seen += len(names)
    problems += [f"{path}: {dialect}.{name} is not in {folder}.md"
                 for name in names if f"### `{dialect}.{name}`" not in page]
    if names and os.path.relpath(path, source) not in covered_files:
        problems.append(f"{path}: no test checks the coverage of its operations")
if problems or not seen:
    sys.exit("\n".join(problems) or f"{root}: no operations")
