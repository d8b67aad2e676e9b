#!/usr/bin/env python3
"""Tables of the machine code of a plan's kernels; needs nvdisasm, but no GPU.

usage: sass.py [--brewc FILE] [--nvdisasm FILE] [--kernels] [NET | PLAN]...

Compiles training steps of benchmark nets in bf16 for sm_90 (default: all nets), or reads plans,
and prints a line of figures for each net, and with --kernels a line for each kernel."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cubin
from timed_nets import NETS, prototxt_of, shape_flags, solver_of

ARCH = "sm_90"
SOURCES = (*NETS, "lstm")  # the shapes of lstm are in its prototxt
COLUMNS = (  # title, digits, figure of a kernel
    ("kernels", 0, lambda k: k.count), ("MB", 1, lambda k: k.bytes / 1e6),
    ("stages", 0, lambda k: k.stages), ("threads", 0, lambda k: k.threads),
    ("registers", 0, lambda k: k.registers), ("shared", 0, lambda k: k.shared),
    ("resident", 0, lambda k: k.resident_threads), ("instr.", 0, lambda k: k.instructions),
    ("barriers", 0, lambda k: k.barriers), ("loads", 0, lambda k: k.loads),
    ("stores", 0, lambda k: k.stores), ("spills", 0, lambda k: k.spills),
    ("in loops: spills", 0, lambda k: k.loop_spills),
    ("param. loads", 0, lambda k: k.parameter_loads),
    ("instr./element", 1, lambda k: k.per_element))


def find_nvdisasm():
    """Returns the path of nvdisasm, from PATH, a CUDA toolkit or a Python wheel, or None."""
    found = shutil.which("nvdisasm")
    folders = [Path(os.environ.get("CUDA_HOME") or "/usr/local/cuda", "bin")]
    for folder in map(Path, sys.path):
        folders += [folder / "nvidia/cu13/bin", folder / "triton/backends/nvidia/bin"]
    files = [folder / "nvdisasm" for folder in folders]
    return found or next((str(file) for file in files if os.access(file, os.X_OK)), None)


def compile_plan(brewc, net, folder):
    """Compiles a training step of `net` in `folder`. Returns the plan's path."""
    (folder / (net + ".prototxt")).write_text(prototxt_of(net))
    (folder / (net + "_solver.prototxt")).write_text(solver_of(net))
    command = [brewc, net + "_solver.prototxt", "--target=cuda", "--gpu-arch=" + ARCH,
               "--precision=bf16", "-o", net + ".plan"]
    command += shape_flags(net, NETS[net]) if net in NETS else []
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("{}: {}".format(net, done.stderr.strip()))
    return folder / (net + ".plan")


def kernels_of(plan, nvdisasm):
    """Returns a record of figures for each distinct machine code of the plan."""
    records = {}
    with tempfile.TemporaryDirectory() as folder:
        for kernel in cubin.kernels_of_plan(plan.read_bytes(), ARCH):
            if kernel.symbol in records:
                records[kernel.symbol].count += 1
                records[kernel.symbol].bytes += kernel.bytes
                continue
            file = Path(folder) / "kernel.cubin"
            file.write_bytes(kernel.code)
            text = subprocess.run([nvdisasm, "-c", file], capture_output=True, text=True,
                                  check=True).stdout
            record = SimpleNamespace(**vars(kernel), count=1, **cubin.resources(kernel),
                                     **cubin.figures(text))
            record.resident_threads = cubin.resident_threads(record)
            records[kernel.symbol] = record
    return list(records.values())


def totals(kernels):
    """Returns the figures of a net: sums over all launches' kernels, weighted by bytes where
    the figure is a rate."""
    moved = sum(k.bytes for k in kernels)

    def weighted(figure):
        return sum(figure(k) * k.bytes for k in kernels) / moved

    return {"kernels": sum(k.count for k in kernels), "codes": len(kernels), "GB": moved / 1e9,
            "instructions": sum(k.instructions for k in kernels),
            "spilling": sum(k.loop_spills > 0 for k in kernels),
            "spills": sum(k.loop_spills for k in kernels),
            "GB_spilling": sum(k.bytes for k in kernels if k.loop_spills) / 1e9,
            "parameter_loads": weighted(lambda k: k.parameter_loads),
            "per_element": weighted(lambda k: k.per_element),
            "resident": weighted(lambda k: k.resident_threads)}


def print_kernels(kernels):
    print("\t".join([title for title, _, _ in COLUMNS] + ["name"]))
    for kernel in sorted(kernels, key=lambda k: -k.bytes):
        print("\t".join(["{:.{}f}".format(figure(kernel), digits)
                         for _, digits, figure in COLUMNS] + [kernel.symbol]))


def print_totals(rows):
    """Prints a Markdown table of (net, totals)."""
    titles = list(rows[0][1])
    print("| net | " + " | ".join(titles) + " |")
    print("|---" * (len(titles) + 1) + "|")
    for net, figures in rows:
        cells = ["{:.1f}".format(value) if isinstance(value, float) else str(value)
                 for value in figures.values()]
        print("| {} | {} |".format(net, " | ".join(cells)))


def main():
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="*", default=list(SOURCES), metavar="NET | PLAN")
    parser.add_argument("--brewc", default=str(root / "build/release/bin/brewc"))
    parser.add_argument("--nvdisasm", default=find_nvdisasm())
    parser.add_argument("--kernels", action="store_true", help="print a line for each kernel")
    options = parser.parse_args()
    if not options.nvdisasm:
        sys.exit("sass.py: nvdisasm not found; install the wheel nvidia-cuda-nvdisasm")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for source in options.sources:
            plan = Path(source)
            if source in SOURCES:
                plan = compile_plan(Path(options.brewc).resolve(), source, Path(folder))
            kernels = kernels_of(plan, options.nvdisasm)
            rows.append((source, totals(kernels)))
            if options.kernels:
                print_kernels(kernels)
    print_totals(rows)


if __name__ == "__main__":
    main()
