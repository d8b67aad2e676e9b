#!/usr/bin/python3
"""Tests how kinds.py divides a profile by kinds of work."""
import unittest

import common  # noqa: F401 (finds the benchmarks' modules)
import kinds

TYPES = {"conv": "Convolution", "bn": "BatchNorm", "relu": "ReLU", "lstm": "LSTM"}


def event(number, name, implementation, duration, category="forward"):
    return {"ph": "X", "ts": 10 * number, "dur": duration, "cat": category, "name": name,
            "args": {"step": number % 4, "implementation": implementation, "flops": 100,
                     "bytes": 8}}


PROFILE = [
    {"ph": "X", "ts": 0, "dur": 99, "cat": "iteration", "name": "iteration 1", "args": {}},
    event(0, "conv", "convolution FORWARD", 40),
    event(1, "conv+bn+relu", "kernel conv_bn_relu", 10),
    event(2, "lstm", "20 times (inner product FORWARD, kernel a)", 5),
    event(3, "conv", "convolution BACKWARD_WEIGHTS", 30, "backward"),
    event(4, "conv", "convolution FORWARD", 20),
    event(5, "conv+bn+relu", "kernel conv_bn_relu", 12),
    event(6, "lstm", "20 times (inner product FORWARD, kernel a)", 4),
    event(7, "conv", "convolution BACKWARD_WEIGHTS", 31, "backward")]


class Kinds(unittest.TestCase):
    def test_the_fastest_run_of_each_step_counts(self):
        found = kinds.sums(kinds.fastest([kinds.steps_of(PROFILE, TYPES)]))
        self.assertEqual(
            [(kind, round(step.seconds * 1e6)) for kind, step in found.items()],
            [("convolution backward weights", 30), ("convolution forward", 20),
             ("normalization, forward", 10), ("loops over time steps, forward", 4)])
        self.assertEqual(found["convolution forward"].flops, 100)

    def test_steps_of_several_profiles_are_compared(self):
        slower = [dict(each, dur=2 * each["dur"]) for each in PROFILE]
        profiles = [kinds.steps_of({"traceEvents": each}, TYPES) for each in (slower, PROFILE)]
        self.assertAlmostEqual(kinds.sums(kinds.fastest(profiles))[
            "convolution forward"].seconds, 20e-6)


if __name__ == "__main__":
    unittest.main()
