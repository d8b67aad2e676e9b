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
        moving = row["bytes"] / rates["bytes_per_second"]
        slowest = row["flops"] / rates["flops_per_second"]
        assert steps > 0, row
        fastest = row["flops"] / rates["product_flops_per_second"]
        assert row["stages"] >= row["kernels"], row
        begun = row["stages"] + row["calls"] + row["host_calls"]
        launch = begun * rates["launch_seconds"]
        if steps == 1:
            computing = fastest if row["calls"] else slowest
            least = most = max(moving, computing) + launch
        else:
            # The time of each step is the maximum of its compute and memory times.
            least = max(moving, fastest) + launch
            most = moving + slowest + launch
        assert least * 0.999999 <= row["roofline_seconds"] <= most * 1.000001, row
    keys = [(tuple(row["layers"]), row["backward"]) for row in rows]
    assert len(set(keys)) == len(keys), name
