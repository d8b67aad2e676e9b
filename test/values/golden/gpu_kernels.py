#===- gpu_kernels.py - Every emitted kernel compiles for real GPUs ---------===#
"""Compiles the recorded cases for several GPUs. NVRTC needs no GPU for this.

Other tests compare the kernels' values on the simulator; this one compiles the
same sources with the compiler for real devices. Exits with status 77 (skipped)
if NVRTC is not available.
"""

import argparse
import os
import sys
import tempfile

from recorded_cases import (add_selection, find_case, run_layer_case,
                            selected_names)
from tools import Mismatch, Tools

SKIPPED = 77


def compile_layer(tools, base, scratch):
    import h5py
    with h5py.File(base + ".h5", "r") as recorded:
        gradients = ["--gradients"] if recorded.attrs["gradients"] else []
        phase = str(recorded.attrs["phase"]).lower()
    tools.compile(base + ".prototxt", "--phase", phase, "--keep", "all",
                  *gradients, "-o", os.path.join(scratch, "layer.plan"))


def compile_solver(tools, folder, scratch):
    tools.compile("solver.prototxt", "-o", os.path.join(scratch, "solver.plan"),
                  cwd=folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", required=True, help="folder of the tools")
    add_selection(parser)
    parser.add_argument("--archs", required=True, help="e.g. sm_75,sm_90")
    parser.add_argument("--brewc-flags", default="", help="e.g. --no-library")
    options = parser.parse_args()

    tools = Tools(options.bin, ["--target", "cuda", "--gpu-arch", options.archs,
                                *options.brewc_flags.split()])
    names = selected_names(options)
    failed = 0
    for name in names:
        try:
            kind, path = find_case(options.reference, name)
            compile_case = compile_layer if kind is run_layer_case else compile_solver
            with tempfile.TemporaryDirectory() as scratch:
                compile_case(tools, path, scratch)
        except Mismatch as mismatch:
            if "needs NVRTC" in str(mismatch):
                print(mismatch)
                return SKIPPED
            failed += 1
            print("FAIL %s: %s" % (name, mismatch))
        else:
            print("ok   %s" % name)
    print("%d of %d cases compile for %s" % (len(names) - failed, len(names),
                                             options.archs))
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
