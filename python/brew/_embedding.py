"""Pictures of many features: principal components, t-SNE, scatter plots."""
import os

import numpy as np

from . import _core


def _rows(features):
    """Float32, a row per sample; what a row has besides counts as one axis."""
    features = np.asarray(features)
    if features.ndim < 2:
        raise ValueError(f"features have a row per sample; these have shape {features.shape}")
    return np.ascontiguousarray(features.reshape(len(features), -1), np.float32)


def embed(features, method="tsne", *, components=2, perplexity=30.0, exaggeration=12.0, exaggerated_iterations=250,
          iterations=500, learning_rate=None, theta=0.5, exact=1000, seed=0, threads=0, progress=None):
    """Lays out features, a row per sample, in a plane by ``"tsne"``, or by ``"pca"`` along so many ``components``.

    All but ``components``, ``seed`` and ``threads`` (0: OMP_NUM_THREADS, else one per core) are t-SNE's.
    ``learning_rate`` is by default the samples over the exaggeration, ``exact`` up to how many samples all pairs count.
    ``progress(iteration, iterations, divergence)`` is called every 50 iterations; what it raises ends the call. Returns
    an array of float32; the same bits for any number of threads.
    """
    if method not in ("tsne", "pca"):
        raise ValueError(f"method is 'tsne' or 'pca', not {method!r}")
    if method == "tsne" and components != 2:
        raise ValueError("components go with method 'pca'; t-SNE lays out a plane")
    rows = _rows(features)
    layout = np.empty((len(rows), components), np.float32)
    if method == "pca":
        _core.pca(rows, layout, seed, threads)
    else:
        for name, value in (("perplexity", perplexity), ("exaggeration", exaggeration), ("theta", theta),
                            ("exact", exact)):
            if not value > 0:
                raise ValueError(f"{name} is more than 0, not {value}")
        if min(exaggerated_iterations, iterations) < 0:
            raise ValueError("iterations are 0 or more")
        if learning_rate is not None and not learning_rate > 0:
            raise ValueError(f"learning_rate is more than 0, not {learning_rate}")
        _core.tsne(rows, layout, perplexity, exaggeration, exaggerated_iterations, iterations, learning_rate or 0.0,
                   theta, exact, seed, threads, progress)
    return layout


def scatter(path, points, classes=None, names=(), title="", width=0, height=0):
    """Draws points, two numbers each, to a .png or .svg with a colour for each class (whole numbers from 0 on; less:
    none) and a legend of their ``names``."""
    points = _rows(points)
    if points.shape[1] < 2:
        raise ValueError(f"points have two columns at least; these have {points.shape[1]}")
    classes = [] if classes is None else [int(number) for number in classes]
    _core.scatter(os.fspath(path), points[:, :2].copy(), classes, [str(name) for name in names], title, width,
                  height)
