"""Checks the tables by layer of a JSON report.

usage: check_roofline.py REPORT.json
"""
import json
import math
import sys

with open(sys.argv[1]) as file:
    report = json.load(file)
rates = report["roofline"]
for name, program in report["programs"].items():
    rows = program["layers"]
    for key in ("kernels", "calls", "host_calls", "stages", "flops", "bytes"):
        assert sum(row[key] for row in rows) == program[key], (name, key)
    assert math.isclose(sum(row["roofline_seconds"] for row in rows),
                        program["roofline_seconds"]), name
    assert math.isclose(sum(row["share"] for row in rows), 1), name
    for row in rows:
        steps = row["kernels"] + row["calls"] + row["host_calls"]
        memory_seconds = row["bytes"] / rates["bytes_per_second"]
        generic_seconds = row["flops"] / rates["flops_per_second"]
        assert steps > 0, row
        product_seconds = row["flops"] / rates["product_flops_per_second"]
        assert row["stages"] >= row["kernels"], row
        launches = row["stages"] + row["calls"] + row["host_calls"]
        launch_seconds = launches * rates["launch_seconds"]
        if steps == 1:
            compute_seconds = product_seconds if row["calls"] else generic_seconds
            minimum = maximum = max(memory_seconds, compute_seconds) + launch_seconds
        else:
            # The time of each step is the maximum of its compute and memory times.
            minimum = max(memory_seconds, product_seconds) + launch_seconds
            maximum = memory_seconds + generic_seconds + launch_seconds
        assert minimum * 0.999999 <= row["roofline_seconds"] <= maximum * 1.000001, row
    keys = [(tuple(row["layers"]), row["backward"]) for row in rows]
    assert len(set(keys)) == len(keys), name
