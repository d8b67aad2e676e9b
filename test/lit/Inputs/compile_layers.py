"""Compiles every layer of test/reference that this version supports.

usage: compile_layers.py BREWC TEST_FOLDER FLAG...
"""
import os
import subprocess
import sys

brewc, folder, *flags = sys.argv[1:]
with open(os.path.join(folder, "values", "golden", "supported.txt")) as file:
    names = [line.split("#")[0].strip() for line in file]
compiled = 0
for name in names:
    net = os.path.join(folder, "reference", "layers", name + ".prototxt")
    if not name or not os.path.exists(net):
        continue
    for library_flags in ([], ["--no-library"]):
        command = [brewc, net, "--phase", "train", "--keep", "all", *flags, *library_flags]
        # A net without a loss has no gradients.
        result = subprocess.run(command + ["--gradients"], capture_output=True, text=True)
        if result.returncode == 1 and "no layer of the net has a loss weight" in result.stderr:
            result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode:
            sys.exit("%s\n%s" % (" ".join(command), result.stderr))
        compiled += 1
assert compiled > 40, "only %d layers were found" % compiled
