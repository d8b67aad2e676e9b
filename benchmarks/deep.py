"""Prototxts of deep nets: ResNets (He et al. 2015, table 1) and DenseNets (Huang et
al. 2017, table 1) for ImageNet, written as their authors published them for Caffe."""

RESNETS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}
DENSENETS = {121: (6, 12, 24, 16), 169: (6, 12, 32, 32)}
# Growth rate: channels that a layer of a DenseNet adds; channels of the first convolution.
GROWTH = 32
CLASSES = 1000

DATA = """name: "{name}"
layer {{ name: "data" type: "Input" top: "data"
  input_param {{ shape {{ dim: {batch} dim: 3 dim: 224 dim: 224 }} }} }}
layer {{ name: "label" type: "Input" top: "label"
  input_param {{ shape {{ dim: {batch} }} }} }}
"""
CONVOLUTION = """layer {{ name: "{name}" type: "Convolution" bottom: "{bottom}"
  top: "{name}" convolution_param {{ num_output: {channels} kernel_size: {kernel}
    stride: {stride} pad: {pad} bias_term: false
    weight_filler {{ type: "msra" }} }} }}
"""
NORMALIZATION = """layer {{ name: "{top}_bn" type: "BatchNorm" bottom: "{bottom}"
  top: "{top}" }}
layer {{ name: "{top}_scale" type: "Scale" bottom: "{top}" top: "{top}"
  scale_param {{ bias_term: true }} }}
"""
RELU = """layer {{ name: "{name}_relu" type: "ReLU" bottom: "{name}" top: "{name}" }}
"""
POOLING = """layer {{ name: "{name}" type: "Pooling" bottom: "{bottom}" top: "{name}"
  pooling_param {{ pool: {kind} {window} }} }}
"""
TWO_INPUTS = """layer {{ name: "{name}" type: "{kind}" bottom: "{a}" bottom: "{b}"
  top: "{name}" }}
"""
HEAD = """layer {{ name: "fc" type: "InnerProduct" bottom: "{bottom}" top: "fc"
  inner_product_param {{ num_output: {classes} weight_filler {{ type: "xavier" }} }} }}
layer {{ name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label"
  top: "loss" }}
"""
GLOBAL = "global_pooling: true"
FIRST_POOLING = "kernel_size: 3 stride: 2"


def convolution(name, bottom, channels, kernel, stride=1):
    return CONVOLUTION.format(name=name, bottom=bottom, channels=channels,
                              kernel=kernel, stride=stride, pad=kernel // 2)


def normalized(name):
    """Returns the normalization layers in place, as published."""
    return NORMALIZATION.format(bottom=name, top=name)


def activated(name, bottom=None):
    """Returns normalization of `bottom` (default: in place) to the top `name`, and a ReLU."""
    return (NORMALIZATION.format(bottom=bottom or name, top=name)
            + RELU.format(name=name))


def resnet(depth, batch):
    """Returns a training net."""
    name = "resnet%d" % depth
    text = DATA.format(name=name, batch=batch)
    text += convolution("conv1", "data", 64, 7, 2) + activated("conv1")
    text += POOLING.format(name="pool1", bottom="conv1", kind="MAX",
                           window=FIRST_POOLING)
    bottom = "pool1"
    for stage, blocks in enumerate(RESNETS[depth]):
        width = 64 << stage
        for number in range(blocks):
            block = "res%d_%d" % (stage + 2, number + 1)
            stride = 2 if stage and number == 0 else 1
            shortcut = bottom
            if number == 0:
                shortcut = block + "_shortcut"
                text += convolution(shortcut, bottom, 4 * width, 1, stride)
                text += normalized(shortcut)
            text += convolution(block + "_a", bottom, width, 1, stride)
            text += activated(block + "_a")
            text += convolution(block + "_b", block + "_a", width, 3)
            text += activated(block + "_b")
            text += convolution(block + "_c", block + "_b", 4 * width, 1)
            text += normalized(block + "_c")
            text += TWO_INPUTS.format(name=block, kind="Eltwise", a=shortcut,
                                      b=block + "_c") + RELU.format(name=block)
            bottom = block
    text += POOLING.format(name="pool5", bottom=bottom, kind="AVE", window=GLOBAL)
    return text + HEAD.format(bottom="pool5", classes=CLASSES)


def densenet(depth, batch):
    """Returns a training net. A layer reads the concatenation, so normalization is not in place."""
    name = "densenet%d" % depth
    text = DATA.format(name=name, batch=batch)
    channels = 2 * GROWTH
    text += convolution("conv1", "data", channels, 7, 2) + activated("conv1")
    text += POOLING.format(name="pool1", bottom="conv1", kind="MAX",
                           window=FIRST_POOLING)
    bottom = "pool1"
    blocks = DENSENETS[depth]
    for stage, layers in enumerate(blocks):
        for number in range(layers):
            layer = "conv%d_%d" % (stage + 2, number + 1)
            text += activated(layer + "_in", bottom)
            text += convolution(layer + "_a", layer + "_in", 4 * GROWTH, 1)
            text += activated(layer + "_a")
            text += convolution(layer + "_b", layer + "_a", GROWTH, 3)
            concatenation = "concat%d_%d" % (stage + 2, number + 1)
            text += TWO_INPUTS.format(name=concatenation, kind="Concat", a=bottom,
                                      b=layer + "_b")
            bottom = concatenation
            channels += GROWTH
        last = "conv%d_last" % (stage + 2)
        text += activated(last + "_in", bottom)
        if stage + 1 == len(blocks):
            bottom = last + "_in"
            break
        channels //= 2
        text += convolution(last, last + "_in", channels, 1)
        bottom = "pool%d" % (stage + 2)
        text += POOLING.format(name=bottom, bottom=last, kind="AVE",
                               window="kernel_size: 2 stride: 2")
    text += POOLING.format(name="pool_last", bottom=bottom, kind="AVE",
                           window=GLOBAL)
    return text + HEAD.format(bottom="pool_last", classes=CLASSES)


NETS = {"resnet152": lambda batch: resnet(152, batch),
        "densenet121": lambda batch: densenet(121, batch)}
