#!/usr/bin/env python3
"""Compares the types of a library's functions, and all types reachable from them
(structures, enumerators, callbacks), with the types recorded in NAME.abi.

check_symbols.py compares the symbols of the library. This script compiles a program that
has a variable of each function's type with debug information, which libabigail's abidw
and abidiff read. The library itself does not need debug information.
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
parser.add_argument("--update", action="store_true", help="record the current types")
options = parser.parse_args()
symbols = os.path.join(HERE, options.name + ".symbols")
recorded = os.path.join(HERE, options.name + ".abi")

for tool in "abidw", "abidiff":
    if not shutil.which(tool):
        print(f"skipped: {tool} is not installed; apt-get install abigail-tools")
        sys.exit(77)

with tempfile.TemporaryDirectory() as scratch:
    with open(scratch + "/types.c", "w") as file:
        file.write(f"#include <brew/{options.name}.h>\n")
        file.writelines(f"__typeof__(&{symbol}) {symbol}_type;\n"
                        for symbol in open(symbols).read().split())
    # File names without folders, because the dump contains them.
    subprocess.run([options.cc, "-g", "-fPIC", "-shared", "-nostdlib", "-I",
                    os.path.join(HERE, "../../include"), "types.c", "-o", "types.so"],
                   cwd=scratch, check=True)
    if options.update:
        sys.exit(subprocess.run(
            ["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs",
             "--no-elf-needed", "--type-id-style", "hash", "--out-file", recorded,
             scratch + "/types.so"]).returncode)
    # Changes that libabigail calls harmless, such as a new enumerator, must be intended too.
    difference = subprocess.run(["abidiff", "--harmless", "--no-architecture", recorded,
                                 scratch + "/types.so"]).returncode
if difference:
    print(f"include/brew declares other types than {recorded}. Programs compiled before must "
          "still work: functions, enumerators and fields at the end of sized structures may be "
          "added; any other change raises the ABI version. Record an intended change with: "
          f"test/abi/check_types.py {options.name} --update")
sys.exit(difference != 0)
