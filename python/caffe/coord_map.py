"""Maps between the coordinates of tops, and the Crop layers that align them.

A map is (axis, scale, shift): ``axis`` is the last axis before the coordinates, or None for any
axis. The map takes a coordinate x of one top to the coordinate scale * x + shift of the other.
"""
import numpy as np

from .net_spec import layers as L

# Layers that preserve coordinates.
PASS_THROUGH_LAYERS = ["AbsVal", "BatchNorm", "Bias", "BNLL", "Dropout", "ELU", "Eltwise", "Exp", "LRN", "Log", "MVN",
                       "PReLU", "Power", "ReLU", "Scale", "Sigmoid", "Split", "TanH", "Threshold"]
_IDENTITY = None, 1, 0


class UndefinedMapException(Exception):
    """Raised for a layer without a coordinate map."""


class AxisMismatchException(Exception):
    """Raised for maps of different axes."""


def conv_params(fn):
    """Returns (axis, stride, extent of the dilated kernel, pad) of a layer with windows."""
    settings = fn.params.get("convolution_param", fn.params)
    two_dimensional = [a + b for a in ("pad", "kernel", "stride") for b in ("_h", "_w")]
    assert not any(name in fn.params for name in two_dimensional), "cropping does not support legacy _h/_w params"
    sizes = {name: np.array(settings.get(name, default), ndmin=1)
             for name, default in (("stride", 1), ("dilation", 1), ("pad", 0))}
    kernel = np.array(settings["kernel_size"], ndmin=1)
    return settings.get("axis", 1), sizes["stride"], (kernel - 1) * sizes["dilation"] + 1, sizes["pad"]


def crop_params(fn):
    """Returns (axis, offset) of a Crop layer."""
    settings = fn.params.get("crop_param", fn.params)
    return settings.get("axis", 2), np.array(settings.get("offset", 0), ndmin=1)


def coord_map(fn):
    """Returns the map from a layer's bottom to its top."""
    kind = fn.type_name
    if kind in PASS_THROUGH_LAYERS:
        return _IDENTITY
    if kind == "Crop":
        axis, offset = crop_params(fn)
        return axis - 1, 1, -offset
    if kind in ("Convolution", "Pooling", "Im2col", "Deconvolution"):
        axis, stride, extent, pad = conv_params(fn)
        reach = (extent - 1) / 2 - pad
        return (axis, stride, reach) if kind == "Deconvolution" else (axis, 1 / stride, -reach / stride)
    raise UndefinedMapException("%s has no map of coordinates" % kind)


def compose(base_map, next_map):
    """Returns the map that applies ``next_map`` first, then ``base_map``."""
    (axis, scale, shift), (next_axis, next_scale, next_shift) = base_map, next_map
    if None not in (axis, next_axis) and axis != next_axis:
        raise AxisMismatchException("maps of axes %s and %s" % (axis, next_axis))
    return (next_axis if axis is None else axis), scale * next_scale, scale * next_shift + shift


def inverse(coord_map):
    """Returns the inverse map."""
    axis, scale, shift = coord_map
    return axis, 1 / scale, -shift / scale


def _ancestors(top):
    """Yields (ancestor, map from the ancestor to ``top``) for ``top`` and all tops reachable by maps."""
    waiting, seen = [(top, _IDENTITY)], set()
    while waiting:
        current, map_to_top = waiting.pop(0)
        if current in seen:
            continue
        seen.add(current)
        yield current, map_to_top
        try:
            step = coord_map(current.fn)
        except UndefinedMapException:
            continue
        inputs = current.fn.inputs
        # The second bottom of a Crop only determines the size of the top.
        for bottom in inputs[:1] if current.fn.type_name == "Crop" else inputs:
            waiting.append((bottom, compose(map_to_top, step)))


def coord_map_from_to(top_from, top_to):
    """Returns the coordinate map between two tops through a common ancestor."""
    from_maps = dict(_ancestors(top_from))
    for top, map_to_top in _ancestors(top_to):
        if top in from_maps:
            return compose(map_to_top, inverse(from_maps[top]))
    raise RuntimeError("Could not compute map between tops; are they connected by spatial layers?")


def crop(top_from, top_to):
    """Creates a Crop layer that crops ``top_from`` to the region of ``top_to``."""
    axis, scale, shift = coord_map_from_to(top_from, top_to)
    scale, shift = np.array(scale), np.array(shift)
    assert (scale == 1).all(), "scale mismatch on crop (a = {})".format(scale)
    assert (shift <= 0).all(), "cannot crop negative offset (b = {})".format(shift)
    assert (np.round(shift) == shift).all(), "cannot crop noninteger offset (b = {})".format(shift)
    offset = [int(v) for v in np.ravel(-np.round(shift))]
    return L.Crop(top_from, top_to, crop_param=dict(axis=axis + 1, offset=offset))
