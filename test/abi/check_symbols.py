"""Compares a shared library's exported symbols with a list, and with the functions that
its header and the Brew headers included by it declare."""
import argparse
import os
import re
import subprocess
import sys


def exported_symbols(nm, library):
    out = subprocess.run([nm, "-D", "--defined-only", library], check=True,
                         capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines()}


def header_texts(root, name, seen):
    """Yields the text of <brew/NAME>, then of the headers it includes that are not in `seen`."""
    seen.add(name)
    text = open(os.path.join(root, name)).read()
    yield re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for included in re.findall(r"^#include <brew/(.*)>", text, flags=re.M):
        if included not in seen:
            yield from header_texts(root, included, seen)


def declared_symbols(header):
    root, name = os.path.split(header)
    return {symbol for text in header_texts(root, name, set())
            for symbol in re.findall(r"BREW_API\b[^;(]*?\b(brew_\w+)\s*\(", text)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("library")
    parser.add_argument("list")
    parser.add_argument("header")
    args = parser.parse_args()
    exported = exported_symbols(args.nm, args.library)
    differs = False
    for source, expected in ((args.list, set(open(args.list).read().split())),
                             (args.header, declared_symbols(args.header))):
        for symbol in sorted(exported - expected):
            print(f"{args.library} exports {symbol}, which is not in {source}")
        for symbol in sorted(expected - exported):
            print(f"{args.library} lacks {symbol}, which is in {source}")
        differs |= exported != expected
    sys.exit(differs)


main()
