"""Conversion of images and arrays for nets and Caffe's files."""
import importlib
import sys

import numpy as np

from ._images import flip_image, load_image, oversample, resize_image
from .proto import caffe_pb2

__all__ = ["Transformer", "array_to_blobproto", "array_to_datum", "arraylist_to_blobprotovector_str",
           "blobproto_to_array", "blobprotovector_str_to_arraylist", "datum_to_array", "flip_image", "load_image",
           "oversample", "resize_image"]


def __getattr__(name):
    """Returns what pycaffe's module imports from scikit-image and SciPy: ``skimage``, ``resize`` and ``zoom``. If
    the package is not installed, returns the main functions of _skimage."""
    modules = {"skimage": "skimage.io", "resize": "skimage.transform", "zoom": "scipy.ndimage"}
    if name not in modules:
        raise AttributeError("module 'caffe.io' has no attribute '%s'" % name)
    try:
        module = importlib.import_module(modules[name])
    except ImportError:
        return getattr(importlib.import_module("._skimage", __package__), name)
    return sys.modules["skimage"] if name == "skimage" else getattr(module, name)


def blobproto_to_array(blob, return_diff=False):
    """Returns the values or gradients of a BlobProto as an array."""
    values, doubles = (blob.diff, blob.double_diff) if return_diff else (blob.data, blob.double_data)
    is_legacy = any(blob.HasField(field) for field in ("num", "channels", "height", "width"))
    shape = (blob.num, blob.channels, blob.height, blob.width) if is_legacy else tuple(blob.shape.dim)
    return np.array(doubles if len(doubles) else values, dtype=np.float32).reshape(shape)


def array_to_blobproto(arr, diff=None):
    """Converts an array and optional gradients to a BlobProto."""
    blob = caffe_pb2.BlobProto()
    blob.shape.dim.extend(np.shape(arr))
    for field, values in ((blob.data, arr), (blob.diff, diff)):
        if values is not None:
            field.extend(np.asarray(values, dtype=np.float32).ravel().tolist())
    return blob


def arraylist_to_blobprotovector_str(arraylist):
    """Serializes arrays as a BlobProtoVector."""
    vector = caffe_pb2.BlobProtoVector()
    for array in arraylist:
        vector.blobs.add().CopyFrom(array_to_blobproto(array))
    return vector.SerializeToString()


def blobprotovector_str_to_arraylist(str):
    """Parses the arrays of a serialized BlobProtoVector."""
    return [blobproto_to_array(blob) for blob in caffe_pb2.BlobProtoVector.FromString(str).blobs]


def array_to_datum(arr, label=None):
    """Converts an array (channels, height, width) to a Datum: bytes for uint8, else floats."""
    if arr.ndim != 3:
        raise ValueError("Incorrect array shape: a datum has 3 axes, not %d" % arr.ndim)
    datum = caffe_pb2.Datum()
    datum.channels, datum.height, datum.width = arr.shape
    if arr.dtype == np.uint8:
        datum.data = arr.tobytes()
    else:
        datum.float_data.extend(np.asarray(arr, dtype=np.float64).ravel().tolist())
    if label is not None:
        datum.label = label
    return datum


def datum_to_array(datum):
    """Returns the array (channels, height, width) of a Datum."""
    shape = datum.channels, datum.height, datum.width
    if len(datum.data):
        return np.frombuffer(datum.data, dtype=np.uint8).reshape(shape).copy()
    return np.array(datum.float_data).astype(float).reshape(shape)


def _python_scalar(value):
    """Converts NumPy's scalars to Python's, which do not change the type of an array that they scale."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


class Transformer:
    """Converts images to a net's inputs and back.

    ``inputs``: dict of an input's name to its shape (items, channels, height, width). Resizes an
    image to the input's height and width. Then, as far as they are set, transposes the axes,
    reorders the channels, multiplies by the raw scale, subtracts the mean, and multiplies by the
    input scale, in this order."""

    def __init__(self, inputs):
        self.inputs = inputs
        self.transpose, self.channel_swap = {}, {}
        self.raw_scale, self.mean, self.input_scale = {}, {}, {}
        self.is_flow = {}

    def _check(self, in_):
        if in_ not in self.inputs:
            raise Exception("%s is not one of the net inputs: %s" % (in_, self.inputs))

    def preprocess(self, in_, data):
        """Converts an image (height, width, channels) to an array for the net."""
        self._check(in_)
        values = np.asarray(data).astype(np.float32, copy=False)
        size = tuple(self.inputs[in_][2:])
        if values.shape[:2] != size:
            values = resize_image(values, size)
        if self.transpose.get(in_) is not None:
            values = values.transpose(self.transpose[in_])
        if self.channel_swap.get(in_) is not None:
            values = values[list(self.channel_swap[in_])]
        if self.raw_scale.get(in_) is not None:
            values = values * np.float32(self.raw_scale[in_])
        if self.mean.get(in_) is not None:
            values = (values - self.mean[in_]).astype(np.float32)
        if self.input_scale.get(in_) is not None:
            values = values * np.float32(self.input_scale[in_])
        return values

    def deprocess(self, in_, data):
        """Converts an array of preprocess() back to an image, except for its size."""
        self._check(in_)
        values = np.array(data).squeeze()
        if self.input_scale.get(in_) is not None:
            values = values / self.input_scale[in_]
        if self.mean.get(in_) is not None:
            values = (values + self.mean[in_]).astype(values.dtype)
        if self.raw_scale.get(in_) is not None:
            values = values / self.raw_scale[in_]
        if self.channel_swap.get(in_) is not None:
            values = values[np.argsort(self.channel_swap[in_])]
        if self.transpose.get(in_) is not None:
            values = values.transpose(np.argsort(self.transpose[in_]))
        return values

    def set_transpose(self, in_, order):
        """Sets the order of axes, such as (2, 0, 1) for channels first."""
        self._check(in_)
        if len(order) != len(self.inputs[in_]) - 1:
            raise Exception("Transpose order needs to have the same number of dimensions as the input.")
        self.transpose[in_] = order

    def set_channel_swap(self, in_, order):
        """Sets the order of channels, such as (2, 1, 0) for RGB to BGR."""
        self._check(in_)
        if len(order) != self.inputs[in_][1]:
            raise Exception("Channel swap needs to have the same number of dimensions as the input channels.")
        self.channel_swap[in_] = order

    def set_raw_scale(self, in_, scale):
        """Sets the scale before subtracting the mean, such as 255."""
        self._check(in_)
        self.raw_scale[in_] = _python_scalar(scale)

    def set_mean(self, in_, mean):
        """Sets the mean: one value per channel, or an image (channels, height, width), which is
        resized to the input."""
        self._check(in_)
        mean = np.asarray(mean)
        shape = tuple(self.inputs[in_])
        if mean.ndim == 1:
            if len(mean) != shape[1]:
                raise ValueError("Mean channels incompatible with input.")
            self.mean[in_] = mean[:, np.newaxis, np.newaxis]
            return
        if mean.ndim == 2:
            mean = mean[np.newaxis]
        if mean.ndim != 3:
            raise ValueError("Mean shape invalid")
        if mean.shape != shape[1:]:
            low, high = mean.min(), mean.max()
            spread = (high - low) or 1
            small = resize_image(((mean - low) / spread).transpose(1, 2, 0), shape[2:])
            mean = small.transpose(2, 0, 1) * spread + low
        self.mean[in_] = mean

    def set_input_scale(self, in_, scale):
        """Sets the scale after subtracting the mean."""
        self._check(in_)
        self.input_scale[in_] = _python_scalar(scale)

    def set_is_flow(self, in_, is_flow):
        """Records whether images are optical flow, as in LRCN's branch. Does not affect preprocess():
        scripts pass it to flip_image() and oversample()."""
        self._check(in_)
        self.is_flow[in_] = is_flow
