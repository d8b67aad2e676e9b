#!/usr/bin/env python3
"""Times inference of an ONNX file in OpenVINO and prints JSON."""

import numpy
import openvino

import peer


def prepare(arguments):
    core = openvino.Core()
    compiled = core.compile_model(str(arguments.net), "CPU", {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": str(arguments.threads),
        "INFERENCE_PRECISION_HINT": arguments.precision})
    request = compiled.create_infer_request()
    generator = numpy.random.default_rng(1)
    for port in compiled.inputs:
        values = generator.random(tuple(port.shape), dtype=numpy.float32)
        request.set_tensor(port, openvino.Tensor(values))
    return request.infer


if __name__ == "__main__":
    # The build number follows the version.
    peer.main(__doc__, openvino.__version__.split("-")[0], prepare)
