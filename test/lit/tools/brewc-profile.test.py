"""Compares the measured times of a report (JSON) with those of the trace that it was made from."""
import json
import statistics
import sys

trace, report = (json.load(open(path)) for path in sys.argv[1:])
times, actions = {}, {}
for event in trace["traceEvents"]:
    if "step" in event.get("args", {}):
        times.setdefault(event["args"]["step"], []).append(event["dur"] * 1e-6)
assert {len(durations) for durations in times.values()} == {3}
total = sum(statistics.median(durations) for durations in times.values())
program = report["programs"].pop("forward_backward")
measured = [row["measured_seconds"] for row in program["layers"]]
assert abs(sum(measured) - total) < 1e-9, (measured, total)
assert abs(program["measured_seconds"] - total) < 1e-9
assert all("measured_seconds" not in p for p in report["programs"].values())
