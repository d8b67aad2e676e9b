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
        """Copies ``layers``, a dict of name to a list of arrays; all or none if one does not match."""
        fitting = []
        for number, (layer, made) in enumerate(zip(self._params, self._layers)):
            arrays = layers.get(layer.name)
            if arrays is None:
                continue
            if not arrays and not made.blobs:
                continue
            owned = self._learnable
            while len(arrays) < len(made.blobs) and owned[self._param_index[number][len(arrays)]] is not made.blobs[len(arrays)]:
                arrays = arrays + [None]  # HDF5 files omit parameters that another layer owns
            if len(arrays) != len(made.blobs):
                raise failure(layer, "incompatible number of blobs: %d in the file, %d in the net"
                                      % (len(arrays), len(made.blobs)))
            for i, (blob, values) in enumerate(zip(made.blobs, arrays)):
                if values is None:
                    continue  # another layer owns the parameter
                _weights.check_shape(blob, values, "%s' param %d" % (layer.name, i))
                fitting.append((blob, values))
        for blob, values in fitting:
            blob._data.take(values)

    def share_with(self, other):
        """Shares the memory of the other net's parameters, for layers of both nets."""
        mine = {p.name: made for p, made in zip(self._params, self._layers)}
        for layer, source in zip(other._params, other._layers):
            target = mine.get(layer.name)
            if target is None:
                continue
            if len(target.blobs) != len(source.blobs):
                raise failure(layer, "incompatible number of blobs")
            for i, (to, of) in enumerate(zip(target.blobs, source.blobs)):
                if to.shape != of.shape:
                    raise failure(layer, "Cannot share param %d weights: shape mismatch, %s and %s"
                                          % (i, of.shape, to.shape))
            for to, of in zip(target.blobs, source.blobs):
                to._share_data(of)

    def save(self, path):
        """Writes the net with its parameters as a .caffemodel."""
        self._save(path, False)

    def _save(self, path, diff):
        layers = []
        for layer, made in zip(self._params, self._layers):
            copy = caffe_pb2.LayerParameter()
            copy.CopyFrom(layer)
            copy.ClearField("blobs")
            layers.append((copy, [(blob.data, blob.diff if diff else None) for blob in made.blobs]))
        _weights.write(path, caffe_pb2.NetParameter(name=self._name), layers)

    def save_hdf5(self, path, write_diff=False):
        """Writes the parameters in Caffe's HDF5 format."""
        blobs = [[(blob, self._learnable[index[i]] is blob) for i, blob in enumerate(made.blobs)]
                 for made, index in zip(self._layers, self._param_index)]
        _weights.write_hdf5(path, [p.name for p in self._params], blobs, write_diff)
