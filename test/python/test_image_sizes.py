"""Tests data layers whose images have several sizes, in batches of one: the blobs of the net follow them. Compares
losses and weights with nets that get the same images through Input layers."""
import os
import re
import struct
import subprocess
import sys
import unittest
import unittest.mock
import zlib

import caffe
import h5py
import numpy as np
from brew import _core
from caffe import _fused

from common import Case, fill

PROGRAMS = os.path.join(os.path.dirname(_core.__file__), "../../bin")
SIZES = (10, 12), (14, 9), (8, 8), (10, 12), (9, 15)

NET = """layer { name: 'conv' type: 'Convolution' bottom: 'data' top: 'conv' convolution_param { num_output: 4
  kernel_size: 3 pad: 1 weight_filler { type: 'xavier' } } }
layer { name: 'relu' type: 'ReLU' bottom: 'conv' top: 'conv' }
"""
CLASSES = NET + """layer { name: 'pool' type: 'Pooling' bottom: 'conv' top: 'pool' pooling_param { pool: AVE
  global_pooling: true } }
layer { name: 'score' type: 'InnerProduct' bottom: 'pool' top: 'score' inner_product_param { num_output: 2
  weight_filler { type: 'xavier' } } }
layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'score' bottom: 'label' top: 'loss' }
"""
PIXELS = NET + """layer { name: 'score' type: 'Convolution' bottom: 'conv' top: 'score' convolution_param {
  num_output: 2 kernel_size: 1 weight_filler { type: 'xavier' } } }
layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'score' bottom: 'label' top: 'loss' }
"""
INPUTS = """layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
layer { name: 'label' type: 'Input' top: 'label' input_param { shape { %s } } }
"""
TRANSFORM = "transform_param { mean_value: 128 scale: 0.01 }"
IMAGES = """layer { name: 'images' type: 'ImageData' top: 'data' top: 'label' %s
  image_data_param { source: 'list.txt' batch_size: 1 } }
""" % TRANSFORM
RECORDS = """layer { name: 'images' type: 'Data' top: 'data' %s
  data_param { source: 'images' backend: LMDB batch_size: 1 } }
layer { name: 'labels' type: 'Data' top: 'label' data_param { source: 'labels' backend: LMDB batch_size: 1 } }
""" % TRANSFORM
PAIRS = """layer { name: 'images' type: 'DenseImageData' top: 'data' top: 'label' %s
  dense_image_data_param { source: 'pairs.txt' batch_size: 1 } }
""" % TRANSFORM
SOLVER = """net: '%s' base_lr: 0.1 momentum: 0.9 lr_policy: 'fixed' display: 1 max_iter: 8 snapshot_prefix: '%s'
solver_mode: CPU random_seed: 3
"""


def png(image):
    """Returns a PNG file of bytes, shape (height, width) or (height, width, 3)."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = image.shape[:2]
    color = 2 if image.ndim == 3 else 0
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)) \
        + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class ImageSizes(Case):
    def setUp(self):
        super().setUp()
        rs = np.random.RandomState(2)
        self.images = [rs.randint(0, 256, (*size, 3)).astype(np.uint8) for size in SIZES]
        self.labels = [rs.randint(0, 2, size).astype(np.uint8) for size in SIZES]
        for i, (image, labels) in enumerate(zip(self.images, self.labels)):
            self.write_image("i%d.png" % i, image)
            self.write_image("l%d.png" % i, labels)
        numbers = range(len(SIZES))
        self.write("".join("i%d.png %d\n" % (i, i % 2) for i in numbers), "list.txt")
        self.write("".join("l%d.png 0\n" % i for i in numbers), "labels.txt")
        self.write("".join("i%d.png l%d.png\n" % (i, i) for i in numbers), "pairs.txt")

    def write_image(self, name, image):
        with open(self.path(name), "wb") as file:
            file.write(png(image))

    def write_databases(self, *flags):
        for source, target, color in (("list.txt", "images", ()), ("labels.txt", "labels", ("--gray",))):
            subprocess.run([os.path.join(PROGRAMS, "brew-data"), "imageset", "", source, target, *color, *flags],
                           cwd=self.folder, check=True, capture_output=True, timeout=100)

    def values(self, number):
        """Returns an image as data layers deliver it."""
        return ((self.images[number][:, :, ::-1].transpose(2, 0, 1) - 128.0) * 0.01)[None]

    def solver(self, net, name="net"):
        self.write(net, name + ".prototxt")
        solver = caffe.get_solver(self.write(SOLVER % (name + ".prototxt", self.path(name)), name + "_solver.prototxt"))
        fill(solver.net)
        return solver

    def train_on_inputs(self, net, labels, steps=8):
        """Returns the losses and the weights of training on the images one by one."""
        shape = "dim: 1 dim: 1 dim: 8 dim: 8" if net is PIXELS else "dim: 1"
        solver = self.solver(INPUTS % shape + net, "inputs")
        losses = []
        for step in range(steps):
            for name, values in (("data", self.values(step % len(SIZES))), ("label", labels(step % len(SIZES)))):
                solver.net.blobs[name].reshape(*values.shape)
                solver.net.blobs[name].data[...] = values
            solver.step(1)
            losses.append(float(solver.net.blobs["loss"].data))
        return losses, solver.net

    def check_training(self, source, net, labels):
        losses, expected = self.train_on_inputs(net, labels)
        solver = self.solver(source + net)
        self.assertEqual(solver.net.blobs["data"].shape, (1, 3, *SIZES[0]))
        for step, loss in enumerate(losses):
            solver.step(1)
            number = step % len(SIZES)
            self.close(solver.net.blobs["data"].data, self.values(number))
            self.assertEqual(solver.net.blobs["conv"].shape, (1, 4, *SIZES[number]))
            np.testing.assert_array_equal(solver.net.blobs["label"].data, labels(number))
            self.close(solver.net.blobs["loss"].data, loss, 1e-5)
        for name, blobs in expected.params.items():
            for blob, other in zip(blobs, solver.net.params[name]):
                self.close(other.data, blob.data, 1e-5)

    def class_of(self, number):
        return np.float32([number % 2])

    def labels_of(self, number):
        return self.labels[number][None, None]

    def test_image_data(self):
        self.check_training(IMAGES, CLASSES, self.class_of)

    def test_data(self):
        for flags in ((), ("--encoded",)):
            self.write_databases(*flags)
            self.check_training(RECORDS, PIXELS, self.labels_of)
            for folder in ("images", "labels"):
                for name in os.listdir(self.path(folder)):
                    os.unlink(self.path(os.path.join(folder, name)))
                os.rmdir(self.path(folder))

    def test_dense_image_data(self):
        self.check_training(PAIRS, PIXELS, self.labels_of)

    @unittest.skipUnless(os.path.exists(os.path.join(os.environ.get("BREW_CUDASIM", ""), "libcuda.so.1")),
                         "the CUDA simulator is not built")
    def test_gpu(self):
        self.addCleanup(caffe.set_mode_cpu)
        caffe.set_mode_gpu()
        self.check_training(PAIRS, PIXELS, self.labels_of)

    def test_passes_and_reshape(self):
        for phase in (caffe.TRAIN, caffe.TEST):
            net = caffe.Net(self.write(IMAGES + CLASSES), phase)
            fill(net)
            for number in range(len(SIZES) + 1):
                net.forward()
                number %= len(SIZES)
                self.close(net.blobs["data"].data, self.values(number))
                net.reshape()  # keeps the image
                self.close(net.blobs["data"].data, self.values(number))
                if phase == caffe.TRAIN:
                    net.backward()
                    self.assertEqual(net.blobs["conv"].diff.shape, (1, 4, *SIZES[number]))

    def test_random_orders(self):
        source = IMAGES.replace("scale", "mirror: true scale").replace("batch_size", "shuffle: true batch_size")
        net = caffe.Net(self.write(source + CLASSES), caffe.TRAIN)
        for _ in range(2):
            shapes = []
            for _ in SIZES:
                net.forward()
                image = net.blobs["data"].data
                shapes.append(image.shape[2:])
                self.assertTrue(any(np.allclose(image, other, atol=1e-5) or np.allclose(image[..., ::-1], other, atol=1e-5)
                                    for other in map(self.values, range(len(SIZES))) if other.shape == image.shape))
            self.assertEqual(sorted(shapes), sorted(SIZES))

    def test_gray_and_color_records(self):
        """The number of channels may differ, too, in layers for any number."""
        self.write("i0.png 0\nl1.png 0\n", "list.txt")
        program = os.path.join(PROGRAMS, "brew-data")
        subprocess.run([program, "imageset", "", "list.txt", "images", "--encoded"], cwd=self.folder, check=True,
                       capture_output=True, timeout=100)
        net = caffe.Net(self.write(RECORDS.split("layer { name: 'labels'")[0]), caffe.TEST)
        net.forward()
        self.assertEqual(net.blobs["data"].shape, (1, 3, *SIZES[0]))
        net.forward()
        self.assertIn(net.blobs["data"].shape, [(1, 1, *SIZES[1]), (1, 3, *SIZES[1])])

    def test_images_of_one_size(self):
        self.write("i0.png 1\ni3.png 0\n", "list.txt")
        net = caffe.Net(self.write(IMAGES + CLASSES), caffe.TRAIN)
        for number in (0, 3, 0):
            net.forward()
            self.close(net.blobs["data"].data, self.values(number))

    def check_error(self, net, text):
        with self.assertRaisesRegex(RuntimeError, text):
            for _ in range(2 * len(SIZES)):
                net.forward()

    def test_damaged_image(self):
        with open(self.path("i2.png"), "rb") as file:
            damaged = file.read()[:-40]
        with open(self.path("i2.png"), "wb") as file:
            file.write(damaged)
        net = caffe.Net(self.write(IMAGES + CLASSES), caffe.TRAIN)
        self.check_error(net, r"^layer 'images' \(ImageData\): .*list.txt:3: .*i2.png: cannot decode the image")

    def test_image_that_has_grown(self):
        for source, net, text in ((IMAGES, CLASSES, "is an image of 3 x 20 x 9, but the images had at most 3 x 14 x 15"),
                                  (PAIRS, PIXELS, "has 20 x 9 pixels; the images had at most 14 x 15")):
            net = caffe.Net(self.write(source + net), caffe.TRAIN)
            net.forward()
            self.write_image("i0.png", np.zeros((20, 9, 3), np.uint8))
            self.write_image("l0.png", np.zeros((20, 9), np.uint8))
            self.check_error(net, r"^layer 'images' .*txt:1: .*i0.png.* %s when the plan was built$" % text)
            self.write_image("i0.png", self.images[0])
            self.write_image("l0.png", self.labels[0])

    def test_labels_of_another_size(self):
        self.write_image("l1.png", self.labels[0])
        net = caffe.Net(self.write(PAIRS + PIXELS), caffe.TRAIN)
        self.check_error(net, r"pairs.txt:2: .*l1.png: the image of labels has 10 x 12 pixels; its image has 14 x 9$")

    def test_mean_file_needs_one_size(self):
        mean = caffe.io.array_to_blobproto(np.zeros((1, 3, *SIZES[0])))
        with open(self.path("mean"), "wb") as file:
            file.write(mean.SerializeToString())
        source = IMAGES.replace("mean_value: 128", "mean_file: 'mean'")
        net = caffe.Net(self.write(source + CLASSES), caffe.TRAIN)
        with self.assertRaisesRegex(RuntimeError, "'i0.png' is 3x10x12, 'i1.png' is 3x14x9; mean_file fits only one size"):
            net.forward()

    def test_many_sizes(self):
        """More sizes than programs that a layer keeps. A net keeps fused plans up to a limit of their memory."""
        sizes = [(6 + i, 20 - i) for i in range(12)]
        self.images = [np.full((*size, 3), i, np.uint8) for i, size in enumerate(sizes)]
        for i, image in enumerate(self.images):
            self.write_image("i%d.png" % i, image)
        self.write("".join("i%d.png 0\n" % i for i in range(12)), "list.txt")
        solver = self.solver(IMAGES + CLASSES)
        plans = solver.net._fused_nets.plans
        for number in [*range(12), *range(12)]:
            solver.step(1)
            self.close(solver.net.blobs["data"].data, self.values(number))
        self.assertEqual(len(plans), 12)
        with unittest.mock.patch.object(_fused.FusedNetCache, "_MAX_BYTES", 2 << 20):
            self.write_image("i0.png", np.zeros((3, 4, 3), np.uint8))
            for _ in range(13):
                solver.step(1)
        self.assertEqual(solver.net.blobs["data"].shape, (1, 3, 3, 4))
        self.assertEqual(len(plans), 1)
        net = caffe.Net(self.path("net.prototxt"), caffe.TRAIN)  # layer by layer
        for number in [*range(1, 12), 1]:
            net.forward()
            net.backward()
        self.assertLessEqual(len(net._layers[1].programs), 8)

    # --- the command caffe

    def run_caffe(self, *arguments, **environment):
        """Returns the exit status and the standard error, without the prefixes of lines."""
        environment = {**os.environ, "GLOG_minloglevel": "0", "XDG_CACHE_HOME": self.path("cache"), **environment}
        process = subprocess.run([os.path.join(PROGRAMS, "caffe"), *arguments], cwd=self.folder, env=environment,
                                 capture_output=True, text=True, timeout=100)
        return process.returncode, re.sub(r"^[IWEF]\d{4} [^\]]*\] ", "", process.stderr, flags=re.MULTILINE)

    def python_folder(self):
        """Returns a folder with a program python3 that runs this interpreter."""
        os.mkdir(self.path("bin"))
        path = self.write('#!/bin/sh\nexec %s "$@"\n' % sys.executable, "bin/python3")
        os.chmod(path, 0o755)
        return self.path("bin")

    def test_command(self):
        path = os.pathsep.join([self.python_folder(), os.environ["PATH"]])
        expected = self.solver(IMAGES + CLASSES)
        expected.net.save(self.path("w.caffemodel"))
        expected.step(8)
        arguments = ("-solver", "net_solver.prototxt", "-weights", "w.caffemodel")
        status, log = self.run_caffe("train", *arguments, PATH=path)
        self.assertEqual(status, 0, log)
        self.assertNotIn("several sizes", log)
        for line in ("Use CPU.", "Iteration 0, lr = 0.1", "Top shape: 1 3 10 12 (360)", "Iteration 7, lr = 0.1",
                     "Optimization Done."):
            self.assertIn(line, log.splitlines(), log)
        trained = caffe.Net(self.path("net.prototxt"), self.path("net_iter_8.caffemodel"), caffe.TEST)
        for name, blobs in expected.net.params.items():
            for blob, other in zip(blobs, trained.params[name]):
                self.close(other.data, blob.data)
        status, log = self.run_caffe("test", "-model", "net.prototxt", "-weights", "w.caffemodel", "-iterations", "5",
                                     PATH=path)
        self.assertEqual((status, len(re.findall("^Batch ", log, re.MULTILINE))), (0, 5), log)
        status, log = self.run_caffe("time", "-model", "net.prototxt", "-iterations", "2", PATH=path)
        self.assertEqual(status, 0, log)

    def test_command_after_another_size(self):
        """The plan of images of one size is cached, until a pair of images is replaced by another size."""
        image = np.zeros((6, 8, 3), np.uint8)
        for name in ("a", "b"):
            self.write_image(name + ".png", image)
            self.write_image(name + "l.png", image[..., 0])
        self.write("a.png\tal.png\nb.png\tbl.png\n", "pairs.txt")
        self.write(PAIRS + PIXELS, "net.prototxt")
        path = os.pathsep.join([self.python_folder(), os.environ["PATH"]])
        for _ in range(2):
            status, log = self.run_caffe("time", "-model", "net.prototxt", "-iterations", "2", PATH=path)
            self.assertEqual(status, 0, log)
            self.write_image("b.png", image[:5])
            self.write_image("bl.png", image[:5, :, 0])

    def run_tool(self, *arguments):
        return subprocess.run([os.path.join(PROGRAMS, arguments[0]), *arguments[1:]], cwd=self.folder,
                              capture_output=True, text=True, timeout=100)

    def test_programs_of_a_plan(self):
        """brew-run reads a plan of the data layer alone: every batch has the shape of its image."""
        self.write(IMAGES, "data.prototxt")
        self.assertEqual(self.run_tool("brewc", "data.prototxt", "--phase=train", "--stepwise", "--image-sizes=any",
                                       "-o", "data.plan").returncode, 0)
        result = self.run_tool("brew-run", "eval", "data.plan", "--from-source", "--batches", "4", "--outputs", "out.h5")
        self.assertEqual(result.returncode, 0, result.stderr)
        with h5py.File(self.path("out.h5")) as file:
            for number in range(4):
                self.close(file["batch/%d/data" % number][()], self.values(number))
        # A dataset has one shape.
        result = self.run_tool("brew-run", "features", "data.plan", "--blobs", "data", "--outputs", "f.h5",
                               "--format", "hdf5", "--batches", "4")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("blob 'data' changes its shape from batch to batch, and f.h5 has one shape", result.stderr)
        self.assertFalse(os.path.exists(self.path("f.h5")))

    def test_command_without_python(self):
        self.solver(IMAGES + CLASSES)
        os.mkdir(self.path("none"))
        status, log = self.run_caffe("train", "-solver", "net_solver.prototxt", PATH=self.path("none"))
        self.assertEqual((status, log.count("\n")), (3, 1), log)
        self.assertIn("net_solver.prototxt has images of several sizes, which run in Python's package caffe, but $PATH "
                      "has no python3", log)
        # Other errors of the compiler are reported as always.
        self.write((IMAGES + CLASSES).replace("i0", "i9").replace("list.txt", "absent.txt"), "net.prototxt")
        status, log = self.run_caffe("train", "-solver", "net_solver.prototxt", PATH=self.path("none"))
        self.assertEqual((status, log.count("error: ")), (3, 1), log)


if __name__ == "__main__":
    unittest.main()
