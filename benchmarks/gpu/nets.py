"""The large benchmark nets as prototxt text, from the shape of their papers.

As BVLC's and their authors' models have them: AlexNet (bvlc_alexnet), GoogLeNet
(bvlc_googlenet, without the two losses on the way), VGG-16 and ResNet-50. Both
phases read the same Data layer; its source need not exist.
"""


class Net:
    """Collects layers; every method returns its top."""

    def __init__(self, name, shape):
        batch = shape[0]
        self.text = ['name: "%s"' % name, '''layer {
  name: "data" type: "Data" top: "data" top: "label"
  data_param { source: "no_such_lmdb" batch_size: %d backend: LMDB }
}''' % batch]

    def layer(self, kind, name, bottoms, fields="", top=None):
        if isinstance(bottoms, str):
            bottoms = [bottoms]
        top = top or name
        words = ['layer {\n  name: "%s" type: "%s"' % (name, kind)]
        words += ['bottom: "%s"' % bottom for bottom in bottoms]
        words.append('top: "%s"' % top)
        self.text.append(" ".join(words) + ("\n  " + fields if fields else "")
                         + "\n}")
        return top

    def conv(self, name, bottom, outputs, kernel, stride=1, pad=0, group=1,
             bias=True):
        return self.layer(
            "Convolution", name, bottom,
            "convolution_param { num_output: %d kernel_size: %d stride: %d "
            "pad: %d group: %d bias_term: %s weight_filler { type: \"msra\" } }"
            % (outputs, kernel, stride, pad, group, str(bias).lower()))

    def relu(self, bottom, name=None):
        return self.layer("ReLU", name or "relu_" + bottom, bottom, top=bottom)

    def conv_relu(self, name, *arguments, **options):
        return self.relu(self.conv(name, *arguments, **options))

    def pool(self, name, bottom, kernel, stride, pad=0, kind="MAX"):
        return self.layer(
            "Pooling", name, bottom,
            "pooling_param { pool: %s kernel_size: %d stride: %d pad: %d }"
            % (kind, kernel, stride, pad))

    def global_pool(self, name, bottom):
        return self.layer("Pooling", name, bottom,
                          "pooling_param { pool: AVE global_pooling: true }")

    def lrn(self, name, bottom):
        return self.layer("LRN", name, bottom, "lrn_param { local_size: 5 "
                          "alpha: 0.0001 beta: 0.75 }")

    def dropout(self, bottom, ratio):
        return self.layer("Dropout", "drop_" + bottom, bottom,
                          "dropout_param { dropout_ratio: %g }" % ratio,
                          top=bottom)

    def inner_product(self, name, bottom, outputs):
        return self.layer(
            "InnerProduct", name, bottom, "inner_product_param { num_output: "
            "%d weight_filler { type: \"xavier\" } }" % outputs)

    def batch_norm(self, bottom):
        self.layer("BatchNorm", "bn_" + bottom, bottom, top=bottom)
        return self.layer("Scale", "scale_" + bottom, bottom,
                          "scale_param { bias_term: true }", top=bottom)

    def finish(self, scores):
        self.layer("SoftmaxWithLoss", "loss", [scores, "label"])
        return "\n".join(self.text) + "\n"


def alexnet(shape):
    net = Net("AlexNet", shape)
    x = net.pool("pool1", net.lrn("norm1", net.conv_relu(
        "conv1", "data", 96, 11, stride=4)), 3, 2)
    x = net.pool("pool2", net.lrn("norm2", net.conv_relu(
        "conv2", x, 256, 5, pad=2, group=2)), 3, 2)
    x = net.conv_relu("conv3", x, 384, 3, pad=1)
    x = net.conv_relu("conv4", x, 384, 3, pad=1, group=2)
    x = net.conv_relu("conv5", x, 256, 3, pad=1, group=2)
    x = net.pool("pool5", x, 3, 2)
    for name in ("fc6", "fc7"):
        x = net.dropout(net.relu(net.inner_product(name, x, 4096)), 0.5)
    return net.finish(net.inner_product("fc8", x, 1000))


def vgg16(shape):
    net = Net("VGG-16", shape)
    x = "data"
    for stage, (outputs, depth) in enumerate(
            ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)), 1):
        for i in range(1, depth + 1):
            x = net.conv_relu("conv%d_%d" % (stage, i), x, outputs, 3, pad=1)
        x = net.pool("pool%d" % stage, x, 2, 2)
    for name in ("fc6", "fc7"):
        x = net.dropout(net.relu(net.inner_product(name, x, 4096)), 0.5)
    return net.finish(net.inner_product("fc8", x, 1000))


# Outputs of 1x1, 3x3 reduced, 3x3, 5x5 reduced, 5x5 and behind the pooling.
INCEPTIONS = {
    "3a": (64, 96, 128, 16, 32, 32), "3b": (128, 128, 192, 32, 96, 64),
    "4a": (192, 96, 208, 16, 48, 64), "4b": (160, 112, 224, 24, 64, 64),
    "4c": (128, 128, 256, 24, 64, 64), "4d": (112, 144, 288, 32, 64, 64),
    "4e": (256, 160, 320, 32, 128, 128), "5a": (256, 160, 320, 32, 128, 128),
    "5b": (384, 192, 384, 48, 128, 128)}


def inception(net, name, x):
    one, reduce3, three, reduce5, five, behind = INCEPTIONS[name]
    name = "inception_%s/" % name
    branches = [
        net.conv_relu(name + "1x1", x, one, 1),
        net.conv_relu(name + "3x3", net.conv_relu(
            name + "3x3_reduce", x, reduce3, 1), three, 3, pad=1),
        net.conv_relu(name + "5x5", net.conv_relu(
            name + "5x5_reduce", x, reduce5, 1), five, 5, pad=2),
        net.conv_relu(name + "pool_proj", net.pool(
            name + "pool", x, 3, 1, pad=1), behind, 1)]
    return net.layer("Concat", name + "output", branches)


def googlenet(shape):
    net = Net("GoogLeNet", shape)
    x = net.conv_relu("conv1/7x7_s2", "data", 64, 7, stride=2, pad=3)
    x = net.lrn("pool1/norm1", net.pool("pool1/3x3_s2", x, 3, 2))
    x = net.conv_relu("conv2/3x3_reduce", x, 64, 1)
    x = net.conv_relu("conv2/3x3", x, 192, 3, pad=1)
    x = net.pool("pool2/3x3_s2", net.lrn("conv2/norm2", x), 3, 2)
    for name in INCEPTIONS:
        x = inception(net, name, x)
        if name in ("3b", "4e"):
            x = net.pool("pool%d/3x3_s2" % (3 if name == "3b" else 4), x, 3, 2)
    x = net.dropout(net.global_pool("pool5", x), 0.4)
    return net.finish(net.inner_product("classifier", x, 1000))


def bottleneck(net, name, x, width, stride, shortcut):
    straight = x
    if shortcut:
        straight = net.batch_norm(net.conv(
            "res%s_branch1" % name, x, 4 * width, 1, stride=stride, bias=False))
    branch = x
    for part, outputs, kernel, step in (
            ("2a", width, 1, stride), ("2b", width, 3, 1),
            ("2c", 4 * width, 1, 1)):
        branch = net.batch_norm(net.conv(
            "res%s_branch%s" % (name, part), branch, outputs, kernel,
            stride=step, pad=kernel // 2, bias=False))
        if part != "2c":
            branch = net.relu(branch)
    return net.relu(net.layer("Eltwise", "res" + name, [straight, branch]))


def resnet50(shape):
    net = Net("ResNet-50", shape)
    x = net.relu(net.batch_norm(net.conv("conv1", "data", 64, 7, stride=2,
                                         pad=3, bias=False)))
    x = net.pool("pool1", x, 3, 2)
    for stage, (width, depth) in enumerate(
            ((64, 3), (128, 4), (256, 6), (512, 3)), 2):
        for i in range(depth):
            x = bottleneck(net, "%d%s" % (stage, "abcdef"[i]), x, width,
                           2 if i == 0 and stage > 2 else 1, i == 0)
    return net.finish(net.inner_product("fc1000", net.global_pool("pool5", x),
                                        1000))


GENERATED = {"alexnet": alexnet, "googlenet": googlenet, "vgg16": vgg16,
             "resnet50": resnet50}
