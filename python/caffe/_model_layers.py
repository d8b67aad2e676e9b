"""Building blocks of nets for model_libs: convolutions with normalization and activation."""
from .net_spec import layers as L

FROZEN = dict(lr_mult=0, decay_mult=0)


def UnpackVariable(var, num):
    """Expands a value, or a list of one or ``num`` values, to a list of ``num`` values."""
    values = list(var) if isinstance(var, (list, tuple)) else [var]
    if len(values) not in (1, num):
        raise ValueError("%s has %d values, not 1 or %d" % (var, len(values), num))
    return values * num if len(values) == 1 and num > 1 else values


def ConvBNLayer(net, from_layer, out_layer, use_bn, use_relu, num_output, kernel_size, pad, stride, dilation=1,
                use_scale=True, lr_mult=1, conv_prefix="", conv_postfix="", bn_prefix="", bn_postfix="_bn",
                scale_prefix="", scale_postfix="_scale", bias_prefix="", bias_postfix="_bias", **bn_params):
    """Adds a Convolution and, if requested, BatchNorm with Scale or Bias and an in-place ReLU.

    ``bn_params``: eps, moving_average_fraction and use_global_stats of the BatchNorm."""
    learned = dict(lr_mult=lr_mult, decay_mult=1)
    if use_bn:
        settings = dict(param=[learned], weight_filler=dict(type="gaussian", std=0.01), bias_term=False)
    else:
        settings = dict(param=[learned, dict(lr_mult=2 * lr_mult, decay_mult=0)], weight_filler=dict(type="xavier"),
                        bias_filler=dict(type="constant", value=0))
    conv = conv_prefix + out_layer + conv_postfix
    (kernel_h, kernel_w), (pad_h, pad_w), (stride_h, stride_w) = (
        UnpackVariable(value, 2) for value in (kernel_size, pad, stride))
    if kernel_h == kernel_w:
        sides = dict(kernel_size=kernel_h, pad=pad_h, stride=stride_h)
    else:
        sides = dict(kernel_h=kernel_h, kernel_w=kernel_w, pad_h=pad_h, pad_w=pad_w, stride_h=stride_h,
                     stride_w=stride_w)
    net[conv] = L.Convolution(net[from_layer], num_output=num_output, **sides, **settings)
    if dilation > 1:
        net.update(conv, dict(dilation=dilation))
    if use_bn:
        _normalize(net, conv, bn_prefix + out_layer + bn_postfix, scale_prefix + out_layer + scale_postfix,
                   bias_prefix + out_layer + bias_postfix, use_scale, lr_mult, bn_params)
    if use_relu:
        net[conv + "_relu"] = L.ReLU(net[conv], in_place=True)


def _normalize(net, conv, bn, scale, bias, use_scale, lr_mult, bn_params):
    settings = dict(param=[FROZEN] * 3, eps=bn_params.get("eps", 0.001))
    if bn_params.get("use_global_stats"):
        settings["use_global_stats"] = True
        lr_mult = 0  # with global statistics, scale and bias are not learned either
    else:
        settings["moving_average_fraction"] = bn_params.get("moving_average_fraction", 0.999)
    net[bn] = L.BatchNorm(net[conv], in_place=True, **settings)
    learned, zero = dict(lr_mult=lr_mult, decay_mult=0), dict(type="constant", value=0.0)
    if use_scale:
        net[scale] = L.Scale(net[bn], in_place=True, bias_term=True, param=[learned] * 2,
                             filler=dict(type="constant", value=1.0), bias_filler=zero)
    else:
        net[bias] = L.Bias(net[bn], in_place=True, param=[learned], filler=zero)


def ResBody(net, from_layer, block_name, out2a, out2b, out2c, stride, use_branch1, dilation=1, **bn_param):
    """Adds a block of a residual net; ``use_branch1``: with a convolution in the shortcut."""
    names = dict(conv_prefix="res%s_" % block_name, bn_prefix="bn%s_" % block_name, bn_postfix="",
                 scale_prefix="scale%s_" % block_name, scale_postfix="")

    def branch(below, name, outputs, kernel, pad, stride, relu, dilation=1):
        ConvBNLayer(net, below, name, True, relu, outputs, kernel, pad, stride, dilation=dilation, **names, **bn_param)
        return names["conv_prefix"] + name

    shortcut_top = branch(from_layer, "branch1", out2c, 1, 0, stride, False) if use_branch1 else from_layer
    top = branch(from_layer, "branch2a", out2a, 1, 0, stride, True)
    top = branch(top, "branch2b", out2b, 3, dilation, 1, True, dilation)
    top = branch(top, "branch2c", out2c, 1, 0, 1, False)
    res = "res%s" % block_name
    net[res] = L.Eltwise(net[shortcut_top], net[top])
    net[res + "_relu"] = L.ReLU(net[res], in_place=True)


def InceptionTower(net, from_layer, tower_name, layer_params, **bn_param):
    """Adds a chain of convolutions and poolings, each a dict of settings with its ``name``.
    Returns the last top."""
    for settings in layer_params:
        settings = dict(settings)
        top = "%s/%s" % (tower_name, settings.pop("name"))
        if "pool" in top:
            net[top] = L.Pooling(net[from_layer], **settings)
        else:
            ConvBNLayer(net, from_layer, top, True, True, use_scale=False, **dict(settings, **bn_param))
        from_layer = top
    return net[from_layer]
