#!/usr/bin/python3
"""Prints the tests that a run of ctest skipped, and fails if they are more than allowed.

usage: skipped.py JUNIT_FILE [MAXIMUM]

A test is skipped if the machine or the checkout lacks something. A run that skips too many tests
succeeds without testing enough.
"""
import sys
import xml.etree.ElementTree as ElementTree


def main():
    maximum = int(sys.argv[2]) if len(sys.argv) > 2 else None
    skipped = sorted(case.get("name") for case in ElementTree.parse(sys.argv[1]).iter("testcase")
                     if case.find("skipped") is not None)
    print(f"{len(skipped)} test{'s' * (len(skipped) != 1)} skipped"
          + ("" if maximum is None else f", at most {maximum} allowed"))
    for name in skipped:
        print(f"  {name}")
    if maximum is not None and len(skipped) > maximum:
        sys.exit("too many skipped tests: does the machine lack something?")


main()
