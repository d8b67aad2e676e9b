"""The layers around a case: inputs, losses, and constant bottoms."""
import copy

from cases import Layer


def input_layer(blob, shape):
    return Layer('input_' + blob, 'Input', [], [blob], 'input_param { shape { %s } }' %
                 ' '.join('dim: %d' % d for d in shape))


def text_of(layers, net=''):
    """Returns the net in text format; `net` has settings of the net itself."""
    return 'name: "gradients" %s\n' % net + ''.join(layer.prototxt() for layer in layers)


def with_inputs(case):
    """Returns the layers of a case after its inputs, each of which passes through a Bias layer unless
    the case names it in `bare`."""
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
    """Returns the layers with a loss for each output of the case: the sum of the output times an input
    `output_gradient_BLOB`, whose values are the gradient of the output."""
    layers = list(layers)
    for blob in case.outputs:
        layers += [input_layer('output_gradient_' + blob, shapes[blob]),
                   Layer('prod_' + blob, 'Eltwise', [blob, 'output_gradient_' + blob], ['prod_' + blob],
                         'eltwise_param { operation: PROD }'),
                   Layer('sum_' + blob, 'Reduction', ['prod_' + blob], ['sum_' + blob],
                         'loss_weight: 1')]
    return layers


def loss_weights(layers):
    """Returns {blob: weight} for the blobs that add to the total loss."""
    weights = {}
    for layer in layers:
        loss_weight = layer.numbers('loss_weight')
        if layer.type.endswith(('Loss', 'LossOHEM')) and not loss_weight:
            loss_weight = ['1']
        weights.update({top: float(w) for top, w in zip(layer.tops, loss_weight) if float(w)})
    return weights


def with_constant_bottoms(layers, shapes):
    """Returns the layers, in which an input `constant_BLOB` replaces each bottom with
    `propagate_down: false`, and the set of the replaced blobs."""
    layers = copy.deepcopy(layers)
    sources = {top for layer in layers if layer.type == 'Input' for top in layer.tops}
    constants = []
    for layer in layers:
        for i, down in enumerate(layer.numbers('propagate_down')):
            if down == 'false' and layer.bottoms[i] not in sources:
                constants.append(layer.bottoms[i])
                layer.bottoms[i] = 'constant_' + constants[-1]
    return [input_layer('constant_' + b, shapes[b]) for b in sorted(set(constants))] + layers, \
        set(constants)
