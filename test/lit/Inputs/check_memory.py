"""Checks the memory figures of a `brewc --report=json`.

usage: check_memory.py REPORT PROGRAM LARGEST_SHARE_OF_CAFFE STEPS
The arena may exceed its lower bound by at most 2 %, and Caffe's memory times the given share
is its upper limit. STEPS is the number of kernels and calls of all programs except the
programs of the TEST phase."""
import json
import sys

path, name, share, steps = sys.argv[1:]
programs = json.load(open(path))["programs"]
memory = programs[name]["memory"]
arena, bound, caffe = (memory[k + "_bytes"] for k in ("arena", "lower_bound", "caffe"))
assert bound <= arena <= 1.02 * bound, f"arena {arena}, bound {bound}"
assert arena <= float(share) * caffe, f"arena {arena}, Caffe {caffe}"
count = sum(p["kernels"] + p["calls"] for n, p in programs.items() if not n.startswith("test"))
assert count == int(steps), f"{count} steps, expected {steps}"
for program in programs.values():
    assert {"blobs", "params", "kernels", "calls", "flops", "bytes", "memory"} <= set(program)
    assert {"arena_bytes", "lower_bound_bytes", "param_bytes", "grad_bytes",
            "state_bytes", "workspace_bytes", "caffe_bytes"} <= set(program["memory"])
