"""Packs what scripts/gpu-check needs on a machine with a GPU.

That machine has CUDA, cuDNN and Python with PyTorch, h5py and numpy, but neither
LLVM nor the shared libraries Brew is linked with: those travel beside the tool,
and every plan is compiled here. The recorded cases' own checker runs there
unchanged: it finds, in place of brewc, a script that hands out the plan compiled
here for the same arguments (plan_store.py).
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

from deploy import deploy_text

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIMIT = 40 << 20

# Nets of benchmarks/nets that are timed, with the shapes of their data tops. What
# this version cannot compile is left out and named.
NETS = {
    "lenet": {"data": (64, 1, 28, 28), "label": (64,)},
    "cifar10_quick": {"data": (100, 3, 32, 32), "label": (100,)},
    "alexnet": {"data": (128, 3, 227, 227), "label": (128,)},
    "googlenet": {"data": (128, 3, 224, 224), "label": (128,)},
    "vgg16": {"data": (64, 3, 224, 224), "label": (64,)},
    "resnet50": {"data": (128, 3, 224, 224), "label": (128,)},
    "squeezenet": {"data": (128, 3, 227, 227), "label": (128,)},
    "mobilenet": {"data": (128, 3, 224, 224), "label": (128,)},
}
# Steps that are timed: many where one is short.
STEPS = {"lenet": 50, "cifar10_quick": 50}
FEWER_STEPS = 20
# Batches in which the GPU's results are compared with the CPU's.
AGREE_BATCH = 8
# Passes that a model of the GPU speaks for and nothing else yet: each is left out of
# a training step of its own, measured beside the whole one.
CHOICES = {"resnet50": ("gather-gradients", "join-launches", "offer-kernels",
                        "pad-channels"),
           "googlenet": ("join-launches", "fuse-sums"),
           "lenet": ("join-launches",)}
CHOICE_PRECISION = "bf16"
PRECISIONS = ("f32", "tf32", "bf16")
MODES = ("train", "infer")
# PyTorch's, see torch_step.py; first the one that is fastest as a rule and does
# not take minutes to compile.
VARIANTS = ("compile_graph", "channels_last", "compile_autotune", "compile",
            "eager")

SOLVER = """net: "{net}"
base_lr: 0.001
momentum: 0.9
weight_decay: 0.0005
lr_policy: "fixed"
max_iter: 10
snapshot_after_train: false
random_seed: 1
"""
TEST_FIELDS = "test_iter: 1\ntest_interval: 1000000\n"


class PackError(Exception):
    """The package cannot be made."""


def shapes_text(shapes):
    return ["{}={}".format(blob, ",".join(map(str, dims)))
            for blob, dims in shapes.items()]


def prototxt_of(net):
    return (HERE.parent / "nets" / (net + ".prototxt")).read_text()


def smaller(shapes):
    """The same shapes with the batch of a comparison."""
    return {blob: (min(dims[0], AGREE_BATCH),) + dims[1:]
            for blob, dims in shapes.items()}


def shape_flags(net, shapes):
    """What gives a net these shapes; a data layer keeps a batch of its own, and
    synthetic data have all but the batch."""
    flags = ["--batch={}".format(shapes["data"][0])]
    if "DummyData" not in prototxt_of(net):
        flags += ["--input-shape=" + text for text in shapes_text(shapes)]
    return flags


def compile_bench(brewc, folder, archs, nets):
    """Compiles every net, mode and precision, and smaller ones to compare."""
    folder.mkdir(parents=True)
    index = {}
    for net in nets:
        few = smaller(NETS[net])
        entry = index[net] = {"inputs": shapes_text(NETS[net]),
                              "agree_inputs": shapes_text(few),
                              "steps": STEPS.get(net, FEWER_STEPS),
                              "plans": {}}
        text = prototxt_of(net)
        (folder / (net + ".prototxt")).write_text(text)
        # Compared are scores: probabilities hide much of a difference.
        (folder / (net + "_deploy.prototxt")).write_text(
            deploy_text(text, NETS[net]))
        (folder / (net + "_scores.prototxt")).write_text(
            deploy_text(text, few, scores=True))
        solver = SOLVER.format(net=net + ".prototxt")
        if re.search(r"phase:\s*TEST", text):
            solver += TEST_FIELDS
        (folder / (net + "_solver.prototxt")).write_text(solver)
        targets = [("cuda", precision) for precision in PRECISIONS]
        wanted = [(target, precision, "", NETS[net])
                  for target, precision in targets]
        wanted += [(target, precision, "agree-", few)
                   for target, precision in targets + [("cpu", "f32")]]
        for target, precision, purpose, shapes in wanted:
            for mode in MODES:
                name = "{}-{}-{}{}-{}".format(net, mode, purpose, target,
                                              precision)
                entry["plans"][name] = compile_one(
                    brewc, folder, source_of(net, mode, purpose, shapes), mode,
                    target, precision, archs, name)
        for choice in CHOICES.get(net, ()):
            name = "{}-train-cuda-{}-without-{}".format(net, CHOICE_PRECISION,
                                                        choice)
            entry["plans"][name] = compile_one(
                brewc, folder, source_of(net, "train", "", NETS[net])
                + ["--without=" + choice], "train", "cuda", CHOICE_PRECISION,
                archs, name)
    (folder / "index.json").write_text(json.dumps(index, indent=1))
    return index


def source_of(net, mode, purpose, shapes):
    """What brewc is given for a plan: a file, and flags for its shapes, which a
    net for inference has of itself."""
    if mode == "train":
        return [net + "_solver.prototxt"] + shape_flags(net, shapes)
    return [net + ("_scores" if purpose else "_deploy") + ".prototxt"]


def compile_one(brewc, folder, source, mode, target, precision, archs, name):
    command = [brewc] + source + ["-o", name + ".plan", "--report=json",
                                  "--target=" + target,
                                  "--precision=" + precision]
    command += (["--gpu-arch=" + archs] if target == "cuda"
                else ["--cpu=x86-64-v3"])
    done = subprocess.run([str(word) for word in command], cwd=folder,
                          capture_output=True, text=True)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["it says nothing"]
        return {"error": lines[0]}
    programs = json.loads(done.stdout)["programs"]
    timed = (["forward_backward", "update"] if mode == "train"
             else ["deploy"])
    return {"plan": name + ".plan",
            "flops": sum(programs[p]["flops"] for p in timed),
            "bytes": sum(programs[p]["bytes"] for p in timed),
            "launches": sum(programs[p]["kernels"] + programs[p]["calls"]
                            for p in timed)}


def compile_cases(package, binaries, shared, archs):
    """Runs the cases' checker with a brewc that keeps its plans, and a brew-run
    that does nothing: every plan is compiled before it is first run."""
    for folder in ("golden", "models"):
        shutil.copytree(shared / folder, package / folder,
                        ignore=shutil.ignore_patterns("lenet_mnist", "__pycache__"))
    with tempfile.TemporaryDirectory() as folder:
        stubs = Path(folder)
        shutil.copy(HERE / "plan_store.py", stubs / "brewc")
        (stubs / "brew-run").write_text("#!/bin/sh\nexit 0\n")
        for stub in ("brewc", "brew-run"):
            (stubs / stub).chmod(0o755)
        environment = dict(os.environ, BREW_PLAN_STORE=str(package / "plans"),
                           BREW_PLAN_COMPILER=str(binaries / "brewc"))
        (package / "plans").mkdir()
        for target, flags in case_flags(archs):
            done = subprocess.run(
                [sys.executable, package / "golden" / "check.py", "--bin", stubs,
                 "--target", target, "--brewc-flags=" + flags],
                env=environment, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True)
            if not re.search(r"\d+ passed, \d+ failed", done.stdout):
                raise PackError("the checker of the recorded cases failed:\n"
                                + done.stdout[-2000:])


def case_flags(archs):
    return (("cuda", "--gpu-arch=" + archs), ("cpu", "--cpu=x86-64-v3"))


# The C library comes from the machine itself; a copy is for one that is older.
SYSTEM = re.compile(r"/(ld-linux|libc\.|libm\.|libpthread\.|libdl\.|librt\.)")


def copy_tool(package, binaries):
    """brew-run and the libraries it is linked with; it looks for them in
    ../lib/brew-run."""
    (package / "bin").mkdir()
    libraries = package / "lib" / "brew-run"
    libraries.mkdir(parents=True)
    tool = binaries / "brew-run"
    shutil.copy(tool, package / "bin")
    shutil.copy(HERE / "plan_store.py", package / "bin" / "brewc")
    (package / "bin" / "brewc").chmod(0o755)
    system = package / "lib" / "system"
    system.mkdir()
    for line in subprocess.run(["ldd", str(tool)], capture_output=True,
                               text=True, check=True).stdout.splitlines():
        match = re.match(r"\s*(?:\S+ => )?(/\S+)", line)
        if match:
            path = Path(match.group(1))
            shutil.copy(path, (system if SYSTEM.search(str(path))
                               else libraries) / path.name)


def pack(binaries, shared, archs, output, nets):
    """Writes the package; returns its size and what could not be compiled."""
    # Before minutes of compilation. Cases are read here, weights written.
    for module in ("numpy", "h5py"):
        if importlib.util.find_spec(module) is None:
            raise PackError("{} has no {}: install python3-{}, or run this by a "
                            "Python that has it".format(sys.executable, module,
                                                        module))
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "gpu-check"
        package.mkdir()
        copy_tool(package, binaries)
        if shared:
            compile_cases(package, binaries, shared, archs)
        index = compile_bench(binaries / "brewc", package / "bench", archs, nets)
        scripts = package / "benchmarks" / "gpu"
        shutil.copytree(HERE, scripts,
                        ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "scripts" / "gpu-check", package / "gpu-check")
        (package / "settings.json").write_text(json.dumps({"archs": archs}))
        # Plans of one net have much in common, some MiB apart: the largest
        # preset sees it.
        with tarfile.open(output, "w:xz", preset=9) as archive:
            archive.add(package, "gpu-check")
    size = output.stat().st_size
    if size > LIMIT:
        raise PackError("{} has {:.1f} MiB; at most {} are wanted".format(
            output, size / (1 << 20), LIMIT >> 20))
    problems = ["{}: {}".format(name, plan["error"])
                 for entry in index.values()
                 for name, plan in entry["plans"].items() if "error" in plan]
    return size, problems
