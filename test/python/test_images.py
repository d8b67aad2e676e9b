"""Tests caffe.io: resizing, crops, transformers, protocol buffers."""
import os
import subprocess
import sys
import unittest

import caffe
import numpy as np

from common import Case, random_array


class Images(Case):
    def test_resize(self):
        for channels in (1, 3, 5):
            image = random_array(channels, 6, 8, channels)
            for dims in ((3, 4), (12, 16), (6, 8)):
                out = caffe.io.resize_image(image, dims)
                self.assertEqual((out.shape, out.dtype), (dims + (channels,), np.float32))
        self.close(caffe.io.resize_image(np.full((4, 4, 3), 0.5), (2, 2)), np.full((2, 2, 3), 0.5))
        image = random_array(1, 6, 8, 5)
        self.close(caffe.io.resize_image(image, (11, 15))[::2, ::2], image)
        with self.assertRaises(ValueError):
            caffe.io.resize_image(image, (3, 3), interp_order=6)

    def test_resize_with_splines(self):
        """Compares with values of scipy.ndimage.zoom."""
        line = np.float64([0, 1, 4, 2]).reshape(4, 1, 1).repeat(2, axis=2)
        for order, values in ((2, [0, 0.171429, 1, 2.8, 4, 3.028571, 2]), (3, [0, 0.125, 1, 2.875, 4, 3, 2]),
                              (4, [0, 0.086789, 1, 2.941176, 4, 2.972035, 2]),
                              (5, [0, 0.072459, 1, 2.96875, 4, 2.958791, 2])):
            self.close(caffe.io.resize_image(line, (7, 1), order)[:, 0, 1], values)
        image = np.float64([[0, 1, 4], [2, 0, 1]])[:, :, np.newaxis] / 4
        expected = [[0, 0.023205, 0.543933, 0.804525], [0.133044, 0.094983, 0.559708, 0.903694],
                    [0.431724, 0.175191, 0.203125, 0.478045], [0.431161, 0.154833, 0, 0.106002]]
        self.close(caffe.io.resize_image(image, (4, 4), 3)[:, :, 0], expected)

    def test_oversample(self):
        image = random_array(1, 7, 9, 3)
        crops = caffe.io.oversample([image], (4, 5))
        np.testing.assert_array_equal(crops[0], image[:4, :5])
        np.testing.assert_array_equal(crops[3], image[3:, 4:])
        np.testing.assert_array_equal(crops[4], image[1:5, 2:7])
        np.testing.assert_array_equal(crops[9], image[1:5, 2:7][:, ::-1])

    def test_deprocess_inverts_preprocess(self):
        t = caffe.io.Transformer({"x": (1, 3, 5, 6)})
        t.set_transpose("x", (2, 0, 1))
        t.set_channel_swap("x", (2, 1, 0))
        t.set_raw_scale("x", 255)
        t.set_mean("x", np.float32([1, 2, 3]))
        t.set_input_scale("x", 0.5)
        image = np.abs(random_array(1, 5, 6, 3))
        original = image.copy()
        preprocessed = t.preprocess("x", image)
        self.close(preprocessed[0], (image[:, :, 2] * 255 - 1) * 0.5)
        self.close(t.deprocess("x", preprocessed), image)
        np.testing.assert_array_equal(image, original)
        # Scales of NumPy do not change the type, whatever the version of NumPy.
        t.set_raw_scale("x", np.float64(255))
        t.set_input_scale("x", np.array(0.5))
        self.assertEqual(t.preprocess("x", image).dtype, np.float32)
        self.assertEqual(t.deprocess("x", preprocessed).dtype, np.float32)
        self.close(t.deprocess("x", preprocessed), image)

    def test_arrays_survive_protocol_buffers(self):
        a = random_array(1, 2, 3, 4)
        np.testing.assert_array_equal(caffe.io.blobproto_to_array(caffe.io.array_to_blobproto(a)), a)
        u = (a * 100 + 100).astype(np.uint8)
        np.testing.assert_array_equal(caffe.io.datum_to_array(caffe.io.array_to_datum(u, 3)), u)

    def test_import_caffe_imports_pillow(self):
        """As in pycaffe, `import caffe` imports PIL.Image if Pillow is installed, because scripts rely on that."""
        os.mkdir(self.path("PIL"))
        for name in ("__init__.py", "Image.py"):  # an empty package in place of Pillow
            self.write("", os.path.join("PIL", name))
        path = os.pathsep.join([self.folder, *sys.path])
        program = "import caffe, PIL; print(PIL.Image.__file__)"
        process = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, capture_output=True,
                                 text=True)
        self.assertEqual(process.stdout.strip(), self.path("PIL/Image.py"), process.stderr)
        program = "import sys; sys.modules['PIL'] = None; import caffe; caffe.io.load_image('x')"
        process = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, capture_output=True,
                                 text=True)
        self.assertIn("RuntimeError: caffe.io.load_image needs the package Pillow", process.stderr)

    def test_load_image(self):
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("Pillow is not installed")
        rgb = np.uint8([[[200, 100, 50], [0, 255, 0]]])
        Image.fromarray(rgb).save(self.path("rgb.png"))
        Image.fromarray(np.uint16([[300, 32768]])).save(self.path("16.png"))
        self.close(caffe.io.load_image(self.path("rgb.png")), rgb / 255)
        self.close(caffe.io.load_image(self.path("rgb.png"), color=False)[0, :, 0],
                   rgb[0] / 255 @ [0.2125, 0.7154, 0.0721])
        for color, channels in ((True, 3), (False, 1)):
            loaded = caffe.io.load_image(self.path("16.png"), color)
            self.close(loaded, np.repeat(np.float32([[[300], [32768]]]) / 65535, channels, axis=2))


if __name__ == "__main__":
    unittest.main()
