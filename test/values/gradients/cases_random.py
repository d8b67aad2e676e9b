"""Every differentiable layer type with random shapes and settings; see cases.py.

The generator of a case is seeded with the case's name, so runs repeat, and a new case changes no
other. `check_coverage.py` checks that all types and settings are covered.
"""
import zlib

import numpy as np

from cases import PLAIN_NEURONS, Layer, add, add_layer

DOWN = 'propagate_down: true propagate_down: false '


class Draw:
    """Random settings of one case."""

    def __init__(self, name):
        self.random = np.random.RandomState(zlib.crc32(name.encode()))

    def size(self, low, high):
        """Returns an integer from `low` to `high`, which is included."""
        return int(self.random.randint(low, high + 1))

    def shape(self, low=1, high=4, extent=5):
        """Returns a shape of `low` to `high` axes, each of size 1 to `extent`."""
        return tuple(self.size(1, extent) for _ in range(self.size(low, high)))

    def real(self, low, high):
        return round(float(self.random.uniform(low, high)), 3)

    def choose(self, *choices):
        return choices[self.random.randint(len(choices))]

    def flag(self):
        """Returns a boolean of the text format."""
        return self.choose('true', 'false')


def random_cases(kind, times=2):
    """Makes the decorated function, which takes a name and its Draw, add `times` cases."""
    def decorate(function):
        for i in range(times):
            name = 'random_%s_%d' % (kind.lower(), i)
            function(name, Draw(name))
        return function
    return decorate


# --- Elementwise --------------------------------------------------------------
def elementwise(kind, settings=lambda d: '', times=1, low=1, **options):
    @random_cases(kind, times)
    def _(name, d):
        add_layer(name, d.shape(low), kind, settings(d), **options)


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
            low=2)
elementwise('Power', lambda d: 'power_param { power: %g scale: %g shift: %g }' % (
    d.real(-2, 3), d.real(0.5, 2), d.real(0, 1)), draw='positive')
elementwise('ReLU', lambda d: 'relu_param { negative_slope: %g }' % d.real(-0.5, 0.5))
elementwise('ReLU6', lambda d: 'relu6_param { negative_slope: %g }' % d.real(-0.5, 0.5))
elementwise('Swish', lambda d: 'swish_param { beta: %g }' % d.real(0.5, 2))
elementwise('Expression', lambda d: 'expression_param { expr: "%g * x * tanh(param(0) * x)" '
            'param { axis: %d } }' % (d.real(0.5, 2), 0))


@random_cases('Eltwise', 3)
def _(name, d):
    shape, bottoms = d.shape(), list('xzu')[:d.size(2, 3)]
    operation = d.choose('SUM', 'PROD', 'MAX')
    coeff = ' '.join('coeff: %g' % d.real(-2, 2) for _ in bottoms) if operation == 'SUM' else ''
    add_layer(name, dict.fromkeys(bottoms, shape), 'Eltwise', 'eltwise_param { operation: %s %s }' % (
        operation, coeff), bottoms)


def affine(kind, block, extra):
    @random_cases(kind, 4)
    def _(name, d):
        shape = d.shape(2)
        axis = d.size(0, len(shape) - 1)
        axes = d.size(0, len(shape) - axis)
        if d.size(0, 1):
            add_layer(name, shape, kind,
                      '%s { axis: %d num_axes: %d %s }' % (block, axis, axes, extra(d)))
        else:
            add_layer(name, {'x': shape, 'z': shape[axis:axis + max(axes, 1)]}, kind,
                      '%s { axis: %d }' % (block, axis), ('x', 'z'))


affine('Bias', 'bias_param', lambda d: '')
affine('Scale', 'scale_param', lambda d: 'bias_term: %s' % d.flag())


# --- Products -------------------------------------------------------------------
def window(d, spatial, kernels=4):
    kernel = [d.size(1, kernels) for _ in range(spatial)]
    stride = [d.size(1, 3) for _ in range(spatial)]
    pad = [d.size(0, k - 1) for k in kernel]
    dilation = [d.size(1, 2) for _ in range(spatial)]
    window_extent = [(k - 1) * e + 1 for k, e in zip(kernel, dilation)]
    text = ' '.join('%s: %d' % (name, n) for name, values in (
        ('kernel_size', kernel), ('stride', stride), ('pad', pad), ('dilation', dilation))
        for n in values)
    return text, kernel, stride, pad, window_extent


@random_cases('Convolution', 8)
def _(name, d):
    spatial, group = d.size(1, 3), d.choose(1, 1, 2, 3)
    text, _, _, pad, window_extent = window(d, spatial, 3)
    shape = (d.size(1, 2), group * d.size(1, 3)) + tuple(
        max(1, r - 2 * p) + d.size(0, 3) for r, p in zip(window_extent, pad))
    add_layer(name, shape, 'Convolution',
              'convolution_param { num_output: %d group: %d bias_term: %s %s }' % (
                  group * d.size(1, 3), group, d.flag(), text))


@random_cases('ConvolutionSides', 4)
def _(name, d):
    shape = (d.size(1, 2), d.size(1, 3), d.size(4, 6), d.size(4, 6))
    sides = ' '.join('pad_%s: %d' % (side, d.size(0, 2)) for side in 'lrtb')
    if d.size(0, 1):
        sides = 'pad_type: 1'
    add_layer(name, shape, d.choose('Convolution', 'Deconvolution'),
              'convolution_param { num_output: %d kernel_size: %d stride: %d %s }' % (
                  d.size(1, 3), d.size(2, 4), d.size(1, 2), sides))


@random_cases('Deconvolution', 4)
def _(name, d):
    spatial, group = d.size(1, 3), d.choose(1, 2)
    text, _, stride, pad, window_extent = window(d, spatial, 3)
    # At least two inputs, so that an output remains after the padding is cut off.
    shape = (d.size(1, 2), group * d.size(1, 2)) + tuple(
        max(2, (2 * p - r) // s + 2) + d.size(0, 1) for r, s, p in zip(window_extent, stride, pad))
    add_layer(name, shape, 'Deconvolution', 'convolution_param { num_output: %d group: %d bias_term: %s '
              '%s }' % (group * d.size(1, 2), group, d.flag(), text))


for kind in ('ConvolutionDepthwise', 'DepthwiseConvolution'):
    @random_cases(kind, 1)
    def _(name, d, kind=kind):
        channels = d.size(2, 4)
        add_layer(name, (d.size(1, 2), channels, d.size(4, 6), d.size(4, 6)), kind,
                  'convolution_param { num_output: %d group: %d kernel_size: %d stride: %d pad: 1 }' % (
                      channels, channels, d.size(1, 3), d.size(1, 2)))


for kind in ('Convolution3D', 'Deconvolution3D'):
    @random_cases(kind, 1)
    def _(name, d, kind=kind):
        add_layer(name, (d.size(1, 2), d.size(1, 3), d.size(3, 4), d.size(3, 5), d.size(3, 5)), kind,
                  'convolution3d_param { num_output: %d kernel_size: %d kernel_depth: %d stride: %d '
                  'temporal_stride: %d temporal_pad: 1 }' % (
                      d.size(1, 3), d.size(1, 3), d.size(1, 3), d.size(1, 2), d.size(1, 2)))


@random_cases('Im2col')
def _(name, d):
    spatial = d.size(1, 2)
    text, _, _, pad, window_extent = window(d, spatial, 3)
    add_layer(name, (d.size(1, 2), d.size(1, 2)) + tuple(
        max(1, r - 2 * p) + d.size(0, 2) for r, p in zip(window_extent, pad)), 'Im2col',
              'convolution_param { %s }' % text)


@random_cases('InnerProduct', 4)
def _(name, d):
    shape = d.shape(2, 4, 4)
    add_layer(name, shape, 'InnerProduct', 'inner_product_param { num_output: %d axis: %d transpose: %s '
              'bias_term: %s }' % (d.size(1, 5), d.size(1, len(shape) - 1), d.flag(), d.flag()))


@random_cases('Embed')
def _(name, d):
    words = d.size(2, 8)
    add(name, {}, [Layer('layer', 'Embed', ['i'], ['y'], 'embed_param { num_output: %d '
                         'input_dim: %d bias_term: %s }' % (d.size(1, 5), words, d.flag()))],
        labels={'i': (d.shape(1, 2), list(range(words)))})


# --- Windows --------------------------------------------------------------------
@random_cases('Pooling', 6)
def _(name, d):
    kernel, stride = [d.size(1, 3) for _ in 'hw'], [d.size(1, 3) for _ in 'hw']
    stride = [min(s, k) for s, k in zip(stride, kernel)]  # otherwise a window may be empty
    pad = [d.size(0, k - 1) for k in kernel]
    add_layer(name, (d.size(1, 2), d.size(1, 3), d.size(3, 7), d.size(3, 7)), 'Pooling',
              'pooling_param { pool: %s kernel_h: %d kernel_w: %d stride_h: %d stride_w: %d pad_h: %d '
              'pad_w: %d round_mode: %s }' % (d.choose('MAX', 'AVE'), *kernel, *stride, *pad,
                                              d.choose('CEIL', 'FLOOR')))


@random_cases('Pooling3D')
def _(name, d):
    size, depth = d.size(2, 3), d.size(1, 3)
    add_layer(name, (d.size(1, 2), d.size(1, 3), d.size(3, 5), d.size(3, 6), d.size(3, 6)), 'Pooling3D',
              'pooling3d_param { pool: %s kernel_size: %d kernel_depth: %d stride: %d '
              'temporal_stride: %d }' % (d.choose('MAX', 'AVE'), size, depth, d.size(1, size),
                                         d.size(1, depth)))


@random_cases('SPP')
def _(name, d):
    add_layer(name, (d.size(1, 2), d.size(1, 3), d.size(4, 9), d.size(4, 9)), 'SPP',
              'spp_param { pyramid_height: %d pool: %s }' % (d.size(1, 3), d.choose('MAX', 'AVE')))


@random_cases('ROIPooling', 1)
def _(name, d):
    add(name, {'x': (2, d.size(1, 3), d.size(3, 6), d.size(3, 6))}, [
        Layer('layer', 'ROIPooling', ['x', 'rois'], ['y'], DOWN + 'roi_pooling_param { '
              'pooled_h: %d pooled_w: %d spatial_scale: %g }' % (d.size(1, 3), d.size(1, 3),
                                                                 d.real(0.5, 4)))],
        labels={'rois': ((d.size(2, 6), 5), [0, 1])})


@random_cases('ROIAlign', 1)
def _(name, d):
    pooled = 'pooled_h: %d pooled_w: %d spatial_scale: %g ' % (d.size(1, 3), d.size(1, 3),
                                                               d.real(0.5, 4))
    settings = d.choose('roi_pooling_param { %spad_ratio: %g }' % (pooled, d.real(0, 0.5)),
                        'roi_align_param { %ssampling_ratio: %d }' % (pooled, d.size(0, 3)))
    add(name, {'x': (2, d.size(1, 3), d.size(3, 6), d.size(3, 6))}, [
        Layer('layer', 'ROIAlign', ['x', 'rois'], ['y'], DOWN + settings)],
        labels={'rois': ((d.size(2, 6), 5), [0, 1])})


@random_cases('ROIAlignment', 1)
def _(name, d):
    add(name, {'x': (2, d.size(1, 3), d.size(3, 6), d.size(3, 6))}, [
        Layer('layer', 'ROIAlignment', ['x', 'rois'], ['y'], DOWN + 'roi_alignment_param { pooled_h: %d pooled_w: %d '
              'spatial_scale: %g }' % (d.size(1, 3), d.size(1, 3), d.real(0.5, 4)))],
        labels={'rois': ((d.size(2, 6), 5), [0, 1])})


@random_cases('PSROIPooling', 1)
def _(name, d):
    group, outputs = d.size(1, 3), d.size(1, 2)
    add(name, {'x': (2, group * group * outputs, d.size(3, 6), d.size(3, 6))}, [
        Layer('layer', 'PSROIPooling', ['x', 'rois'], ['y'], DOWN + 'psroi_pooling_param { '
              'output_dim: %d group_size: %d spatial_scale: %g }' % (outputs, group,
                                                                     d.real(0.5, 4)))],
        labels={'rois': ((d.size(2, 6), 5), [0, 1])})


# --- Normalisation --------------------------------------------------------------
STATISTICS = [('layer', i) for i in range(3)]


def images(d, high=5):
    return (d.size(2, 4), d.size(1, 5)) + d.shape(1, 2, high)


@random_cases('BatchNorm', 4)
def _(name, d):
    add_layer(name, images(d), 'BatchNorm', 'batch_norm_param { use_global_stats: %s eps: %g '
              'moving_average_fraction: %g scale_bias: %s }' % (
                  d.flag(), d.real(0.01, 0.3), d.real(0.1, 0.99), d.flag()),
              frozen=STATISTICS, positive=STATISTICS)


@random_cases('BN')
def _(name, d):
    frozen = d.size(0, 1)
    add_layer(name, images(d), 'BN', 'bn_param { eps: %g momentum: %g frozen: %s }' % (
        d.real(0.01, 0.3), d.real(0.1, 0.99), str(bool(frozen)).lower()),
              frozen=[('layer', i) for i in range(0 if frozen else 2, 4)], positive=[('layer', 3)])


@random_cases('LRN', 3)
def _(name, d):
    region = d.choose('ACROSS_CHANNELS', 'WITHIN_CHANNEL')
    k = 'k: %g' % d.real(0.5, 2) if region[0] == 'A' else ''
    add_layer(name, (d.size(1, 2), d.size(1, 7), d.size(1, 5), d.size(1, 5)), 'LRN',
              'lrn_param { local_size: %d alpha: %g beta: %g norm_region: %s %s }' % (
                  d.choose(1, 3, 5, 7), d.real(0.2, 2), d.real(0.3, 1.2), region, k))


@random_cases('MVN')
def _(name, d):
    add_layer(name, images(d), 'MVN', 'mvn_param { normalize_variance: %s across_channels: %s }' % (
        d.flag(), d.flag()))


@random_cases('Normalize')
def _(name, d):
    add_layer(name, (d.size(1, 2), d.size(2, 5), d.size(1, 4), d.size(1, 4)), 'Normalize',
              'norm_param { across_spatial: %s channel_shared: %s }' % (d.flag(), d.flag()))


@random_cases('Softmax')
def _(name, d):
    shape = d.shape(2)
    add_layer(name, shape, 'Softmax', 'softmax_param { axis: %d }' % d.size(-1, len(shape) - 1))


# --- Arranging ------------------------------------------------------------------
@random_cases('Concat')
def _(name, d):
    shape = d.shape(2)
    axis, bottoms = d.size(0, len(shape) - 1), list('xzu')[:d.size(2, 3)]
    add_layer(name, {b: shape[:axis] + (d.size(1, 4),) + shape[axis + 1:] for b in bottoms}, 'Concat',
              'concat_param { axis: %d }' % axis, bottoms)


@random_cases('Slice')
def _(name, d):
    shape = list(d.shape(2))
    axis, points = d.size(0, len(shape) - 1), sorted({d.size(1, 4) for _ in 'ab'})
    shape[axis] = points[-1] + d.size(1, 3)
    tops = ['y%d' % i for i in range(len(points) + 1)]
    add(name, tuple(shape), [Layer('layer', 'Slice', ['x'], tops, 'slice_param { axis: %d %s }' % (
        axis, ' '.join('slice_point: %d' % p for p in points)))], outputs=tops)


@random_cases('Crop')
def _(name, d):
    shape = d.shape(2)
    axis = d.size(0, len(shape) - 1)
    kept = [d.size(1, n) for n in shape[axis:]]
    offsets = [d.size(0, n - k) for n, k in zip(shape[axis:], kept)]
    add_layer(name, {'x': shape, 'r': shape[:axis] + tuple(kept)}, 'Crop',
              'crop_param { axis: %d %s }' % (axis, ' '.join('offset: %d' % o for o in offsets)),
              ('x', 'r'), bare=['r'])


@random_cases('Flatten')
def _(name, d):
    shape = d.shape(2)
    axis = d.size(0, len(shape) - 1)
    add_layer(name, shape, 'Flatten', 'flatten_param { axis: %d end_axis: %d }' % (
        axis, d.size(axis, len(shape) - 1)))


@random_cases('Reshape')
def _(name, d):
    shape = d.shape(2)
    axis = d.size(0, len(shape) - 1)
    add_layer(name, shape, 'Reshape',
              'reshape_param { axis: %d num_axes: %d shape { dim: -1 dim: 1 } }' % (
                  axis, d.size(1, len(shape) - axis)))


@random_cases('Squeeze', 1)
def _(name, d):
    add_layer(name, (d.size(1, 3), 1, d.size(1, 4)), 'Squeeze', 'squeeze_param { axis: 1 }')


@random_cases('Reverse')
def _(name, d):
    shape = d.shape()
    add_layer(name, shape, 'Reverse', 'reverse_param { axis: %d }' % d.size(-len(shape), len(shape) - 1))


@random_cases('Permute')
def _(name, d):
    shape = d.shape(2)
    add_layer(name, shape, 'Permute', 'permute_param { %s }' % ' '.join(
        'order: %d' % i for i in d.random.permutation(len(shape))))


@random_cases('Transpose')
def _(name, d):
    shape = d.shape(2)
    add_layer(name, shape, 'Transpose', 'transpose_param { %s }' % ' '.join(
        'dim: %d' % i for i in d.random.permutation(len(shape))))


@random_cases('Tile')
def _(name, d):
    shape = d.shape(1, 3, 4)
    add_layer(name, shape, 'Tile', 'tile_param { axis: %d tiles: %d }' % (d.size(0, len(shape) - 1),
                                                                          d.size(1, 4)))


@random_cases('Parameter', 1)
def _(name, d):
    shape = d.shape()
    add(name, shape, [
        Layer('layer', 'Parameter', [], ['w'], 'parameter_param { shape { %s } }' % ' '.join(
            'dim: %d' % n for n in shape)),
        Layer('e', 'Eltwise', ['x', 'w'], ['y'], 'eltwise_param { operation: PROD }')])


@random_cases('Split', 1)
def _(name, d):
    tops = ['y%d' % i for i in range(d.size(1, 4))]
    add(name, d.shape(), [Layer('layer', 'Split', ['x'], tops)], outputs=tops)


@random_cases('BatchReindex')
def _(name, d):
    shape = d.shape()
    add(name, shape, [Layer('layer', 'BatchReindex', ['x', 'i'], ['y'])],
        labels={'i': ((d.size(1, 6),), list(range(shape[0])))})


@random_cases('Reduction', 3)
def _(name, d):
    shape = d.shape()
    add_layer(name, shape, 'Reduction', 'reduction_param { operation: %s axis: %d coeff: %g }' % (
        d.choose('SUM', 'ASUM', 'SUMSQ', 'MEAN'), d.size(0, len(shape) - 1), d.real(-2, 2)))


@random_cases('ShuffleChannel', 1)
def _(name, d):
    group = d.size(1, 3)
    add_layer(name, (d.size(1, 2), group * d.size(1, 3), d.size(1, 3), d.size(1, 3)), 'ShuffleChannel',
              'shuffle_channel_param { group: %d }' % group)


@random_cases('Reorg')
def _(name, d):
    stride, reverse = d.size(1, 3), d.flag()
    channels = stride * stride * d.size(1, 2)
    add_layer(name, (d.size(1, 2), channels, stride * d.size(1, 2), stride * d.size(1, 2)), 'Reorg',
              'reorg_param { stride: %d reverse: %s }' % (stride, reverse))


@random_cases('Upsample')
def _(name, d):
    add_layer(name, (d.size(1, 2), d.size(1, 3), d.size(1, 4), d.size(1, 4)), 'Upsample',
              'upsample_param { scale_h: %d scale_w: %d }' % (d.size(1, 3), d.size(1, 3)))


@random_cases('Interp')
def _(name, d):
    add_layer(name, (d.size(1, 2), d.size(1, 2), d.size(2, 5), d.size(2, 5)), 'Interp',
              'interp_param { height: %d width: %d }' % (d.size(1, 9), d.size(1, 9)))


@random_cases('Axpy', 1)
def _(name, d):
    n, c, image = d.size(1, 3), d.size(1, 4), (d.size(1, 3), d.size(1, 3))
    add_layer(name, {'a': (n, c, 1, 1), 'x': (n, c) + image, 'z': (n, c) + image}, 'Axpy', '',
              ('a', 'x', 'z'))


# --- Losses ---------------------------------------------------------------------
def normalization(d):
    text = 'normalization: %s ' % d.choose('FULL', 'VALID', 'BATCH_SIZE', 'NONE')
    return text + d.choose('', 'ignore_label: 0')


def loss(name, shape, kind, bottoms, settings, label=None, **options):
    labels = {'label': label} if label else {}
    add(name, shape, [Layer('layer', kind, bottoms, ['l'], settings)], outputs=[], labels=labels,
        **options)


@random_cases('SoftmaxWithLoss', 3)
def _(name, d):
    shape = d.shape(2, 4, 4)
    axis = d.size(0, len(shape) - 1)
    label_dims = tuple(n for i, n in enumerate(shape) if i != axis)
    loss(name, shape, 'SoftmaxWithLoss', ['x', 'label'], DOWN + 'loss_weight: %g '
         'softmax_param { axis: %d } loss_param { %s }' % (d.real(0.5, 2), axis, normalization(d)),
         (label_dims, list(range(shape[axis]))))


@random_cases('InfogainLoss', 2)
def _(name, d):
    shape = d.shape(2, 4, 4)
    axis = d.size(0, len(shape) - 1)
    label_dims = tuple(n for i, n in enumerate(shape) if i != axis)
    loss(name, {'x': shape, 'h': (shape[axis],) * 2}, 'InfogainLoss', ['x', 'label', 'h'],
         DOWN + 'propagate_down: false infogain_loss_param { axis: %d } loss_param { %s }' % (
             axis, normalization(d)), (label_dims, list(range(shape[axis]))), bare=['h'])


@random_cases('HingeLoss')
def _(name, d):
    shape = (d.size(1, 6), d.size(2, 5))
    loss(name, shape, 'HingeLoss', ['x', 'label'], DOWN + 'hinge_loss_param { norm: %s }' %
         d.choose('L1', 'L2'), (shape[:1], list(range(shape[1]))))


@random_cases('MultinomialLogisticLoss', 1)
def _(name, d):
    shape = (d.size(1, 6), d.size(2, 5))
    add(name, shape, [Layer('s', 'Softmax', ['x'], ['p']),
                      Layer('layer', 'MultinomialLogisticLoss', ['p', 'label'], ['l'], DOWN)],
        outputs=[], labels={'label': (shape[:1], list(range(shape[1])))})


@random_cases('EuclideanLoss', 1)
def _(name, d):
    shape = d.shape(1)
    loss(name, {'x': shape, 'z': shape}, 'EuclideanLoss', ['x', 'z'], '')


@random_cases('SmoothL1Loss', 1)
def _(name, d):
    shape = d.shape(2)
    loss(name, {'x': shape, 'z': shape}, 'SmoothL1Loss', ['x', 'z'],
         'smooth_l1_loss_param { sigma: %g }' % d.real(0.5, 3))


@random_cases('SmoothL1LossOHEM', 1)
def _(name, d):
    shape = d.shape(2)
    loss(name, {'x': shape, 'z': shape}, 'SmoothL1LossOHEM', ['x', 'z'], 'loss_param { %s }' % normalization(d))


@random_cases('SoftmaxWithLossOHEM', 1)
def _(name, d):
    shape = d.shape(2, 4, 4)
    loss(name, shape, 'SoftmaxWithLossOHEM', ['x', 'label'], DOWN + 'loss_param { %s }' % normalization(d),
         (shape[:1] + shape[2:], list(range(shape[1]))))


@random_cases('SigmoidCrossEntropyLoss')
def _(name, d):
    shape = d.shape(2)
    loss(name, shape, 'SigmoidCrossEntropyLoss', ['x', 'label'], DOWN + 'loss_param { %s }' %
         normalization(d), (shape, [0, 1]))


@random_cases('ContrastiveLoss', 1)
def _(name, d):
    shape = (d.size(2, 6), d.size(2, 4))
    loss(name, {'x': shape, 'z': shape}, 'ContrastiveLoss', ['x', 'z', 'label'],
         'propagate_down: true ' + DOWN + 'contrastive_loss_param { margin: %g '
         'legacy_version: true }' % d.real(0.5, 2), (shape[:1], [0, 1]))


# --- Sequences ------------------------------------------------------------------
for kind, states in (('LSTM', 2), ('RNN', 1)):
    @random_cases(kind)
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
        add(name, inputs, [Layer('layer', kind, bottoms, tops, 'recurrent_param { num_output: %d '
                                 'expose_hidden: %s weight_filler { type: "uniform" min: -0.5 '
                                 'max: 0.5 } bias_filler { type: "uniform" } }' % (
                                     outputs, expose))], outputs=tops,
            labels={'cont': ((steps, streams), [0, 1, 1])})


@random_cases('LSTMUnit', 1)
def _(name, d):
    streams, outputs = d.size(1, 3), d.size(1, 4)
    add(name, {'c': (1, streams, outputs), 'x': (1, streams, 4 * outputs)}, [
        Layer('layer', 'LSTMUnit', ['c', 'x', 'cont'], ['y', 'z'])], outputs=['y', 'z'],
        labels={'cont': ((1, streams), [0, 1])})


# --- Items ----------------------------------------------------------------------
@random_cases('Filter')
def _(name, d):
    shape = (d.size(2, 6),) + d.shape(1, 3, 4)
    add(name, shape, [
        Layer('layer', 'Filter', ['x', 'sel'], ['f'], DOWN),
        Layer('r', 'Reduction', ['f'], ['l'], 'loss_weight: %g reduction_param { operation: SUMSQ }' %
              d.real(0.5, 2))], outputs=[], labels={'sel': (shape[:1], [0, 1])})
