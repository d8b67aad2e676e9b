"""What layers that draw random numbers may give for their inputs."""
import re

import numpy as np


def number(text, field, default):
    found = re.search(r'\b%s: *([-\w.]+)' % field, text)
    return found.group(1) if found else default


def dropout_problems(layer, x, y):
    """Each value is dropped, or kept and scaled; how many are kept follows the ratio."""
    ratio = float(number(layer.text, 'dropout_ratio', '0.5'))
    scale = 1 if number(layer.text, 'scale_train', 'true') == 'false' else 1 / (1 - ratio)
    kept = y != 0
    if not np.allclose(y[kept], scale * x[kept], rtol=1e-5):
        return ['%s: a value is neither dropped nor scaled' % layer.name], None
    return [], kept


def pooling_problems(layer, x, y):
    """Each value is one of the bottom's."""
    return [] if np.isin(y, x).all() else ['%s: a value is none of the bottom' % layer.name]


def problems(form, found):
    """What is wrong with the random layers of a net in one way's Values, pass by pass."""
    wrong, masks = [], {}
    for layer in form.random_layers:
        bottom, top = layer.bottoms[0], layer.tops[0]
        # In place, or of a plan that does not keep the blobs.
        if bottom == top or any('data/' + blob not in values for values in found for blob in (bottom, top)):
            continue
        for number_, values in enumerate(found):
            x, y = values['data/' + bottom], values['data/' + top]
            if not np.isfinite(y).all() or not x.any():
                wrong.append('pass %d: %s reads only zeros' % (number_, layer.name))
            elif layer.type == 'Dropout':
                new, kept = dropout_problems(layer, x, y)
                wrong += new
                masks.setdefault(layer.name, []).append(kept)
            else:
                wrong += pooling_problems(layer, x, y)
        if layer.name in masks and not wrong:
            wrong += mask_problems(layer, masks[layer.name])
    return wrong


def mask_problems(layer, masks):
    """Masks of several passes: each is another, and of the right share."""
    ratio = float(number(layer.text, 'dropout_ratio', '0.5'))
    count = sum(mask.size for mask in masks)
    share = sum(int(mask.sum()) for mask in masks) / count
    # Five standard deviations of a binomial distribution: once in two million runs.
    if abs(share - (1 - ratio)) > 5 * np.sqrt(max(ratio * (1 - ratio), 1e-12) / count):
        return ['%s keeps a share of %g of its values, not %g' % (layer.name, share, 1 - ratio)]
    if masks[0].size > 100 and 0 < ratio < 1 and any(np.array_equal(a, b) for a, b in zip(masks, masks[1:])):
        return ['%s: two passes have one mask' % layer.name]
    return []
