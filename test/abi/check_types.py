#!/usr/bin/env python3
"""Compares the types of a library's functions, and all that can be reached from them
(structures, enumerators, callbacks), with those recorded in NAME.abi.

The symbols of the library are compared elsewhere (check_symbols.py): here a program
that has a variable of each function's type is compiled with debug information, so
that no library need be built with it, and libabigail's abidw and abidiff read it.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("name", choices=["brew", "compiler"])
parser.add_argument("--cc", default="cc")
parser.add_argument("--update", action="store_true", help="record what there is now")
options = parser.parse_args()
symbols = os.path.join(HERE, options.name + ".symbols")
recorded = os.path.join(HERE, options.name + ".abi")

for tool in "abidw", "abidiff":
    if not shutil.which(tool):
        print(f"skipped: {tool} is not there; apt-get install abigail-tools")
        sys.exit(77)

with tempfile.TemporaryDirectory() as scratch:
    with open(scratch + "/types.c", "w") as file:
        file.write(f"#include <brew/{options.name}.h>\n")
        file.writelines(f"__typeof__(&{symbol}) {symbol}_type;\n"
                        for symbol in open(symbols).read().split())
    # By names without folders, which the dump would repeat.
    subprocess.run([options.cc, "-g", "-fPIC", "-shared", "-nostdlib", "-I",
                    os.path.join(HERE, "../../include"), "types.c", "-o", "types.so"],
                   cwd=scratch, check=True)
    if options.update:
        sys.exit(subprocess.run(
            ["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs",
             "--no-elf-needed", "--type-id-style", "hash", "--out-file", recorded,
             scratch + "/types.so"]).returncode)
    # What libabigail calls harmless, such as another enumerator, is to be meant too.
    found = subprocess.run(["abidiff", "--harmless", "--no-architecture", recorded,
                            scratch + "/types.so"]).returncode
if found:
    print(f"include/brew declares other types than {recorded} records. Programs compiled "
          "before must still work: functions, enumerators and fields at the end of sized "
          "structures may be added; all else raises the ABI version. Record what is meant "
          f"with: test/abi/check_types.py {options.name} --update")
sys.exit(found != 0)
