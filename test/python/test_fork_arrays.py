"""Compares forks' layers of arrays, resizing and segmentation with NumPy, forward and backward."""
import itertools
import unittest

import caffe
import numpy as np

from common import fill, random_array
from fork_case import ForkCase


def sum_to(x, shape):
    """Returns the sums of x over the dimensions along which `shape` is broadcast."""
    x = x.sum(tuple(range(x.ndim - len(shape))))
    return x.sum(tuple(i for i, extent in enumerate(shape) if extent == 1 != x.shape[i]), keepdims=True)


def resize_matrix(out, extent, source, nearest=False, zero_outside=False):
    """Returns the matrix of a resizing along one dimension; `source` maps a position of the result to one of x."""
    matrix = np.zeros((out, extent))
    for i in range(out):
        position = source(np.float32(i))
        below = int(np.floor(position))
        if nearest:
            matrix[i, min(max(below, 0), extent - 1)] = 1
            continue
        weight = position - below
        matrix[i, min(max(below, 0), extent - 1)] += 1 - weight
        if below + 1 < extent or not zero_outside:
            matrix[i, min(max(below + 1, 0), extent - 1)] += weight
    return matrix


class ForkArrays(ForkCase):
    def check_backward(self, net, dy, gradients):
        net.blobs["y"].diff[...] = dy
        net.backward()
        for name, gradient in gradients.items():
            self.close(net.blobs[name].diff, gradient)

    def test_broadcasts(self):
        # Derivatives by a and by b.
        functions = {"Add": (np.add, lambda a, b: 1, lambda a, b: 1),
                     "Sub": (np.subtract, lambda a, b: 1, lambda a, b: -1),
                     "Mul": (np.multiply, lambda a, b: b, lambda a, b: a),
                     "Div": (np.divide, lambda a, b: 1 / b, lambda a, b: -a / b ** 2),
                     "Maximum": (np.maximum, lambda a, b: a >= b, lambda a, b: a < b),
                     "Minimum": (np.minimum, lambda a, b: a <= b, lambda a, b: a > b),
                     "Pow": (np.power, lambda a, b: b * a ** (b - 1), lambda a, b: a ** b * np.log(a))}
        shapes = [((2, 3, 4), (2, 3, 4)), ((2, 3, 4), (3, 1)), ((3, 1), (2, 3, 4)), ((2, 1, 4), (1, 3, 1)),
                  ((2, 3), ()), ((), (2, 3)), ((4,), (2, 1, 3, 1))]
        for kind, (shape_a, shape_b) in itertools.product(functions, shapes):
            with self.subTest(kind, a=shape_a, b=shape_b):
                function, by_a, by_b = functions[kind]
                a, b = 1.5 + random_array(1, *shape_a), 1.5 + random_array(2, *shape_b)
                net = self.net(kind, "", {"a": a, "b": b})
                y = function(a, b)
                self.assertEqual(net.blobs["y"].data.shape, y.shape)
                self.close(net.forward()["y"], y)
                dy = random_array(3, *y.shape)
                self.check_backward(net, dy, {"a": sum_to(dy * by_a(a, b), shape_a),
                                              "b": sum_to(dy * by_b(a, b), shape_b)})

    def test_mul_by_a_blob(self):
        x = random_array(4, 2, 3, 4)
        net = self.net("Mul", "mul_param { mul_shape: 3 mul_shape: 1 }", {"x": x})
        factor = net.params["layer"][0]
        self.assertEqual((factor.data.shape, np.abs(factor.data).max()), ((3, 1), 0))
        fill(net)
        self.close(net.forward()["y"], x * factor.data)
        dy = random_array(5, 2, 3, 4)
        self.check_backward(net, dy, {"x": dy * factor.data})
        self.close(factor.diff, (dy * x).sum((0, 2))[:, None])

    def test_matrix_products(self):
        for kind, batch_a, batch_b, flip_a, flip_b in (
                ("MatMul", (), (), 0, 0), ("MatMul", (2, 3), (2, 3), 1, 0), ("MatMul", (2,), (2,), 0, 1),
                ("MatMul", (2, 3), (), 0, 0), ("MatMul", (2,), (2,), 1, 1), ("MatrixMultiplication", (2, 3), (), 0, 0),
                ("MatrixMultiplication", (), (4,), 0, 0)):
            with self.subTest(kind, a=batch_a, b=batch_b, flip=(flip_a, flip_b)):
                a = random_array(6, *batch_a, *((5, 4) if flip_a else (4, 5)))
                b = random_array(7, *batch_b, *((3, 5) if flip_b else (5, 3)))
                text = "matmul_param { transpose_a: %s transpose_b: %s }" % (
                    str(bool(flip_a)).lower(), str(bool(flip_b)).lower())
                net = self.net(kind, text if kind == "MatMul" else "", {"a": a, "b": b})
                left, right = (np.swapaxes(x, -1, -2) if flip else x for x, flip in ((a, flip_a), (b, flip_b)))
                self.close(net.forward()["y"], left @ right)
                dy = random_array(8, *(left @ right).shape)
                da, db = dy @ np.swapaxes(right, -1, -2), np.swapaxes(left, -1, -2) @ dy
                da, db = (np.swapaxes(x, -1, -2) if flip else x for x, flip in ((da, flip_a), (db, flip_b)))
                self.check_backward(net, dy, {"a": sum_to(da, a.shape), "b": sum_to(db, b.shape)})

    def test_product_with_a_blob(self):
        x = random_array(9, 2, 4, 5)
        net = self.net("MatMul", "matmul_param { blob_shape: 5 blob_shape: 3 }", {"x": x})
        fill(net)
        w = net.params["layer"][0].data
        self.close(net.forward()["y"], x @ w)

    def check_resize(self, kind, text, shape, extents, source, first=2, **options):
        """`source` returns the function of the positions for an extent of x and one of the result."""
        x = random_array(10, *shape)
        net = self.net(kind, text, {"x": x})
        rows, columns = (resize_matrix(extents[i], shape[first + i], source(shape[first + i], extents[i]), **options)
                         for i in (0, 1))

        def along(values, *matrices):
            for axis, matrix in enumerate(matrices, first):
                values = np.moveaxis(np.tensordot(matrix, values, (1, axis)), 0, axis)
            return values

        y = along(x, rows, columns)
        self.assertEqual(net.blobs["y"].data.shape, y.shape)
        self.close(net.forward()["y"], y)
        dy = random_array(11, *y.shape)
        self.check_backward(net, dy, {"x": along(dy, rows.T, columns.T)})

    def test_resizes(self):
        f = np.float32
        positions = {  # of ResizeBilinear
            "": lambda extent, out: lambda i: i * f(extent / out),
            "align_corners: true": lambda extent, out: lambda i: i * f((extent - 1) / max(out - 1, 1)),
            "half_pixel_centers: true": lambda extent, out: lambda i: (i + f(.5)) * f(extent / out) - f(.5),
            "pytorch_half_pixel: true": lambda extent, out: lambda i: (
                (i + f(.5)) * f(extent / out) if out > 1 else f(0)) - f(.5)}
        nearest = {  # of ResizeNearestNeighbor
            "": positions[""],
            "align_corners: true": lambda extent, out: lambda i: positions["align_corners: true"](extent, out)(i) + f(.5),
            "half_pixel_centers: true": lambda extent, out: lambda i: (i + f(.5)) * f(extent / out),
            "half_pixel_onnx: true": positions["half_pixel_centers: true"]}
        for sizes in ((7, 9), (2, 3), (1, 1), (8, 5), (12, 15)):
            size = "data_format: 'NCHW' output_height: %d output_width: %d " % sizes
            for text, source in positions.items():
                with self.subTest(text, sizes=sizes):
                    self.check_resize("ResizeBilinear", "resize_bilinear_param { %s }" % (size + text), (2, 3, 4, 5),
                                      sizes, source)
            for text, source in nearest.items():
                with self.subTest("nearest " + text, sizes=sizes):
                    self.check_resize("ResizeNearestNeighbor", "resize_nearest_neighbor_param { %s }" % (size + text),
                                      (2, 3, 4, 5), sizes, source, nearest=True)
        # By default, the channels are last.
        self.check_resize("ResizeBilinear", "resize_bilinear_param { scale_height: 2.5 scale_width: 1.5 }", (2, 3, 4, 5),
                          (7, 6), positions[""], first=1)
        self.check_resize("Resize", "resize_param { height: 7 width: 9 }", (2, 3, 4, 5), (7, 9), positions[""],
                          zero_outside=True)
        self.check_resize("Resize", "resize_param { is_pyramid_test: true out_height_scale: 0.5 out_width_scale: 1.3 }",
                          (2, 3, 4, 5), (2, 6), positions[""], zero_outside=True)

    def test_crop_center(self):
        x = random_array(12, 2, 3, 6, 7)
        net = self.net("CropCenter", "crop_center_param { crop_size: [0, 1, 2, 3] }", {"x": x})
        self.close(net.forward()["y"], x[:, 1:2, 2:4, 3:4])
        dy = random_array(13, 2, 1, 2, 1)
        self.check_backward(net, dy, {"x": np.pad(dy, ((0, 0), (1, 1), (2, 2), (3, 3)))})

    def check_norms(self, kind, text, x, norms, norm_gradient, bp_norm=False, tops=("y",)):
        """`norm_gradient` is the derivative of the norms by x."""
        net = self.net(kind, text, {"x": x}, tops=tops)
        net.forward()
        self.close(net.blobs["y"].data, x / norms)
        dy = random_array(14, *x.shape)
        dnorms = -(dy * x).sum(1, keepdims=True) / norms ** 2
        if len(tops) > 1:
            self.close(net.blobs["n"].data, norms)
            net.blobs["n"].diff[...] = random_array(15, *norms.shape)
            if bp_norm:
                dnorms = dnorms + random_array(15, *norms.shape)
        self.check_backward(net, dy, {"x": dy / norms + dnorms * norm_gradient})

    def test_norms(self):
        x = random_array(16, 2, 3, 2, 4)
        for bias in (1e-7, 0.5):
            norms = np.sqrt((x * x).sum(1, keepdims=True) + bias)
            self.check_norms("GRN", "grn_param { bias: %g }" % bias, x, norms, x / norms)
        norms = np.sqrt((x * x).sum(1, keepdims=True) + 1e-6)
        sums = np.abs(x).sum(1, keepdims=True) + 1e-6
        self.check_norms("Normalize", "normalize_param { normalize_type: 'L1' }", x, sums, np.sign(x))
        for bp_norm in (False, True):
            text = "normalize_param { normalize_type: '%%s' bp_norm: %s }" % str(bp_norm).lower()
            self.check_norms("Normalize", text % "L2", x, norms, x / norms, bp_norm, ("y", "n"))
            self.check_norms("Normalize", text % "L1", x, sums, np.sign(x), bp_norm, ("y", "n"))

    def test_l2_norm(self):
        for shape in ((3, 5), (2, 3, 2, 4)):
            x, dy = random_array(20, *shape), random_array(21, *shape)
            axes = tuple(range(1, x.ndim))
            norms = np.sqrt((x * x).sum(axes, keepdims=True))
            net = self.net("L2Norm", "", {"x": x})
            self.close(net.forward()["y"], x / norms)
            dots = (dy * x).sum(axes, keepdims=True)
            self.check_backward(net, dy, {"x": dy / norms - x * dots / norms ** 3})

    def test_seg_accuracy(self):
        scores = np.round(random_array(17, 2, 4, 3, 5), 1)  # some are equal
        labels = np.random.RandomState(18).choice([0, 1, 3, 255], (2, 1, 3, 5)).astype(np.float32)
        counts = np.zeros((4, 4))
        best = 3 - scores[:, ::-1].argmax(1)  # the last one of equals
        for label, predicted in zip(labels.ravel().astype(int), best.ravel()):
            if label != 255:
                counts[label, predicted] += 1

        def metrics(counts):
            right, actual = np.diag(counts), counts.sum(1)
            union = actual + counts.sum(0) - right
            return [right.sum() / counts.sum(), (right[actual > 0] / actual[actual > 0]).mean(),
                    np.where(union > 0, right / np.maximum(union, 1), 1).mean()]

        for reset in (True, False):
            net = self.net("SegAccuracy", "seg_accuracy_param { ignore_label: 255 reset: %s }" % str(reset).lower(),
                           {"x": scores, "label": labels}, force=False)
            self.close(net.forward()["y"].ravel(), metrics(counts))
            net.blobs["label"].data[...] = 1
            added = np.zeros((4, 4))
            added[1] = np.bincount(best.ravel(), minlength=4)
            self.close(net.forward()["y"].ravel(), metrics(added if reset else added + counts))
        net.blobs["label"].data[...] = 4
        with self.assertRaisesRegex(Exception, "label 4 is neither one of the 4 classes nor an ignore_label"):
            net.forward()

    def test_roi_alignment(self):
        x = random_array(24, 2, 3, 6, 7)
        rois = np.array([[0, 1, 2, 7, 8], [1, 0, 0, 13, 11], [1, 5, 4, 4, 3], [0, 9, 8, 40, 30], [0, 20, 0, 30, 9]],
                        np.float32)

        def weights(low, high, cells, extent):
            """Returns the weights of the positions in the mean of each cell along one dimension."""
            start, size = low * np.float32(0.5), max((high - low) * np.float32(0.5) + 1, 1)
            matrix = np.zeros((cells, extent))
            for cell in range(cells):
                first, last = (min(max(start + n * size / cells, 0), extent) for n in (cell, cell + 1))
                points = np.arange(first, last, 1)
                for point in points:
                    below = int(point)
                    matrix[cell, below] += (1 - point + below) / len(points)
                    matrix[cell, min(below + 1, extent - 1)] += (point - below) / len(points)
            return matrix

        rows = [weights(roi[2], roi[4], 3, 6) for roi in rois]
        columns = [weights(roi[1], roi[3], 2, 7) for roi in rois]
        net = self.net("ROIAlignment", "roi_alignment_param { pooled_h: 3 pooled_w: 2 spatial_scale: 0.5 }",
                       {"x": x, "rois": rois})
        self.close(net.forward()["y"], [np.einsum("ih,jw,chw->cij", r, c, x[int(roi[0])])
                                        for r, c, roi in zip(rows, columns, rois)])
        dy, dx = random_array(25, 5, 3, 3, 2), np.zeros(x.shape)
        for r, c, roi, gradient in zip(rows, columns, rois, dy):
            dx[int(roi[0])] += np.einsum("ih,jw,cij->chw", r, c, gradient)
        self.check_backward(net, dy, {"x": dx})

    def test_l1_loss_of_other_shapes(self):
        a, p = random_array(19, 4, 3, 1, 2), random_array(20, 4, 6)
        gradient = np.sign(a.reshape(4, 6) - p) / 4
        self.check_loss("L1Loss", "", {"a": a, "p": p}, np.abs(a.reshape(4, 6) - p).sum() / 4,
                        {"a": gradient.reshape(a.shape), "p": -gradient})
        x, t = random_array(21, 5), random_array(22, 5, 1)
        self.check_loss("L1Loss", "", {"x": x, "t": t}, np.abs(x - t[:, 0]).mean(), {"x": np.sign(x - t[:, 0]) / 5})

    def test_v1_layers(self):
        path = self.write("""input: 'x' input_shape { dim: 6 dim: 2 dim: 3 dim: 4 }
            layers { name: 'r' type: RESIZE bottom: 'x' top: 'r' resize_param { height: 2 width: 2 } }
            layers { name: 'l' type: TRIPLET_LOSS bottom: 'r' bottom: 'r' bottom: 'r' top: 'l'
                     triplet_loss_param { margin: 0.6 } }""")
        net = caffe.Net(path, caffe.TEST)
        net.blobs["x"].data[...] = random_array(23, 6, 2, 3, 4)
        self.close(net.forward()["l"], 0.3)
        x = net.blobs["x"].data
        # Rows 0 and 1.5, columns 0 and 2.
        self.close(net.blobs["r"].data, np.stack([x[:, :, 0, ::2], (x[:, :, 1, ::2] + x[:, :, 2, ::2]) / 2], 2))


if __name__ == "__main__":
    unittest.main()
