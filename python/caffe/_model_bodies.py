"""Bodies of nets, for model_libs. Each function appends its layers to a NetSpec after the top
``from_layer`` and returns the NetSpec."""
from ._model_layers import FROZEN, ConvBNLayer, InceptionTower, ResBody
from .net_spec import layers as L
from .net_spec import params as P


def _add_resnet(net, from_layer, use_pool5, use_dilation_conv5, bn_param, counts):
    """``counts``: numbers of further blocks in conv3 and conv4."""
    ConvBNLayer(net, from_layer, "conv1", True, True, 64, 7, 3, 2, bn_prefix="bn_", bn_postfix="",
                scale_prefix="scale_", scale_postfix="", **bn_param)
    net.pool1 = L.Pooling(net.conv1, pool=P.Pooling.MAX, kernel_size=3, stride=2)
    top = "pool1"
    stride5, dilation5 = (1, 2) if use_dilation_conv5 else (2, 1)
    stages = [("2", ["a", "b", "c"], 64, 1, 1),
              ("3", ["a"] + ["b%d" % i for i in range(1, counts[0] + 1)], 128, 2, 1),
              ("4", ["a"] + ["b%d" % i for i in range(1, counts[1] + 1)], 256, 2, 1),
              ("5", ["a", "b", "c"], 512, stride5, dilation5)]
    for stage, blocks, outputs, stride, dilation in stages:
        for block in blocks:
            first = block == "a"
            ResBody(net, top, stage + block, outputs, outputs, 4 * outputs, stride if first else 1, first,
                    dilation=dilation, **bn_param)
            top = "res" + stage + block
    if use_pool5:
        net.pool5 = L.Pooling(net.res5c, pool=P.Pooling.AVE, global_pooling=True)
    return net


def ResNet101Body(net, from_layer, use_pool5=True, use_dilation_conv5=False, **bn_param):
    """ResNet-101 up to res5c, or pool5."""
    return _add_resnet(net, from_layer, use_pool5, use_dilation_conv5, bn_param, (3, 22))


def ResNet152Body(net, from_layer, use_pool5=True, use_dilation_conv5=False, **bn_param):
    """ResNet-152 up to res5c, or pool5."""
    return _add_resnet(net, from_layer, use_pool5, use_dilation_conv5, bn_param, (7, 35))


def _learned():
    """Returns the settings of a layer with learned weights and biases."""
    return dict(param=[dict(lr_mult=1, decay_mult=1), dict(lr_mult=2, decay_mult=0)],
                weight_filler=dict(type="xavier"), bias_filler=dict(type="constant", value=0))


def _freeze(net, names):
    """Sets the learning rates of the existing layers among ``names`` to 0."""
    for name in names:
        if name in net.keys():
            net.update(name, dict(_learned(), param=[FROZEN] * 2))
    return net


def _add_rectified(net, name, top, number, dropout):
    """Adds a layer with an in-place ReLU and, if requested, Dropout."""
    net[name] = top
    net["relu" + number] = L.ReLU(net[name], in_place=True)
    if dropout:
        net["drop" + number] = L.Dropout(net["relu" + number], dropout_ratio=0.5, in_place=True)


def _add_inner_products(net, below, dropout):
    """Adds fc6 and fc7 as InnerProduct layers."""
    for name in ("fc6", "fc7"):
        _add_rectified(net, name, L.InnerProduct(net[below], num_output=4096), name[2:], dropout)
        below = "relu" + name[2:]


def _same_padding(kernel_size, dilation):
    """Returns the padding with which a dilated convolution preserves the size."""
    return (kernel_size - 1) * dilation // 2


def VGGNetBody(net, from_layer, need_fc=True, fully_conv=False, reduced=False, dilated=False, nopool=False,
               dropout=True, freeze_layers=(), dilate_pool4=False):
    """VGG-16 up to fc7, or relu5_3.

    ``fully_conv``: fc6 and fc7 as convolutions, ``reduced`` to 1024 outputs; ``dilated``: pool5
    keeps the size; ``nopool``: convolutions with a stride in place of pooling."""
    top, dilation = from_layer, 1
    for block, (count, outputs) in enumerate([(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)], 1):
        extra = dict(dilation=dilation) if block == 5 else {}
        for i in range(1, count + 1):
            number = "%d_%d" % (block, i)
            _add_rectified(net, "conv" + number,
                           L.Convolution(net[top], num_output=outputs, pad=_same_padding(3, dilation), kernel_size=3,
                                         **extra, **_learned()), number, False)
            top = "relu" + number
        if block == 5 and not need_fc:
            return _freeze(net, freeze_layers)
        keeps_size = dilated and block == 5
        if nopool:
            name = "conv%d_%d" % (block, count + 1)
            net[name] = L.Convolution(net[top], num_output=outputs, pad=1, kernel_size=3, stride=1 if keeps_size else 2,
                                      **_learned())
        else:
            name = "pool%d" % block
            if keeps_size or block == 4 and dilate_pool4:
                net[name] = L.Pooling(net[top], pool=P.Pooling.MAX, pad=1, kernel_size=3, stride=1)
                if block == 4:
                    dilation = 2
            else:
                net[name] = L.Pooling(net[top], pool=P.Pooling.MAX, kernel_size=2, stride=2)
        top = name
    if not fully_conv:
        _add_inner_products(net, top, dropout)
        return _freeze(net, freeze_layers)
    if reduced:
        kernel_size, outputs, dilation = 3, 1024, dilation * (6 if dilated else 3)
    else:
        kernel_size, outputs, dilation = 7, 4096, dilation * (2 if dilated else 1)
    _add_rectified(net, "fc6", L.Convolution(net[top], num_output=outputs, pad=_same_padding(kernel_size, dilation),
                                             kernel_size=kernel_size, dilation=dilation, **_learned()), "6", dropout)
    _add_rectified(net, "fc7", L.Convolution(net.relu6, num_output=outputs, kernel_size=1, **_learned()), "7", dropout)
    return _freeze(net, freeze_layers)


def ZFNetBody(net, from_layer, need_fc=True, fully_conv=False, reduced=False, dilated=False, dropout=True,
              need_fc8=False, freeze_layers=()):
    """The net of Zeiler and Fergus up to fc7, relu5 or fc8; settings as in VGGNetBody."""
    top = from_layer
    for number, (outputs, pad, kernel_size, more) in enumerate(
            [(96, 3, 7, dict(stride=2)), (256, 2, 5, dict(stride=2)), (384, 1, 3, {}), (384, 1, 3, {}),
             (256, 1, 3, {})], 1):
        _add_rectified(net, "conv%d" % number, L.Convolution(net[top], num_output=outputs, pad=pad,
                                                             kernel_size=kernel_size, **more, **_learned()),
                       str(number), False)
        top = "relu%d" % number
        if number <= 2:
            net["norm%d" % number] = L.LRN(net[top], local_size=3, alpha=0.00005, beta=0.75,
                                           norm_region=P.LRN.WITHIN_CHANNEL, engine=P.LRN.CAFFE)
            top = "pool%d" % number
            net[top] = L.Pooling(net["norm%d" % number], pool=P.Pooling.MAX, pad=1, kernel_size=3, stride=2)
    if need_fc:
        net.pool5 = L.Pooling(net.relu5, pool=P.Pooling.MAX, pad=1, kernel_size=3, stride=1 if dilated else 2)
        if fully_conv:
            outputs = 1024 if reduced else 4096
            kernel = {(True, True): dict(pad=5, kernel_size=3, dilation=5),
                      (True, False): dict(pad=5, kernel_size=6, dilation=2),
                      (False, True): dict(pad=2, kernel_size=3, dilation=2),
                      (False, False): dict(pad=2, kernel_size=6)}[bool(dilated), bool(reduced)]
            _add_rectified(net, "fc6", L.Convolution(net.pool5, num_output=outputs, **kernel, **_learned()), "6",
                           dropout)
            _add_rectified(net, "fc7", L.Convolution(net.relu6, num_output=outputs, kernel_size=1, **_learned()), "7",
                           dropout)
        else:
            _add_inner_products(net, "pool5", dropout)
    if need_fc8:
        last = net[net.keys()[-1]]
        net.fc8 = L.Convolution(last, num_output=1000, kernel_size=1, **_learned()) if fully_conv \
            else L.InnerProduct(last, num_output=1000)
        net.prob = L.Softmax(net.fc8)
    return _freeze(net, freeze_layers)


def _conv(name, num_output, kernel_size, pad=0, stride=1):
    return dict(name=name, num_output=num_output, kernel_size=kernel_size, pad=pad, stride=stride)


def _pool(kind, pad, stride):
    return dict(name="pool", pool=kind, kernel_size=3, pad=pad, stride=stride)


# Settings of convolutions along one side of the image.
_WIDE, _TALL = dict(kernel_size=[1, 7], pad=[0, 3], stride=[1, 1]), dict(kernel_size=[7, 1], pad=[3, 0], stride=[1, 1])


def _conv1d(name, num_output, sides):
    return dict(sides, name=name, num_output=num_output)


def InceptionV3Body(net, from_layer, output_pred=False, **bn_param):
    """Inception v3 up to its last Concat, or with ``output_pred`` to softmax_prob."""
    average, largest = P.Pooling.AVE, P.Pooling.MAX
    top = from_layer
    for name, outputs, kernel_size, pad, stride in [("conv", 32, 3, 0, 2), ("conv_1", 32, 3, 0, 1),
                                                    ("conv_2", 64, 3, 1, 1), ("pool",) + (None,) * 4,
                                                    ("conv_3", 80, 1, 0, 1), ("conv_4", 192, 3, 0, 1),
                                                    ("pool_1",) + (None,) * 4]:
        if outputs is None:
            net[name] = L.Pooling(net[top], pool=largest, kernel_size=3, stride=2, pad=0)
        else:
            ConvBNLayer(net, top, name, True, True, outputs, kernel_size, pad, stride, use_scale=False, **bn_param)
        top = name

    def concatenate(block, towers):
        """Concatenates towers: (suffix of the block's name, layers of the tower)."""
        tops = [InceptionTower(net, top, block + name, layers, **bn_param) for name, layers in towers]
        net[block + "/join"] = L.Concat(*tops, axis=1)
        return block + "/join"

    for i in range(3):
        top = concatenate("mixed_%d" % i if i else "mixed", [
            ("", [_conv("conv", 64, 1)]),
            ("/tower", [_conv("conv", 48, 1), _conv("conv_1", 64, 5, 2)]),
            ("/tower_1", [_conv("conv", 64, 1), _conv("conv_1", 96, 3, 1), _conv("conv_2", 96, 3, 1)]),
            ("/tower_2", [_pool(average, 1, 1), _conv("conv", 64 if i else 32, 1)])])
    top = concatenate("mixed_3", [
        ("", [_conv("conv", 384, 3, 0, 2)]),
        ("/tower", [_conv("conv", 64, 1), _conv("conv_1", 96, 3, 1), _conv("conv_2", 96, 3, 0, 2)]),
        ("", [_pool(largest, 0, 2)])])
    for i, n in zip(range(4, 8), (128, 160, 160, 192)):
        top = concatenate("mixed_%d" % i, [
            ("", [_conv("conv", 192, 1)]),
            ("/tower", [_conv("conv", n, 1), _conv1d("conv_1", n, _WIDE), _conv1d("conv_2", 192, _TALL)]),
            ("/tower_1", [_conv("conv", n, 1), _conv1d("conv_1", n, _TALL), _conv1d("conv_2", n, _WIDE),
                          _conv1d("conv_3", n, _TALL), _conv1d("conv_4", 192, _WIDE)]),
            ("/tower_2", [_pool(average, 1, 1), _conv("conv", 192, 1)])])
    top = concatenate("mixed_8", [
        ("/tower", [_conv("conv", 192, 1), _conv("conv_1", 320, 3, 0, 2)]),
        ("/tower_1", [_conv("conv", 192, 1), _conv1d("conv_1", 192, _WIDE), _conv1d("conv_2", 192, _TALL),
                      _conv("conv_3", 192, 3, 0, 2)]),
        ("", [_pool(largest, 0, 2)])])
    for block, kind in (("mixed_9", average), ("mixed_10", largest)):
        tops = [InceptionTower(net, top, block, [_conv("conv", 320, 1)], **bn_param)]
        for tower, layers in (("/tower", [_conv("conv", 384, 1)]),
                              ("/tower_1", [_conv("conv", 448, 1), _conv("conv_1", 384, 3, 1)])):
            InceptionTower(net, top, block + tower, layers, **bn_param)
            below, mixed = "%s%s/%s" % (block, tower, layers[-1]["name"]), block + tower + "/mixed"
            halves = [InceptionTower(net, below, mixed, [_conv1d(name, 384, dict(
                          kernel_size=[h, w], pad=[h // 2, w // 2], stride=[1, 1]))], **bn_param)
                      for name, h, w in (("conv", 1, 3), ("conv_1", 3, 1))]
            net[mixed] = L.Concat(*halves, axis=1)
            tops.append(net[mixed])
        tops.append(InceptionTower(net, top, block + "/tower_2", [_pool(kind, 1, 1), _conv("conv", 192, 1)],
                                   **bn_param))
        top = block + "/join"
        net[top] = L.Concat(*tops, axis=1)
    if output_pred:
        net.pool_3 = L.Pooling(net[top], pool=average, kernel_size=8, pad=0, stride=1)
        net.softmax = L.InnerProduct(net.pool_3, num_output=1008)
        net.softmax_prob = L.Softmax(net.softmax)
    return net
