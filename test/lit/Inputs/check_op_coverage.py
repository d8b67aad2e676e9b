"""Fails if an operation of a dialect does not occur in a round-trip test.

usage: check_op_coverage.py TEST.mlir DIALECT FILE.td..."""
import re
import sys

test, dialect, *sources = sys.argv[1:]
code = "\n".join(line.split("//")[0] for line in open(test))
names = set()
for source in sources:
    # def X : Base<"mnemonic"...: the bases are the dialect's own op classes.
    names |= set(re.findall(r'^def \w+Op : \w+<"(\w+)"', open(source).read(), re.M))
missing = sorted(n for n in names if not re.search(rf"\b{dialect}\.{n}\b", code))
if not names or missing:
    sys.exit(f"{test}: no round trip of {missing or 'anything'}")
