#!/usr/bin/env python3
#===- accuracies.py - Published nets reach Caffe's accuracies --------------===#
"""Classifies complete test sets with published weights, and compares with
Caffe's accuracies.

usage: accuracies.py --bin DIR --models FOLDER --mnist FOLDER --cifar FOLDER
                     [--brewc-flags=FLAGS] [--only NAME ...]

The old-format nets of --models are compiled with their weights embedded and run by
`brew-run infer` on every sample of the test set. The accuracy of lenet_v1 must
equal the recorded one within one sample. The CIFAR nets may differ by half a
percent: their recorded accuracies subtracted the mean of all five training
batches, which are not all available; this script subtracts the mean of the
first.
"""
import argparse
import gzip
import os
import sys
import tempfile

import h5py
import numpy as np

from tools import Mismatch, Tools

SAMPLES = 10000

# net: (test set, recorded accuracy, tolerance), in percent.
# One sample is 0.01 %: close scores may round either way.
RECORDED = {
    "lenet_v1": ("mnist", 99.05, 0.011),
    "cifar10_quick_v1": ("cifar", 74.91, 0.5),
    "cifar10_full_v1": ("cifar", 82.11, 0.5),
}


def cifar_batch(folder, name):
    """Returns the path of a binary batch, plain or compressed."""
    for candidate in (name + ".bin", name + ".bin.gz"):
        path = os.path.join(folder, candidate)
        if os.path.exists(path):
            return path
    raise Mismatch("no %s in %s" % (name, folder))


def cifar_labels(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        records = np.frombuffer(file.read(), np.uint8).reshape(-1, 1 + 3 * 32 * 32)
    return records[:, 0]


class TestSets:
    """Provides inputs of `brew-run infer` and their labels."""

    def __init__(self, tools, options, folder):
        self.tools, self.options, self.folder = tools, options, folder

    def mnist(self):
        images = os.path.join(self.options.mnist, "t10k-images-idx3-ubyte.gz")
        with gzip.open(os.path.join(self.options.mnist, "t10k-labels-idx1-ubyte.gz")) as file:
            labels = np.frombuffer(file.read()[8:], np.uint8)
        return [images, "--scale", "0.00390625"], labels

    def cifar(self):
        train = cifar_batch(self.options.cifar, "data_batch_1")
        test = cifar_batch(self.options.cifar, "test_batch")
        database = {}
        for name, batch in (("train", train), ("test", test)):
            database[name] = os.path.join(self.folder, name)
            self.tools.run("brew-data", "cifar10", batch, "-o", database[name], "--overwrite")
        mean = os.path.join(self.folder, "mean.binaryproto")
        self.tools.run("brew-data", "mean", database["train"], mean)
        return [database["test"], "--mean", mean], cifar_labels(test)


def measure_accuracy(tools, sets, models, name, folder):
    test_set = RECORDED[name][0]
    arguments, labels = getattr(sets, test_set)()
    plan, out = os.path.join(folder, "plan"), os.path.join(folder, "out.h5")
    source = os.path.join(models, name)
    tools.compile(os.path.join(source, "deploy.prototxt"), "--weights",
                  os.path.join(source, "weights.caffemodel"), "--batch", "100", "-o", plan)
    tools.run("brew-run", "infer", plan, *arguments, "--outputs", out)
    with h5py.File(out, "r") as file:
        values = []
        file.visititems(lambda key, item: values.append(item[()])
                        if isinstance(item, h5py.Dataset) else None)
    scores = [item for item in values if item.ndim >= 2 and item.shape[0] == SAMPLES]
    if len(scores) != 1 or len(labels) != SAMPLES:
        raise Mismatch("%s: outputs %s for %d labels" %
                       (name, [item.shape for item in values], len(labels)))
    predicted = np.argmax(scores[0].reshape(SAMPLES, -1), axis=1)
    return 100 * float(np.mean(predicted == labels))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--models", required=True)
    parser.add_argument("--mnist", required=True)
    parser.add_argument("--cifar", required=True)
    parser.add_argument("--brewc-flags", default="")
    parser.add_argument("--only", nargs="*", default=list(RECORDED))
    options = parser.parse_args()
    tools = Tools(options.bin, options.brewc_flags.split())
    failed = 0
    for name in options.only:
        _, recorded, allowed = RECORDED[name]
        with tempfile.TemporaryDirectory() as folder:
            try:
                reached = measure_accuracy(tools, TestSets(tools, options, folder),
                                           options.models, name, folder)
                passed = abs(reached - recorded) <= allowed
                message = "%.2f %% (recorded %.2f)" % (reached, recorded)
            except Mismatch as error:
                passed, message = False, str(error)
        failed += not passed
        print("%s %s: %s" % ("ok  " if passed else "FAIL", name, message))
    print("%d passed, %d failed" % (len(options.only) - failed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
