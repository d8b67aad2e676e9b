"""A net's parameters: loading, saving and sharing."""
import os

from . import _weights
from ._base import failure
from .proto import caffe_pb2


class Parameters:
    """The parameter functions of NetCore."""

    def copy_from(self, path):
        """Copies the parameters of a .caffemodel or HDF5 file by layer name; all of them, or none if
        one does not match."""
        _weights.load(_weights.read(path), os.fsdecode(path),
                      [(layer, list(zip(instance.blobs, shared))) for layer, instance, shared in self._sharing()])

    load_hdf5 = copy_from

    def _sharing(self):
        """Yields (LayerParameter, layer, for each parameter whether another layer owns it)."""
        for layer, instance, index in zip(self._params, self._layers, self._param_index):
            yield layer, instance, [self._learnable[i] is not blob for blob, i in zip(instance.blobs, index)]

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

    def save_hdf5(self, path, write_diff=False):
        """Writes the parameters in Caffe's HDF5 format."""
        self._save(path, write_diff, hdf5=True)

    def _save(self, path, diff, hdf5=False):
        _weights.write(path, self._weights(diff), hdf5)

    def _weights(self, diff):
        """Returns the NetWeights of the parameters, with their gradients if ``diff`` is set."""
        layers = [(layer, [(blob._values, blob._gradient if diff else None, is_shared)
                           for blob, is_shared in zip(instance.blobs, shared)])
                  for layer, instance, shared in self._sharing()]
        return _weights.of_net(caffe_pb2.NetParameter(name=self._name), layers)
