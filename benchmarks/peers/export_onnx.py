#!/usr/bin/env python3
"""Exports an inference net to ONNX with PyTorch."""

import argparse
from pathlib import Path

import torch

import paths  # noqa: F401
from prototxt import get, layers_of, parse
from torch_net import CaffeNet


class Positional(torch.nn.Module):
    """Takes the inputs by position; CaffeNet takes them by name."""

    def __init__(self, net, names):
        super().__init__()
        self.net, self.names = net, names

    def forward(self, *inputs):
        return self.net(dict(zip(self.names, inputs)))


def input_shapes(net):
    """Returns {name: shape} of the Input layers."""
    return {get(layer, "top"): tuple(
                get(get(layer, "input_param"), "shape")["dim"])
            for layer in layers_of(net, "TEST") if get(layer, "type") == "Input"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("net", type=Path, help="with Input layers")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    torch.manual_seed(1)
    parsed = parse(arguments.net.read_text())
    shapes = input_shapes(parsed)
    net = CaffeNet(parsed, "TEST", shapes).eval()
    # The rename is atomic: a reader never sees an incomplete file.
    unfinished = arguments.output.with_suffix(".part")
    torch.onnx.export(Positional(net, list(shapes)),
                      tuple(torch.rand(shape) for shape in shapes.values()),
                      unfinished, input_names=list(shapes), dynamo=True,
                      external_data=False)
    unfinished.rename(arguments.output)


if __name__ == "__main__":
    main()
