#!/usr/bin/env python3
"""Times inference of an ONNX file in OpenCV's DNN module and prints JSON."""

import cv2
import numpy

import peer


def prepare(arguments):
    cv2.setNumThreads(arguments.threads)
    net = cv2.dnn.readNetFromONNX(str(arguments.net))
    generator = numpy.random.default_rng(1)
    inputs = {name: generator.random(shape, dtype=numpy.float32)
              for name, shape in arguments.shapes.items()}

    def step():
        for name, values in inputs.items():
            net.setInput(values, name)
        net.forward()
    return step


if __name__ == "__main__":
    peer.main(__doc__, cv2.__version__, prepare)
