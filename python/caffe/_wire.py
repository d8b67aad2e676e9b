"""Reads and writes floats of Caffe's binary files without a Python object for each.

protobuf's arrays of a hundred million floats take minutes to convert; the wire format
stores them as they are in memory. Protobuf handles all other fields."""
import numpy as np

from .proto import caffe_pb2

_DATA = caffe_pb2.BlobProto.DESCRIPTOR.fields_by_name["data"].number
_DIFF = caffe_pb2.BlobProto.DESCRIPTOR.fields_by_name["diff"].number


def _read_varint(data, offset):
    value = shift = 0
    while True:
        byte = data[offset]
        offset += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, offset
        shift += 7


def fields(data):
    """Yields (number, wire type, payload, complete field) of a message's bytes. Raises
    ValueError or IndexError for invalid bytes."""
    offset, end = 0, len(data)
    while offset < end:
        begin = offset
        key, offset = _read_varint(data, offset)
        wire_type = key & 7
        if wire_type == 0:
            _, stop = _read_varint(data, offset)
        elif wire_type == 2:
            size, offset = _read_varint(data, offset)
            stop = offset + size
        elif wire_type in (1, 5):
            stop = offset + (8 if wire_type == 1 else 4)
        else:
            raise ValueError("wire type %d" % wire_type)
        if stop > end:
            raise ValueError("it ends in the middle of a field")
        yield key >> 3, wire_type, data[offset:stop], data[begin:stop]
        offset = stop


def parse_blob(data):
    """Returns (BlobProto without packed values and gradients, packed values as an array or None)."""
    other_fields, values = [], []
    for number, wire_type, payload, field in fields(data):
        if number == _DATA and wire_type == 2:
            values.append(np.frombuffer(payload, dtype="<f4"))
        elif number != _DIFF:
            other_fields.append(bytes(field))
    blob = caffe_pb2.BlobProto.FromString(b"".join(other_fields))
    if not values:
        return blob, None
    return blob, values[0] if len(values) == 1 else np.concatenate(values)


def _encode_varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, *parts):
    """Encodes a length-delimited field as a list of bytes objects."""
    return [_encode_varint(number << 3 | 2), _encode_varint(sum(len(p) for p in parts)), *parts]


def blob_parts(array, diff=None):
    """Encodes an array as a BlobProto, as a list of bytes objects."""
    shape = caffe_pb2.BlobProto()
    shape.shape.dim.extend(array.shape)
    parts = [shape.SerializeToString()]
    for number, values in ((_DATA, array), (_DIFF, diff)):
        if values is not None and values.size:
            parts += field(number, np.ascontiguousarray(values, dtype="<f4").tobytes())
    return parts


def message_parts(message, number, blobs):
    """Encodes a message with repeated BlobProtos in a field; ``blobs``: [(array, diff), ...]."""
    parts = [message.SerializeToString()]
    for array, diff in blobs:
        parts += field(number, *blob_parts(array, diff))
    return parts
