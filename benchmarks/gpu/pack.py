"""Creates the package that scripts/gpu-check needs on a machine with a GPU.

The GPU machine has CUDA, cuDNN and Python with PyTorch, h5py and numpy, but neither LLVM nor
the shared libraries that Brew is linked with. The package contains these libraries and all
compiled plans. The checker of the recorded cases runs there unchanged: instead of brewc it
calls a script that returns the plan compiled here for the same arguments (plan_store.py).
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import cases
import compare
import cpu_reference
import plans
import schedule
import tool

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MIB = 1 << 20
# Maximum bytes of the package, and of the package plus the repository's tree as a tar file.
LIMIT, LIMIT_WITH_TREE = 34 * MIB, 60 * MIB
MODULES = ("numpy", "h5py")
# xz's largest dictionary: plans of one net have long common parts, some MiB apart.
PRESET = 9


class PackError(Exception):
    """The package cannot be created."""


def missing_modules():
    """Returns the required Python packages that this Python lacks."""
    return [module for module in MODULES if importlib.util.find_spec(module) is None]


def require_modules():
    """Raises PackError if a Python package is missing, before minutes of compilation."""
    missing = missing_modules()
    if missing:
        raise PackError("{} has no {}: apt-get install {}, or {} -m pip install {}".format(
            sys.executable, " and no ".join(missing),
            " ".join("python3-" + name for name in missing), sys.executable,
            " ".join(missing)))


def compile_cases(package, binaries, shared, archs):
    """Compiles the plans of the recorded cases: runs their checker with a brewc that stores
    its plans and a brew-run that does nothing."""
    ignore = shutil.ignore_patterns("lenet_mnist", "pycaffe", "data", "__pycache__")
    for folder in ("golden", "models"):
        shutil.copytree(shared / folder, package / folder, ignore=ignore)
    with tempfile.TemporaryDirectory() as folder:
        tools = Path(folder)
        shutil.copy(HERE / "plan_store.py", tools / "brewc")
        (tools / "brew-run").write_text("#!/bin/sh\nexit 0\n")
        for name in ("brewc", "brew-run"):
            (tools / name).chmod(0o755)
        environment = dict(os.environ, BREW_PLAN_STORE=str(package / "plans"),
                           BREW_PLAN_COMPILER=str(binaries / "brewc"))
        (package / "plans").mkdir()
        completed = subprocess.run(
            [sys.executable, package / "golden" / "check.py", "--bin", tools,
             "--target", "cuda", "--brewc-flags=" + cases.flags_of(archs)],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True)
        if not re.search(r"\d+ passed, \d+ failed", completed.stdout):
            raise PackError("the checker of the recorded cases failed:\n"
                            + completed.stdout[-2000:])


def make_bench(bench, binaries, rows, archs):
    """Compiles the plans of `rows` and computes the CPU references of their results. Returns
    the index of the package."""
    bench.mkdir()
    nets = sorted({row.net for row in rows if row.net})
    net_entries = plans.write_sources(bench, nets)
    bench_plans = [plan for row in rows for plan in plans.plans_of(row)]
    if any(row.kind == "losses" for row in rows):
        cpu_reference.make_records(binaries, ROOT / "examples" / "mnist" / "data", bench)
    compiled = plans.compile_all(binaries / "brewc", bench, bench_plans, archs)
    return {"rows": [row.name for row in rows], "nets": net_entries, "plans": compiled,
            "expected_errors": cpu_reference.agreement(binaries, bench, rows, net_entries, archs),
            "losses": cpu_reference.training(binaries, bench, rows, archs)}


def cpu_commands(package, index):
    """Returns arguments of brew-run that run a CPU plan of the package, with paths relative
    to the package's root folder."""
    commands = [["--version"]]
    for row in schedule.all_rows():
        if row.kind == "agree" and row.mode == "train" and row.name in index["rows"]:
            compare.write_inputs(package / "bench" / "inputs.h5",
                                 index["nets"][row.net]["agree_inputs"])
            plan = plans.agree_name(row, "cpu", "f32") + ".plan"
            commands.append(["eval", "/gpu-check/bench/" + plan, "--inputs",
                             "/gpu-check/bench/inputs.h5", "--outputs", "/tmp/o.h5",
                             "--gradients"])
            break
    return commands


def tree_bytes(root):
    """Returns the size of the repository's files as a tar file, which is copied along with
    the package."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], cwd=root, capture_output=True)
    paths = [root / os.fsdecode(name) for name in listed.stdout.split(b"\0") if name]
    sizes = [path.stat().st_size for path in paths if path.is_file()]
    return sum(512 + (size + 511) // 512 * 512 for size in sizes)


def require_small(output):
    """Returns both sizes as text. Raises PackError if one exceeds its limit."""
    size = output.stat().st_size
    total = size + tree_bytes(ROOT)
    text = "{}: {:.1f} MiB (at most {}); with the tree {:.1f} MiB (at most {})".format(
        output, size / MIB, LIMIT // MIB, total / MIB, LIMIT_WITH_TREE // MIB)
    if size > LIMIT or total > LIMIT_WITH_TREE:
        raise PackError(text)
    return text


def pack(binaries, shared, archs, output, rows):
    """Writes the package of `rows`. Returns lines of text about it: plans that could not be
    compiled, its size, and the test of its tool."""
    require_modules()
    for name in ("brewc", "brew-run", "brew-data"):
        if not (binaries / name).exists():
            raise PackError("there is no {} in {}: scripts/build release builds it".format(
                name, binaries))
    if not shared:
        rows = [row for row in rows
                if row.kind != "cases" and not row.name.startswith("sanitize cases")]
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "gpu-check"
        package.mkdir()
        try:
            tool.copy_tool(package, binaries)
            if shared:
                compile_cases(package, binaries, shared, archs)
            index = make_bench(package / "bench", binaries, rows, archs)
        except (tool.ToolError, cpu_reference.CpuReferenceError,
                compare.Disagreement) as error:
            raise PackError(str(error)) from error
        (package / "bench" / "index.json").write_text(json.dumps(index, indent=1))
        scripts = package / "benchmarks" / "gpu"
        shutil.copytree(HERE, scripts, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "scripts" / "gpu-check", package / "gpu-check")
        (package / "settings.json").write_text(json.dumps({"archs": archs}))
        commands = cpu_commands(package, index)
        with tarfile.open(output, "w:xz", preset=PRESET) as archive:
            archive.add(package, "gpu-check")
        sizes = require_small(output)
        unpacked = Path(folder) / "unpacked"
        with tarfile.open(output) as archive:
            archive.extractall(unpacked)
        try:
            isolation = tool.try_tool(Path(folder) / "root", unpacked / "gpu-check", commands)
        except tool.ToolError as error:
            raise PackError(str(error)) from error
    problems = ["left out: {}: {}".format(name, plan["error"])
                for name, plan in index["plans"].items() if "error" in plan]
    return problems + [sizes, "brew-run of the unpacked package ran {}: {}".format(
        isolation, ", ".join(words[0] for words in commands))]
