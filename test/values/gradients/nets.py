"""The layers around a case: inputs, losses, and constant bottoms."""
import copy

from cases import Layer


def input_layer(blob, shape):
    return Layer('input_' + blob, 'Input', [], [blob], 'input_param { shape { %s } }' %
                 ' '.join('dim: %d' % d for d in shape))


def text_of(layers, net=''):
    return 'name: "gradients" %s\n' % net + ''.join(layer.prototxt() for layer in layers)


def wrapped(case):
    """Returns the inputs of a case, followed by its layers."""
    layers = []
    for blob, shape in case.inputs.items():
        if blob in case.bare:
            layers.append(input_layer(blob, shape))
        else:
            layers += [input_layer('in_' + blob, shape),
                       Layer('wrap_' + blob, 'Bias', ['in_' + blob], [blob],
                             'bias_param { axis: 0 num_axes: 0 }')]
    layers += [input_layer(blob, shape) for blob, (shape, _) in case.labels.items()]
    return layers + case.layers


def with_losses(case, layers, shapes):
    layers = list(layers)
    for blob in case.outputs:
        layers += [input_layer('seed_' + blob, shapes[blob]),
                   Layer('prod_' + blob, 'Eltwise', [blob, 'seed_' + blob], ['prod_' + blob],
                         'eltwise_param { operation: PROD }'),
                   Layer('sum_' + blob, 'Reduction', ['prod_' + blob], ['sum_' + blob],
                         'loss_weight: 1')]
    return layers


def loss_weights(layers):
    """Returns {blob: weight} of the total loss."""
    weights = {}
    for layer in layers:
        given = layer.numbers('loss_weight')
        if layer.type.endswith('Loss') and not given:
            given = ['1']
        weights.update({top: float(w) for top, w in zip(layer.tops, given) if float(w)})
    return weights


def held_still(layers, shapes):
    """Returns the layers with each blocked bottom replaced by an input `hold_BLOB`, and these
    blobs."""
    layers = copy.deepcopy(layers)
    sources = {top for layer in layers if layer.type == 'Input' for top in layer.tops}
    held = []
    for layer in layers:
        for i, down in enumerate(layer.numbers('propagate_down')):
            if down == 'false' and layer.bottoms[i] not in sources:
                held.append(layer.bottoms[i])
                layer.bottoms[i] = 'hold_' + held[-1]
    return [input_layer('hold_' + b, shapes[b]) for b in sorted(set(held))] + layers, set(held)
