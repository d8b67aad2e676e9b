"""Changes an image along gradients of inner blobs, as DeepDream's notebook does: objectives written into diff,
octaves of several sizes, and guides; compares gradients with finite differences."""
import unittest

import caffe
import numpy as np

from common import Case, fill, random_array

NET = """name: 'dream' force_backward: true
input: 'data' input_shape { dim: 1 dim: 3 dim: 20 dim: 24 }
layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1' convolution_param { num_output: 6 kernel_size: 5
  pad: 2 stride: 2 weight_filler { type: 'xavier' } } }
layer { name: 'relu1' type: 'ReLU' bottom: 'conv1' top: 'conv1' }
layer { name: 'norm1' type: 'LRN' bottom: 'conv1' top: 'norm1' lrn_param { local_size: 3 } }
layer { name: 'branch1' type: 'Convolution' bottom: 'norm1' top: 'branch1' convolution_param { num_output: 4
  kernel_size: 1 weight_filler { type: 'xavier' } } }
layer { name: 'branch3' type: 'Convolution' bottom: 'norm1' top: 'branch3' convolution_param { num_output: 4
  kernel_size: 3 pad: 1 weight_filler { type: 'xavier' } } }
layer { name: 'output' type: 'Concat' bottom: 'branch1' bottom: 'branch3' top: 'output' }
layer { name: 'relu2' type: 'ReLU' bottom: 'output' top: 'output' }
layer { name: 'pool' type: 'Pooling' bottom: 'output' top: 'pool' pooling_param { pool: AVE global_pooling: true } }
layer { name: 'fc' type: 'InnerProduct' bottom: 'pool' top: 'fc' inner_product_param { num_output: 5
  weight_filler { type: 'xavier' } } }
"""


def resample(image, height, width):
    """Returns the image (channels, height, width) with another size: the nearest pixels."""
    rows = np.arange(height) * image.shape[1] // height
    columns = np.arange(width) * image.shape[2] // width
    return image[:, rows][:, :, columns]


class Dreams(Case):
    def make_net(self):
        net = caffe.Net(self.write(NET), caffe.TEST)
        fill(net, 9, 0.5)
        return net

    def check_gradient(self, net, name, objective, write_diff, end=None):
        """Compares the gradient of an objective of a blob with finite differences of the image. ``end``: the last
        layer that writes the blob, if it has another name."""
        end = end or name
        net.forward(end=end)
        write_diff(net.blobs[name])
        net.backward(start=end)
        gradient = net.blobs["data"].diff[0].copy()
        image = net.blobs["data"].data[0].copy()
        direction = gradient / np.sqrt((gradient ** 2).sum())
        values = []
        for sign in (1, -1):
            net.blobs["data"].data[0] = image + sign * 0.01 * direction
            net.forward(end=end)
            values.append(float(objective(net.blobs[name].data.astype(float))))
        net.blobs["data"].data[0] = image
        self.close((values[0] - values[1]) / 0.02, (gradient * direction).sum(), 0.02)
        return gradient

    def test_objectives(self):
        net = self.make_net()
        net.blobs["data"].data[0] = random_array(1, 3, 20, 24)

        def write_values(blob):
            blob.diff[...] = blob.data

        for name, end in (("conv1", "relu1"), ("norm1", None), ("output", "relu2"), ("pool", None), ("fc", None)):
            with self.subTest(name):
                self.check_gradient(net, name, lambda values: (values ** 2).sum() / 2, write_values, end)

    def test_octaves(self):
        net = self.make_net()
        image = random_array(1, 3, 20, 24)
        sizes = [(10, 12), (14, 17), (20, 24)]
        detail = np.zeros((3, *sizes[0]), np.float32)
        for height, width in sizes:
            base, detail = resample(image, height, width), resample(detail, height, width)
            net.blobs["data"].reshape(1, 3, height, width)
            source = net.blobs["data"]
            source.data[0] = base + detail
            norms = []
            for step in range(5):
                shift = 2 * np.random.RandomState(step).randint(-1, 2, 2)  # multiples of the stride
                source.data[0] = np.roll(source.data[0], shift, (1, 2))
                net.forward(end="relu2")
                blob = net.blobs["output"]
                self.assertEqual(blob.shape, (1, 8, (height + 1) // 2, (width + 1) // 2))
                norms.append(float((blob.data ** 2).sum()))
                blob.diff[:] = blob.data
                net.backward(start="relu2")
                gradient = source.diff[0]
                self.assertEqual(gradient.shape, (3, height, width))
                source.data[:] += 0.05 / np.abs(gradient).mean() * gradient
                source.data[0] = np.roll(source.data[0], -shift, (1, 2))
            self.assertGreater(norms[-1], 1.2 * norms[0])
            detail = source.data[0] - base

    def test_a_guide(self):
        """Each place's gradient is the guide's most similar feature."""
        net = self.make_net()
        net.blobs["data"].data[0] = random_array(2, 3, 20, 24)
        net.forward(end="norm1")
        guide = net.blobs["norm1"].data[0].copy().reshape(6, -1)
        net.blobs["data"].data[0] = random_array(3, 3, 20, 24)
        net.forward(end="norm1")
        chosen = guide[:, (net.blobs["norm1"].data[0].reshape(6, -1).T @ guide).argmax(axis=1)]

        def write_guide(blob):
            blob.diff[0].reshape(6, -1)[:] = chosen

        self.check_gradient(net, "norm1", lambda values: (values[0].reshape(6, -1) * chosen).sum(), write_guide)

    def test_saliency_of_a_class(self):
        """The gradient of one score, from the end of the net, in both ways to write it."""
        net = self.make_net()
        net.blobs["data"].data[0] = random_array(4, 3, 20, 24)
        one_hot = np.float32([[0, 0, 1, 0, 0]])

        def write_class(blob):
            blob.diff[...] = one_hot

        by_diff = self.check_gradient(net, "fc", lambda values: values[0, 2], write_class)
        net.forward()
        by_keyword = net.backward(fc=one_hot, diffs=["norm1"])
        self.close(by_keyword["data"][0], by_diff, 1e-6)
        self.assertEqual(by_keyword["norm1"].shape, net.blobs["norm1"].shape)


if __name__ == "__main__":
    unittest.main()
