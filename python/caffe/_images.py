"""Images: loading, resizing and cropping, with numpy alone."""
import math

import numpy as np

try:
    # As in pycaffe, load PIL.Image on import: scripts use it after `import PIL` alone.
    from PIL import Image
except ImportError:
    Image = None


def require_pillow(function):
    """Returns the module PIL.Image. Raises RuntimeError, which names the ``function``, if it is not installed."""
    if Image is None:
        raise RuntimeError("%s needs the package Pillow" % function)
    return Image


def load_image(filename, color=True):
    """Loads an image as float32 in [0, 1]: (height, width, 3), or (height, width, 1) for a grey
    image without ``color``. Drops an alpha channel."""
    with require_pillow("caffe.io.load_image").open(filename) as image:
        if image.mode.startswith("I"):  # 16 bits, which Pillow's other modes would truncate
            grey = np.asarray(image.convert("I"), dtype=np.float32)[:, :, np.newaxis] / 65535
            return np.tile(grey, (1, 1, 3)) if color else grey
        if not color and image.mode in ("1", "L", "LA"):
            return np.asarray(image.convert("L"), dtype=np.float32)[:, :, np.newaxis] / 255
        values = np.asarray(image.convert("RGB"), dtype=np.float32) / 255
        # Weights of scikit-image's grey conversion.
        return values if color else (values @ np.float32([0.2125, 0.7154, 0.0721]))[:, :, np.newaxis]


def resize_image(im, new_dims, interp_order=1):
    """Resizes an image (height, width, channels). Returns float32.

    Smooths images of one or three channels before shrinking them."""
    im = np.asarray(im)
    new_dims = tuple(int(d) for d in new_dims)
    if interp_order not in range(6):
        raise ValueError("interp_order is 0 (nearest), 1 (linear) or the order of a spline up to 5, not %r"
                         % (interp_order,))
    if im.shape[-1] not in (1, 3):
        return zoom_axes(im, new_dims, interp_order).astype(np.float32)
    low, high = im.min(), im.max()
    if not high > low:
        return np.full(new_dims + im.shape[-1:], low, dtype=np.float32)
    values = resize_axes((im - low) / (high - low), new_dims, interp_order)
    return (values * (high - low) + low).astype(np.float32)


def zoom_axes(values, sizes, order):
    """Resizes the first axes of an array to ``sizes``; the first and last elements keep their places."""
    for axis, size in enumerate(sizes):
        values = _sample(values, axis, _corner_aligned_positions(values.shape[axis], size), order, False)
    return values


def resize_axes(values, sizes, order):
    """Resizes the first axes of an array in [0, 1] to ``sizes``. Smooths it before shrinking it."""
    if any(new < old for new, old in zip(sizes, values.shape)):
        for axis, size in enumerate(sizes):
            values = _smooth(values, axis, max(0.0, (values.shape[axis] / size - 1) / 2))
    for axis, size in enumerate(sizes):
        values = _sample(values, axis, _centre_aligned_positions(values.shape[axis], size), order)
    return np.clip(values, 0, 1) if order > 1 else values  # splines overshoot


def _corner_aligned_positions(old, new):
    """Returns the positions of new elements among the old ones if the first and last coincide."""
    return np.arange(new) * ((old - 1) / (new - 1) if new > 1 else 0.0)


def _centre_aligned_positions(old, new):
    """Returns the positions of new elements among the old ones if both are cells of one extent."""
    return (np.arange(new) + 0.5) * (old / new) - 0.5


def _smooth(values, axis, sigma):
    """Applies a Gaussian along an axis, with zeros beyond its ends."""
    if sigma <= 1e-15:
        return values
    radius = int(4 * sigma + 0.5)
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    weights /= weights.sum()
    length = values.shape[axis]
    padding = [(0, 0)] * values.ndim
    padding[axis] = (radius, radius)
    padded = np.pad(values.astype(np.float64), padding)
    total = 0.0
    for i, weight in enumerate(weights):
        total = total + weight * np.take(padded, np.arange(i, i + length), axis=axis)
    return total


def _sample(values, axis, positions, order, pads_zeros=True):
    """Samples values at positions of an axis, with zeros beyond its ends. ``pads_zeros``: whether a
    spline uses these zeros; otherwise it mirrors the values at the ends."""
    length = values.shape[axis]
    padding = [(0, 0)] * values.ndim
    padding[axis] = (1, 1)
    padded = np.pad(values.astype(np.float64), padding)
    if order > 1:
        return _spline(values.astype(np.float64), axis, positions, order, pads_zeros)
    if order == 0:
        nearest = np.clip(np.floor(positions + 0.5).astype(int), -1, length)
        return np.take(padded, nearest + 1, axis=axis)
    below = np.floor(positions).astype(int)
    fraction = (positions - below).reshape([-1 if i == axis else 1 for i in range(values.ndim)])
    lower = np.take(padded, np.clip(below, -1, length) + 1, axis=axis)
    upper = np.take(padded, np.clip(below + 1, -1, length) + 1, axis=axis)
    return lower * (1 - fraction) + upper * fraction


def _spline(values, axis, positions, order, pads_zeros):
    """Samples the interpolating spline of an order along an axis."""
    margin = 12 if pads_zeros else 0  # zeros farther away have no effect
    values = np.moveaxis(values, axis, 0)
    values = np.pad(values, [(margin, margin)] + [(0, 0)] * (values.ndim - 1))
    length = len(values)
    if length == 1:
        return np.moveaxis(np.repeat(values, len(positions), axis=0), 0, axis)
    # Coefficients of B-splines that interpolate the values, mirrored beyond the ends.
    nodes = np.zeros((length, length))
    _add_bases(nodes, np.arange(length), order)
    coefficients = np.linalg.solve(nodes, values.reshape(length, -1))
    bases = np.zeros((len(positions), length))
    _add_bases(bases, np.asarray(positions) + margin, order)
    return np.moveaxis((bases @ coefficients).reshape((len(positions),) + values.shape[1:]), 0, axis)


def _add_bases(matrix, positions, order):
    """Adds the weight of each coefficient at each position."""
    length = matrix.shape[1]
    period = 2 * (length - 1)
    first = np.floor(positions - (order - 1) / 2).astype(int)
    for k in range(order + 1):
        index = np.abs(first + k) % period
        index = np.where(index >= length, period - index, index)
        np.add.at(matrix, (np.arange(len(positions)), index), _basis(positions - (first + k), order))


def _basis(x, order):
    """Evaluates the B-spline of an order at distances from its centre, by truncated powers."""
    total = 0.0
    for k in range(order + 2):
        total = total + (-1) ** k * math.comb(order + 1, k) * np.maximum(x + (order + 1) / 2 - k, 0) ** order
    return total / math.factorial(order)


def oversample(images, crop_dims, flow=False):
    """Returns the four corner crops and the centre crop of each image, then their mirror images:
    (10 * images, height, width, channels).

    ``flow``: the images are optical flow in [0, 1], whose first channel, the horizontal motion, a
    mirror inverts (an addition of LRCN's branch)."""
    crop_dims = np.array(crop_dims)
    height, width = (int(d) for d in crop_dims)
    rows, columns, channels = images[0].shape
    corners = [(y, x) for y in (0, rows - height) for x in (0, columns - width)]
    centre = tuple(int(math.trunc(v)) for v in np.array((rows, columns)) / 2.0 - crop_dims / 2.0)
    crops = []
    for image in images:
        five = [image[y: y + height, x: x + width] for y, x in corners + [centre]]
        crops += five + [flip_image(crop, 1, flow) for crop in five]
    return np.array(crops, dtype=np.float32).reshape(10 * len(images), height, width, channels)


def flip_image(im, scale=128, is_flow=False):
    """Returns the mirror image of an image (height, width, channels), as in LRCN's branch.

    ``is_flow``: the image is optical flow, whose first channel x, the horizontal motion, becomes
    ``scale - x``."""
    mirrored = np.array(im[:, ::-1])
    if is_flow:
        mirrored[:, :, 0] = scale - mirrored[:, :, 0]
    return mirrored
