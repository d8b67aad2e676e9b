#!/usr/bin/env python3
"""Times a training step of the benchmark nets in PyTorch.

A process of its own, started by lenet_cpu.py, so that PyTorch's thread pool
lives only while PyTorch is measured. Prints JSON: the version and, for each
variant, the seconds of every step.
"""

import argparse
import json
import time

import torch
from torch import nn

BATCHES = {"lenet": (64, 1, 28), "cifar10_quick": (100, 3, 32)}


def make_lenet():
    return nn.Sequential(
        nn.Conv2d(1, 20, 5), nn.MaxPool2d(2, 2),
        nn.Conv2d(20, 50, 5), nn.MaxPool2d(2, 2),
        nn.Flatten(), nn.Linear(800, 500), nn.ReLU(inplace=True),
        nn.Linear(500, 10))


def make_cifar10_quick():
    return nn.Sequential(
        nn.Conv2d(3, 32, 5, padding=2),
        nn.MaxPool2d(3, 2, ceil_mode=True), nn.ReLU(inplace=True),
        nn.Conv2d(32, 32, 5, padding=2), nn.ReLU(inplace=True),
        nn.AvgPool2d(3, 2, ceil_mode=True),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(inplace=True),
        nn.AvgPool2d(3, 2, ceil_mode=True),
        nn.Flatten(), nn.Linear(1024, 64), nn.Linear(64, 10))


def make_step(net_name, channels_last, scripted, foreach):
    """Returns a function that does one whole training step."""
    batch, channels, side = BATCHES[net_name]
    torch.manual_seed(1)
    net = make_lenet() if net_name == "lenet" else make_cifar10_quick()
    images = torch.rand(batch, channels, side, side)
    labels = torch.randint(0, 10, (batch,))
    if channels_last:
        net = net.to(memory_format=torch.channels_last)
        images = images.contiguous(memory_format=torch.channels_last)
    if scripted:
        net = torch.jit.script(net)
    options = {"foreach": True} if foreach else {}
    optimiser = torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9,
                                weight_decay=5e-4, **options)
    loss_of = nn.CrossEntropyLoss()

    def step():
        optimiser.zero_grad(set_to_none=True)
        loss_of(net(images), labels).backward()
        optimiser.step()

    return step


def variants():
    for channels_last in (False, True):
        for scripted in (False, True):
            for foreach in (False, True):
                name = "jit" if scripted else "eager"
                name += ", channels_last" if channels_last else ", contiguous"
                name += ", foreach SGD" if foreach else ""
                yield name, channels_last, scripted, foreach


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--net", choices=sorted(BATCHES), required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--iterations", type=int, required=True)
    parser.add_argument("--warm-up", type=int, default=10)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)

    results = {}
    for name, channels_last, scripted, foreach in variants():
        step = make_step(arguments.net, channels_last, scripted, foreach)
        for _ in range(arguments.warm_up):
            step()
        seconds = results[name] = []
        for _ in range(arguments.iterations):
            begin = time.perf_counter()
            step()
            seconds.append(time.perf_counter() - begin)
    print(json.dumps({"version": torch.__version__, "variants": results}))


if __name__ == "__main__":
    main()
