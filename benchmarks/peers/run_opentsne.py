#!/usr/bin/env python3
"""Computes openTSNE's layout of features, and the quality of layouts.

    run_opentsne.py layout FEATURES.npy LAYOUT.npy THREADS   prints wall and CPU seconds
    run_opentsne.py judge FEATURES.npy LAYOUT.npy...         prints for each layout:
        the Kullback-Leibler divergence (perplexity 30, exact neighbours, all pairs of
        points) and the trustworthiness (Venna and Kaski, 12 neighbours)
"""
import sys
import time

import numpy as np

BLOCK = 500


def squared_distances(a, b):
    """Returns a matrix with a row per row of a and a column per row of b."""
    return np.maximum((a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T, 0)


def divergence(affinities, layout):
    """Returns the sum of p log(p / q); q is normalized over all pairs."""
    total = sum((1 / (1 + squared_distances(layout[i:i + BLOCK], layout))).sum()
                for i in range(0, len(layout), BLOCK))
    total -= len(layout)
    rows, columns = affinities.nonzero()
    p = np.asarray(affinities[rows, columns]).ravel()
    distance = ((layout[rows] - layout[columns])**2).sum(1)
    return float((p * np.log(p * total * (1 + distance))).sum())


def trustworthiness(features, layout, k=12):
    """Returns 1 if all neighbours in the plane are neighbours in the features, less otherwise."""
    n, penalty = len(features), 0
    for i in range(0, n, BLOCK):
        rows = np.arange(len(features[i:i + BLOCK]))
        far = squared_distances(features[i:i + BLOCK], features)
        near = squared_distances(layout[i:i + BLOCK], layout)
        far[rows, rows + i] = near[rows, rows + i] = -1  # exclude the point itself
        rank = np.empty_like(far, dtype=np.int64)
        np.put_along_axis(rank, far.argsort(1), np.arange(n)[None].repeat(len(rows), 0), 1)
        neighbours = near.argpartition(k, 1)[:, :k + 1]
        ranks = np.take_along_axis(rank, neighbours, 1)
        penalty += np.maximum(ranks - k, 0).sum()
    return float(1 - penalty * 2 / (n * k * (2 * n - 3 * k - 1)))


def main():
    features = np.load(sys.argv[2])
    if sys.argv[1] == "layout":
        from openTSNE import TSNE
        wall_begin, cpu_begin = time.perf_counter(), time.process_time()
        layout = TSNE(n_jobs=int(sys.argv[4]), random_state=0).fit(features)
        print(time.perf_counter() - wall_begin, time.process_time() - cpu_begin)
        np.save(sys.argv[3], np.asarray(layout))
        return
    from openTSNE.affinity import PerplexityBasedNN
    features = features.astype(np.float64)
    affinities = PerplexityBasedNN(features, perplexity=30, method="exact", n_jobs=2).P.tocsr()
    for path in sys.argv[3:]:
        layout = np.load(path).astype(np.float64)
        print(divergence(affinities, layout), trustworthiness(features, layout))


main()
