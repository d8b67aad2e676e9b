"""Checks of the tops of layers that draw random numbers."""
import re

import numpy as np


def setting(text, field, default):
    """Returns the text of the value of a field in a prototxt, or `default`."""
    found = re.search(r'\b%s: *([-\w.]+)' % field, text)
    return found.group(1) if found else default


def dropout_problems(layer, x, y):
    """Checks that each value is dropped, or kept and scaled. Returns the problems and the mask."""
    ratio = float(setting(layer.text, 'dropout_ratio', '0.5'))
    scale = 1 if setting(layer.text, 'scale_train', 'true') == 'false' else 1 / (1 - ratio)
    kept = y != 0
    if not np.allclose(y[kept], scale * x[kept], rtol=1e-5):
        return ['%s: a value is neither dropped nor scaled' % layer.name], None
    return [], kept


def pooling_problems(layer, x, y):
    """Checks that each value occurs in the bottom."""
    return [] if np.isin(y, x).all() else ['%s: a value does not occur in the bottom' % layer.name]


def problems(form, passes):
    """Returns the problems of a net's random layers in the Values of one way, for all passes."""
    wrong, masks = [], {}
    for layer in form.random_layers:
        bottom, top = layer.bottoms[0], layer.tops[0]
        # Values are missing if the layer is in place or blobs are not pinned.
        if bottom == top or any('data/' + blob not in values for values in passes for blob in (bottom, top)):
            continue
        for number, values in enumerate(passes):
            x, y = values['data/' + bottom], values['data/' + top]
            if not np.isfinite(y).all() or not x.any():
                wrong.append('pass %d: %s reads only zeros' % (number, layer.name))
            elif layer.type == 'Dropout':
                layer_problems, kept = dropout_problems(layer, x, y)
                wrong += layer_problems
                masks.setdefault(layer.name, []).append(kept)
            elif layer.type == 'Pooling':
                wrong += pooling_problems(layer, x, y)
        if layer.name in masks and not wrong:
            wrong += mask_problems(layer, masks[layer.name])
    return wrong


def mask_problems(layer, masks):
    """Checks that the masks of several passes differ and keep the right share of values."""
    ratio = float(setting(layer.text, 'dropout_ratio', '0.5'))
    count = sum(mask.size for mask in masks)
    share = sum(int(mask.sum()) for mask in masks) / count
    # Five standard deviations of a binomial distribution: exceeded once in two million runs.
    if abs(share - (1 - ratio)) > 5 * np.sqrt(max(ratio * (1 - ratio), 1e-12) / count):
        return ['%s keeps a share of %g of its values, not %g' % (layer.name, share, 1 - ratio)]
    if masks[0].size > 100 and 0 < ratio < 1 and any(np.array_equal(a, b) for a, b in zip(masks, masks[1:])):
        return ['%s: two passes have the same mask' % layer.name]
    return []
