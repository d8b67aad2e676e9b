#!/usr/bin/env python3
"""Writes Brew's documentation as texts to learn from: train.txt, and test.txt with every tenth page.

usage: make_text.py DOCS FOLDER

Both files begin with all characters, so that their vocabularies are equal. Characters other than
printable ASCII and line ends are left out.
"""
import os
import sys

CHARACTERS = "\n" + "".join(chr(code) for code in range(32, 127))


def pages(folder):
    """Returns the texts of all Markdown files below a folder, in order of their names."""
    names = sorted(os.path.join(path, name) for path, _, files in os.walk(folder) for name in files
                   if name.endswith(".md"))
    texts = []
    for name in names:
        with open(name, encoding="utf-8") as file:
            texts.append("".join(c for c in file.read() if c in CHARACTERS))
    return texts


def main():
    texts = pages(sys.argv[1])
    for name, chosen in (("train.txt", [t for i, t in enumerate(texts) if i % 10]), ("test.txt", texts[::10])):
        with open(os.path.join(sys.argv[2], name), "w", encoding="ascii") as file:
            file.write(CHARACTERS + "\n" + "\n".join(chosen))


if __name__ == "__main__":
    main()
