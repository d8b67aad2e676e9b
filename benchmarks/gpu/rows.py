"""A function for each kind of row. It takes the package and the row, and returns the row's
result. It raises RowFailed if a check fails."""

import json
import math
import re
import shutil
import statistics
import sys
from collections import defaultdict

import cases
import compare
import cpu_reference
import plans
import processes
import schedule
from package import RowFailed

MEASURED = re.compile(r"Average on the GPU: \S+ ms\. "
                      r"\(median (\S+), min (\S+)\)")
INITIAL_LOSS = re.compile(r"Initial loss: (\S+)")
NODES = re.compile(r"CUDA graph: (\d+) nodes; GPU memory: (\d+) bytes")
PROFILED = 5  # number of kernels that Nsight Compute profiles
SECTIONS = ("SpeedOfLight", "MemoryWorkloadAnalysis", "Occupancy", "LaunchStats")
SANITIZER_FAILED = 99
# The kernel of a finding of compute-sanitizer: "at [0x90 in ]kernel(...)".
FINDING = re.compile(r"^=+\s+at (?:0x\w+ in )?(\w+)", re.MULTILINE)


def machine(package, row):
    """Returns Brew's description of the GPU, and the paths of the libraries."""
    version = package.prepare_tool()
    query = package.call([package.tool, "device-query", "-gpu", "0"]).stderr
    if shutil.which("nvidia-smi"):
        package.call(["nvidia-smi"])
    return {"version": version, "libraries": package.libraries,
            "python": sys.version.split()[0],
            "query": [line.split("] ", 1)[-1] for line in query.splitlines()]}


def rates(package, row):
    """Measures the rates of copies and matrix products, for the roofline."""
    return json.loads(package.python("rates.py").stdout)


def brew(package, row):
    """Times a plan. Writes time and bytes of every step to a file beside the log."""
    plan = package.plan(plans.timed_name(row))
    trace = package.log(".trace.json")
    # One batch for all iterations, since generating data takes longer than measuring.
    log = package.call([package.tool, "time", plan["plan"], "--random-input",
                        "--iterations", package.index["nets"][row.net]["steps"],
                        "--profile", trace, *package.engines(),
                        *cpu_reference.weights_flags(package.bench, row.net,
                                                  row.mode)]).stderr
    loss = INITIAL_LOSS.search(log)
    if loss and not math.isfinite(float(loss.group(1))):
        raise RowFailed("the loss is " + loss.group(1))
    times, graphs = MEASURED.findall(log), NODES.findall(log)
    if not times or not graphs:
        raise RowFailed("brew-run printed no time on the GPU")
    steps = steps_of(trace)
    trace.unlink()
    write_steps(package.log(".steps.tsv"), steps)
    median, least = map(float, times[-1])
    nodes, memory = map(int, graphs[-1])
    return {"median": median / 1e3, "least": least / 1e3, "nodes": nodes,
            "peak_bytes": memory, "flops": plan["flops"], "bytes": plan["bytes"],
            "roofline": plan["seconds"], "steps": len(steps),
            "step_sum": sum(step["us"] for step in steps) / 1e6,
            "step_bytes": sum(step["bytes"] for step in steps)}


def steps_of(trace):
    """Returns the steps of a trace with their median times."""
    times, arguments_of_step = defaultdict(list), {}
    for event in json.loads(trace.read_text())["traceEvents"]:
        arguments = event.get("args", {})
        if event.get("ph") == "X" and "step" in arguments:
            times[arguments["step"]].append(event["dur"])
            arguments_of_step[arguments["step"]] = dict(arguments, layer=event["name"],
                                                        direction=event["cat"])
    return [dict(arguments_of_step[step], us=statistics.median(times[step]))
            for step in sorted(times)]


def write_steps(path, steps):
    with open(path, "w") as file:
        file.write("step\tpass\tlayer\timplementation\tus\tbytes\tGB/s\tflops\n")
        for step in steps:
            file.write("{step}\t{direction}\t{layer}\t{implementation}\t{us:.3f}\t"
                       "{bytes}\t{rate:.0f}\t{flops}\n".format(
                           rate=step["bytes"] / max(step["us"], 1e-3) / 1e3, **step))


def torch(package, row):
    arguments = [row.net + ("" if row.mode == "train" else "_deploy") + ".prototxt",
                 "--mode", row.mode, "--precision", row.precision, "--variant", row.detail,
                 "--steps", str(package.index["nets"][row.net]["steps"])]
    for text in package.inputs(row):
        arguments += ["--input", text]
    return package.server.measure(arguments, package.time_left())


def agree(package, row):
    """Compares the results of a GPU plan and of a CPU plan in f32 on the same inputs.
    The tolerance derives from the error of a CPU plan of the row's precision."""
    expected_errors = package.index["expected_errors"].get(row.name)
    if not expected_errors:
        raise RowFailed("the package has no expected errors for it")
    inputs = package.bench / "inputs.h5"
    compare.write_inputs(inputs, package.inputs(row, "agree_inputs"))
    outputs = []
    for target, precision in (("cuda", row.precision), ("cpu", "f32")):
        outputs.append(package.bench / ("agree_" + target + ".h5"))
        outputs[-1].unlink(missing_ok=True)
        plan = package.plan(plans.agree_name(row, target, precision))
        command = cpu_reference.eval_command(
            package.tool, package.bench, plan["plan"], row.net, row.mode, inputs,
            outputs[-1])
        if target == "cuda":
            # One row uses the fastest measured engines. The others do not tune, which would
            # take longer than the computation.
            command += package.engines() if is_tuned(row) else ["--no-tune"]
        package.call(command)
    try:
        return compare.judge(compare.errors(*outputs), expected_errors, row.precision)
    except compare.Disagreement as error:
        values = [compare.datasets(path) for path in outputs]
        name = error.details.get("blob")
        if name and "first" not in error.details:
            error.details.update(compare.first_values(
                name, *[datasets[name] for datasets in values]))
        raise RowFailed(str(error), error.details) from error


def is_tuned(row):
    return (row.net, row.precision) == ("lenet", "bf16")


def recorded_cases(package, row):
    result = cases.run(package)
    if result["failed_cases"]:
        raise RowFailed(result["summary"], result)
    return result


def losses(package, row):
    """Trains LeNet on an LMDB for 20 iterations and compares the losses with the CPU's.
    Repeated runs (`runs`) must produce bitwise equal weights."""
    settings = schedule.LOSSES[row.detail]
    plan = package.plan(plans.losses_name(row))
    expected = package.index["losses"][row.detail]
    environment = package.environment(settings.get("environment", {}))
    weights, logs = [], []
    for run in range(settings.get("runs", 1)):
        prefix = package.bench / "trained_run{}".format(run)
        logs.append(package.call(
            [package.tool, "train", plan["plan"], "--snapshot-prefix", prefix,
             "--no-tune"] + [flag for flag in settings.get("flags", [])
                             if flag == "--deterministic"], environment).stderr)
        weight_files = sorted(package.bench.glob(prefix.name + "_iter_*.caffemodel"))
        if not weight_files:
            raise RowFailed("the run left no weights")
        weights.append(weight_files[-1].read_bytes())
    for path in package.bench.glob("trained_run*"):
        path.unlink()
    trained = cpu_reference.losses_of(logs[0])
    if len(trained) != len(expected["losses"]):
        raise RowFailed("{} losses were displayed and not {}".format(
            len(trained), len(expected["losses"])))
    deviation = cpu_reference.deviation(trained, expected["losses"])
    result = {"deviation": deviation, "tolerance": expected["tolerance"],
              "first": trained[0], "last": trained[-1]}
    if "environment" in settings and not re.search("NCCL", logs[0]):
        raise RowFailed("the log says nothing of NCCL", result)
    if not deviation <= expected["tolerance"]:
        raise RowFailed("losses are {:.2g} off; at most {:.2g} were expected".format(
            deviation, expected["tolerance"]), dict(result, losses=trained))
    if any(run_weights != weights[0] for run_weights in weights):
        raise RowFailed("two runs gave different weights", result)
    return result


def kernels(package, row):
    """Profiles the kernels with the largest share of the step with Nsight Compute."""
    plan = package.plan(plans.timed_name(row))
    steps = package.logs / "{}_{}_{}_brew.steps.tsv".format(row.net, row.mode,
                                                            row.precision)
    if not steps.exists():
        raise RowFailed("the step of {} was not measured yet".format(row.net))
    names = slowest_kernels(steps.read_text(), PROFILED)
    sections = [word for section in SECTIONS for word in ("--section", section)]
    completed = package.call([processes.find_program("ncu"), "--clock-control", "none", *sections,
                              "--kernel-name", "regex:^(" + "|".join(names) + ")$",
                              "--launch-count", 2 * PROFILED, package.tool, "time", plan["plan"],
                              "--random-input", "--iterations", 1, *package.engines()])
    profiled = [name for name in names if name in completed.stdout]
    if not profiled:
        raise RowFailed("ncu profiled none of " + ", ".join(names))
    return {"profiled": profiled,
            "not_profiled": [name for name in names if name not in profiled]}


def slowest_kernels(table, count):
    """Returns the symbols of the `count` slowest generated kernels in a table of
    write_steps()."""
    time = defaultdict(float)
    for line in table.splitlines()[1:]:
        fields = line.split("\t")
        if fields[3].startswith("kernel "):
            time[fields[3].split()[1]] += float(fields[4])
    return sorted(time, key=time.get, reverse=True)[:count]


def sanitize(package, row):
    """Runs compute-sanitizer on LeNet's step or on recorded cases. Findings of initcheck in
    kernels of libraries are reported but accepted: they read padding and ignore it."""
    command = [processes.find_program("compute-sanitizer"), "--tool", row.detail,
               "--error-exitcode", str(SANITIZER_FAILED)]
    if row.detail == "memcheck":
        # Brew and the libraries make API calls that may fail: captures, copies, engines.
        command += ["--report-api-errors", "no"]
    if not row.net:
        # The checker evaluates the exit statuses of the tools.
        result = cases.run(package, schedule.SANITIZED_CASES, command)
        if result["failed_cases"]:
            raise RowFailed(result["summary"], result)
        return result
    inputs = package.bench / "inputs.h5"
    compare.write_inputs(inputs, package.inputs(row, "agree_inputs"))
    plan = package.plan(plans.agree_name(row, "cuda", row.precision))
    completed = package.run([*command, *cpu_reference.eval_command(
        package.tool, package.bench, plan["plan"], row.net, row.mode, inputs,
        package.bench / "sanitized.h5"), "--no-tune"])
    if completed.status == 0:
        return {"summary": "no findings"}
    kernel_names = FINDING.findall(completed.stdout + completed.stderr)
    if completed.status != SANITIZER_FAILED or not kernel_names:
        raise RowFailed("status {}: {}".format(completed.status, completed.stderr[-600:]))
    generated = kernels_of(package, plan["plan"])
    findings = {"in_kernels": sorted(set(kernel_names) & generated),
                "in_libraries": sorted(set(kernel_names) - generated)}
    if findings["in_kernels"] or row.detail == "memcheck":
        raise RowFailed("findings in " + ", ".join(findings["in_kernels"]
                                                   + findings["in_libraries"]), findings)
    return dict(findings, summary="findings in libraries alone")


def kernels_of(package, plan):
    """Returns the symbols of the generated kernels of a plan."""
    return set(re.findall(r"\bkernel (\w+)", package.call([package.tool, "inspect",
                                                          plan]).stdout))


KINDS = {"machine": machine, "rates": rates, "brew": brew, "eager": torch,
         "compiled": torch, "agree": agree, "cases": recorded_cases, "losses": losses,
         "kernels": kernels, "sanitize": sanitize}
