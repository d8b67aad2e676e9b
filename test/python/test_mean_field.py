"""Compares MultiStageMeanfield with a permutohedral lattice and mean-field steps in NumPy, and its filters with
brute-force Gaussian filters."""
import itertools
import unittest

import caffe
import numpy as np

from common import random_array
from fork_case import ForkCase


def lattice_matrix(features):
    """Returns the matrix of the filter of Adams, Baek and Davis (2010) for points with these coordinates."""
    features = np.asarray(features, np.float32)
    points, d = features.shape
    scale = np.float32([np.float32(np.sqrt(2 / 3) * (d + 1)) / np.sqrt((i + 1) * (i + 2)) for i in range(d)])
    splat, vertices = {}, {}
    for point, row in enumerate(features * scale):
        # Column i of the basis of the hyperplane has i + 1 ones, then -(i + 1).
        position, total = np.zeros(d + 1, np.float32), np.float32(0)
        for i in range(d, 0, -1):
            position[i] = total - np.float32(i) * row[i - 1]
            total = total + row[i - 1]
        position[0] = total
        multiples = np.rint(position * np.float32(1 / np.float32(d + 1))).astype(int)
        excess = multiples.sum()
        # If two differences are equal, the rank of the later coordinate increases.
        differences = position - (d + 1) * multiples
        rank = np.zeros(d + 1, int)
        for i, j in itertools.combinations(range(d + 1), 2):
            rank[i if differences[i] < differences[j] else j] += 1
        rank += excess
        shift = np.where(rank < 0, 1, np.where(rank > d, -1, 0))
        rank += (d + 1) * shift
        origin = (d + 1) * (multiples + shift)
        ordered = ((position - origin) / (d + 1))[np.argsort(rank)]
        # Barycentric coordinates: differences of successive ordered coordinates.
        weights = [1 + ordered[d] - ordered[0]] + [ordered[d - k] - ordered[d - k + 1] for k in range(1, d + 1)]
        for k, weight in enumerate(weights):
            corner = tuple(origin + k - np.where(rank > d - k, d + 1, 0))
            splat[point, vertices.setdefault(corner, len(vertices))] = weight
    matrix = np.zeros((points, len(vertices)))
    for place, weight in splat.items():
        matrix[place] = weight
    blur = np.eye(len(vertices))
    for axis in range(d + 1):
        step = np.ones(d + 1, int)
        step[axis] = -d
        along = np.eye(len(vertices))
        for corner, vertex in vertices.items():
            for neighbour in (tuple(corner + step), tuple(corner - step)):
                if neighbour in vertices:
                    along[vertex, vertices[neighbour]] = 0.5
        blur = along @ blur
    return matrix @ blur @ matrix.T / (1 + 2.0 ** -d)


def gaussian_matrix(features):
    differences = features[:, None] - features[None]
    return np.exp(-(differences ** 2).sum(-1) / 2)


def normalized(matrix):
    return matrix / matrix.sum(1, keepdims=True)


def positions(height, width):
    return np.array([(x, y) for y in range(height) for x in range(width)], float)


def softmax(x):
    exponentials = np.exp(x - x.max(0))
    return exponentials / exponentials.sum(0)


def colours(seed, *shape):
    """Returns smooth images with noise."""
    n, height, width = shape
    image = np.array([[[[60 * np.sin(0.3 * y + i + n) + 50 * np.cos(0.2 * x * i) for x in range(width)]
                        for y in range(height)] for i in range(3)] for n in range(n)])
    return (image + 4 * random_array(seed, n, 3, height, width)).astype(np.float32)


class MeanField(ForkCase):
    alpha, beta, gamma = 6.0, 12.0, 2.5

    def settings(self, iterations, more=""):
        return "multi_stage_meanfield_param { num_iterations: %d theta_alpha: %g theta_beta: %g theta_gamma: %g %s }" % (
            iterations, self.alpha, self.beta, self.gamma, more)

    def filters(self, image, matrix=lattice_matrix):
        """Returns the normalized matrices of the spatial and the bilateral filter of an image."""
        places = positions(*image.shape[1:])
        pixels = image.reshape(3, -1).T
        return (normalized(matrix(places / self.gamma)),
                normalized(matrix(np.hstack([places / self.alpha, pixels / self.beta]))))

    def infer(self, unary, start, filters, weights, iterations):
        """Returns the result of the inference for an image, by the paper's steps."""
        spatial_weights, bilateral_weights, compatibility = weights
        unary, q = (x.reshape(x.shape[0], -1).astype(float) for x in (unary, start))
        for _ in range(iterations):
            spatial, bilateral = (softmax(q) @ matrix.T for matrix in filters)
            q = unary - compatibility @ (spatial_weights @ spatial + bilateral_weights @ bilateral)
        return q

    def test_inference(self):
        shape = (2, 3, 7, 6)
        inputs = {"unary": 3 * random_array(1, *shape), "start": 3 * random_array(2, *shape), "image": colours(3, 2, 7, 6)}
        net = self.net("MultiStageMeanfield", self.settings(3), inputs)
        weights = []
        for seed, blob in enumerate(net.params["layer"]):
            self.assertEqual(blob.data.shape, (1, 1, 3, 3))
            self.close(blob.data[0, 0], np.eye(3) * (1, 1, -1)[seed])
            blob.data[...] = random_array(seed + 4, *blob.data.shape)
            weights.append(blob.data[0, 0].astype(float))
        for _ in range(2):  # with other images in the second run
            result = net.forward()["y"]
            for n in range(2):
                expected = self.infer(inputs["unary"][n], inputs["start"][n], self.filters(inputs["image"][n]), weights, 3)
                self.close(result[n].reshape(3, -1), expected, 1e-4)
            inputs["image"] = inputs["image"][::-1] + np.float32(7)
            net.blobs["image"].data[...] = inputs["image"]

    def test_initial_weights(self):
        shape = (1, 2, 3, 4)
        inputs = {"unary": np.zeros(shape), "start": np.zeros(shape), "image": np.zeros((1, 3, 3, 4))}
        net = self.net("MultiStageMeanfield", self.settings(
            2, "spatial_filter_weights_str: '3 2.5' bilateral_filter_weight: 5"), inputs)
        for blob, diagonal in zip(net.params["layer"], ([3, 2.5], [5, 5], [-1, -1])):
            self.close(blob.data[0, 0], np.diag(diagonal))

    def test_lattice_approximates_gaussians(self):
        """If the points are dense compared with the deviations; missing vertices of the lattice blur nothing."""
        self.beta = 40.0
        image = colours(5, 1, 14, 12)[0]
        for exact, approximate in zip(self.filters(image, gaussian_matrix), self.filters(image)):
            self.assertLess(np.linalg.norm(exact - approximate), 0.2 * np.linalg.norm(exact))

    def test_gradients_are_those_of_the_linear_filter(self):
        shape = (1, 3, 5, 4)
        inputs = {"unary": random_array(1, *shape), "start": random_array(2, *shape), "image": colours(3, 1, 5, 4)}
        net = self.net("MultiStageMeanfield", self.settings(2), inputs, caffe.TRAIN)
        weights = []
        for seed, blob in enumerate(net.params["layer"]):
            blob.data[...] = random_array(seed + 4, *blob.data.shape)
            weights.append(blob.data[0, 0].astype(float))
        net.forward()
        factors = net.blobs["y"].diff[...] = random_array(8, *shape)
        net.backward()
        filters = self.filters(inputs["image"][0])

        def loss(unary, start, weights):
            return (self.infer(unary[0], start[0], filters, weights, 2) * factors[0].reshape(3, -1)).sum()
        step = 1e-5
        gradients = [net.blobs[name].diff for name in ("unary", "start")] + \
            [blob.diff[0, 0] for blob in net.params["layer"]]
        point = [inputs["unary"].astype(float), inputs["start"].astype(float)] + weights
        for i, gradient in enumerate(gradients):
            direction = random_array(i + 10, *point[i].shape)
            ends = []
            for sign in (1, -1):
                moved = list(point)
                moved[i] = point[i] + sign * step * direction
                ends.append(loss(moved[0], moved[1], moved[2:]))
            self.close((gradient * direction).sum(), (ends[0] - ends[1]) / (2 * step), 1e-3)
        self.close(net.blobs["image"].diff, np.zeros_like(inputs["image"]))

    def test_images_that_are_not_finite(self):
        shape = (1, 2, 3, 4)
        inputs = {"unary": np.zeros(shape), "start": np.zeros(shape), "image": np.full((1, 3, 3, 4), np.nan)}
        net = self.net("MultiStageMeanfield", self.settings(2), inputs)
        with self.assertRaisesRegex(Exception, "the image has values that are not finite or too large for its filter"):
            net.forward()


if __name__ == "__main__":
    unittest.main()
