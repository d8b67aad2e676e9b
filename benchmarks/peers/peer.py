"""Common code of the ONNX runtimes' scripts: arguments, times and output."""

import argparse
import json
from pathlib import Path

import paths  # noqa: F401
import stopwatch


def main(description, version, prepare):
    """Times the step that `prepare(arguments)` returns."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("net", type=Path, help="ONNX file")
    parser.add_argument("--input", action="append", default=[],
                        metavar="BLOB=d,d,...")
    parser.add_argument("--precision", choices=("f32", "bf16"), default="f32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1)
    arguments = parser.parse_args()
    arguments.shapes = {}
    for text in arguments.input:
        blob, dims = text.split("=")
        arguments.shapes[blob] = tuple(map(int, dims.split(",")))
    step = prepare(arguments)
    print(json.dumps(stopwatch.summary(
        version, stopwatch.time_for(step, arguments.seconds))))
