"""Nets for SSD, written with net_spec. The interface equals the module of the same name in SSD's
branch of Caffe, whose scripts import all names.

Most functions add layers to a NetSpec after a top whose name they take. The layers have the names
that pretrained weights use."""
import os

import caffe
from caffe import layers as L
from caffe import params as P
from caffe.proto import caffe_pb2

from ._model_bodies import InceptionV3Body, ResNet101Body, ResNet152Body, VGGNetBody, ZFNetBody
from ._model_layers import ConvBNLayer, InceptionTower, ResBody, UnpackVariable

__all__ = ["ConvBNLayer", "CreateAnnotatedDataLayer", "CreateMultiBoxHead", "InceptionTower", "InceptionV3Body", "L",
           "P", "ResBody", "ResNet101Body", "ResNet152Body", "UnpackVariable", "VGGNetBody", "ZFNetBody", "caffe",
           "caffe_pb2", "check_if_exist", "make_if_not_exist", "os"]


def check_if_exist(path):
    """Whether the file or folder exists."""
    return os.path.exists(path)


def make_if_not_exist(path):
    """Creates a folder and its parents."""
    os.makedirs(path, exist_ok=True)


def CreateAnnotatedDataLayer(source, batch_size=32, backend=P.Data.LMDB, output_label=True, train=True,
                             label_map_file="", anno_type=None, transform_param=None, batch_sampler=None):
    """Creates an AnnotatedData layer for one phase. Returns its top, or its tops data and label."""
    annotated = dict(label_map_file=label_map_file, batch_sampler=[{}] if batch_sampler is None else batch_sampler)
    if anno_type is not None:
        annotated["anno_type"] = anno_type
    return L.AnnotatedData(name="data", include=dict(phase=caffe_pb2.TRAIN if train else caffe_pb2.TEST),
                           transform_param=transform_param or {}, annotated_data_param=annotated,
                           data_param=dict(batch_size=batch_size, backend=backend, source=source),
                           ntop=2 if output_label else 1)


def _list_at(values, index):
    """Returns an element as a list, or an empty list if there are fewer elements."""
    if index >= len(values):
        return []
    return list(values[index]) if isinstance(values[index], (list, tuple)) else [values[index]]


def CreateMultiBoxHead(net, data_layer="data", num_classes=None, from_layers=(), use_objectness=False,
                       normalizations=(), use_batchnorm=True, lr_mult=1, use_scale=True, min_sizes=(), max_sizes=(),
                       prior_variance=(0.1,), aspect_ratios=(), steps=(), img_height=0, img_width=0,
                       share_location=True, flip=True, clip=True, offset=0.5, inter_layer_depth=(), kernel_size=1,
                       pad=0, conf_postfix="", loc_postfix="", **bn_param):
    """Adds predictions of locations and classes, and priors, for several layers, and concatenates
    the layers' tops of each kind. Returns the tops mbox_loc, mbox_conf and mbox_priorbox, and with
    ``use_objectness`` mbox_objectness.

    Lists have an element for each of ``from_layers``. ``normalizations``: initial scale of a
    Normalize layer before the predictions, -1: no such layer. ``inter_layer_depth``: outputs of a
    convolution before the predictions, 0: no such layer."""
    if not num_classes or num_classes < 0:
        raise ValueError("num_classes must be given and positive, not %r" % (num_classes,))
    for name, values in (("normalizations", normalizations), ("max_sizes", max_sizes), ("steps", steps),
                         ("aspect_ratios", aspect_ratios), ("inter_layer_depth", inter_layer_depth)):
        if values and len(values) != len(from_layers):
            raise ValueError("%s has %d elements for %d layers" % (name, len(values), len(from_layers)))
    if len(min_sizes) != len(from_layers):
        raise ValueError("min_sizes has %d elements for %d layers" % (len(min_sizes), len(from_layers)))
    if data_layer not in net.keys():
        raise ValueError("the net has no top %r" % data_layer)

    kinds = {"loc": [], "conf": [], "priorbox": []}
    if use_objectness:
        kinds["objectness"] = []

    def predict(kind, below, postfix, outputs):
        name = "%s_mbox_%s%s" % (below, kind, postfix)
        ConvBNLayer(net, below, name, use_batchnorm, False, outputs, kernel_size, pad, 1, use_scale=use_scale,
                    lr_mult=lr_mult, **bn_param)
        net[name + "_perm"] = L.Permute(net[name], order=[0, 2, 3, 1])
        net[name + "_flat"] = L.Flatten(net[name + "_perm"], axis=1)
        kinds[kind].append(net[name + "_flat"])

    for i, below in enumerate(from_layers):
        if normalizations and normalizations[i] != -1:
            name = below + "_norm"
            net[name] = L.Normalize(net[below], scale_filler=dict(type="constant", value=normalizations[i]),
                                    across_spatial=False, channel_shared=False)
            below = name
        if inter_layer_depth and inter_layer_depth[i] > 0:
            ConvBNLayer(net, below, below + "_inter", use_batchnorm, True, inter_layer_depth[i], 3, 1, 1,
                        use_scale=use_scale, lr_mult=lr_mult, **bn_param)
            below += "_inter"
        smallest, largest, ratios = (_list_at(values, i) for values in (min_sizes, max_sizes, aspect_ratios))
        if largest and len(largest) != len(smallest):
            raise ValueError("max_sizes and min_sizes of %r differ in length" % from_layers[i])
        # A box of the minimum size, one of the mean size, and one per further aspect ratio.
        priors = len(smallest) * ((2 if largest else 1) + len(ratios) * (2 if flip else 1))
        predict("loc", below, loc_postfix, priors * 4 * (1 if share_location else num_classes))
        predict("conf", below, conf_postfix, priors * num_classes)
        settings = dict(min_size=smallest, clip=clip, variance=list(prior_variance), offset=offset)
        if largest:
            settings["max_size"] = largest
        if ratios:
            settings.update(aspect_ratio=ratios, flip=flip)
        if steps and steps[i]:
            settings["step"] = steps[i]
        if img_height and img_width:
            settings.update(dict(img_size=img_height) if img_height == img_width
                            else dict(img_h=img_height, img_w=img_width))
        name = below + "_mbox_priorbox"
        net[name] = L.PriorBox(net[below], net[data_layer], **settings)
        kinds["priorbox"].append(net[name])
        if use_objectness:
            predict("objectness", below, "", priors * 2)
    for kind, tops in kinds.items():
        net["mbox_" + kind] = L.Concat(*tops, axis=2 if kind == "priorbox" else 1)
    return [net["mbox_" + kind] for kind in kinds]
