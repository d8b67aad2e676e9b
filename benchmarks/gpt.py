#!/usr/bin/env python3
"""Compares the training of examples/gpt with PyTorch: the time of a step, and the loss.

usage: PEERS/bin/python benchmarks/gpt.py [--bin BIN] [--steps N] [--rounds N] [--threads N] [--bare]

Both programs train the same net with Adam on the same text, with batches of random sections, from
random weights of the same distribution. Times are medians of the rounds, in which the programs take
turns. Losses are those of the test net, over the same number of characters. --bare leaves out the
losses. PyTorch uses scaled_dot_product_attention and the foreach implementation of Adam.
"""
import argparse
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

ROOT = pathlib.Path(__file__).resolve().parents[1]
LAYERS, HEADS, WIDTH, BLOCK, BATCH, VOCABULARY, DROPOUT = 4, 4, 128, 64, 16, 96, 0.1
TEST_BATCHES = 20


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        for layer in (self.qkv, self.out, self.up, self.down):
            residual = layer in (self.out, self.down)
            nn.init.normal_(layer.weight, std=0.02 / math.sqrt(2 * LAYERS) if residual else 0.02)
            nn.init.zeros_(layer.bias)

    def forward(self, x):
        drop = DROPOUT if self.training else 0
        y = functional.layer_norm(x, (WIDTH,), eps=1e-10)
        q, k, v = (t.view(*t.shape[:2], HEADS, -1).transpose(1, 2) for t in self.qkv(y).split(WIDTH, 2))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=drop)
        y = self.out(y.transpose(1, 2).reshape(x.shape))
        x = x + functional.dropout(y, drop, self.training)
        y = self.down(functional.gelu(self.up(functional.layer_norm(x, (WIDTH,), eps=1e-10))))
        return x + functional.dropout(y, drop, self.training)


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(BLOCK, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        for layer in (self.wte, self.wpe, self.head):
            nn.init.normal_(layer.weight, std=0.02)

    def loss(self, tokens, following):
        x = self.wte(tokens) + self.wpe(torch.arange(BLOCK))
        x = self.blocks(functional.dropout(x, DROPOUT, self.training))
        scores = self.head(functional.layer_norm(x, (WIDTH,), eps=1e-10))
        return functional.cross_entropy(scores.view(-1, VOCABULARY), following.reshape(-1))


class Text:
    """Draws random sections, as TokenizedData does."""

    def __init__(self, path):
        units = np.frombuffer(path.read_bytes(), np.uint8)
        self.tokens = np.searchsorted(np.unique(units), units)
        self.random = np.random.RandomState(1)

    def batch(self):
        starts = self.random.randint(0, len(self.tokens) - BLOCK - 1, BATCH)
        sections = torch.from_numpy(np.stack([self.tokens[s:s + BLOCK + 1] for s in starts]))
        return sections[:, :-1], sections[:, 1:]


class Torch:
    def __init__(self, folder):
        torch.manual_seed(1)
        self.net, self.train, self.test = Gpt(), Text(folder / "train.txt"), Text(folder / "test.txt")
        self.solver = torch.optim.Adam(self.net.parameters(), lr=0.001, betas=(0.9, 0.99), foreach=True)

    def step(self):
        loss = self.net.loss(*self.train.batch())
        self.solver.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 1)
        self.solver.step()

    def milliseconds(self, steps):
        times = []
        for _ in range(steps):
            start = time.perf_counter()
            self.step()
            times.append(1000 * (time.perf_counter() - start))
        return statistics.median(times[steps // 5:])

    def test_loss(self):
        self.net.eval()
        with torch.no_grad():
            loss = statistics.mean(float(self.net.loss(*self.test.batch())) for _ in range(TEST_BATCHES))
        self.net.train()
        return loss


class Brew:
    def __init__(self, binaries, folder, threads):
        self.binaries, self.folder, self.threads = binaries, folder, str(threads)
        self.run("brewc", "gpt_solver.prototxt", "-o", "gpt.plan")

    def run(self, program, *arguments):
        result = subprocess.run([self.binaries / program, *arguments], cwd=self.folder, check=True, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return result.stdout

    def milliseconds(self, steps):
        log = self.run("brew-run", "time", "gpt.plan", "--iterations", str(steps), "--threads", self.threads)
        return float(re.search(r"Average training step: \S+ ms\. \(median (\S+),", log).group(1))

    def test_losses(self):
        """Trains as the solver says; returns {iteration: loss of the test net}."""
        log = self.run("brew-run", "train", "gpt.plan", "--threads", self.threads)
        losses, iteration = {}, 0
        for line in log.splitlines():
            if found := re.search(r"Iteration (\d+), Testing net", line):
                iteration = int(found.group(1))
            elif found := re.search(r"Test net output #\d+: loss = ([\d.]+)", line):
                losses[iteration] = float(found.group(1))
        return losses


def prepare(folder):
    subprocess.run([sys.executable, ROOT / "examples/gpt/make_text.py", ROOT / "docs", folder], check=True)
    for name in ("gpt_solver.prototxt", "gpt_train_test.prototxt"):
        (folder / name).write_text((ROOT / "examples/gpt" / name).read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--bare", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder)
        programs = {"Brew": Brew(options.bin.resolve(), folder, options.threads), "PyTorch": Torch(folder)}
        times = {title: [] for title in programs}
        for _ in range(options.rounds):
            for title, program in programs.items():
                times[title].append(program.milliseconds(options.steps))
        for title, values in times.items():
            print("%s: %.1f ms per step (median; minimum %.1f)" % (title, statistics.median(values), min(values)))
        if options.bare:
            return
        losses, peer = programs["Brew"].test_losses(), Torch(folder)
        for iteration in range(max(losses) + 1):
            if iteration in losses:
                print("iteration %d: loss %.3f in Brew, %.3f in PyTorch" % (
                    iteration, losses[iteration], peer.test_loss()), flush=True)
            peer.step()


if __name__ == "__main__":
    main()
