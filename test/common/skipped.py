#!/usr/bin/python3
"""Prints the tests that a run of ctest skipped, and fails if they are more than allowed.

usage: skipped.py JUNIT_FILE [MOST]

A test is skipped where the machine or the checkout lacks something. Too many of them mean that a
run is green by accident.
"""
import sys
import xml.etree.ElementTree as ElementTree


def main():
    most = int(sys.argv[2]) if len(sys.argv) > 2 else None
    skipped = sorted(case.get("name") for case in ElementTree.parse(sys.argv[1]).iter("testcase")
                     if case.find("skipped") is not None)
    print(f"{len(skipped)} test{'s' * (len(skipped) != 1)} skipped" + ("" if most is None else f", at most {most} allowed"))
    for name in skipped:
        print(f"  {name}")
    if most is not None and len(skipped) > most:
        sys.exit("too many skipped tests: does the machine lack something?")


main()
