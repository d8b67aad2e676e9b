"""Tests brew.embed and brew.scatter."""
import unittest

import brew
import numpy as np

from common import Case


def make_groups(rows, columns=8):
    """Returns rows of three distant groups, interleaved."""
    values = np.random.RandomState(3).normal(size=(rows, columns)).astype(np.float32)
    values[np.arange(rows), np.arange(rows) % 3] += 9
    return values


class Embedding(Case):
    def test_pca_equals_numpy(self):
        values = make_groups(200).astype(float)
        values -= values.mean(0)
        u, s, _ = np.linalg.svd(values, full_matrices=False)
        layout = brew.embed(values, "pca", components=3)
        self.assertEqual((layout.shape, layout.dtype), ((200, 3), np.float32))
        np.testing.assert_allclose(np.abs(layout[:, :2]), np.abs(u * s)[:, :2], atol=2e-3)

    def test_tsne_keeps_groups_together(self):
        reports = []
        layout = brew.embed(make_groups(150).reshape(150, 2, 4), perplexity=15, progress=lambda *report: reports.append(report))
        self.assertEqual([report[0] for report in reports], list(range(0, 751, 50)))
        distances = ((layout[:, None] - layout[None])**2).sum(-1) + 1e9 * np.eye(150)
        self.assertGreater((distances.argmin(1) % 3 == np.arange(150) % 3).mean(), 0.98)

    def test_layout_does_not_depend_on_threads(self):
        layout1, layout3 = (brew.embed(make_groups(150), exaggerated_iterations=20, iterations=20, threads=threads)
                            for threads in (1, 3))
        np.testing.assert_array_equal(layout1, layout3)

    def test_exception_in_progress_aborts(self):
        with self.assertRaises(ZeroDivisionError):
            brew.embed(make_groups(150), progress=lambda *report: 1 // 0)

    def test_errors(self):
        with self.assertRaisesRegex(brew.Error, "perplexity of 13 or less"):
            brew.embed(make_groups(40))
        bad = make_groups(150)
        bad[7, 2] = np.nan
        with self.assertRaisesRegex(brew.Error, "nan in row 7, column 2"):
            brew.embed(bad)
        for arguments in ({"method": "umap"}, {"components": 3}, {"perplexity": 0}, {"iterations": -1},
                          {"learning_rate": 0}):
            with self.assertRaises(ValueError):
                brew.embed(make_groups(150), **arguments)
        with self.assertRaises(ValueError):
            brew.embed([1, 2, 3])

    def test_scatter(self):
        points = brew.embed(make_groups(60), "pca")
        brew.scatter(self.path("a.svg"), points, np.arange(60)[:, np.newaxis] % 3, ["a", "b", "c"], "three")
        with open(self.path("a.svg")) as file:
            text = file.read()
        self.assertIn(">three<", text)
        self.assertIn(">c<", text)
        with self.assertRaisesRegex(brew.Error, ".svg or .png"):
            brew.scatter(self.path("a.gif"), points)
        with self.assertRaisesRegex(ValueError, "two columns"):
            brew.scatter(self.path("b.svg"), points[:, :1])


if __name__ == "__main__":
    unittest.main()
