"""Weights of nets: loads and writes .caffemodel and Caffe's HDF5 files."""
import os
import warnings

import numpy as np

from brew._core import NetWeights, WeightFile

from ._base import runtime_errors
from .proto import caffe_pb2


def read(path):
    """Reads a weight file of any format. Raises RuntimeError."""
    with runtime_errors():
        return WeightFile.read(os.fsdecode(path))


def load(file, source, layers):
    """Loads weights into blobs. Changes nothing and raises RuntimeError if blobs do not fit. A file
    without any of the layers gives a RuntimeWarning.

    ``file``: a WeightFile; ``source``: its name in messages; ``layers``: [(LayerParameter,
    [(Blob, whether another layer owns it), ...]), ...]."""
    net = NetWeights(b"")
    blobs, arrays = [], []
    for layer, owned_blobs in layers:
        net.add_layer(_encoded(layer))
        for blob, is_shared in owned_blobs:
            blobs.append(blob)
            arrays.append(np.empty(blob.shape, np.float32))
            net.add_blob(arrays[-1], shared=is_shared)
    with runtime_errors():
        loaded = net.copy_from(file, source)
    if blobs and not any(loaded):
        warnings.warn("%s: no layer with parameters has the name of a layer of this net; are these weights of "
                      "another net?" % source, RuntimeWarning, stacklevel=4)
    for blob, array, is_loaded in zip(blobs, arrays, loaded):
        if is_loaded:
            blob._data.take(array)


def load_message(layer, blobs):
    """Loads the ``blobs`` of a LayerParameter."""
    net = caffe_pb2.NetParameter(layer=[layer])
    source = "layer '%s' (%s)" % (layer.name, layer.type)
    with runtime_errors():
        file = WeightFile.parse(net.SerializeToString(), source)
    load(file, source, [(layer, [(blob, False) for blob in blobs])])


def of_net(net, layers):
    """Returns the NetWeights of a net.

    ``net``: a NetParameter without layers; ``layers``: [(LayerParameter, [(array, gradients or
    None, whether another layer owns it), ...]), ...]."""
    weights = NetWeights(net.SerializeToString())
    for layer, blobs in layers:
        weights.add_layer(_encoded(layer))
        for data, diff, is_shared in blobs:
            weights.add_blob(data, diff, is_shared)
    return weights


def write(path, weights, hdf5=False):
    """Writes NetWeights. Files in HDF5 contain only the arrays. Raises OSError."""
    with runtime_errors(unavailable=OSError):
        weights.write(os.fsdecode(path), hdf5)


def _encoded(layer):
    """Encodes a LayerParameter without its blobs."""
    if layer.blobs:
        copy = caffe_pb2.LayerParameter()
        copy.CopyFrom(layer)
        copy.ClearField("blobs")
        layer = copy
    return layer.SerializeToString()
