"""Generates the prototxt of SSD300 on VGG-16: 8732 boxes in six maps, 21 classes."""

CLASSES = 21
# Map, minimum and maximum size of its boxes in pixels, aspect ratios besides 1, pixels between
# neighbouring positions.
MAPS = (("conv4_3_norm", 30, 60, (2,), 8), ("fc7", 60, 111, (2, 3), 16),
        ("conv6_2", 111, 162, (2, 3), 32), ("conv7_2", 162, 213, (2, 3), 64),
        ("conv8_2", 213, 264, (2,), 100), ("conv9_2", 264, 315, (2,), 300))

DATA = """name: "SSD300"
layer {
  name: "data" type: "AnnotatedData" top: "data" top: "label"
  transform_param {
    mirror: true mean_value: 104 mean_value: 117 mean_value: 123
    resize_param { prob: 1 resize_mode: WARP height: 300 width: 300 interp_mode: LINEAR }
  }
  data_param { source: "%s" batch_size: %d backend: LMDB }
  annotated_data_param { }
}
"""
LOSS = """layer {
  name: "mbox_loss" type: "MultiBoxLoss" bottom: "mbox_loc" bottom: "mbox_conf"
  bottom: "mbox_priorbox" bottom: "label" top: "mbox_loss"
  propagate_down: true propagate_down: true propagate_down: false propagate_down: false
  loss_param { normalization: VALID }
  multibox_loss_param {
    loc_loss_type: SMOOTH_L1 conf_loss_type: SOFTMAX loc_weight: 1 num_classes: %d
    share_location: true match_type: PER_PREDICTION overlap_threshold: 0.5
    use_prior_for_matching: true background_label_id: 0 use_difficult_gt: true
    neg_pos_ratio: 3 neg_overlap: 0.5 code_type: CENTER_SIZE mining_type: MAX_NEGATIVE
  }
}
"""


def layer(kind, name, bottoms, top, settings=""):
    return 'layer { name: "%s" type: "%s" %s top: "%s" %s }\n' % (
        name, kind, " ".join('bottom: "%s"' % bottom for bottom in bottoms), top, settings)


def convolution(name, bottom, outputs, kernel, window_fields="", filler="msra"):
    return layer("Convolution", name, [bottom], name,
                 'param { lr_mult: 1 decay_mult: 1 } param { lr_mult: 2 decay_mult: 0 }\n'
                 '  convolution_param { num_output: %d kernel_size: %d %s '
                 'weight_filler { type: "%s" } bias_filler { type: "constant" } }'
                 % (outputs, kernel, window_fields, filler))


def convolution_relu(name, bottom, outputs, kernel, window_fields=""):
    return convolution(name, bottom, outputs, kernel, window_fields) + layer(
        "ReLU", name + "_relu", [name], name)


def vgg_layers():
    text, bottom = "", "data"
    for block, (count, outputs) in enumerate(
            ((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)), 1):
        for number in range(1, count + 1):
            name = "conv%d_%d" % (block, number)
            text += convolution_relu(name, bottom, outputs, 3, "pad: 1")
            bottom = name
        window = "kernel_size: 2 stride: 2" if block < 5 \
            else "kernel_size: 3 stride: 1 pad: 1"
        text += layer("Pooling", "pool%d" % block, [bottom], "pool%d" % block,
                      "pooling_param { pool: MAX %s }" % window)
        bottom = "pool%d" % block
    text += convolution_relu("fc6", "pool5", 1024, 3, "pad: 6 dilation: 6")
    return text + convolution_relu("fc7", "fc6", 1024, 1)


def extra_layers():
    text, bottom = "", "fc7"
    for block, reduced_outputs, outputs, window_fields in ((6, 256, 512, "pad: 1 stride: 2"),
                                                           (7, 128, 256, "pad: 1 stride: 2"),
                                                           (8, 128, 256, ""), (9, 128, 256, "")):
        names = "conv%d_1" % block, "conv%d_2" % block
        text += convolution_relu(names[0], bottom, reduced_outputs, 1)
        text += convolution_relu(names[1], names[0], outputs, 3, window_fields)
        bottom = names[1]
    return text + layer(
        "Normalize", "conv4_3_norm", ["conv4_3"], "conv4_3_norm",
        'norm_param { across_spatial: false scale_filler { type: "constant" value: 20 } '
        'channel_shared: false }')


def head_layers():
    text = ""
    for source, min_size, max_size, ratios, step in MAPS:
        boxes = 2 + 2 * len(ratios)
        for kind, values in (("loc", 4), ("conf", CLASSES)):
            name = "%s_mbox_%s" % (source, kind)
            text += convolution(name, source, boxes * values, 3, "pad: 1", "xavier")
            text += layer("Permute", name + "_perm", [name], name + "_perm",
                          "permute_param { order: 0 order: 2 order: 3 order: 1 }")
            text += layer("Flatten", name + "_flat", [name + "_perm"], name + "_flat",
                          "flatten_param { axis: 1 }")
        name = source + "_mbox_priorbox"
        text += layer("PriorBox", name, [source, "data"], name,
                      "prior_box_param { min_size: %d max_size: %d %s flip: true "
                      "clip: false variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 "
                      "step: %d offset: 0.5 }"
                      % (min_size, max_size, " ".join(
                          "aspect_ratio: %d" % ratio for ratio in ratios), step))
    for kind, suffix, axis in (("loc", "_flat", 1), ("conf", "_flat", 1),
                               ("priorbox", "", 2)):
        text += layer("Concat", "mbox_" + kind,
                      ["%s_mbox_%s%s" % (entry[0], kind, suffix) for entry in MAPS],
                      "mbox_" + kind, "concat_param { axis: %d }" % axis)
    return text


def text(source, batch):
    """Returns the training net that reads the database `source`."""
    return (DATA % (source, batch) + vgg_layers() + extra_layers() + head_layers() + LOSS % CLASSES)
