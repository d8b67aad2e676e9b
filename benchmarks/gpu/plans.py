"""Compiles the plans of the rows of a package."""

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import schedule
from deploy import deploy_text
from timed_nets import (agree_shapes, prototxt_of, shape_flags, shapes_of,
                        shapes_text, solver_of, steps_of)

# Supported by every machine with a current GPU.
CPU = "x86-64-v3"
LOSSES_SOLVER = """net: "lenet.prototxt"
base_lr: 0.01
momentum: 0.9
weight_decay: 0.0005
lr_policy: "inv"
gamma: 0.0001
power: 0.75
display: 1
max_iter: 20
snapshot_prefix: "trained"
random_seed: 1
"""


class Plan(NamedTuple):
    """A plan: its name, brewc's source arguments, its target (cuda or cpu) and other flags.
    `arch` replaces the package's GPU architecture."""
    name: str
    source: list
    target: str
    flags: list
    arch: str = ""


def timed_name(row):
    name = "{}-{}-cuda-{}".format(row.net, row.mode, row.precision)
    return name + ("-" + row.detail.replace(" ", "-") if is_ablation(row) else "")


def is_ablation(row):
    return row.kind == "brew" and row.detail


def agree_name(row, target, precision):
    return "{}-{}-agree-{}-{}".format(row.net, row.mode, target, precision)


def losses_name(row):
    return "losses-" + row.detail


def timed_plan(row):
    flags = ["--precision=" + row.precision]
    if is_ablation(row):
        flags += schedule.ABLATIONS[row.detail]
    return Plan(timed_name(row), source_of(row.net, row.mode, shapes_of(row.net), ""), "cuda",
                flags)


def agree_plan(row, target, precision, flags=()):
    """With `flags`, the plan's name has the suffix -other."""
    return Plan(agree_name(row, target, precision) + ("-other" if flags else ""),
                source_of(row.net, row.mode, agree_shapes(row.net), "agree"), target,
                ["--precision=" + precision, *flags])


def losses_plan(row):
    settings = schedule.LOSSES[row.detail]
    return Plan(losses_name(row), [losses_solver(row)], "cuda", settings.get("flags", []),
                settings.get("arch", ""))


def losses_solver(row):
    return "losses_{}.prototxt".format(row.detail)


def plans_of(row):
    """Returns the plans that a row needs on the machine with the GPU."""
    if row.kind in ("brew", "kernels"):
        return [timed_plan(row)]
    if row.kind == "agree":
        return [agree_plan(row, "cuda", row.precision), agree_plan(row, "cpu", "f32")]
    if row.kind == "losses":
        return [losses_plan(row)]
    if row.kind == "sanitize" and row.net:
        return [agree_plan(row, "cuda", row.precision)]
    return []


def source_of(net, mode, shapes, purpose):
    """Returns brewc's source arguments: a file, and for training the input shapes, which nets
    for inference contain themselves."""
    if mode == "train":
        return [net + "_solver.prototxt"] + shape_flags(net, shapes)
    return [net + ("_scores" if purpose else "_deploy") + ".prototxt"]


def write_sources(folder, nets):
    """Writes the prototxt files of the nets to `folder`. Returns their entries of the
    index."""
    net_entries = {}
    for net in nets:
        text, small_shapes = prototxt_of(net), agree_shapes(net)
        net_entries[net] = {"inputs": shapes_text(shapes_of(net)),
                            "agree_inputs": shapes_text(small_shapes), "steps": steps_of(net)}
        for name, content in (
                ("", text), ("_solver", solver_of(net)),
                ("_deploy", deploy_text(text, shapes_of(net))),
                # Comparisons use scores, since probabilities hide differences.
                ("_scores", deploy_text(text, small_shapes, scores=True))):
            (folder / (net + name + ".prototxt")).write_text(content)
    for name, settings in schedule.LOSSES.items():
        (folder / "losses_{}.prototxt".format(name)).write_text(
            LOSSES_SOLVER + settings.get("solver", ""))
    return net_entries


def compile_all(brewc, folder, plans, archs):
    """Compiles `plans` in `folder`, several at once. Returns name -> entry of the index: file
    and figures, or the error."""
    distinct = {plan.name: plan for plan in plans}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda plan: compile_one(brewc, folder, plan, archs),
                           distinct.values())
        return dict(zip(distinct, results))


def compile_one(brewc, folder, plan, archs):
    command = [brewc, *plan.source, "-o", plan.name + ".plan", "--report=json",
               "--target=" + plan.target, *plan.flags]
    # The simulator replaces every GPU.
    arch = archs if archs == "sim" else plan.arch or archs
    command += (["--gpu-arch=" + arch] if plan.target == "cuda" else ["--cpu=" + CPU])
    completed = subprocess.run([str(word) for word in command], cwd=folder,
                               capture_output=True, text=True)
    if completed.returncode != 0:
        lines = [line for line in completed.stderr.strip().splitlines()
                 if "warning:" not in line] or ["brewc printed no error"]
        return {"error": lines[0]}
    programs = json.loads(completed.stdout)["programs"]
    timed = [programs[name] for name in ("forward_backward", "update", "deploy")
             if name in programs]
    return {"plan": plan.name + ".plan",
            "flops": sum(program["flops"] for program in timed),
            "bytes": sum(program["bytes"] for program in timed),
            "seconds": sum(program["roofline_seconds"] or 0 for program in timed),
            "launches": sum(program["kernels"] + program["calls"]
                            for program in timed)}
