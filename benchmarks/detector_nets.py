"""Prototxts of three small nets that users run image by image: PCN-1 and RFB-320, which find
faces, and VDSR, which enlarges pictures."""

INPUT = """layer {{ name: "data" type: "Input" top: "data"
  input_param {{ shape {{ dim: 1 dim: {} dim: {} dim: {} }} }} }}
"""
CONVOLUTION = """layer {{ name: "{name}" type: "Convolution" bottom: "{bottom}" top: "{name}"
  convolution_param {{ num_output: {outputs} kernel_size: {kernel} stride: {stride} pad: {pad}
    dilation: {dilation} group: {group} weight_filler {{ type: "msra" }} }} }}
"""
RELU = """layer {{ name: "{name}_relu" type: "ReLU" bottom: "{name}" top: "{name}" }}
"""


class Net:
    """The text of a prototxt, to which layers are added."""

    def __init__(self, channels, height, width):
        self.text = INPUT.format(channels, height, width)
        self.channels = {"data": channels}

    def convolve(self, name, bottom, outputs, kernel=3, stride=1, dilation=1, group=1, relu=True, pad=None):
        """Adds a convolution; without `pad` it keeps the size. Returns its top."""
        self.text += CONVOLUTION.format(
            name=name, bottom=bottom, outputs=outputs, kernel=kernel, stride=stride,
            pad=dilation * (kernel // 2) if pad is None else pad, dilation=dilation, group=group)
        if relu:
            self.text += RELU.format(name=name)
        self.channels[name] = outputs
        return name

    def separable(self, name, bottom, outputs, stride=1, relu=True):
        """Adds a depthwise and a pointwise convolution."""
        inputs = self.channels[bottom]
        depthwise = self.convolve(name + "_dw", bottom, inputs, stride=stride, group=inputs)
        return self.convolve(name, depthwise, outputs, 1, relu=relu)

    def join(self, name, kind, bottoms, channels):
        self.text += 'layer {{ name: "{0}" type: "{1}" {2} top: "{0}" }}\n'.format(
            name, kind, " ".join('bottom: "%s"' % bottom for bottom in bottoms))
        self.channels[name] = channels
        return name


def pcn1():
    """The first stage of progressive calibration networks (Shi et al., 2018), on 24x24 pixels."""
    net = Net(3, 24, 24)
    top = "data"
    for number, (outputs, kernel, stride) in enumerate(((16, 3, 2), (32, 3, 2), (64, 3, 2), (128, 2, 1)), 1):
        top = net.convolve("conv%d" % number, top, outputs, kernel, stride, pad=0)
    for name, outputs in (("face", 2), ("rotation", 2), ("box", 3)):
        net.convolve(name, top, outputs, 1, relu=False)
    return net.text


def rfb320():
    """RFB-320 of Ultra-Light-Fast-Generic-Face-Detector, up to its scores and boxes, with
    BatchNorm folded into the weights as in its published weights."""
    net = Net(3, 240, 320)
    top = net.convolve("conv1", "data", 16, stride=2)
    for number, (outputs, stride) in enumerate(((32, 1), (32, 2), (32, 1), (64, 2), (64, 1), (64, 1)), 2):
        top = net.separable("conv%d" % number, top, outputs, stride)
    branches = []
    for name, middle, dilation in (("a", (16,), 2), ("b", (16,), 3), ("c", (12, 16), 5)):
        branch = net.convolve("rfb_%s0" % name, top, 8, 1, relu=False)
        for i, outputs in enumerate(middle, 1):
            branch = net.convolve("rfb_%s%d" % (name, i), branch, outputs)
        branches.append(net.convolve("rfb_%s" % name, branch, 16, dilation=dilation, relu=False))
    joined = net.join("rfb_joined", "Concat", branches, 48)
    linear = net.convolve("rfb_linear", joined, 64, 1, relu=False)
    shortcut = net.convolve("rfb_shortcut", top, 64, 1, relu=False)
    top = net.join("rfb", "Eltwise", (linear, shortcut), 64)
    net.text += RELU.format(name=top)
    sources = [(top, 3)]
    for number, (outputs, stride) in enumerate(((128, 2), (128, 1), (128, 1)), 8):
        top = net.separable("conv%d" % number, top, outputs, stride)
    sources.append((top, 2))
    for number, (outputs, stride) in enumerate(((256, 2), (256, 1)), 11):
        top = net.separable("conv%d" % number, top, outputs, stride)
    sources.append((top, 2))
    top = net.separable("extra", net.convolve("extra_in", top, 64, 1), 256, 2)
    for number, (source, boxes) in enumerate(sources, 1):
        for kind, values in (("scores", 2), ("boxes", 4)):
            net.separable("%s%d" % (kind, number), source, boxes * values, relu=False)
    for kind, values in (("scores4", 2), ("boxes4", 4)):
        net.convolve(kind, top, 3 * values, relu=False)
    return net.text


def vdsr():
    """VDSR (Kim et al., 2016): 20 convolutions on 256x256 pixels, and the picture added."""
    net = Net(1, 256, 256)
    top = "data"
    for number in range(1, 20):
        top = net.convolve("conv%d" % number, top, 64)
    net.join("sum", "Eltwise", (net.convolve("conv20", top, 1, relu=False), "data"), 1)
    return net.text


NETS = {"PCN-1": pcn1, "RFB-320": rfb320, "VDSR": vdsr}
