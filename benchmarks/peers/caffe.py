"""BVLC Caffe's times, as its program `caffe` tells them."""

import re

import brew_side
from process import MeasureError, run

TIMES = {"train": re.compile(r"Average Forward-Backward: (\S+) ms\."),
         "infer": re.compile(r"Average Forward pass: (\S+) ms\.")}


def step(caffe, work, threads, workload, steps):
    """`caffe time`: no update, a clock around each layer; the mean of a run. It
    draws the net's parameters itself, since times are independent of them."""
    done = run([caffe, "time", "-model", workload.key + ".prototxt",
                "-iterations", steps, "-phase",
                "TRAIN" if workload.mode == "train" else "TEST"], threads, work)
    match = TIMES[workload.mode].search(done.stderr)
    if not match:
        raise MeasureError("caffe tells no time")
    seconds = float(match.group(1)) / 1e3
    return {"median": seconds, "least": seconds, "steps": steps,
            "peak_bytes": done.peak_bytes}


def loop(caffe, work, threads, workload):
    """A step of `caffe train`, which reads its database."""
    return brew_side.loop_result(run(
        [caffe, "train", "-solver", brew_side.write_loop(work, workload.net)],
        threads, work))
