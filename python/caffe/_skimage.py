"""The functions of scikit-image and SciPy that scripts use through caffe.io, for programs without these packages."""
from types import SimpleNamespace

import numpy as np

from . import _images


def img_as_float(image):
    """Converts an image to floats: unsigned integers to [0, 1], signed ones to [-1, 1]."""
    image = np.asarray(image)
    if np.issubdtype(image.dtype, np.floating):
        return image
    values = image.astype(np.float64)
    if image.dtype == bool:
        return values
    limits = np.iinfo(image.dtype)
    if limits.min == 0:
        return values / limits.max
    return (values + 0.5) * 2 / (float(limits.max) - limits.min)


def img_as_ubyte(image):
    """Converts an image, whose floats are in [-1, 1], to bytes. Raises ValueError for larger floats."""
    image = np.asarray(image)
    if image.dtype == np.uint8:
        return image
    values = img_as_float(image)
    if values.size and (values.min() < -1 or values.max() > 1):
        raise ValueError("Images of type float must be between -1 and 1.")
    return np.rint(np.clip(values, 0, 1) * 255).astype(np.uint8)


def imread(fname):
    """Loads an image as stored: (height, width), or (height, width, channels). Needs Pillow."""
    with _images.require_pillow("caffe.io.skimage.io.imread").open(fname) as image:
        return np.array(image.convert("RGB") if image.mode == "P" else image)


def imsave(fname, arr):
    """Writes an image to a file in the format of the file extension. Needs Pillow."""
    _images.require_pillow("caffe.io.skimage.io.imsave").fromarray(img_as_ubyte(arr)).save(fname)


def resize(image, output_shape, order=1):
    """Resizes the height and width of an image, converted by img_as_float(), as resize_image() does."""
    return _images.resize_axes(img_as_float(image), tuple(output_shape)[:2], order)


def zoom(input, zoom, order=3):
    """Resizes an array by a factor, or one factor per axis. The first and last elements keep their places."""
    values = np.asarray(input)
    factors = (zoom,) * values.ndim if np.isscalar(zoom) else zoom
    result = _images.zoom_axes(values, [int(round(n * factor)) for n, factor in zip(values.shape, factors)], order)
    return np.rint(result).astype(values.dtype) if np.issubdtype(values.dtype, np.integer) else result.astype(values.dtype)


skimage = SimpleNamespace(img_as_float=img_as_float, img_as_ubyte=img_as_ubyte,
                          io=SimpleNamespace(imread=imread, imsave=imsave), transform=SimpleNamespace(resize=resize))
