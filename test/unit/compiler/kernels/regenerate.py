"""Regenerates the kernels of this folder from padded.prototxt and strided.prototxt, on generic
code, in both layouts.

usage: regenerate.py BREWC [FOLDER]       (FOLDER: the output folder; default: this folder)
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WHAT = """// Every kernel of a LeNet-like net on generic code: convolutions, poolings, inner
// products, loss, their gradients and the solver's update. By regenerate.py.
"""
CASES = {"padded_nchw": ("padded", "nchw", "f32"), "padded_nhwc": ("padded", "nhwc", "f32"),
         "padded_nhwc_f64": ("padded", "nhwc", "f64"),
         "strided_nchw": ("strided", "nchw", "f32"), "strided_nhwc": ("strided", "nhwc", "f32")}


def kernels(brewc, net, layout, precision):
    """Returns the aliases and kernels of a module of phase plan."""
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
        file.write(WHAT + kernels(brewc, *case))
