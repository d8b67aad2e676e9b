#!/usr/bin/env python3
"""Times inference of an ONNX file in ONNX Runtime and prints JSON."""

import numpy
import onnxruntime

import peer


def prepare(arguments):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = arguments.threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = (
        onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL)
    session = onnxruntime.InferenceSession(
        str(arguments.net), options, providers=["CPUExecutionProvider"])
    generator = numpy.random.default_rng(1)
    inputs = {value.name: generator.random(value.shape, dtype=numpy.float32)
              for value in session.get_inputs()}
    return lambda: session.run(None, inputs)


if __name__ == "__main__":
    peer.main(__doc__, onnxruntime.__version__, prepare)
