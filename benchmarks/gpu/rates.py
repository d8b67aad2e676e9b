#!/usr/bin/env python3
"""Measures a GPU's peak rates: bytes per second of copies, FLOP/s of matrix products."""

import json

import torch


def seconds_of(work, runs=20):
    """Returns the minimum seconds of a call of `work` on the GPU, after a warm-up."""
    for _ in range(3):
        work()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(runs + 1)]
    events[0].record()
    for event in events[1:]:
        work()
        event.record()
    torch.cuda.synchronize()
    return min(a.elapsed_time(b) for a, b in zip(events, events[1:])) / 1e3


def product_rate(dtype, tf32):
    """Returns the FLOP/s of a large matrix product."""
    torch.backends.cuda.matmul.allow_tf32 = tf32
    size = 8192
    a = torch.rand(size, size, device="cuda", dtype=dtype)
    b = torch.rand(size, size, device="cuda", dtype=dtype)
    return 2 * size ** 3 / seconds_of(lambda: a @ b)


def main():
    count = 1 << 28
    source = torch.rand(count, device="cuda")
    target = torch.empty_like(source)
    copied = 8 * count / seconds_of(lambda: target.copy_(source))
    print(json.dumps({
        "device": torch.cuda.get_device_name(), "torch": torch.__version__,
        "cuda": torch.version.cuda, "bytes_per_second": copied,
        "flops": {"f32": product_rate(torch.float32, False),
                  "tf32": product_rate(torch.float32, True),
                  "bf16": product_rate(torch.bfloat16, False)}}))


if __name__ == "__main__":
    main()
