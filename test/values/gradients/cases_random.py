"""Every differentiable layer type with random shapes and settings; see cases.py.

The generator of a case is seeded with the case's name, so runs repeat, and a new case changes no
other. `check_coverage.py` checks that all types and settings are covered.
"""
import zlib

import numpy as np

from cases import PLAIN_NEURONS, Layer, one, row

DOWN = 'propagate_down: true propagate_down: false '


class Draw:
    """Random numbers for one case."""

    def __init__(self, name):
        self.random = np.random.RandomState(zlib.crc32(name.encode()))

    def size(self, least, most):
        return int(self.random.randint(least, most + 1))

    def shape(self, least=1, most=4, extent=5):
        return tuple(self.size(1, extent) for _ in range(self.size(least, most)))

    def real(self, least, most):
        return round(float(self.random.uniform(least, most)), 3)

    def of(self, *choices):
        return choices[self.random.randint(len(choices))]

    def flag(self):
        return self.of('true', 'false')


def drawn(kind, times=2):
    """Makes the decorated function, which takes a name and its Draw, add `times` cases."""
    def add(function):
        for i in range(times):
            name = 'random_%s_%d' % (kind.lower(), i)
            function(name, Draw(name))
        return function
    return add


# --- Elementwise --------------------------------------------------------------
def elementwise(kind, settings=lambda d: '', times=1, least=1, **more):
    @drawn(kind, times)
    def _(name, d):
        one(name, d.shape(least), kind, settings(d), **more)


for neuron in PLAIN_NEURONS:
    elementwise(neuron)
elementwise('Clip', lambda d: 'clip_param { min: %g max: %g }' % (d.real(-0.8, -0.1),
                                                                 d.real(0.1, 0.8)))
elementwise('Dropout', lambda d: 'dropout_param { dropout_ratio: %g }' % d.real(0.1, 0.9))
elementwise('ELU', lambda d: 'elu_param { alpha: %g }' % d.real(0.1, 2))
elementwise('Exp', lambda d: 'exp_param { base: %g scale: %g shift: %g }' % (
    d.real(1.5, 4), d.real(-2, 2), d.real(-1, 1)))
elementwise('Log', lambda d: 'log_param { base: %g scale: %g shift: %g }' % (
    d.real(1.5, 10), d.real(0.5, 2), d.real(0, 1)), draw='positive')
elementwise('PReLU', lambda d: 'prelu_param { channel_shared: %s }' % d.flag(), times=3,
            least=2)
elementwise('Power', lambda d: 'power_param { power: %g scale: %g shift: %g }' % (
    d.real(-2, 3), d.real(0.5, 2), d.real(0, 1)), draw='positive')
elementwise('ReLU', lambda d: 'relu_param { negative_slope: %g }' % d.real(-0.5, 0.5))
elementwise('ReLU6', lambda d: 'relu6_param { negative_slope: %g }' % d.real(-0.5, 0.5))
elementwise('Swish', lambda d: 'swish_param { beta: %g }' % d.real(0.5, 2))
elementwise('Expression', lambda d: 'expression_param { expr: "%g * x * tanh(param(0) * x)" '
            'param { axis: %d } }' % (d.real(0.5, 2), 0))


@drawn('Eltwise', 3)
def _(name, d):
    shape, bottoms = d.shape(), list('xzu')[:d.size(2, 3)]
    operation = d.of('SUM', 'PROD', 'MAX')
    coeff = ' '.join('coeff: %g' % d.real(-2, 2) for _ in bottoms) if operation == 'SUM' else ''
    one(name, dict.fromkeys(bottoms, shape), 'Eltwise', 'eltwise_param { operation: %s %s }' % (
        operation, coeff), bottoms)


def affine(kind, block, extra):
    @drawn(kind, 4)
    def _(name, d):
        shape = d.shape(2)
        axis = d.size(0, len(shape) - 1)
        axes = d.size(0, len(shape) - axis)
        if d.size(0, 1):
            one(name, shape, kind, '%s { axis: %d num_axes: %d %s }' % (block, axis, axes, extra(d)))
        else:
            one(name, {'x': shape, 'z': shape[axis:axis + max(axes, 1)]}, kind,
                '%s { axis: %d }' % (block, axis), ('x', 'z'))


affine('Bias', 'bias_param', lambda d: '')
affine('Scale', 'scale_param', lambda d: 'bias_term: %s' % d.flag())


# --- Products -------------------------------------------------------------------
def window(d, spatial, kernels=4):
    kernel = [d.size(1, kernels) for _ in range(spatial)]
    stride = [d.size(1, 3) for _ in range(spatial)]
    pad = [d.size(0, k - 1) for k in kernel]
    dilation = [d.size(1, 2) for _ in range(spatial)]
    reach = [(k - 1) * e + 1 for k, e in zip(kernel, dilation)]
    text = ' '.join('%s: %d' % (name, n) for name, values in (
        ('kernel_size', kernel), ('stride', stride), ('pad', pad), ('dilation', dilation))
        for n in values)
    return text, kernel, stride, pad, reach


@drawn('Convolution', 8)
def _(name, d):
    spatial, group = d.size(1, 3), d.of(1, 1, 2, 3)
    text, _, _, pad, reach = window(d, spatial, 3)
    shape = (d.size(1, 2), group * d.size(1, 3)) + tuple(
        max(1, r - 2 * p) + d.size(0, 3) for r, p in zip(reach, pad))
    one(name, shape, 'Convolution', 'convolution_param { num_output: %d group: %d bias_term: %s %s }'
        % (group * d.size(1, 3), group, d.flag(), text))


@drawn('ConvolutionSides', 4)
def _(name, d):
    shape = (d.size(1, 2), d.size(1, 3), d.size(4, 6), d.size(4, 6))
    sides = ' '.join('pad_%s: %d' % (side, d.size(0, 2)) for side in 'lrtb')
    if d.size(0, 1):
        sides = 'pad_type: 1'
    one(name, shape, d.of('Convolution', 'Deconvolution'),
        'convolution_param { num_output: %d kernel_size: %d stride: %d %s }' % (
            d.size(1, 3), d.size(2, 4), d.size(1, 2), sides))


@drawn('Deconvolution', 4)
def _(name, d):
    spatial, group = d.size(1, 3), d.of(1, 2)
    text, _, stride, pad, reach = window(d, spatial, 3)
    # At least two inputs, so that an output remains after the padding is cut off.
    shape = (d.size(1, 2), group * d.size(1, 2)) + tuple(
        max(2, (2 * p - r) // s + 2) + d.size(0, 1) for r, s, p in zip(reach, stride, pad))
    one(name, shape, 'Deconvolution', 'convolution_param { num_output: %d group: %d bias_term: %s '
        '%s }' % (group * d.size(1, 2), group, d.flag(), text))


for kind in ('ConvolutionDepthwise', 'DepthwiseConvolution'):
    @drawn(kind, 1)
    def _(name, d, kind=kind):
        channels = d.size(2, 4)
        one(name, (d.size(1, 2), channels, d.size(4, 6), d.size(4, 6)), kind,
            'convolution_param { num_output: %d group: %d kernel_size: %d stride: %d pad: 1 }' % (
                channels, channels, d.size(1, 3), d.size(1, 2)))


@drawn('Im2col')
def _(name, d):
    spatial = d.size(1, 2)
    text, _, _, pad, reach = window(d, spatial, 3)
    one(name, (d.size(1, 2), d.size(1, 2)) + tuple(
        max(1, r - 2 * p) + d.size(0, 2) for r, p in zip(reach, pad)), 'Im2col',
        'convolution_param { %s }' % text)


@drawn('InnerProduct', 4)
def _(name, d):
    shape = d.shape(2, 4, 4)
    one(name, shape, 'InnerProduct', 'inner_product_param { num_output: %d axis: %d transpose: %s '
        'bias_term: %s }' % (d.size(1, 5), d.size(1, len(shape) - 1), d.flag(), d.flag()))


@drawn('Embed')
def _(name, d):
    words = d.size(2, 8)
    row(name, {}, [Layer('layer', 'Embed', ['i'], ['y'], 'embed_param { num_output: %d '
                         'input_dim: %d bias_term: %s }' % (d.size(1, 5), words, d.flag()))],
        labels={'i': (d.shape(1, 2), list(range(words)))})


# --- Windows --------------------------------------------------------------------
@drawn('Pooling', 6)
def _(name, d):
    kernel, stride = [d.size(1, 3) for _ in 'hw'], [d.size(1, 3) for _ in 'hw']
    stride = [min(s, k) for s, k in zip(stride, kernel)]  # otherwise a window may be empty
    pad = [d.size(0, k - 1) for k in kernel]
    one(name, (d.size(1, 2), d.size(1, 3), d.size(3, 7), d.size(3, 7)), 'Pooling',
        'pooling_param { pool: %s kernel_h: %d kernel_w: %d stride_h: %d stride_w: %d pad_h: %d '
        'pad_w: %d round_mode: %s }' % (d.of('MAX', 'AVE'), *kernel, *stride, *pad,
                                        d.of('CEIL', 'FLOOR')))


@drawn('SPP')
def _(name, d):
    one(name, (d.size(1, 2), d.size(1, 3), d.size(4, 9), d.size(4, 9)), 'SPP',
        'spp_param { pyramid_height: %d pool: %s }' % (d.size(1, 3), d.of('MAX', 'AVE')))


@drawn('ROIPooling', 1)
def _(name, d):
    row(name, {'x': (2, d.size(1, 3), d.size(3, 6), d.size(3, 6))}, [
        Layer('layer', 'ROIPooling', ['x', 'rois'], ['y'], DOWN + 'roi_pooling_param { '
              'pooled_h: %d pooled_w: %d spatial_scale: %g }' % (d.size(1, 3), d.size(1, 3),
                                                                 d.real(0.5, 4)))],
        labels={'rois': ((d.size(2, 6), 5), [0, 1])})


@drawn('ROIAlign', 1)
def _(name, d):
    pooled = 'pooled_h: %d pooled_w: %d spatial_scale: %g ' % (d.size(1, 3), d.size(1, 3),
                                                               d.real(0.5, 4))
    settings = d.of('roi_pooling_param { %spad_ratio: %g }' % (pooled, d.real(0, 0.5)),
                    'roi_align_param { %ssampling_ratio: %d }' % (pooled, d.size(0, 3)))
    row(name, {'x': (2, d.size(1, 3), d.size(3, 6), d.size(3, 6))}, [
        Layer('layer', 'ROIAlign', ['x', 'rois'], ['y'], DOWN + settings)],
        labels={'rois': ((d.size(2, 6), 5), [0, 1])})


@drawn('PSROIPooling', 1)
def _(name, d):
    group, outputs = d.size(1, 3), d.size(1, 2)
    row(name, {'x': (2, group * group * outputs, d.size(3, 6), d.size(3, 6))}, [
        Layer('layer', 'PSROIPooling', ['x', 'rois'], ['y'], DOWN + 'psroi_pooling_param { '
              'output_dim: %d group_size: %d spatial_scale: %g }' % (outputs, group,
                                                                     d.real(0.5, 4)))],
        labels={'rois': ((d.size(2, 6), 5), [0, 1])})


# --- Normalisation --------------------------------------------------------------
STATISTICS = [('layer', i) for i in range(3)]


def images(d, most=5):
    return (d.size(2, 4), d.size(1, 5)) + d.shape(1, 2, most)


@drawn('BatchNorm', 4)
def _(name, d):
    one(name, images(d), 'BatchNorm', 'batch_norm_param { use_global_stats: %s eps: %g '
        'moving_average_fraction: %g scale_bias: %s }' % (
            d.flag(), d.real(0.01, 0.3), d.real(0.1, 0.99), d.flag()),
        frozen=STATISTICS, positive=STATISTICS)


@drawn('BN')
def _(name, d):
    frozen = d.size(0, 1)
    one(name, images(d), 'BN', 'bn_param { eps: %g momentum: %g frozen: %s }' % (
        d.real(0.01, 0.3), d.real(0.1, 0.99), str(bool(frozen)).lower()),
        frozen=[('layer', i) for i in range(0 if frozen else 2, 4)], positive=[('layer', 3)])


@drawn('LRN', 3)
def _(name, d):
    region = d.of('ACROSS_CHANNELS', 'WITHIN_CHANNEL')
    k = 'k: %g' % d.real(0.5, 2) if region[0] == 'A' else ''
    one(name, (d.size(1, 2), d.size(1, 7), d.size(1, 5), d.size(1, 5)), 'LRN',
        'lrn_param { local_size: %d alpha: %g beta: %g norm_region: %s %s }' % (
            d.of(1, 3, 5, 7), d.real(0.2, 2), d.real(0.3, 1.2), region, k))


@drawn('MVN')
def _(name, d):
    one(name, images(d), 'MVN', 'mvn_param { normalize_variance: %s across_channels: %s }' % (
        d.flag(), d.flag()))


@drawn('Normalize')
def _(name, d):
    one(name, (d.size(1, 2), d.size(2, 5), d.size(1, 4), d.size(1, 4)), 'Normalize',
        'norm_param { across_spatial: %s channel_shared: %s }' % (d.flag(), d.flag()))


@drawn('Softmax')
def _(name, d):
    shape = d.shape(2)
    one(name, shape, 'Softmax', 'softmax_param { axis: %d }' % d.size(-1, len(shape) - 1))


# --- Arranging ------------------------------------------------------------------
@drawn('Concat')
def _(name, d):
    shape = d.shape(2)
    axis, bottoms = d.size(0, len(shape) - 1), list('xzu')[:d.size(2, 3)]
    one(name, {b: shape[:axis] + (d.size(1, 4),) + shape[axis + 1:] for b in bottoms}, 'Concat',
        'concat_param { axis: %d }' % axis, bottoms)


@drawn('Slice')
def _(name, d):
    shape = list(d.shape(2))
    axis, points = d.size(0, len(shape) - 1), sorted({d.size(1, 4) for _ in 'ab'})
    shape[axis] = points[-1] + d.size(1, 3)
    tops = ['y%d' % i for i in range(len(points) + 1)]
    row(name, tuple(shape), [Layer('layer', 'Slice', ['x'], tops, 'slice_param { axis: %d %s }' % (
        axis, ' '.join('slice_point: %d' % p for p in points)))], outputs=tops)


@drawn('Crop')
def _(name, d):
    shape = d.shape(2)
    axis = d.size(0, len(shape) - 1)
    kept = [d.size(1, n) for n in shape[axis:]]
    offsets = [d.size(0, n - k) for n, k in zip(shape[axis:], kept)]
    one(name, {'x': shape, 'r': shape[:axis] + tuple(kept)}, 'Crop', 'crop_param { axis: %d %s }' % (
        axis, ' '.join('offset: %d' % o for o in offsets)), ('x', 'r'), bare=['r'])


@drawn('Flatten')
def _(name, d):
    shape = d.shape(2)
    axis = d.size(0, len(shape) - 1)
    one(name, shape, 'Flatten', 'flatten_param { axis: %d end_axis: %d }' % (
        axis, d.size(axis, len(shape) - 1)))


@drawn('Reshape')
def _(name, d):
    shape = d.shape(2)
    axis = d.size(0, len(shape) - 1)
    one(name, shape, 'Reshape', 'reshape_param { axis: %d num_axes: %d shape { dim: -1 dim: 1 } }' % (
        axis, d.size(1, len(shape) - axis)))


@drawn('Squeeze', 1)
def _(name, d):
    one(name, (d.size(1, 3), 1, d.size(1, 4)), 'Squeeze', 'squeeze_param { axis: 1 }')


@drawn('Reverse')
def _(name, d):
    shape = d.shape()
    one(name, shape, 'Reverse', 'reverse_param { axis: %d }' % d.size(-len(shape), len(shape) - 1))


@drawn('Permute')
def _(name, d):
    shape = d.shape(2)
    one(name, shape, 'Permute', 'permute_param { %s }' % ' '.join(
        'order: %d' % i for i in d.random.permutation(len(shape))))


@drawn('Tile')
def _(name, d):
    shape = d.shape(1, 3, 4)
    one(name, shape, 'Tile', 'tile_param { axis: %d tiles: %d }' % (d.size(0, len(shape) - 1),
                                                                  d.size(1, 4)))


@drawn('Parameter', 1)
def _(name, d):
    shape = d.shape()
    row(name, shape, [
        Layer('layer', 'Parameter', [], ['w'], 'parameter_param { shape { %s } }' % ' '.join(
            'dim: %d' % n for n in shape)),
        Layer('e', 'Eltwise', ['x', 'w'], ['y'], 'eltwise_param { operation: PROD }')])


@drawn('Split', 1)
def _(name, d):
    tops = ['y%d' % i for i in range(d.size(1, 4))]
    row(name, d.shape(), [Layer('layer', 'Split', ['x'], tops)], outputs=tops)


@drawn('BatchReindex')
def _(name, d):
    shape = d.shape()
    row(name, shape, [Layer('layer', 'BatchReindex', ['x', 'i'], ['y'])],
        labels={'i': ((d.size(1, 6),), list(range(shape[0])))})


@drawn('Reduction', 3)
def _(name, d):
    shape = d.shape()
    one(name, shape, 'Reduction', 'reduction_param { operation: %s axis: %d coeff: %g }' % (
        d.of('SUM', 'ASUM', 'SUMSQ', 'MEAN'), d.size(0, len(shape) - 1), d.real(-2, 2)))


@drawn('ShuffleChannel', 1)
def _(name, d):
    group = d.size(1, 3)
    one(name, (d.size(1, 2), group * d.size(1, 3), d.size(1, 3), d.size(1, 3)), 'ShuffleChannel',
        'shuffle_channel_param { group: %d }' % group)


@drawn('Reorg')
def _(name, d):
    stride, reverse = d.size(1, 3), d.flag()
    channels = stride * stride * d.size(1, 2)
    one(name, (d.size(1, 2), channels, stride * d.size(1, 2), stride * d.size(1, 2)), 'Reorg',
        'reorg_param { stride: %d reverse: %s }' % (stride, reverse))


@drawn('Upsample')
def _(name, d):
    one(name, (d.size(1, 2), d.size(1, 3), d.size(1, 4), d.size(1, 4)), 'Upsample',
        'upsample_param { scale_h: %d scale_w: %d }' % (d.size(1, 3), d.size(1, 3)))


@drawn('Interp')
def _(name, d):
    one(name, (d.size(1, 2), d.size(1, 2), d.size(2, 5), d.size(2, 5)), 'Interp',
        'interp_param { height: %d width: %d }' % (d.size(1, 9), d.size(1, 9)))


@drawn('Axpy', 1)
def _(name, d):
    n, c, image = d.size(1, 3), d.size(1, 4), (d.size(1, 3), d.size(1, 3))
    one(name, {'a': (n, c, 1, 1), 'x': (n, c) + image, 'z': (n, c) + image}, 'Axpy', '',
        ('a', 'x', 'z'))


# --- Losses ---------------------------------------------------------------------
def normalization(d):
    text = 'normalization: %s ' % d.of('FULL', 'VALID', 'BATCH_SIZE', 'NONE')
    return text + d.of('', 'ignore_label: 0')


def loss(name, shape, kind, bottoms, settings, label=None, **more):
    labels = {'label': label} if label else {}
    row(name, shape, [Layer('layer', kind, bottoms, ['l'], settings)], outputs=[], labels=labels,
        **more)


@drawn('SoftmaxWithLoss', 3)
def _(name, d):
    shape = d.shape(2, 4, 4)
    axis = d.size(0, len(shape) - 1)
    rows = tuple(n for i, n in enumerate(shape) if i != axis)
    loss(name, shape, 'SoftmaxWithLoss', ['x', 'label'], DOWN + 'loss_weight: %g '
         'softmax_param { axis: %d } loss_param { %s }' % (d.real(0.5, 2), axis, normalization(d)),
         (rows, list(range(shape[axis]))))


@drawn('InfogainLoss', 2)
def _(name, d):
    shape = d.shape(2, 4, 4)
    axis = d.size(0, len(shape) - 1)
    rows = tuple(n for i, n in enumerate(shape) if i != axis)
    loss(name, {'x': shape, 'h': (shape[axis],) * 2}, 'InfogainLoss', ['x', 'label', 'h'],
         DOWN + 'propagate_down: false infogain_loss_param { axis: %d } loss_param { %s }' % (
             axis, normalization(d)), (rows, list(range(shape[axis]))), bare=['h'])


@drawn('HingeLoss')
def _(name, d):
    shape = (d.size(1, 6), d.size(2, 5))
    loss(name, shape, 'HingeLoss', ['x', 'label'], DOWN + 'hinge_loss_param { norm: %s }' %
         d.of('L1', 'L2'), (shape[:1], list(range(shape[1]))))


@drawn('MultinomialLogisticLoss', 1)
def _(name, d):
    shape = (d.size(1, 6), d.size(2, 5))
    row(name, shape, [Layer('s', 'Softmax', ['x'], ['p']),
                      Layer('layer', 'MultinomialLogisticLoss', ['p', 'label'], ['l'], DOWN)],
        outputs=[], labels={'label': (shape[:1], list(range(shape[1])))})


@drawn('EuclideanLoss', 1)
def _(name, d):
    shape = d.shape(1)
    loss(name, {'x': shape, 'z': shape}, 'EuclideanLoss', ['x', 'z'], '')


@drawn('SmoothL1Loss', 1)
def _(name, d):
    shape = d.shape(2)
    loss(name, {'x': shape, 'z': shape}, 'SmoothL1Loss', ['x', 'z'],
         'smooth_l1_loss_param { sigma: %g }' % d.real(0.5, 3))


@drawn('SigmoidCrossEntropyLoss')
def _(name, d):
    shape = d.shape(2)
    loss(name, shape, 'SigmoidCrossEntropyLoss', ['x', 'label'], DOWN + 'loss_param { %s }' %
         normalization(d), (shape, [0, 1]))


@drawn('ContrastiveLoss', 1)
def _(name, d):
    shape = (d.size(2, 6), d.size(2, 4))
    loss(name, {'x': shape, 'z': shape}, 'ContrastiveLoss', ['x', 'z', 'label'],
         'propagate_down: true ' + DOWN + 'contrastive_loss_param { margin: %g '
         'legacy_version: true }' % d.real(0.5, 2), (shape[:1], [0, 1]))


# --- Sequences ------------------------------------------------------------------
for kind, states in (('LSTM', 2), ('RNN', 1)):
    @drawn(kind)
    def _(name, d, kind=kind, states=states):
        steps, streams, outputs = d.size(1, 4), d.size(1, 3), d.size(1, 4)
        inputs, bottoms, tops = {'x': (steps, streams) + d.shape(1, 2, 3)}, ['x', 'cont'], ['y']
        if d.size(0, 1):
            inputs['s'] = (streams,) + d.shape(1, 2, 3)
            bottoms.append('s')
        expose = d.flag()
        if expose == 'true':
            for i in range(states):
                inputs['h%d' % i] = (1, streams, outputs)
                bottoms.append('h%d' % i)
                tops.append('t%d' % i)
        row(name, inputs, [Layer('layer', kind, bottoms, tops, 'recurrent_param { num_output: %d '
                                 'expose_hidden: %s weight_filler { type: "uniform" min: -0.5 '
                                 'max: 0.5 } bias_filler { type: "uniform" } }' % (
                                     outputs, expose))], outputs=tops,
            labels={'cont': ((steps, streams), [0, 1, 1])})


@drawn('LSTMUnit', 1)
def _(name, d):
    streams, outputs = d.size(1, 3), d.size(1, 4)
    row(name, {'c': (1, streams, outputs), 'x': (1, streams, 4 * outputs)}, [
        Layer('layer', 'LSTMUnit', ['c', 'x', 'cont'], ['y', 'z'])], outputs=['y', 'z'],
        labels={'cont': ((1, streams), [0, 1])})


# --- Items ----------------------------------------------------------------------
@drawn('Filter')
def _(name, d):
    shape = (d.size(2, 6),) + d.shape(1, 3, 4)
    row(name, shape, [
        Layer('layer', 'Filter', ['x', 'sel'], ['f'], DOWN),
        Layer('r', 'Reduction', ['f'], ['l'], 'loss_weight: %g reduction_param { operation: SUMSQ }' %
              d.real(0.5, 2))], outputs=[], labels={'sel': (shape[:1], [0, 1])})
