"""Reads the times of BVLC Caffe from the output of its program `caffe`."""

import re

import brew_side
from process import MeasureError, run

TIMES = {"train": re.compile(r"Average Forward-Backward: (\S+) ms\."),
         "infer": re.compile(r"Average Forward pass: (\S+) ms\.")}


def step(caffe, work, threads, workload, steps):
    """Runs `caffe time`: the mean of a run, without the update, and with a timer around each
    layer. Parameters come from fillers, since times do not depend on them."""
    done = run([caffe, "time", "-model", workload.key + ".prototxt",
                "-iterations", steps, "-phase",
                "TRAIN" if workload.mode == "train" else "TEST"], threads, work)
    match = TIMES[workload.mode].search(done.stderr)
    if not match:
        raise MeasureError("caffe printed no time")
    seconds = float(match.group(1)) / 1e3
    return {"median": seconds, "least": seconds, "steps": steps,
            "peak_bytes": done.peak_bytes}


def loop(caffe, work, threads, workload):
    """Times a step of `caffe train`, which reads its database."""
    return brew_side.loop_result(run(
        [caffe, "train", "-solver", brew_side.write_loop(work, workload.net)],
        threads, work))
