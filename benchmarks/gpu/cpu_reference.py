"""Computes CPU references for results on a GPU: expected errors and losses."""

import math
import re
import shutil
import subprocess

import compare
import schedule
from deploy import statistics_of, write_statistics
from plans import Plan, agree_plan, compile_all, losses_solver
from prototxt import parse

LOSS = re.compile(r"Iteration (\d+)[^\n]*?, loss = (\S+)")
# Smallest tolerance for the relative deviation of losses: the effect of another summation order
# after 20 iterations.
MIN_TOLERANCE = 1e-3
USED_SHARE = 0.128  # of 10,000 digits: 20 batches of 64


class CpuReferenceError(Exception):
    """A CPU plan cannot be compiled or run."""


def run(command, folder):
    completed = subprocess.run([str(word) for word in command], cwd=folder,
                               capture_output=True, text=True)
    if completed.returncode != 0:
        raise CpuReferenceError("{}: {}".format(" ".join(map(str, command)),
                                             completed.stderr.strip()[-600:]))
    return completed.stderr


def weights_flags(folder, net, mode):
    """Returns brew-run's flags for the weights of a net: statistics of BatchNorm layers for
    inference. Training computes its own."""
    channels = mode == "infer" and statistics_of(parse(
        (folder / (net + "_deploy.prototxt")).read_text()))
    if not channels:
        return []
    path = folder / (net + ".weights.h5")
    write_statistics(path, channels)
    return ["--weights", path, "--allow-missing-weights"]


def eval_command(tool, folder, plan, net, mode, inputs, outputs):
    return ([tool, "eval", plan, "--inputs", inputs, "--outputs", outputs]
            + weights_flags(folder, net, mode)
            + (["--gradients"] if mode == "train" else []))


def reference_plan(row):
    """Returns the CPU plan that determines the expected error: a plan of the same precision
    (bf16 for tf32, which CPUs lack); for f32, one that sums in another order."""
    if row.precision == "f32":
        return agree_plan(row, "cpu", "f32", ["--no-library"])
    return agree_plan(row, "cpu", "bf16" if row.precision == "tf32" else row.precision)


def agreement(tools, folder, rows, net_entries, archs):
    """Returns row name -> dataset -> error of a CPU plan of the row's precision against one in
    f32. Compiles both plans in `folder` and deletes those that are not packed."""
    agree_rows = [row for row in rows if row.kind == "agree"]
    plans = {row.name: (agree_plan(row, "cpu", "f32"), reference_plan(row))
             for row in agree_rows}
    compiled = compile_all(tools / "brewc", folder,
                           [plan for pair in plans.values() for plan in pair], archs)
    result = {}
    for row in agree_rows:
        inputs = folder / "reference_inputs.h5"
        compare.write_inputs(inputs, inputs_of(
            net_entries[row.net]["agree_inputs"], row.mode))
        outputs = []
        for plan in plans[row.name]:
            if "error" in compiled[plan.name]:
                raise CpuReferenceError("{}: {}".format(plan.name,
                                                     compiled[plan.name]["error"]))
            outputs.append(folder / (plan.name + ".h5"))
            run(eval_command(tools / "brew-run", folder, plan.name + ".plan", row.net,
                             row.mode, inputs, outputs[-1]), folder)
        result[row.name] = compare.errors(outputs[1], outputs[0])
        try:
            compare.groups_of(result[row.name])
        except compare.Disagreement as error:
            raise CpuReferenceError("{}: {}".format(row.name, error)) from error
        for path in [inputs, *outputs]:
            path.unlink()
    packed = {pair[0].name for pair in plans.values()}
    for name in set(compiled) - packed:
        (folder / (name + ".plan")).unlink(missing_ok=True)
    return result


def inputs_of(texts, mode):
    """Returns the BLOB=d,d,... texts that a mode reads: inference reads no labels, which have
    one dimension."""
    return [text for text in texts if mode == "train" or "," in text.split("=")[1]]


def losses_of(log):
    """Returns the losses of the iterations in the log of a training run."""
    return [float(loss) for _, loss in LOSS.findall(log)]


def make_records(tools, mnist, folder):
    """Creates an LMDB of the first digits of MNIST."""
    run([tools / "brew-data", "mnist", mnist / "t10k-images-idx3-ubyte.gz",
         mnist / "t10k-labels-idx1-ubyte.gz", "all_lmdb"], folder)
    run([tools / "brew-data", "split", "all_lmdb", "mnist_lmdb={}".format(USED_SHARE),
         "other_lmdb={}".format(1 - USED_SHARE)], folder)
    for name in ("all_lmdb", "other_lmdb"):
        shutil.rmtree(folder / name)


def training(tools, folder, rows, archs):
    """Returns name of schedule.LOSSES -> the CPU's losses in f32 and the tolerance: three times
    the deviation of a CPU plan of the same precision."""
    result = {}
    for row in rows:
        if row.kind != "losses":
            continue
        precision = [flag for flag in schedule.LOSSES[row.detail].get("flags", [])
                     if flag.startswith(("--precision", "--loss-scale"))]
        plans = [Plan("losses-{}-{}".format(row.detail, name), [losses_solver(row)],
                      "cpu", flags)
                 for name, flags in (("exact", []), ("rounded", precision))]
        compiled = compile_all(tools / "brewc", folder, plans, archs)
        losses = []
        for plan in plans:
            if "error" in compiled[plan.name]:
                raise CpuReferenceError("{}: {}".format(plan.name,
                                                     compiled[plan.name]["error"]))
            losses.append(losses_of(run([tools / "brew-run", "train",
                                         plan.name + ".plan"], folder)))
        for path in [*folder.glob("trained_iter_*"),
                     *(folder / (name + ".plan") for name in compiled)]:
            path.unlink()
        exact, rounded = losses
        if len(exact) < 20 or len(rounded) != len(exact):
            raise CpuReferenceError("losses {}: {} and {} were displayed".format(
                row.detail, len(exact), len(rounded)))
        result[row.detail] = {"losses": exact, "tolerance": max(
            MIN_TOLERANCE, compare.ACCEPTED * deviation(rounded, exact))}
    return result


def deviation(losses, expected):
    """Returns the largest relative difference; infinity if a loss is not finite."""
    if not all(map(math.isfinite, losses)):
        return math.inf  # max() ignores NaNs
    return max(abs(a - b) / abs(b) for a, b in zip(losses, expected))
