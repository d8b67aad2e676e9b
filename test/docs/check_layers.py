#!/usr/bin/python3
"""Checks that docs/layers.md lists every layer type of the prototxt frontend, with its settings.

usage: check_layers.py REPOSITORY [--print]

Reads the rows of layer types in frontends/prototxt/layers/*.cpp, and the tables of docs/layers.md
whose first column is a type and whose second one lists its messages of settings. --print prints the
rows of the code as a table, to begin new entries of the page with. Exit status: 1 if they differ.
"""
import glob
import os
import re
import sys

ROW = re.compile(r'(?:LayerKind\{|\b\w+Kind\()\s*"([A-Z]\w*)"')


def rows_of_code(root):
    """Returns a dict from layer type to its set of messages, such as relu_param."""
    rows = {}
    for path in sorted(glob.glob(os.path.join(root, "frontends/prototxt/layers/*.cpp"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for row in ROW.finditer(text):
            # Up to the end of this constructor, whose arguments contain no brackets.
            arguments = text[row.end():re.compile(r"[)}]").search(text, row.end()).start()]
            rows[row.group(1)] = set(" ".join(re.findall(r'"([^"]*)"', arguments)).split())
    return rows


def rows_of_page(text):
    """Returns the rows of the page in the form of rows_of_code, and the types listed twice."""
    rows, repeated = {}, []
    for line in text.split("\n"):
        row = re.match(r"\| `([A-Z]\w*)` \| ([^|]*) \|", line)
        if row:
            repeated += [row.group(1)] if row.group(1) in rows else []
            rows[row.group(1)] = set(re.findall(r"`(\w+)`", row.group(2)))
    return rows, repeated


def differences(code, page, repeated):
    for name in sorted(code.keys() - page.keys()):
        yield f"no row for layer type {name}"
    for name in sorted(page.keys() - code.keys()):
        yield f"{name} is no layer type of frontends/prototxt/layers"
    for name in repeated:
        yield f"{name} has two rows"
    for name in sorted(code.keys() & page.keys()):
        if code[name] != page[name]:
            yield f"the settings of {name} are {' '.join(sorted(code[name])) or 'none'}"


def main():
    root = sys.argv[1]
    code = rows_of_code(root)
    if "--print" in sys.argv:
        for name, settings in code.items():
            print(f"| `{name}` | {', '.join(f'`{s}`' for s in sorted(settings))} | | |")
        return
    path = os.path.join(root, "docs/layers.md")
    with open(path, encoding="utf-8") as file:
        found = list(differences(code, *rows_of_page(file.read())))
    for text in found:
        print(f"docs/layers.md: {text}")
    print(f"{len(code)} layer types, {len(found)} differences")
    if not code or found:
        sys.exit(1)


if __name__ == "__main__":
    main()
