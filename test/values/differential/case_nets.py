"""Nets of the cases of values/gradients: one case is one or a few layers with their settings.

A net has an input for each bottom, followed by a layer that learns, so that a gradient reaches the
bottom. It has a loss for each output of the case, so that the output's gradient is random numbers.
"""
import os
import sys
import zlib

import brew
import numpy as np
from caffe.proto import caffe_pb2
from google.protobuf import text_format

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'gradients'))
import check_gradients  # noqa: E402,F401 (adds the cases of all files)
from cases import CASES  # noqa: E402
from check_coverage import rows  # noqa: E402
from nets import text_of, with_inputs, with_losses  # noqa: E402

import cases_more  # noqa: E402
from ways import PASSES, Net  # noqa: E402

#: Types whose values are drawn again in each pass of phase TRAIN.
RANDOM = {'Dropout'}
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), *['..'] * 3)
#: Types that Caffe allows in place: `inPlace` in the table of layer types.
IN_PLACE = {kind for kind, row in rows(ROOT).items() if row.startswith('neuronKind') or '.inPlace()' in row}
#: Types with parameters that must be positive, as variances are.
POSITIVE = {'BN', 'BatchNorm'}


def all_cases():
    return CASES + cases_more.CASES


def is_random(layer, phase):
    drops = any(float(ratio) for field in ('attn_dropout', 'resid_dropout') for ratio in layer.numbers(field))
    in_training = layer.type in RANDOM or 'STOCHASTIC' in layer.text or drops
    return in_training and (phase == 'train' or 'sample_weights_test: true' in layer.text)


def message_of(layers, settings=''):
    return text_format.Parse(text_of(layers, settings), caffe_pb2.NetParameter())


def shapes_of(message, phase):
    report = brew.compile(message, phase=phase, report='json', check_only=True).report
    return ({name: tuple(dims) for name, dims in report['blobs'].items()},
            {layer: [tuple(dims) for dims in blobs] for layer, blobs in report['params'].items()})


def with_suffix(message, suffix):
    """Returns a copy of a net with a suffix on the names of all layers and blobs."""
    result = caffe_pb2.NetParameter()
    result.CopyFrom(message)
    for layer in result.layer:
        layer.name += suffix
        for blobs in (layer.bottom, layer.top):
            for i, blob in enumerate(blobs):
                blobs[i] = blob + suffix
    return result


def share_params(message, owners, suffix, params):
    """Gives the parameters of the layers `owners` and of their twins the same names, to share them.

    Returns whether there are any such parameters.
    """
    shares = False
    for layer in message.layer:
        owner = layer.name[:-len(suffix)] if layer.name.endswith(suffix) else layer.name
        if owner not in owners or layer.param:
            continue
        for i in range(len(params.get(owner, ()))):
            layer.param.add(name='%s_%d' % (owner, i))
            shares = True
    return shares


class CaseNet:
    """The net of a case in one form.

    The form is defined by the phase, and by whether `force_backward` is set (`force`), the layers
    have a copy that shares their parameters (`twin`), and the layer is in place (`in_place`).
    Raises ValueError if the case has no such form.
    """

    TWIN = '_twin'

    def __init__(self, case, phase, force=False, twin=False, in_place=False):
        self.case, self.phase = case, phase
        #: Whether an error about a missing gradient is valid: force_backward requires gradients
        #: that some layers do not have, and STOCHASTIC pooling has none in phase TEST.
        self.may_be_refused = force or phase == 'test' and any('STOCHASTIC' in layer.text for layer in case.layers)
        self.name = ' '.join([case.name, phase] + ['force_backward'] * force + ['twin'] * twin + ['in place'] * in_place)
        self.random = np.random.RandomState(zlib.crc32(case.name.encode()))
        layers = with_inputs(case)
        outputs = list(case.outputs)
        shapes, params = shapes_of(message_of(layers, case.net), phase)
        if in_place:
            layers, outputs = self.make_in_place(layers, shapes)
            shapes, params = shapes_of(message_of(layers, case.net), phase)
        message = message_of(with_losses(OtherOutputs(outputs), layers, shapes), case.net)
        if force:
            message.force_backward = True
        if twin:
            if not case.inputs or any(layer.type == 'Expression' for layer in case.layers):
                raise ValueError('renaming would break tops that name data sets, or formulas that name bottoms')
            twin_net = with_suffix(message, self.TWIN)
            message.layer.extend(twin_net.layer)
            if not share_params(message, {layer.name for layer in case.layers}, self.TWIN, params):
                raise ValueError('no parameters to share')
        self.message = message
        _, params = shapes_of(message, phase)
        self.random_layers = [layer for layer in case.layers if is_random(layer, phase)]
        self.net = Net(text_format.MessageToString(message), phase, self.values_of_params(params),
                       [self.values_of_inputs() for _ in PASSES])

    def make_in_place(self, layers, shapes):
        case = self.case
        if len(case.layers) != 1:
            raise ValueError('several layers')
        layer = layers[-1]
        if layer.type not in IN_PLACE or layer.tops[0] in layer.bottoms or len(layer.tops) != 1:
            raise ValueError('cannot be in place')
        if shapes[layer.tops[0]] != shapes[layer.bottoms[0]]:
            raise ValueError('top and bottom have different shapes')
        outputs = [layer.bottoms[0] if blob == layer.tops[0] else blob for blob in case.outputs]
        in_place_layer = type(layer)(layer.name, layer.type, layer.bottoms, [layer.bottoms[0]], layer.text)
        return layers[:-1] + [in_place_layer], outputs

    def values_of_params(self, shapes):
        types = {layer.name: layer.type for layer in self.message.layer}
        values = {}
        for layer, blobs in shapes.items():
            name = layer[:-len(self.TWIN)] if layer.endswith(self.TWIN) else layer
            for i, shape in enumerate(blobs):
                if types[layer] in POSITIVE or (name, i) in self.case.positive:
                    array = self.random.uniform(0.5, 1.5, shape)
                else:
                    array = self.random.uniform(-1, 1, shape)
                if name.startswith('wrap_'):
                    array = np.zeros(shape)  # the Bias layer before a bottom must not change the input's values
                values[layer, i] = np.asarray(array, np.float32)
        # Shared parameters have their owner's value.
        for (layer, i), value in list(values.items()):
            if layer.endswith(self.TWIN) and not layer.startswith('wrap_'):
                values[layer, i] = values.get((layer[:-len(self.TWIN)], i), value)
        for sharer, owner in self.case.shared.items():
            values[sharer] = values[owner]
            twin = sharer[0] + self.TWIN, sharer[1]
            if twin in values:
                values[twin] = values[owner]
        return values

    def values_of_inputs(self):
        values = {}
        for layer in self.message.layer:
            if layer.type == 'Input':
                shape = tuple(layer.input_param.shape[0].dim)
                blob = layer.top[0]
                values[blob] = np.asarray(self.draw(blob, shape), np.float32)
        return values

    def draw(self, blob, shape):
        case = self.case
        blob = blob[:-len(self.TWIN)] if blob.endswith(self.TWIN) else blob
        if blob in case.labels:
            return self.random.choice(case.labels[blob][1], shape)
        if blob.startswith('output_gradient_'):
            return self.random.uniform(0.5, 2, shape) * self.random.choice([-1, 1], shape)
        count = int(np.prod(shape))
        # No two values are close to each other, and none is close to 0.
        values = (self.random.permutation(count) + 0.5) / max(count, 1)
        if case.draw == 'positive':
            values += 0.5
        else:
            values = 2 * values - 1
            if count % 2:
                values += 0.5 / count
        return values.reshape(shape)


class OtherOutputs:
    """Stands in for a case whose losses read the blobs `outputs`."""

    def __init__(self, outputs):
        self.outputs = outputs


def forms_of(case):
    """Yields the nets of a case in all valid forms."""
    for phase in ('train', 'test'):
        for options in ({}, {'force': True}, {'twin': True}, {'in_place': True},
                        {'twin': True, 'force': True}):
            try:
                form = CaseNet(case, phase, **options)
            except ValueError:
                continue
            except brew.CompileError:
                if 'in_place' not in options:
                    raise
                continue  # e.g. if another bottom reads the blob too
            yield form
