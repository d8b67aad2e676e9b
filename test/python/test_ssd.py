"""Tests the interface of SSD's scripts: nets of model_libs, training, detections, label maps, names of Caffe."""
import unittest

import caffe
import numpy as np
from caffe import layers as L, params as P
from caffe.model_libs import *  # noqa: F403, as in scripts of SSD
from caffe.model_libs import (ConvBNLayer, CreateAnnotatedDataLayer, CreateMultiBoxHead, InceptionV3Body, ResNet101Body,
                              ResNet152Body, UnpackVariable, VGGNetBody, ZFNetBody, caffe_pb2)
from google.protobuf import text_format

from common import Case, random_array

CLASSES = 3
LOSS = {"loc_loss_type": P.MultiBoxLoss.SMOOTH_L1, "conf_loss_type": P.MultiBoxLoss.SOFTMAX, "loc_weight": 1.0,
        "num_classes": CLASSES, "share_location": True, "match_type": P.MultiBoxLoss.PER_PREDICTION,
        "overlap_threshold": 0.5, "use_prior_for_matching": True, "background_label_id": 0, "use_difficult_gt": True,
        "mining_type": P.MultiBoxLoss.MAX_NEGATIVE, "neg_pos_ratio": 3.0, "neg_overlap": 0.5,
        "code_type": P.PriorBox.CENTER_SIZE, "ignore_cross_boundary_bbox": False}


def make_spec():
    net = caffe.NetSpec()
    net.data = L.Input(shape=dict(dim=[1, 3, 32, 32]))
    return net


def layers_by_name(net):
    """Returns a dict from name to LayerParameter."""
    return {layer.name: layer for layer in net.to_proto().layer}


def make_detector(**options):
    """Returns the NetSpec of a detector with two layers, and the tops of its head."""
    net = make_spec()
    ConvBNLayer(net, "data", "conv1", False, True, 8, 3, 1, 4)
    ConvBNLayer(net, "conv1", "conv2", True, True, 8, [3, 3], 1, 2)
    tops = CreateMultiBoxHead(net, num_classes=CLASSES, from_layers=["conv1", "conv2"], use_batchnorm=False,
                              min_sizes=[8.0, 16.0], max_sizes=[[12.0], [24.0]], aspect_ratios=[[2], [2, 3]],
                              normalizations=[20, -1], prior_variance=[0.1, 0.1, 0.2, 0.2], kernel_size=3, pad=1,
                              clip=False, **options)
    return net, tops


def expected_priors():
    """Returns the boxes of make_detector()'s layers for images of 32 by 32 pixels, as parts of the image."""
    priors = []
    for cells, minimum, maximum, ratios in ((8, 8, 12, (2,)), (4, 16, 24, (2, 3))):
        sizes = [(minimum, minimum), (np.sqrt(minimum * maximum),) * 2]
        for ratio in ratios:
            sizes += [(minimum * np.sqrt(r), minimum / np.sqrt(r)) for r in (ratio, 1 / ratio)]
        for y in range(cells):
            for x in range(cells):
                for width, height in sizes:
                    centre = (np.array([x, y]) + 0.5) / cells
                    half = np.array([width, height]) / 64
                    priors.append([*(centre - half), *(centre + half)])
    return np.array(priors)


def suppress(boxes, scores, top_k):
    """Returns the boxes after non-maximum suppression with SSD's settings of make_deploy_net(), by score."""
    kept = []
    order = [i for i in np.argsort(-scores, kind="stable") if scores[i] > 0.01][:top_k]
    for i in order:
        low, high = np.maximum(boxes[i, :2], boxes[kept, :2]), np.minimum(boxes[i, 2:], boxes[kept, 2:])
        common = np.prod(np.maximum(high - low, 0), axis=1)
        areas = np.prod(boxes[kept, 2:] - boxes[kept, :2], axis=1) + np.prod(boxes[i, 2:] - boxes[i, :2])
        if not kept or (common / (areas - common)).max() <= 0.45:
            kept.append(i)
    return kept


class Specs(Case):
    def test_update(self):
        net = make_spec()
        net.conv = L.Convolution(net.data, num_output=2, kernel_size=3)
        net.update("conv", {"dilation": 2, "num_output": 3})
        conv = layers_by_name(net)["conv"].convolution_param
        self.assertEqual((list(conv.dilation), conv.num_output), ([2], 3))
        updated = caffe.NetSpec()
        updated.update(net)
        self.assertEqual(updated.keys(), ["data", "conv"])

    def test_unpack_variable(self):
        self.assertEqual([UnpackVariable(v, 2) for v in (3, [3], [1, 7])], [[3, 3], [3, 3], [1, 7]])
        with self.assertRaises(ValueError):
            UnpackVariable([1, 2, 3], 2)

    def test_bodies(self):
        net = VGGNetBody(make_spec(), from_layer="data", fully_conv=True, reduced=True, dilated=True, dropout=False,
                         freeze_layers=["conv1_1"])
        layers = layers_by_name(net)
        fc6 = layers["fc6"].convolution_param
        self.assertEqual((fc6.num_output, fc6.dilation[0], fc6.pad[0]), (1024, 6, 6))
        self.assertEqual((layers["pool5"].pooling_param.stride, layers["pool5"].pooling_param.pad), (1, 1))
        self.assertEqual([p.lr_mult for p in layers["conv1_1"].param], [0, 0])
        self.assertEqual([p.lr_mult for p in layers["conv1_2"].param], [1, 2])
        self.assertNotIn("drop6", layers)
        self.assertEqual(net.keys()[-1], "relu7")
        self.assertEqual(layers_by_name(VGGNetBody(make_spec(), "data", need_fc=False, dilate_pool4=True))["conv5_1"]
                         .convolution_param.pad[0], 2)
        self.assertEqual(layers_by_name(ZFNetBody(make_spec(), "data", need_fc8=True))["fc8"].bottom, ["fc7"])
        for body, blocks in ((ResNet101Body, 33), (ResNet152Body, 50)):
            layers = layers_by_name(body(make_spec(), "data", use_pool5=False, use_dilation_conv5=True,
                                         use_global_stats=True))
            self.assertEqual(sum(layer.type == "Eltwise" for layer in layers.values()), blocks)
            self.assertEqual(layers["res5a_branch2b"].convolution_param.dilation[0], 2)
            self.assertTrue(layers["bn_conv1"].batch_norm_param.use_global_stats)
        layers = layers_by_name(InceptionV3Body(make_spec(), "data", output_pred=True))
        self.assertEqual(len(layers["mixed_10/join"].bottom), 4)
        self.assertEqual(layers["mixed_4/tower/conv_1"].convolution_param.kernel_w, 7)
        self.assertEqual(layers["mixed_9/tower_1/mixed"].bottom,
                         ["mixed_9/tower_1/mixed/conv", "mixed_9/tower_1/mixed/conv_1"])

    def test_a_body_becomes_a_net(self):
        body = ZFNetBody(make_spec(), from_layer="data", need_fc=False)
        net = caffe.Net(self.write(str(body.to_proto())), caffe.TEST)
        self.assertEqual(net.blobs["conv5"].shape, (1, 256, 3, 3))

    def test_annotated_data_layer(self):
        net = caffe.NetSpec()
        net.data, net.label = CreateAnnotatedDataLayer(
            "train_lmdb", batch_size=4, train=True, output_label=True, label_map_file="labels",
            transform_param=dict(mirror=True, mean_value=[104, 117, 123],
                                 resize_param=dict(prob=1, resize_mode=P.Resize.WARP, height=300, width=300,
                                                   interp_mode=[P.Resize.LINEAR, P.Resize.AREA])),
            batch_sampler=[dict(max_sample=1, max_trials=1)])
        layer = layers_by_name(net)["data"]
        self.assertEqual(list(layer.top), ["data", "label"])
        self.assertEqual(layer.include[0].phase, caffe.TRAIN)
        self.assertEqual(layer.annotated_data_param.batch_sampler[0].max_trials, 1)
        self.assertEqual((layer.data_param.batch_size, layer.data_param.backend), (4, P.Data.LMDB))
        self.assertEqual(list(layer.transform_param.resize_param.interp_mode), [P.Resize.LINEAR, P.Resize.AREA])

    def test_wrong_heads_raise(self):
        with self.assertRaisesRegex(ValueError, "num_classes"):
            CreateMultiBoxHead(make_spec(), from_layers=["data"], min_sizes=[1])
        with self.assertRaisesRegex(ValueError, "steps has 2 elements for 1 layers"):
            CreateMultiBoxHead(make_spec(), num_classes=2, from_layers=["data"], min_sizes=[1], steps=[1, 2])
        with self.assertRaisesRegex(ValueError, "no top 'image'"):
            CreateMultiBoxHead(make_spec(), data_layer="image", num_classes=2, from_layers=["data"], min_sizes=[1])


class Detectors(Case):
    def test_training_halves_the_loss(self):
        net, tops = make_detector()
        net.label = L.Input(shape=dict(dim=[1, 1, 1, 8]))
        net["mbox_loss"] = L.MultiBoxLoss(*tops, net.label, multibox_loss_param=LOSS,
                                          loss_param=dict(normalization=P.Loss.VALID),
                                          include=dict(phase=caffe_pb2.Phase.Value("TRAIN")),
                                          propagate_down=[True, True, False, False])
        proto = net.to_proto()
        self.assertEqual(list(proto.layer[-1].propagate_down), [True, True, False, False])
        self.write(str(proto), "train.prototxt")
        settings = caffe_pb2.SolverParameter(train_net=self.path("train.prototxt"), base_lr=0.002, lr_policy="fixed",
                                             momentum=0.9, solver_mode=P.Solver.CPU, eval_type="detection",
                                             ap_version="11point", snapshot_prefix=self.path("ssd"))
        solver = caffe.get_solver(self.write(str(settings), "solver.prototxt"))
        solver.net.blobs["data"].data[...] = random_array(1, 1, 3, 32, 32)
        losses = []
        for step in range(60):
            # Batches with one and with two objects alternate, so the label's shape changes.
            objects = [[0, 1, 0, 0.1, 0.1, 0.5, 0.5, 0], [0, 2, 0, 0.4, 0.4, 0.9, 0.95, 0]][: 1 + step % 2]
            solver.net.blobs["label"].reshape(1, 1, len(objects), 8)
            solver.net.blobs["label"].data[...] = objects
            solver.step(1)
            losses.append(float(solver.net.blobs["mbox_loss"].data))
        self.assertTrue(np.isfinite(losses).all())
        self.assertLess(np.mean(losses[-4:]), 0.5 * np.mean(losses[:4]))

    def make_deploy_net(self):
        net, tops = make_detector()
        net["mbox_conf_reshape"] = L.Reshape(net["mbox_conf"], shape=dict(dim=[0, -1, CLASSES]))
        net["mbox_conf_softmax"] = L.Softmax(net["mbox_conf_reshape"], axis=2)
        net["mbox_conf_flatten"] = L.Flatten(net["mbox_conf_softmax"], axis=1)
        tops[1] = net["mbox_conf_flatten"]
        net.detection_out = L.DetectionOutput(*tops, detection_output_param=dict(
            num_classes=CLASSES, share_location=True, background_label_id=0, keep_top_k=9, confidence_threshold=0.01,
            code_type=P.PriorBox.CENTER_SIZE, nms_param=dict(nms_threshold=0.45, top_k=40)),
            include=dict(phase=caffe_pb2.Phase.Value("TEST")))
        proto = net.to_proto()
        del proto.layer[0]
        proto.input.extend(["data"])
        proto.input_shape.extend([caffe_pb2.BlobShape(dim=[1, 3, 32, 32])])
        return caffe.Net(self.write(str(proto)), caffe.TEST)

    def test_detections_of_images_of_several_sizes(self):
        net = self.make_deploy_net()
        shapes = set()
        # The sizes of the images and the numbers of detections change, and so does the shape of the top.
        for seed, (height, width) in enumerate([(32, 32), (48, 32), (32, 32), (40, 56)]):
            net.blobs["data"].reshape(1, 3, height, width)
            net.blobs["data"].data[...] = random_array(seed, 1, 3, height, width)
            net.params["conv2_mbox_conf"][1].data[...] = net.params["conv1_norm_mbox_conf"][1].data[...] = 0
            if seed == 2:  # only background
                for name in ("conv2_mbox_conf", "conv1_norm_mbox_conf"):
                    net.params[name][1].data[::CLASSES] = 1000
            detections = net.forward()["detection_out"]
            shapes.add(detections.shape)
            self.assertEqual(detections.shape[:2] + detections.shape[3:], (1, 1, 7))
            self.assertTrue(np.isfinite(detections).all())
            if seed == 2:
                self.assertEqual(detections[0, 0, :, 1].tolist(), [-1])
            else:
                self.assertLessEqual(detections.shape[2], 9)
                self.assertTrue(set(detections[0, 0, :, 1]) <= {1, 2})
        self.assertGreater(len(shapes), 1)

    def test_detections_are_decoded_priors(self):
        """Compares the detections with priors, decoding and suppression in NumPy."""
        net = self.make_deploy_net()
        priors = expected_priors()
        for seed in range(3):
            rs = np.random.RandomState(seed)
            for name in net.params:
                if "mbox" in name:
                    net.params[name][0].data[...] = rs.uniform(-1, 1, net.params[name][0].shape)
            detections = net.forward(data=random_array(seed, 1, 3, 32, 32))["detection_out"][0, 0].copy()
            boxes, variances = net.blobs["mbox_priorbox"].data[0].reshape(2, -1, 4)
            self.close(boxes, priors)
            self.close(variances, np.broadcast_to([0.1, 0.1, 0.2, 0.2], boxes.shape))
            deltas = net.blobs["mbox_loc"].data.reshape(-1, 4) * variances
            size, centre = boxes[:, 2:] - boxes[:, :2], (boxes[:, 2:] + boxes[:, :2]) / 2
            centre, size = centre + deltas[:, :2] * size, size * np.exp(deltas[:, 2:])
            decoded = np.hstack([centre - size / 2, centre + size / 2])
            scores = net.blobs["mbox_conf_flatten"].data.reshape(-1, CLASSES)
            logits = net.blobs["mbox_conf"].data.reshape(-1, CLASSES).astype(float)
            self.close(scores, np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True))
            found = [(scores[i, kind], kind, i) for kind in range(1, CLASSES)
                     for i in suppress(decoded, scores[:, kind], top_k=40)]
            self.assertGreater(len(found), 9)
            best = sorted(found, key=lambda item: -item[0])[:9]
            rows = [[0, kind, score, *decoded[i]] for score, kind, i in sorted(best, key=lambda item: (item[1], -item[0]))]
            self.close(detections, rows, 1e-4)

    def test_detections_of_a_transformed_image(self):
        net = self.make_deploy_net()
        transformer = caffe.io.Transformer({"data": net.blobs["data"].data.shape})
        transformer.set_transpose("data", (2, 0, 1))
        transformer.set_mean("data", np.array([104, 117, 123]))
        transformer.set_raw_scale("data", 255)
        transformer.set_channel_swap("data", (2, 1, 0))
        image = np.random.RandomState(0).uniform(size=(50, 70, 3)).astype(np.float32)
        net.blobs["data"].data[...] = transformer.preprocess("data", image)
        self.assertEqual(net.forward()["detection_out"].shape[3], 7)


class Names(Case):
    def test_label_maps(self):
        labels = caffe_pb2.LabelMap()
        text_format.Merge("""item { name: "none_of_the_above" label: 0 display_name: "background" }
            item { name: "n1" label: 1 display_name: "cat" }""", labels)
        self.assertEqual([(i.label, i.display_name) for i in labels.item], [(0, "background"), (1, "cat")])

    def test_names_of_the_extension_module(self):
        spec, _ = make_detector()
        net = caffe.Net(self.write(str(spec.to_proto())), caffe.TEST)
        self.assertTrue(all(type(blobs) is caffe._caffe.BlobVec for blobs in net.params.values()))
        self.assertIsInstance(net.blobs["data"], caffe._caffe.Blob)
        self.assertIs(caffe._caffe.Net, caffe.Net)
        self.assertTrue(issubclass(caffe.AdamSolver, caffe._caffe.Solver))


if __name__ == "__main__":
    unittest.main()
