"""Parameter files: .caffemodel and Caffe's HDF5."""
import os

import numpy as np
from google.protobuf.message import DecodeError

from brew._files import atomic, write_bytes

from . import _wire
from ._blob import product
from .proto import caffe_pb2


def is_hdf5(path):
    return os.fspath(path).endswith(".h5")


def read(path):
    """Reads a dict of layer name to a list of arrays. Raises RuntimeError."""
    path = os.fspath(path)
    if not os.path.isfile(path):
        raise RuntimeError("Could not open file %s" % path)
    if is_hdf5(path):
        return read_hdf5(path)
    try:
        with open(path, "rb") as file:
            return _layers_of(memoryview(file.read()))
    except (OSError, DecodeError, ValueError, IndexError) as failure:
        raise RuntimeError("%s: cannot be read as a NetParameter: %s" % (path, failure)) from None


def _field_number(message, field):
    return message.DESCRIPTOR.fields_by_name[field].number


def _layers_of(data):
    """Parses the arrays by layer from the bytes of a NetParameter with current, V1 or V0 layers."""
    layer_messages = {_field_number(caffe_pb2.NetParameter, "layer"): caffe_pb2.LayerParameter,
                      _field_number(caffe_pb2.NetParameter, "layers"): caffe_pb2.V1LayerParameter}
    layers = {}
    for number, wire_type, payload, _ in _wire.fields(data):
        if number in layer_messages and wire_type == 2:
            name, arrays = _layer_of(payload, layer_messages[number])
            layers[name] = arrays
    return layers


def _layer_of(data, message):
    name, arrays = "", []
    inner = message.DESCRIPTOR.fields_by_name.get("layer")  # V0: nested one level deeper
    for number, wire_type, payload, _ in _wire.fields(data):
        if wire_type != 2:
            continue
        if number == _field_number(message, "name"):
            name = bytes(payload).decode(errors="replace")
        elif number == _field_number(message, "blobs"):
            arrays.append(_array(payload))
        elif inner is not None and number == inner.number:
            name, inner_arrays = _layer_of(payload, caffe_pb2.V0LayerParameter)
            arrays += inner_arrays
    return name, arrays


def _array(data):
    blob, values = _wire.parse_blob(data)
    if values is None:
        return array_of(blob)
    shape = shape_of(blob)
    if values.size != product(shape):
        raise ValueError("a blob of shape %s has %d values" % (shape, values.size))
    return values.reshape(shape)


def read_message(path, message):
    """Parses a binary file. Raises RuntimeError."""
    try:
        with open(path, "rb") as file:
            message.ParseFromString(file.read())
    except (OSError, DecodeError) as failure:
        raise RuntimeError("%s: cannot be read as %s: %s" % (path, message.DESCRIPTOR.name, failure)) from None
    return message


def shape_of(blob):
    """Returns the shape of a BlobProto, including the legacy form."""
    if any(blob.HasField(f) for f in ("num", "channels", "height", "width")):
        return blob.num, blob.channels, blob.height, blob.width
    return tuple(blob.shape.dim)


def array_of(blob, diff=False):
    """Returns the values of a BlobProto, or its gradients with ``diff``."""
    values, doubles = (blob.diff, blob.double_diff) if diff else (blob.data, blob.double_data)
    return np.array(doubles if len(doubles) else values, dtype=np.float32).reshape(shape_of(blob))


def fill_proto(proto, data, diff=None):
    """Writes an array and optional gradients to a BlobProto."""
    proto.shape.dim.extend(data.shape)
    proto.data.extend(data.ravel().tolist())
    if diff is not None:
        proto.diff.extend(diff.ravel().tolist())


def check_shape(blob, values, description):
    """Checks that a file's array has the blob's shape, or a legacy shape of four axes that
    equals it except for leading axes of size 1."""
    shape = tuple(values.shape)
    if shape == blob.shape:
        return
    if len(shape) == 4 and len(blob.shape) <= 4 and (1,) * (4 - len(blob.shape)) + blob.shape == shape:
        return
    raise RuntimeError("Cannot copy '%s: shape mismatch. Source param shape is %s; target param shape is %s"
                       % (description, shape, blob.shape))


def load_blob(blob, values, description):
    check_shape(blob, values, description)
    blob.data[...] = values.reshape(blob.shape)


def write(path, net, layers):
    """Writes a NetParameter; ``layers``: (LayerParameter without blobs, [(array, diff or
    None), ...])."""
    parts = [net.SerializeToString()]
    for layer, blobs in layers:
        message = _wire.message_parts(layer, _field_number(layer, "blobs"), blobs)
        parts += _wire.field(_field_number(net, "layer"), *message)
    _write(path, parts)


def write_state(path, state, history):
    """Writes a SolverState with arrays of history."""
    _write(path, _wire.message_parts(state, _field_number(state, "history"), [(array, None) for array in history]))


def _write(path, parts):
    write_bytes(path, b"".join(parts))


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
    """Like :func:`read`; a parameter that another layer owns is missing in the file and None in the
    result."""
    with open_hdf5(os.fspath(path)) as file:
        if "data" not in file:
            raise RuntimeError("%s: it has no group 'data', so it contains no parameters" % path)
        layers = {}

        def read_group(group, name):
            """Reads a layer; its subgroups are layers whose names contain a slash."""
            inner = [key for key in group if hasattr(group[key], "items")]
            numbers = [key for key in group if key not in inner]
            if not all(key.isdecimal() for key in numbers):
                raise RuntimeError("%s: layer '%s' has parameters whose names are not numbers" % (path, name))
            if numbers or not inner:
                count = max(map(int, numbers), default=-1) + 1
                layers[name] = [np.array(group[str(i)], dtype=np.float32) if str(i) in group else None
                                for i in range(count)]
            for key in inner:
                read_group(group[key], name + "/" + key)

        for name, group in file["data"].items():
            read_group(group, name)
        return layers


def write_hdf5(path, names, layers, write_diff):
    """Writes an HDF5 file. ``layers``: per name, a list of (blob, whether the layer owns it). Writes
    the values of owned parameters and the gradients of all."""
    h5py = _h5py()
    with atomic(path) as temporary:
        with h5py.File(temporary, "w") as file:
            data = file.create_group("data")
            diff = file.create_group("diff") if write_diff else None
            for name, blobs in zip(names, layers):
                group = data.create_group(name)
                gradients = diff.create_group(name) if write_diff else None
                for i, (blob, owned) in enumerate(blobs):
                    if owned:
                        group.create_dataset(str(i), data=blob.data)
                    if write_diff:
                        gradients.create_dataset(str(i), data=blob.diff)
