"""Reads the times of BVLC Caffe from the output of its program `caffe`."""

import re

import brew_side
from process import MeasureError, run

TIMES = {"train": re.compile(r"Average Forward-Backward: (\S+) ms\."),
         "infer": re.compile(r"Average Forward pass: (\S+) ms\.")}


def step(caffe, work, threads, workload, steps):
    """Runs `caffe time` and returns its mean time, which excludes the update and includes a timer
    around each layer. Parameters come from fillers, since times do not depend on them."""
    completed = run([caffe, "time", "-model", workload.key + ".prototxt",
                     "-iterations", steps, "-phase",
                     "TRAIN" if workload.mode == "train" else "TEST"], threads, work)
    match = TIMES[workload.mode].search(completed.stderr)
    if not match:
        raise MeasureError("caffe printed no time")
    seconds = float(match.group(1)) / 1e3
    return {"median": seconds, "least": seconds, "steps": steps,
            "peak_bytes": completed.peak_bytes}


def loop(caffe, work, threads, workload):
    """Times a step of `caffe train`, which reads its database."""
    return brew_side.loop_result(run(
        [caffe, "train", "-solver", brew_side.write_loop(work, workload.net)],
        threads, work))
