"""A net's parameters: loading, saving and sharing."""
import os

from . import _weights
from ._base import failure
from .proto import caffe_pb2


class Parameters:
    """The parameter functions of NetCore."""

    def copy_from(self, path):
        """Copies the parameters of a .caffemodel or HDF5 file by layer name."""
        self._load(_weights.read(os.fspath(path)))

    def load_hdf5(self, path):
        """Copies the parameters of an HDF5 file."""
        self._load(_weights.read_hdf5(path))

    def _load(self, layers):
        """Copies ``layers``, a dict of name to a list of arrays; all of them, or none if one does not match."""
        copies = []
        for number, (layer, instance) in enumerate(zip(self._params, self._layers)):
            arrays = layers.get(layer.name)
            if arrays is None:
                continue
            if not arrays and not instance.blobs:
                continue
            owners = [self._learnable[index] for index in self._param_index[number]]
            while len(arrays) < len(instance.blobs) and owners[len(arrays)] is not instance.blobs[len(arrays)]:
                arrays = arrays + [None]  # HDF5 files omit parameters that another layer owns
            if len(arrays) != len(instance.blobs):
                raise failure(layer, "incompatible number of blobs: %d in the file, %d in the net"
                                      % (len(arrays), len(instance.blobs)))
            for i, (blob, values) in enumerate(zip(instance.blobs, arrays)):
                if values is None:
                    continue  # another layer owns the parameter
                _weights.check_shape(blob, values, "%s' param %d" % (layer.name, i))
                copies.append((blob, values))
        for blob, values in copies:
            blob._data.take(values)

    def share_with(self, other):
        """Makes the parameters of layers that both nets have use the other net's memory."""
        own_layers = {p.name: instance for p, instance in zip(self._params, self._layers)}
        for layer, source in zip(other._params, other._layers):
            target = own_layers.get(layer.name)
            if target is None:
                continue
            if len(target.blobs) != len(source.blobs):
                raise failure(layer, "incompatible number of blobs")
            for i, (target_blob, source_blob) in enumerate(zip(target.blobs, source.blobs)):
                if target_blob.shape != source_blob.shape:
                    raise failure(layer, "Cannot share param %d weights: shape mismatch, %s and %s"
                                          % (i, source_blob.shape, target_blob.shape))
            for target_blob, source_blob in zip(target.blobs, source.blobs):
                target_blob._share_data(source_blob)

    def save(self, path):
        """Writes the net with its parameters as a .caffemodel."""
        self._save(path, False)

    def _save(self, path, diff):
        layers = []
        for layer, instance in zip(self._params, self._layers):
            copy = caffe_pb2.LayerParameter()
            copy.CopyFrom(layer)
            copy.ClearField("blobs")
            layers.append((copy, [(blob._values, blob._gradient if diff else None) for blob in instance.blobs]))
        _weights.write(path, caffe_pb2.NetParameter(name=self._name), layers)

    def save_hdf5(self, path, write_diff=False):
        """Writes the parameters in Caffe's HDF5 format."""
        blobs = [[(blob, self._learnable[index[i]] is blob) for i, blob in enumerate(instance.blobs)]
                 for instance, index in zip(self._layers, self._param_index)]
        _weights.write_hdf5(path, [p.name for p in self._params], blobs, write_diff)
