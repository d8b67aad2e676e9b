"""Embeddings of features: principal components, t-SNE, scatter plots."""
import os

import numpy as np

from . import _core


def _rows(features):
    """Converts features to float32 rows, one per sample; flattens further axes."""
    features = np.asarray(features)
    if features.ndim < 2:
        raise ValueError(f"features need one row per sample; the shape is {features.shape}")
    return np.ascontiguousarray(features.reshape(len(features), -1), np.float32)


def embed(features, method="tsne", *, components=2, perplexity=30.0, exaggeration=12.0, exaggerated_iterations=250,
          iterations=500, learning_rate=None, theta=0.5, exact=1000, seed=0, threads=0, progress=None):
    """Computes a layout of features, one row per sample: in a plane by ``"tsne"``, or along ``components`` principal
    components by ``"pca"``.

    All options but ``components``, ``seed`` and ``threads`` (0: OMP_NUM_THREADS, else one per core) are t-SNE's. The
    default of ``learning_rate`` is samples / exaggeration; ``exact`` is the maximum number of samples for exact t-SNE.
    ``progress(iteration, iterations, divergence)`` is called every 50 iterations; an exception in it aborts the call.
    Returns a float32 array that is bitwise identical for any number of threads.
    """
    if method not in ("tsne", "pca"):
        raise ValueError(f"method must be 'tsne' or 'pca', not {method!r}")
    if method == "tsne" and components != 2:
        raise ValueError("components need method 'pca'; t-SNE always has two")
    rows = _rows(features)
    layout = np.empty((len(rows), components), np.float32)
    if method == "pca":
        _core.pca(rows, layout, seed, threads)
    else:
        for name, value in (("perplexity", perplexity), ("exaggeration", exaggeration), ("theta", theta),
                            ("exact", exact)):
            if not value > 0:
                raise ValueError(f"{name} must be more than 0, not {value}")
        if min(exaggerated_iterations, iterations) < 0:
            raise ValueError("iterations must be 0 or more")
        if learning_rate is not None and not learning_rate > 0:
            raise ValueError(f"learning_rate must be more than 0, not {learning_rate}")
        _core.tsne(rows, layout, perplexity, exaggeration, exaggerated_iterations, iterations, learning_rate or 0.0,
                   theta, exact, seed, threads, progress)
    return layout


def scatter(path, points, classes=None, names=(), title="", width=0, height=0):
    """Draws points, two numbers each, as a .png or .svg file with one colour per class (integers from 0; negative: no
    class) and a legend of their ``names``."""
    points = _rows(points)
    if points.shape[1] < 2:
        raise ValueError(f"points need at least two columns; these have {points.shape[1]}")
    classes = [] if classes is None else [int(number) for number in np.ravel(classes)]
    _core.scatter(os.fspath(path), points[:, :2].copy(), classes, [str(name) for name in names], title, width,
                  height)
