"""The workloads: nets, batches and modes, and the prototxts generated for them."""

import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE / "gpu"))
import timed_nets  # noqa: E402
from deploy import DATA_LAYERS, INPUT, UNTIMED_LAYERS, deploy_text, inputs_of  # noqa: E402
from prototxt import get, layer_texts, layers_of, parse  # noqa: E402

TITLES = {"lenet": "LeNet", "cifar10_quick": "CIFAR-10 quick",
          "alexnet": "AlexNet", "googlenet": "GoogLeNet",
          "resnet50": "ResNet-50", "vgg16": "VGG-16", "mobilenet": "MobileNet",
          "squeezenet": "SqueezeNet", "lstm": "LSTM"}
# Shapes of the data tops. The batch dimension is replaced.
SHAPES = dict(timed_nets.NETS, lstm={"data": (20, 64, 1000), "cont": (20, 64),
                               "label": (20, 64)})
# The batch dimension, if it is not the first one.
BATCH_AXIS = {"lstm": 1}
TRAINING = (("lenet", 64), ("cifar10_quick", 100), ("alexnet", 32),
            ("googlenet", 16), ("resnet50", 8), ("resnet50", 32), ("vgg16", 4),
            ("mobilenet", 16), ("squeezenet", 16), ("lstm", 64))
INFERENCE_BATCHES = (1, 8)
# Nets that --quick omits because they take long.
SLOW = ("resnet50-32-train",)
# Nets that read a database. Their training loops are compared too.
DATABASES = ("lenet", "cifar10_quick")


class Workload(NamedTuple):
    net: str
    batch: int
    mode: str

    @property
    def key(self):
        return "{}-{}-{}".format(self.net, self.batch, self.mode)

    @property
    def title(self):
        return "{}, batch {}, {}".format(
            TITLES[self.net], self.batch,
            "training" if self.mode == "train" else "inference")

    @property
    def shapes(self):
        """{data top that this mode reads: dimensions}."""
        axis = BATCH_AXIS.get(self.net, 0)
        shapes = {blob: dims[:axis] + (self.batch,) + dims[axis + 1:]
                  for blob, dims in SHAPES[self.net].items()}
        return inputs_of(shapes, self.mode)

    @property
    def images(self):
        """Whether the net reads images, which can be in channels-last order."""
        return any(len(dims) == 4 for dims in self.shapes.values())

    @property
    def has_loop(self):
        """Whether training from a database is measured: only with the batch size of the net's
        data layer."""
        return (self.mode == "train" and self.net in DATABASES
                and self.batch == SHAPES[self.net]["data"][0])


def workload_of(key):
    """Returns the workload of a key in a file of results."""
    net, batch, mode = key.rsplit("-", 2)
    return Workload(net, int(batch), mode)


def select(nets=None, mode="both", batches=None, quick=False):
    """Returns the workloads that the command line selects."""
    batches = batches or ()
    found = []
    if mode != "infer":
        usual = [entry for entry in TRAINING if not batches]
        found += [Workload(net, batch, "train")
                  for net, batch in usual or [(net, batch) for net in TITLES
                                              for batch in batches]]
    if mode != "train":
        usual = INFERENCE_BATCHES[:1] if quick else INFERENCE_BATCHES
        found += [Workload(net, batch, "infer") for batch in batches or usual
                  for net in TITLES]
    return [workload for workload in found
            if (not nets or workload.net in nets)
            and not (quick and workload.key in SLOW)]


def prototxt_of(net):
    return (HERE / "nets" / (net + ".prototxt")).read_text()


def training_text(text, shapes, source=INPUT):
    """Returns the net of the TRAIN phase without layers that are not timed. A layer for each
    blob of `shapes`, formatted from `source`, replaces the data layers."""
    result = [source.format(blob=blob, dims=" ".join("dim: %d" % dim
                                                     for dim in dims))
              for blob, dims in shapes.items()]
    for layer_text in layer_texts(text):
        for layer in layers_of(parse(layer_text), "TRAIN"):
            if get(layer, "type") not in DATA_LAYERS + UNTIMED_LAYERS:
                result.append(layer_text + "\n")
    return "".join(result)


def write_net(workload, folder):
    """Writes the prototxt that every program reads; returns its name."""
    name = workload.key + ".prototxt"
    make_text = training_text if workload.mode == "train" else deploy_text
    (folder / name).write_text(make_text(prototxt_of(workload.net), workload.shapes))
    return name
