"""Writes the .mlir files of this folder: the kernels of padded.prototxt and strided.prototxt
without library calls, in several layouts and precisions.

usage: regenerate.py BREWC [FOLDER]       (FOLDER: the output folder; default: this folder)
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
HEADER = """// All kernels of a LeNet-like net without library calls: convolutions, poolings, inner
// products, loss, their gradients and the solver's update. Written by regenerate.py.
"""
CASES = {"padded_nchw": ("padded", "nchw", "f32"), "padded_nhwc": ("padded", "nhwc", "f32"),
         "padded_nhwc_f64": ("padded", "nhwc", "f64"),
         "strided_nchw": ("strided", "nchw", "f32"), "strided_nhwc": ("strided", "nhwc", "f32")}


def compile_kernels(brewc, net, layout, precision):
    """Compiles a net up to phase plan; returns a module with only its aliases and kernels."""
    text = subprocess.run(
        [brewc, os.path.join(HERE, net + ".prototxt"), "--solver",
         os.path.join(HERE, "solver.prototxt"), "--no-library", "--layout", layout,
         "--precision", precision, "--emit=plan"],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    aliases = re.findall(r"^#.*\n", text, re.M)
    blocks = re.findall(r"^  plan\.kernel .*?^  }\n", text, re.M | re.S)
    if not blocks:
        sys.exit("brewc printed no kernels")
    return "".join(aliases) + "module {\n" + "".join(blocks) + "}\n"


brewc, folder = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else HERE
for name, case in CASES.items():
    with open(os.path.join(folder, name + ".mlir"), "w") as file:
        file.write(HEADER + compile_kernels(brewc, *case))
