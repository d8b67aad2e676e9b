#!/usr/bin/python3
"""Checks that README's table of times and memory has the values of docs/performance.md.

usage: check_readme.py REPOSITORY

A row `| NET (BATCH) | PyTorch / Brew | MB / MB | ONNX Runtime / Brew | OpenVINO / Brew |` must have
the f32 values of NET in the tables Training and Inference of docs/performance.md. Exit status: 1 if
a value differs or there is no row.
"""
import os
import re
import sys

ROW = re.compile(r"\| ([\w -]+) \((\d+)\) \| ([\d.]+) \| (\d+) / (\d+) \| ([\d.]+) \| ([\d.]+) \|")


def rows_of_table(text, heading):
    """Returns a dict from 'NET, BATCH' to a dict of the f32 row's cells by column."""
    table = text[text.index(f"\n### {heading}\n"):]
    lines = [line for line in table[:table.index("\n### ", 1)].split("\n") if line.startswith("|")]
    columns = [cell.strip() for cell in lines[0].strip("|").split("|")]
    rows = {}
    for line in lines[2:]:
        row = dict(zip(columns, (cell.strip() for cell in line.strip("|").split("|"))))
        if row["type"] == "f32":
            rows[row["net, batch"]] = row
    return rows


def differences(readme, performance):
    training = rows_of_table(performance, "Training")
    inference = rows_of_table(performance, "Inference")
    rows = ROW.findall(readme)
    if not rows:
        yield "the table of times is missing"
    for net, batch, *values in rows:
        trained, run = training.get(f"{net}, {batch}"), inference.get(f"{net}, 1")
        if not trained or not run:
            yield f"docs/performance.md has no {net} with batch {batch} and with batch 1"
            continue
        expected = [trained["PyTorch / Brew"],
                    *("%.0f" % float(trained[column]) for column in ("Brew MB", "PyTorch MB")),
                    run["ONNX Runtime / Brew"], run["OpenVINO / Brew"]]
        if values != expected:
            yield f"{net}: has {' '.join(values)} instead of {' '.join(expected)}"


def main():
    texts = []
    for path in ("README.md", "docs/performance.md"):
        with open(os.path.join(sys.argv[1], path), encoding="utf-8") as file:
            texts.append(file.read())
    found = list(differences(*texts))
    for text in found:
        print(f"README.md: {text}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
