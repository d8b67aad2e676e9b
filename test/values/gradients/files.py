"""Weights and values in the formats that brew-run reads and writes."""
import h5py


def varint(value):
    """Returns a variable-length integer of the Protocol Buffers wire format."""
    out = b''
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, payload):
    """Returns a length-delimited field of the Protocol Buffers wire format."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def write_weights(path, params):
    """Writes a caffemodel (NetParameter.layer = 100) with double_data from {(layer, i): array}."""
    layers = {}
    for name, i in sorted(params):
        values = params[name, i]
        shape = field(7, field(1, b''.join(map(varint, values.shape))) if values.shape else b'')
        blob = shape + field(8, values.astype('<f8').tobytes())
        layers.setdefault(name, []).append(field(7, blob))
    with open(path, 'wb') as file:
        for name, blobs in layers.items():
            file.write(field(100, field(1, name.encode()) + b''.join(blobs)))


def write_inputs(path, inputs, output_gradients={}):
    """Writes an HDF5 file from {blob: values}."""
    with h5py.File(path, 'w') as file:
        for name, values in inputs.items():
            file['/inputs/' + name] = values
        for name, values in output_gradients.items():
            file['/output_gradients/' + name] = values


def read_all(path):
    """Returns {dataset path: values}."""
    datasets = {}
    with h5py.File(path, 'r') as file:
        file.visititems(lambda name, item: datasets.update({name: item[()]})
                        if isinstance(item, h5py.Dataset) else None)
    return datasets
