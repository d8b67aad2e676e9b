#!/usr/bin/env python3
"""Prints the seconds of a training step in PyTorch, on ranks that all-reduce gradients
with DistributedDataParallel over Gloo.

    ddp.py NET BATCH RANKS THREADS STEPS WARM_UP
"""
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import torch
import torch.distributed
import torch.multiprocessing

sys.path += [str(Path(__file__).resolve().parents[1]),
             str(Path(__file__).resolve().parents[1] / "gpu")]
import workloads  # noqa: E402
from prototxt import parse  # noqa: E402
from torch_net import CaffeNet  # noqa: E402


def train(rank, net, batch, ranks, threads, steps, warm_up, rendezvous_file, results):
    """Trains on one rank. Rank 0 puts the median seconds of a step into `results`."""
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    shapes = {name: (batch,) + tuple(dims[1:])
              for name, dims in workloads.SHAPES[net].items()}
    model = CaffeNet(parse(workloads.prototxt_of(net)), "TRAIN", shapes)
    model = model.to(memory_format=torch.channels_last)
    inputs = {name: torch.ones(shape, dtype=torch.long) if name == "label"
              else torch.rand(shape).contiguous(memory_format=torch.channels_last)
              for name, shape in shapes.items()}
    run = model
    if ranks > 1:
        torch.distributed.init_process_group("gloo", init_method="file://" + rendezvous_file,
                                             rank=rank, world_size=ranks)
        run = torch.nn.parallel.DistributedDataParallel(model)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9,
                                weight_decay=5e-4, foreach=True)
    seconds = []
    for _ in range(warm_up + steps):
        begin = time.perf_counter()
        optimiser.zero_grad(set_to_none=True)
        run(inputs).backward()
        optimiser.step()
        seconds.append(time.perf_counter() - begin)
    if rank == 0:
        results.put(statistics.median(seconds[warm_up:]))
    if ranks > 1:
        torch.distributed.destroy_process_group()


def main():
    net = sys.argv[1]
    batch, ranks, threads, steps, warm_up = map(int, sys.argv[2:])
    results = torch.multiprocessing.get_context("spawn").SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(
            train, (net, batch, ranks, threads, steps, warm_up,
                    os.path.join(folder, "meeting"), results), ranks)
    print(results.get())


if __name__ == "__main__":
    main()
