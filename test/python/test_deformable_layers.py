"""Compares deformable layers, dense blocks and extended detections with NumPy computations of their definitions."""
import itertools
import unittest

import caffe
import numpy as np

import test_fork_layers
from common import Case, random_array


def taps(x, y):
    """Returns the four positions around a point with their weights, and the derivatives of the weights."""
    top, left = int(np.floor(y)), int(np.floor(x))
    dy, dx = y - top, x - left
    for i, j in itertools.product((0, 1), (0, 1)):
        yield (top + i, left + j, (dy if i else 1 - dy) * (dx if j else 1 - dx),
               (1 if i else -1) * (dx if j else 1 - dx), (1 if j else -1) * (dy if i else 1 - dy))


def interpolate(plane, y, x):
    """Returns the element at a position, and its derivatives by row and column."""
    height, width = plane.shape
    y, x = min(y, height - 1), min(x, width - 1)
    result = np.zeros(3)
    for row, column, *weights in taps(x, y):
        result += plane[min(row, height - 1), min(column, width - 1)] * np.array(weights)
    return result


class DeformableLayers(Case):
    net = test_fork_layers.ForkLayers.net

    def check_convolution(self, shape, outputs, kernel, stride, pad, dilation, groups, conv_groups):
        x = random_array(1, *shape)
        extents = [(size + 2 * pad - (dilation * (kernel - 1) + 1)) // stride + 1 for size in shape[2:]]
        offsets = 2 * random_array(2, shape[0], 2 * groups * kernel * kernel, *extents)
        net = self.net("DeformableConvolution", "deformable_convolution_param { num_output: %d kernel_size: %d stride: %d "
                       "pad: %d dilation: %d deformable_group: %d group: %d }" % (
                           outputs, kernel, stride, pad, dilation, groups, conv_groups), {"x": x, "offsets": offsets})
        weights, bias = (blob.data for blob in net.params["layer"])
        weights[...] = random_array(3, *weights.shape)
        bias[...] = random_array(4, *bias.shape)
        expected = np.zeros((shape[0], outputs, *extents))
        dy = random_array(5, *expected.shape)
        slopes = np.zeros_like(offsets)
        per_group, per_conv_group = shape[1] // groups, shape[1] // conv_groups
        for n, p, q, i, j, c in itertools.product(
                range(shape[0]), *map(range, extents), range(kernel), range(kernel), range(shape[1])):
            channel = 2 * ((c // per_group * kernel + i) * kernel + j)
            row = p * stride - pad + i * dilation + offsets[n, channel, p, q]
            column = q * stride - pad + j * dilation + offsets[n, channel + 1, p, q]
            if not (0 <= row < shape[2] and 0 <= column < shape[3]):
                continue
            value, by_row, by_column = interpolate(x[n, c], row, column)
            own = slice(c // per_conv_group * outputs // conv_groups, (c // per_conv_group + 1) * outputs // conv_groups)
            factors = weights[own, c % per_conv_group, i, j]
            expected[n, own, p, q] += factors * value
            gradient = factors @ dy[n, own, p, q]
            slopes[n, channel, p, q] += gradient * by_row
            slopes[n, channel + 1, p, q] += gradient * by_column
        self.close(net.forward()["y"], expected + bias[:, None, None], 1e-4)
        net.blobs["y"].diff[...] = dy
        net.backward()
        self.close(net.blobs["offsets"].diff, slopes, 1e-4)
        # The top is linear in the bottom.
        self.close((net.blobs["x"].diff * x).sum(), (dy * expected).sum(), 1e-3)

    def test_convolution(self):
        self.check_convolution((2, 4, 6, 5), 6, 3, 1, 1, 1, 2, 2)
        self.check_convolution((1, 2, 8, 7), 3, 2, 2, 1, 2, 1, 1)

    def test_convolution_without_offsets_is_a_convolution(self):
        x = random_array(1, 2, 3, 5, 6)
        net = self.net("DeformableConvolution", "deformable_convolution_param { num_output: 4 kernel_size: 3 pad: 1 "
                       "deformable_group: 1 }", {"x": x, "offsets": np.zeros((2, 18, 5, 6), np.float32)})
        plain = self.net("Convolution", "convolution_param { num_output: 4 kernel_size: 3 pad: 1 }", {"x": x})
        for blob, other in zip(net.params["layer"], plain.params["layer"]):
            other.data[...] = blob.data[...] = random_array(2, *blob.data.shape)
        self.close(net.forward()["y"], plain.forward()["y"], 1e-5)

    def region_pooling(self, x, rois, offsets, outputs, group, scale, samples, std):
        parts, classes = (offsets.shape[2], offsets.shape[1] // 2) if offsets is not None else (1, 1)
        height, width = x.shape[2:]
        result = np.zeros((len(rois), outputs, group, group))
        for r, d, i, j in itertools.product(range(len(rois)), range(outputs), range(group), range(group)):
            left, top, right, bottom = np.floor(rois[r, 1:] + 0.5)
            size = np.maximum([(bottom + 1 - top) * scale, (right + 1 - left) * scale], 0.1)
            start = np.array([top, left]) * scale - 0.5 + np.array([i, j]) * size / group
            if offsets is not None:
                own = 2 * (d // (outputs // classes))
                part = i * parts // group, j * parts // group
                start += std * size * [offsets[(r, own + 1, *part)], offsets[(r, own, *part)]]
            values = []
            for a, b in itertools.product(range(samples), range(samples)):
                y, z = start + np.array([a, b]) * size / group / samples
                if -0.5 <= y <= height - 0.5 and -0.5 <= z <= width - 0.5:
                    plane = x[int(rois[r, 0]), (d * group + i) * group + j]
                    values.append(interpolate(plane, np.clip(y, 0, height - 1), np.clip(z, 0, width - 1))[0])
            result[r, d, i, j] = np.mean(values) if values else 0
        return result

    def test_region_pooling(self):
        rois = np.float32([[0, 0, 0, 20, 30], [1, 12.5, 3, 40, 17], [1, 5, 5, 5, 5], [0, 30, 30, 60, 60]])
        for group, classes, parts in ((3, 2, 3), (2, 1, 1), (3, 1, 2)):
            x = random_array(1, 2, 4 * group * group, 6, 7)
            offsets = 2 * random_array(2, len(rois), 2 * classes, parts, parts)
            text = "deformable_psroi_pooling_param { spatial_scale: 0.125 output_dim: 4 group_size: %d part_size: %d " \
                "sample_per_part: 3 trans_std: 0.2 }" % (group, parts)
            net = self.net("DeformablePSROIPooling", text, {"x": x, "rois": rois, "offsets": offsets})
            expected = self.region_pooling(x, rois, offsets, 4, group, 0.125, 3, 0.2)
            self.close(net.forward()["y"], expected, 1e-5)
            dy = net.blobs["y"].diff[...] = random_array(3, *expected.shape)
            net.backward()
            self.close((net.blobs["x"].diff * x).sum(), (dy * expected).sum(), 1e-3)
        fixed = self.net("DeformablePSROIPooling", "deformable_psroi_pooling_param { spatial_scale: 0.125 output_dim: 4 "
                         "group_size: 3 sample_per_part: 2 no_trans: true }", {"x": x, "rois": rois})
        self.close(fixed.forward()["y"], self.region_pooling(x, rois, None, 4, 3, 0.125, 2, 0), 1e-5)

    BLOCK = "denseblock_param { numTransition: 2 growthRate: 3 use_BC: %s moving_average_fraction: 0.25 Filter_Filler { " \
        "type: 'gaussian' std: 0.5 } BN_Scaler_Filler { value: 1.5 } BN_Bias_Filler { value: 0.1 } %s }"

    def normalized(self, x, params, train):
        """Returns ReLU of the scaled normalization, and the new statistics; `params` are five blobs."""
        scale, bias, mean, variance = (blob.reshape(1, -1, 1, 1) for blob in params)
        updated = mean, variance
        if train:
            mean, variance = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
            count = x.size / x.shape[1]
            updated = [0.75 * old + 0.25 * new for old, new in
                       zip(updated, (mean, variance * count / (count - 1)))]
        return np.maximum(scale * (x - mean) / np.sqrt(variance + 1e-5) + bias, 0), updated

    def convolution(self, x, weights):
        """Returns the convolution with reversed filters, unlike Caffe's."""
        pad, weights = weights.shape[2] // 2, weights[:, :, ::-1, ::-1]
        padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, weights.shape[2:], (2, 3))
        return np.einsum("nchwij,ocij->nohw", windows, weights)

    def test_dense_block(self):
        for bottleneck, phase in itertools.product((False, True), (caffe.TRAIN, caffe.TEST)):
            x = random_array(1, 3, 2, 5, 4)
            net = self.net("DenseBlock", self.BLOCK % (str(bottleneck).lower(), ""), {"x": x}, phase)
            blobs = net.params["layer"]
            self.assertEqual(len(blobs), 21 if bottleneck else 11)
            self.assertEqual(blobs[2].data.shape, (1, 2, 1, 1))
            self.assertEqual(blobs[-1].data.shape, (1,))
            for kind in (3, 4, 8, 9)[:4 if bottleneck else 2]:
                for t in range(2):
                    blobs[2 * kind + t].data[...] = 0.5 + random_array(kind + t, *blobs[2 * kind + t].data.shape) ** 2
            params = [np.array(blob.data) for blob in blobs]
            expected, train = x.astype(np.float64), phase == caffe.TRAIN
            for t in range(2):
                y, first = self.normalized(expected, params[2 + t:10:2], train)
                if bottleneck:
                    self.assertEqual(params[10 + t].shape, (12, 2 + 3 * t, 1, 1))
                    y, _ = self.normalized(self.convolution(y, params[10 + t]), params[12 + t:20:2], train)
                expected = np.concatenate((expected, self.convolution(y, params[t])), 1)
            self.close(net.forward()["y"], expected, 1e-4)
            self.close(blobs[7].data, first[0], 1e-5)
            self.close(blobs[9].data, first[1], 1e-5)

    def test_dropout_of_dense_blocks(self):
        net = self.net("DenseBlock", self.BLOCK % ("false", "use_dropout: true dropout_amount: 0.5"),
                       {"x": random_array(1, 8, 2, 9, 9)}, caffe.TRAIN)
        y = net.forward()["y"]
        kept = y[:, 2:] != 0
        self.assertLess(abs(kept.mean() - 0.5), 0.1)
        self.assertTrue((y[:, :2] != 0).all())
        self.assertFalse((kept[:, :3] == kept[:, 3:]).all())

    def test_extended_detections(self):
        boxes = random_array(1, 1, 2, 3, 8) / 10
        conf = np.abs(random_array(2, 1, 24))
        priors = np.float32([[[0, 0, 0.2, 0.2]] * 12, [[0.1] * 4] * 12]) + np.float32(
            [[[k / 20] * 4 for k in range(12)], [[0] * 4] * 12])
        inputs = {"boxes": boxes, "conf": conf, "priors": priors.reshape(1, 2, 48)}
        settings = "nms_param { nms_threshold: 1 } confidence_threshold: 0.4"
        rows = self.net("DetectionOutputExtended", "detection_output_param { num_classes: 2 background_label_id: -1 %s }"
                        % settings, inputs, force=False).forward()["y"]
        plain = self.net("DetectionOutput", "detection_output_param { num_classes: 2 %s }" % settings, {
            **inputs, "boxes": boxes.reshape(1, 48)}, force=False).forward()["y"]
        self.close(rows[..., :7], plain)
        scores = conf.reshape(12, 2)[:, 1]
        order = [k for k in np.argsort(-scores) if scores[k] > 0.4]
        self.close(rows[0, 0, :, 7:], [[k % 2, k // 2 % 3, k // 6] for k in order])


if __name__ == "__main__":
    unittest.main()
