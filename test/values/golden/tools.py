#===- tools.py - Runs Brew's tools and reads what they write ---------------===#
"""Functions shared by the checks in this folder: tools, weight files,
comparison."""

import os
import subprocess

import numpy as np


class Mismatch(Exception):
    """Raised if a recorded value was not reproduced or a tool failed."""


class Tools:
    """brewc, brew-run and brew-data of one build."""

    def __init__(self, folder, compile_flags=()):
        self.folder = os.path.abspath(folder)
        self.compile_flags = list(compile_flags)

    def run(self, tool, *arguments, cwd=None):
        """Runs a tool and returns its standard error, which contains the log.

        Raises Mismatch if the tool fails.
        """
        command = [os.path.join(self.folder, tool), *arguments]
        process = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True, timeout=600)
        if process.returncode != 0:
            last_lines = "\n".join((process.stdout + process.stderr).strip().splitlines()[-5:])
            raise Mismatch("'%s' ended with status %d:\n%s" %
                           (" ".join(command), process.returncode, last_lines))
        return process.stderr

    def compile(self, *arguments, cwd=None):
        return self.run("brewc", *arguments, *self.compile_flags, cwd=cwd)


def difference(expected, actual, scale=0):
    """Returns the largest difference relative to the largest expected
    magnitude.

    Single elements may cancel, so the difference is relative to the largest
    value of the blob, but at least to 1e-3 and to `scale`.
    """
    expected = np.asarray(expected, np.float64).ravel()
    actual = np.asarray(actual, np.float64).ravel()
    if expected.size != actual.size:
        raise Mismatch("has %d values, recorded are %d" % (actual.size, expected.size))
    if expected.size == 0:
        return 0.0
    largest = np.max(np.abs(expected - actual))
    # A NaN counts as a difference, although comparisons with it are false.
    return np.inf if np.isnan(largest) else largest / max(np.max(np.abs(expected)), 1e-3, scale)


def read_weights(path, field="data"):
    """Returns {"LAYER/INDEX": values} of a .caffemodel; `field` may be
    "diff"."""
    import caffe_pb2  # generated from formats/caffe.proto by the build
    net = caffe_pb2.NetParameter()
    with open(path, "rb") as file:
        net.ParseFromString(file.read())

    def values(blob):
        flat = np.array(getattr(blob, field) or getattr(blob, "double_" + field))
        return flat.reshape(blob.shape.dim) if blob.HasField("shape") else flat

    return {"%s/%d" % (layer.name, i): values(blob)
            for layer in net.layer for i, blob in enumerate(layer.blobs)}
