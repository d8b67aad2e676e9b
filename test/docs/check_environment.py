#!/usr/bin/python3
"""Checks that docs/environment.md lists the environment variables that the sources read.

usage: check_environment.py REPOSITORY

Reads the names in calls of getenv and in the forms that the sources use around it, and the names
in the first columns of the page's tables. Exit status: 1 if they differ.
"""
import glob
import os
import re
import sys

FOLDERS = ("compiler", "extras", "python/brew", "python/caffe", "runtime", "support", "tools")
NAME = r'"([A-Z][A-Za-z0-9_]*[A-Za-z0-9])"'
READS = (
    re.compile(rf"\bgetenv\(\s*{NAME}\)"),
    re.compile(rf"\b(?:boolean|count|integer|text)\(\s*{NAME}"),  # helpers that call getenv
    re.compile(rf"\bk\w*Variable\[\] =\s*{NAME}"),
    re.compile(rf"\benviron(?:\.get\(|\[)\s*{NAME}"),
)
LOOP = re.compile(r"for \(const char \*variable : \{([^}]*)\}")
# Set by one program of Brew for another one.
PRIVATE = {"BREW_CALLER"}
# Of MPI's launchers, in the proxies of Python's ranks: they only pass them on.
PRIVATE |= {"OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_RANK"}


def names_of_code(text):
    if "getenv" not in text and "environ" not in text and "Variable[]" not in text:
        return set()
    names = {name for pattern in READS for name in pattern.findall(text)}
    for loop in LOOP.findall(text):
        names |= set(re.findall(NAME, loop))
    return names


def names_of_page(text):
    """Returns the names in the first column of the tables."""
    return {name for row in re.findall(r"^\| ([^|]*`[^|]*) \|", text, re.M)
            for name in re.findall(r"`(\w+)`", row)}


def differences(code, page):
    for name in sorted(code - page):
        yield f"the sources read {name}, which is not listed"
    for name in sorted(page - code):
        yield f"no source reads {name}"


def main():
    root, code = sys.argv[1], set()
    for folder in FOLDERS:
        for path in glob.glob(os.path.join(root, folder, "**/*"), recursive=True):
            if path.endswith((".cpp", ".h", ".py")):
                with open(path, encoding="utf-8") as file:
                    code |= names_of_code(file.read())
    code -= PRIVATE
    with open(os.path.join(root, "docs/environment.md"), encoding="utf-8") as file:
        found = list(differences(code, names_of_page(file.read())))
    for text in found:
        print(f"docs/environment.md: {text}")
    print(f"{len(code)} variables, {len(found)} differences")
    sys.exit(1 if found or not code else 0)


if __name__ == "__main__":
    main()
