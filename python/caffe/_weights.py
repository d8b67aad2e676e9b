"""Files of parameters: .caffemodel and Caffe's HDF5."""
import os

import numpy as np

from brew._files import atomic, write_bytes

from .proto import caffe_pb2


def is_hdf5(path):
    return os.fspath(path).endswith(".h5")


def read(path):
    """Name of a layer to the list of its arrays. Raises RuntimeError."""
    path = os.fspath(path)
    if not os.path.isfile(path):
        raise RuntimeError("Could not open file %s" % path)
    if is_hdf5(path):
        return read_hdf5(path)
    net = read_message(path, caffe_pb2.NetParameter())
    layers = {}
    for layer in list(net.layers) + list(net.layer):
        # V0: the layer's own message lies one deeper.
        source = layer.layer if layer.DESCRIPTOR.name == "V1LayerParameter" and layer.HasField("layer") else layer
        layers[source.name] = [array_of(blob) for blob in source.blobs]
    return layers


def read_message(path, message):
    """Parses a binary file. Raises RuntimeError."""
    from google.protobuf.message import DecodeError

    try:
        with open(path, "rb") as file:
            message.ParseFromString(file.read())
    except (OSError, DecodeError) as failure:
        raise RuntimeError("%s: cannot be read as %s: %s" % (path, message.DESCRIPTOR.name, failure)) from None
    return message


def shape_of(blob):
    """The shape of a BlobProto, an old one's too."""
    if any(blob.HasField(f) for f in ("num", "channels", "height", "width")):
        return blob.num, blob.channels, blob.height, blob.width
    return tuple(blob.shape.dim)


def array_of(blob, diff=False):
    """The values of a BlobProto."""
    values, doubles = (blob.diff, blob.double_diff) if diff else (blob.data, blob.double_data)
    return np.array(doubles if len(doubles) else values, dtype=np.float32).reshape(shape_of(blob))


def fill_proto(proto, data, diff=None):
    """Writes an array, and its gradients if given, to a BlobProto."""
    proto.shape.dim.extend(data.shape)
    proto.data.extend(data.ravel().tolist())
    if diff is not None:
        proto.diff.extend(diff.ravel().tolist())


def check_shape(blob, values, what):
    """A file's array fits if it has the blob's shape, or is an old one of four axes that
    has it but for ones in front."""
    shape = tuple(values.shape)
    if shape == blob.shape:
        return
    if len(shape) == 4 and len(blob.shape) <= 4 and (1,) * (4 - len(blob.shape)) + blob.shape == shape:
        return
    raise RuntimeError("Cannot copy '%s: shape mismatch. Source param shape is %s; target param shape is %s"
                       % (what, shape, blob.shape))


def load_blob(blob, values, what):
    check_shape(blob, values, what)
    blob.data[...] = values.reshape(blob.shape)


def write(path, net):
    """Writes a NetParameter."""
    write_bytes(path, net.SerializeToString())


def _h5py():
    try:
        import h5py
    except ImportError as missing:
        raise RuntimeError("HDF5 files need the package h5py") from missing
    return h5py


def open_hdf5(path):
    if not os.path.isfile(path):
        raise RuntimeError("Could not open file %s" % path)
    try:
        return _h5py().File(path, "r")
    except OSError as failure:
        raise RuntimeError("%s: %s" % (path, failure)) from None


def read_hdf5(path):
    """As :func:`read`; a parameter that the file lacks, as another layer owns it, is None."""
    with open_hdf5(os.fspath(path)) as file:
        if "data" not in file:
            raise RuntimeError("%s: it has no group 'data', so it holds no parameters" % path)
        layers = {}
        for name, group in file["data"].items():
            numbers = [int(n) for n in group]
            layers[name] = [np.array(group[str(i)], dtype=np.float32) if str(i) in group else None
                            for i in range(max(numbers, default=-1) + 1)]
        return layers


def write_hdf5(path, names, layers, write_diff):
    """``layers``: for each name the parameters it owns, (number, blob)."""
    h5py = _h5py()
    with atomic(path) as temporary:
        with h5py.File(temporary, "w") as file:
            data = file.create_group("data")
            diff = file.create_group("diff") if write_diff else None
            for name, blobs in zip(names, layers):
                group = data.create_group(name)
                gradients = diff.create_group(name) if write_diff else None
                for i, blob in blobs:
                    group.create_dataset(str(i), data=blob.data)
                    if write_diff:
                        gradients.create_dataset(str(i), data=blob.diff)
