#!/usr/bin/python3
"""Tests how feeds.py parses logs and data.py compares rounds."""
import unittest

import common  # noqa: F401 (finds the benchmarks' modules)
import data
import feeds
from process import MeasureError


class Feeds(unittest.TestCase):
    def test_times_are_read_from_logs(self):
        self.assertAlmostEqual(feeds.batch_seconds(
            "I] Average batch: 12.5 ms. (median 12, min 9.1)\n"), 0.0125)
        self.assertAlmostEqual(feeds.pass_seconds(
            "I] Average Forward pass: 3 ms.\n"), 0.003)
        with self.assertRaises(MeasureError):
            feeds.batch_seconds("brew-run: error: no database")

    def test_each_round_is_compared_with_its_best_peer(self):
        own, first, second, without_rates = (data.Measured(name, None)
                                             for name in ("a", "b", "c", "d"))
        own.rates, first.rates, second.rates = [30, 20], [10, 20], [15, 5]
        self.assertEqual(data.ratios(own, [first, second, without_rates]), [2, 1])
        self.assertEqual(data.ratios(own, [without_rates]), [])


if __name__ == "__main__":
    unittest.main()
