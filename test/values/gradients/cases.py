"""The nets whose gradients are checked: one element of `CASES` per case.

A case names its inputs and their shapes, its layers, and the blobs from which the loss is computed.
check_gradients.py adds the layers around them (see nets.py): each input passes through a Bias layer
with a parameter, so that a gradient must reach the input. Each blob in `outputs` is multiplied by
random numbers and summed into a loss of weight 1. A `loss_weight` in the text of a layer adds a loss.

`draw` says how the values of the inputs are chosen:
- "distinct" spreads the elements of an input over [-1, 1] at equal distances in random order. Then
  no two operands of a MAX are closer than a step of the finite differences, and no element is near
  0, where ReLU and ASUM have kinks.
- "positive" spreads them over [0.5, 1.5], for powers with any exponent.
"""
import dataclasses
import re
import typing


@dataclasses.dataclass
class Layer:
    name: str
    type: str
    bottoms: list
    tops: list
    text: str = ''

    def prototxt(self):
        lines = ['name: "%s" type: "%s"' % (self.name, self.type)]
        lines += ['bottom: "%s"' % b for b in self.bottoms]
        lines += ['top: "%s"' % t for t in self.tops]
        return 'layer { %s %s }\n' % (' '.join(lines), self.text)

    def numbers(self, field):
        """Returns the words that follow `field` in the text, one for each occurrence."""
        return re.findall(r'\b%s: *([-\w.]+)' % field, self.text)


@dataclasses.dataclass
class Case:
    name: str
    inputs: dict                       # blob -> shape
    layers: list
    outputs: list = dataclasses.field(default_factory=lambda: ['y'])
    labels: dict = dataclasses.field(default_factory=dict)  # blob -> (shape, choices)
    draw: str = 'distinct'
    shared: dict = dataclasses.field(default_factory=dict)  # (layer, i) -> its owner
    frozen: list = dataclasses.field(default_factory=list)  # parameters without gradient
    positive: list = dataclasses.field(default_factory=list)  # parameters in [0.5, 1.5]
    bare: list = dataclasses.field(default_factory=list)    # inputs without a Bias layer
    net: str = ''                                             # settings of the net, in its text format


CASES: typing.List[Case] = []


def add(name, inputs, layers, **options):
    """Adds a case; `inputs` is {blob: shape}, or the shape of the only input x."""
    if not isinstance(inputs, dict):
        inputs = {'x': inputs}
    CASES.append(Case(name, inputs, layers, **options))


def add_layer(name, shape, kind, settings='', bottoms=('x',), top='y', **options):
    """Adds a case of a single layer."""
    add(name, shape, [Layer('layer', kind, list(bottoms), [top], settings)], **options)


# --- Convolution ------------------------------------------------------------
def conv(name, shape, settings, **options):
    add_layer('conv_' + name, shape, 'Convolution', 'convolution_param { %s }' % settings, **options)

conv('1x1', (2, 3, 3, 4), 'num_output: 4 kernel_size: 1')
conv('3x3', (2, 2, 5, 6), 'num_output: 3 kernel_size: 3')
conv('pad', (2, 2, 4, 5), 'num_output: 3 kernel_size: 3 pad: 1')
conv('stride', (2, 2, 7, 8), 'num_output: 2 kernel_size: 3 stride: 2')
conv('pad_stride', (1, 3, 6, 7), 'num_output: 2 kernel_size: 3 pad: 1 stride: 2')
conv('stride_leaves_edge', (1, 2, 8, 9), 'num_output: 2 kernel_size: 3 stride: 4')
conv('stride_over_kernel', (2, 2, 7, 7), 'num_output: 3 kernel_size: 2 stride: 3')
conv('1x1_stride', (1, 2, 5, 7), 'num_output: 2 kernel_size: 1 stride: 3 pad: 2')
conv('pad_over_kernel', (1, 2, 3, 3), 'num_output: 2 kernel_size: 2 pad: 3')
conv('no_bias', (2, 3, 4, 4), 'num_output: 4 kernel_size: 2 bias_term: false')
conv('group', (2, 4, 5, 4), 'num_output: 6 kernel_size: 3 group: 2 pad: 1')
conv('depthwise', (2, 4, 5, 5), 'num_output: 4 kernel_size: 3 group: 4 pad: 1 stride: 2')
conv('depthwise_multiplier', (2, 3, 4, 4), 'num_output: 6 kernel_size: 2 group: 3')
conv('dilation', (1, 2, 7, 8), 'num_output: 3 kernel_size: 3 dilation: 2')
conv('dilation_pad_stride', (1, 2, 8, 7),
     'num_output: 2 kernel_size: 2 dilation: 3 pad: 2 stride: 2')
conv('group_dilation', (1, 4, 6, 6), 'num_output: 4 kernel_size: 2 dilation: 2 group: 2')
conv('rect', (2, 2, 6, 5), 'num_output: 2 kernel_h: 3 kernel_w: 1')
conv('rect_all', (1, 2, 7, 9), 'num_output: 3 kernel_h: 2 kernel_w: 4 stride_h: 2 stride_w: 3 '
     'pad_h: 1 pad_w: 2 dilation: 2 dilation: 1')
conv('whole_image', (2, 2, 3, 4), 'num_output: 5 kernel_h: 3 kernel_w: 4')
conv('one_channel', (3, 1, 6, 6), 'num_output: 4 kernel_size: 3')
conv('wide', (1, 17, 4, 4), 'num_output: 19 kernel_size: 3 pad: 1')
add('conv_two_bottoms', {'x': (1, 2, 4, 4), 'z': (1, 2, 4, 4)},
    [Layer('layer', 'Convolution', ['x', 'z'], ['y', 'y2'],
           'convolution_param { num_output: 3 kernel_size: 2 }')], outputs=['y', 'y2'])
conv('1d', (2, 3, 7), 'num_output: 4 kernel_size: 3 pad: 1 stride: 2')
conv('1d_group_dilation', (1, 4, 9), 'num_output: 4 kernel_size: 3 dilation: 2 group: 2')
conv('3d', (1, 2, 4, 5, 4), 'num_output: 3 kernel_size: 3 pad: 1 stride: 2')
conv('3d_mixed', (1, 2, 5, 4, 3), 'num_output: 4 group: 2 kernel_size: 3 kernel_size: 2 '
     'kernel_size: 1 stride: 2 stride: 1 stride: 2 pad: 1 pad: 0 pad: 2')
conv('4d', (1, 2, 3, 3, 2, 3), 'num_output: 2 kernel_size: 2 pad: 1')
conv('0d', (3, 4), 'num_output: 5 kernel_size: 3')
conv('axis_0', (3, 4, 5), 'num_output: 2 kernel_size: 2 axis: 0')
conv('axis_2', (2, 2, 3, 5), 'num_output: 4 kernel_size: 3 axis: 2')
conv('axis_negative', (2, 2, 3, 4, 4), 'num_output: 2 kernel_size: 2 pad: 1 axis: -3')
conv('2d_as_nd', (2, 2, 5, 6), 'num_output: 3 kernel_size: 3 force_nd_im2col: true')
conv('kernel_over_input', (1, 2, 3, 4), 'num_output: 2 kernel_size: 4 stride: 2')
conv('sides', (1, 2, 5, 6), 'num_output: 3 kernel_size: 3 pad_l: 1 pad_r: 0 pad_t: 0 pad_b: 2')
conv('same', (1, 2, 5, 6), 'num_output: 3 kernel_size: 3 stride: 2 pad_type: 1')
add_layer('conv_depthwise_type', (2, 3, 5, 4), 'ConvolutionDepthwise',
          'convolution_param { kernel_size: 3 pad: 1 }')
add_layer('conv_depthwise_other_type', (2, 4, 5, 4), 'DepthwiseConvolution',
          'convolution_param { num_output: 4 group: 4 kernel_size: 3 stride: 2 }')
conv('same_dilation', (1, 2, 5, 6), 'num_output: 3 kernel_size: 2 dilation: 2 pad_type: 1')
conv('bare_input', (2, 3, 5, 5), 'num_output: 4 kernel_size: 3 pad: 1', bare=['x'])


# --- Deconvolution, Im2col --------------------------------------------------
def deconv(name, shape, settings, **options):
    add_layer('deconv_' + name, shape, 'Deconvolution', 'convolution_param { %s }' % settings, **options)

deconv('2x', (2, 3, 3, 4), 'num_output: 4 kernel_size: 4 stride: 2 pad: 1')
deconv('stride_1', (1, 2, 4, 5), 'num_output: 3 kernel_size: 3 pad: 1')
deconv('odd', (1, 2, 4, 3), 'num_output: 3 kernel_size: 3 stride: 2')
deconv('stride_over_kernel', (1, 2, 3, 3), 'num_output: 2 kernel_size: 2 stride: 3')
deconv('no_bias', (2, 3, 3, 3), 'num_output: 2 kernel_size: 2 bias_term: false')
deconv('group', (1, 4, 3, 4), 'num_output: 6 kernel_size: 3 stride: 2 group: 2 pad: 1')
deconv('depthwise', (1, 4, 3, 3),
       'num_output: 4 kernel_size: 4 stride: 2 group: 4 pad: 1 bias_term: false')
deconv('dilation', (1, 2, 4, 4), 'num_output: 2 kernel_size: 3 dilation: 2 stride: 2 pad: 1')
deconv('rect', (1, 2, 3, 4), 'num_output: 3 kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: 1 '
       'pad_h: 1 pad_w: 0')
deconv('1d', (2, 3, 5), 'num_output: 2 kernel_size: 4 stride: 2 pad: 1')
deconv('3d', (1, 2, 2, 3, 3), 'num_output: 2 kernel_size: 3 stride: 2 pad: 1')
deconv('axis_2', (2, 2, 3, 4), 'num_output: 2 kernel_size: 3 axis: 2')
deconv('sides', (1, 2, 4, 4), 'num_output: 3 kernel_size: 3 stride: 2 pad_l: 1 pad_r: 0 '
       'pad_t: 0 pad_b: -1')
deconv('same', (1, 2, 3, 4), 'num_output: 3 kernel_size: 3 stride: 2 pad_type: 1')
deconv('same_tail', (1, 2, 3, 4), 'num_output: 2 kernel_size: 2 stride: 3 pad_type: 1')
add('deconv_two_bottoms', {'x': (1, 2, 3, 3), 'z': (1, 2, 3, 3)},
    [Layer('layer', 'Deconvolution', ['x', 'z'], ['y', 'y2'],
           'convolution_param { num_output: 3 kernel_size: 2 stride: 2 }')],
    outputs=['y', 'y2'])
add('deconv_held', {'x': (1, 2, 3, 3)},
    [Layer('a', 'Power', ['x'], ['a'], 'power_param { scale: 2 }'),
     Layer('layer', 'Deconvolution', ['a'], ['y'],
           'convolution_param { num_output: 3 kernel_size: 2 } propagate_down: false')])

def im2col(name, shape, settings):
    add_layer('im2col_' + name, shape, 'Im2col', 'convolution_param { %s }' % settings)

im2col('3x3', (2, 2, 5, 6), 'kernel_size: 3')
im2col('pad_stride', (1, 3, 5, 4), 'kernel_size: 3 pad: 1 stride: 2')
im2col('dilation', (1, 2, 6, 5), 'kernel_h: 2 kernel_w: 3 dilation: 2')
im2col('stride_over_kernel', (1, 2, 5, 6), 'kernel_size: 2 stride: 3')
im2col('1d', (2, 2, 6), 'kernel_size: 3 stride: 2 pad: 1')
im2col('3d', (1, 2, 3, 3, 4), 'kernel_size: 2 stride: 2 stride: 1 stride: 2')
im2col('rect', (1, 2, 5, 6), 'kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: 1 pad_h: 1 pad_w: 0')
im2col('sides', (1, 2, 5, 6), 'kernel_size: 3 pad_l: 1 pad_r: 0 pad_t: 0 pad_b: 2')
im2col('same', (1, 2, 5, 6), 'kernel_size: 3 stride: 2 pad_type: 1')
im2col('axis_2', (2, 2, 2, 5), 'kernel_size: 3 axis: 2')


# --- C3D ------------------------------------------------------------------------
def conv3d(name, kind, shape, settings):
    add_layer(name, shape, kind, 'convolution3d_param { num_output: 2 %s }' % settings)

for name, kind in (('conv_c3d', 'Convolution3D'), ('deconv_c3d', 'Deconvolution3D')):
    conv3d(name, kind, (2, 3, 4, 5, 4), 'kernel_size: 3 kernel_depth: 2 stride: 2 pad: 1')
    conv3d(name + '_temporal', kind, (1, 2, 5, 4, 3), 'kernel_size: 2 kernel_depth: 3 temporal_stride: 2 '
           'temporal_pad: 1 bias_term: false group: 1')
for kind in ('MAX', 'AVE'):
    for name, shape, settings in (
            ('plane', (2, 2, 3, 4, 6), 'kernel_size: 2 kernel_depth: 1 stride: 2 temporal_stride: 1 pad: 0'),
            ('edges', (1, 2, 5, 5, 6), 'kernel_size: 3 kernel_depth: 2 stride: 2 temporal_stride: 2'),
            ('overlap', (1, 2, 4, 3, 4), 'kernel_size: 2 kernel_depth: 3'),
            ('all', (2, 3, 2, 3, 3), 'kernel_size: 3 kernel_depth: 2')):
        add_layer('pool_c3d_%s_%s' % (kind.lower(), name), shape, 'Pooling3D',
                  'pooling3d_param { pool: %s %s }' % (kind, settings))


# --- InnerProduct -----------------------------------------------------------
def ip(name, shape, settings, **options):
    add_layer('ip_' + name, shape, 'InnerProduct', 'inner_product_param { %s }' % settings, **options)

ip('matrix', (3, 5), 'num_output: 4')
ip('image', (3, 2, 3, 4), 'num_output: 5')
ip('batch_1', (1, 7), 'num_output: 3')
ip('one_output', (4, 6), 'num_output: 1')
ip('axis_2', (2, 3, 4, 2), 'num_output: 5 axis: 2')
ip('axis_0', (3, 4), 'num_output: 5 axis: 0')
ip('axis_negative', (2, 3, 4), 'num_output: 5 axis: -1')
ip('no_bias', (3, 5), 'num_output: 4 bias_term: false')
ip('transpose', (3, 5), 'num_output: 4 transpose: true')
ip('transpose_image', (2, 3, 2, 2), 'num_output: 3 transpose: true')
ip('transpose_axis_no_bias', (2, 2, 3, 2),
   'num_output: 4 transpose: true axis: 2 bias_term: false')
ip('wide', (5, 37), 'num_output: 33')
ip('bare_input', (3, 2, 3, 4), 'num_output: 5', bare=['x'])


# --- Pooling ----------------------------------------------------------------
POOLS = {
    '2x2': ((2, 2, 4, 6), 'kernel_size: 2 stride: 2'),
    '3x2': ((2, 2, 7, 7), 'kernel_size: 3 stride: 2'),
    'ceil_edge': ((1, 2, 6, 8), 'kernel_size: 3 stride: 2'),
    'floor': ((1, 2, 6, 8), 'kernel_size: 3 stride: 2 round_mode: FLOOR'),
    'pad': ((1, 2, 5, 6), 'kernel_size: 3 stride: 2 pad: 1'),
    'pad_ceil_edge': ((1, 2, 6, 5), 'kernel_size: 3 stride: 3 pad: 1'),
    'pad_2': ((1, 2, 5, 5), 'kernel_size: 3 stride: 1 pad: 2'),
    'stride_1': ((1, 2, 5, 4), 'kernel_size: 3 stride: 1'),
    'kernel_below_stride': ((1, 2, 8, 7), 'kernel_size: 2 stride: 3'),
    # Another width would leave the last window empty, and Caffe would compute NaN or -FLT_MAX.
    'kernel_1_stride_2': ((1, 2, 5, 7), 'kernel_size: 1 stride: 2'),
    'rect': ((1, 2, 7, 6), 'kernel_h: 3 kernel_w: 2 stride_h: 1 stride_w: 2 pad_h: 1 pad_w: 0'),
    'rect_pad': ((2, 1, 5, 8), 'kernel_h: 2 kernel_w: 4 stride_h: 2 stride_w: 3 pad_h: 0 pad_w: 2'),
    'global': ((2, 3, 3, 4), 'global_pooling: true'),
    'whole': ((2, 3, 3, 3), 'kernel_size: 3'),
    'pad_global_size': ((1, 2, 3, 3), 'kernel_size: 4 stride: 2 pad: 1'),
    'over_input': ((1, 2, 2, 5), 'kernel_size: 3 stride: 2'),
    'padded_plane': ((2, 2, 3, 4), 'kernel_h: 5 kernel_w: 6 stride: 3 pad: 1'),
    'plane_in_window': ((1, 2, 2, 2), 'kernel_size: 3 stride: 2'),
    'most_of_plane': ((2, 2, 4, 3), 'kernel_h: 4 kernel_w: 2 stride: 3 round_mode: FLOOR'),
    'one_side_padded': ((1, 2, 5, 7), 'kernel_h: 3 kernel_w: 2 stride: 2 pad_h: 1 pad_w: 0'),
    'floor_of_forks': ((1, 2, 6, 8), 'kernel_size: 3 stride: 2 ceil_mode: false'),
    'many_channels': ((1, 17, 5, 5), 'kernel_size: 3 stride: 2'),
}
for kind in ('MAX', 'AVE'):
    for name, (shape, settings) in POOLS.items():
        add_layer('pool_%s_%s' % (kind.lower(), name), shape, 'Pooling',
                  'pooling_param { pool: %s %s }' % (kind, settings))


add('pool_mask', (2, 3, 5, 6), [Layer('layer', 'Pooling', ['x'], ['y', 'mask'],
                                     'pooling_param { kernel_size: 3 stride: 2 pad: 1 }')])


# --- Elementwise ------------------------------------------------------------
add_layer('relu', (2, 3, 4), 'ReLU')
add_layer('relu_leaky', (2, 3, 4), 'ReLU', 'relu_param { negative_slope: 0.1 }')
add_layer('relu_slope_negative', (2, 3, 4), 'ReLU', 'relu_param { negative_slope: -0.3 }')
add_layer('relu_in_place', (2, 3, 4), 'ReLU', top='x', outputs=['x'])
add_layer('relu_leaky_in_place', (2, 3, 4), 'ReLU', 'relu_param { negative_slope: 0.25 }', top='x',
          outputs=['x'])
add_layer('relu_slope_negative_in_place', (2, 3, 4), 'ReLU', 'relu_param { negative_slope: -0.25 }',
          top='x', outputs=['x'])
for name, settings, draw in (
        ('0', 'power: 0 scale: 2', 'distinct'), ('1', 'power: 1 scale: -2 shift: 0.5', 'distinct'),
        ('scale_0', 'power: 2 scale: 0 shift: 3', 'distinct'),
        ('2', 'power: 2', 'distinct'), ('2_affine', 'power: 2 scale: 3 shift: -0.25', 'distinct'),
        ('3', 'power: 3 scale: 0.5 shift: 0.1', 'distinct'),
        ('half', 'power: 0.5 scale: 2 shift: 0.1', 'positive'),
        ('minus_1', 'power: -1', 'positive'), ('minus_2', 'power: -2 shift: 1', 'positive'),
        ('2.5', 'power: 2.5 scale: 0.5', 'positive')):
    for place, top in (('', 'y'), ('_in_place', 'x')):
        add_layer('power_%s%s' % (name, place), (2, 7), 'Power', 'power_param { %s }' % settings,
                  top=top, outputs=[top], draw=draw)
add_layer('power_vector', (5,), 'Power', 'power_param { power: 2 }')

for name, shape, settings in (
        ('axis_1', (2, 3, 4), ''), ('axis_0', (2, 3), 'bias_param { axis: 0 num_axes: 1 }'),
        ('axis_negative', (2, 3, 4), 'bias_param { axis: -1 }'),
        ('axes_2', (2, 3, 4, 2), 'bias_param { axis: 1 num_axes: 2 }'),
        ('axes_0', (2, 3), 'bias_param { num_axes: 0 }'),
        ('axes_all', (2, 3, 2), 'bias_param { axis: 1 num_axes: -1 }'),
        ('axes_whole', (2, 3), 'bias_param { axis: 0 num_axes: -1 }')):
    add_layer('bias_' + name, shape, 'Bias', settings)
    add_layer('bias_%s_in_place' % name, shape, 'Bias', settings, top='x', outputs=['x'])
for name, shapes, settings in (
        ('same', ((2, 3), (2, 3)), 'bias_param { axis: 0 }'),
        ('axis_1', ((2, 3, 2), (3,)), 'bias_param { axis: 1 }'),
        ('axes_2', ((2, 3, 2, 2), (3, 2)), 'bias_param { axis: 1 }'),
        ('last', ((2, 3, 4), (4,)), 'bias_param { axis: -1 }')):
    add_layer('bias_bottom_' + name, dict(zip('xz', shapes)), 'Bias', settings, bottoms=('x', 'z'))

ELTWISE = {
    'sum': 'SUM', 'sum_coeff': 'SUM coeff: 0.5 coeff: -2', 'sum_coeff_0': 'SUM coeff: 0 coeff: 3',
    'sum_coeff_1': 'SUM coeff: 1 coeff: -1', 'prod': 'PROD', 'prod_unstable':
    'PROD stable_prod_grad: false', 'max': 'MAX'}
for name, settings in ELTWISE.items():
    text = 'eltwise_param { operation: %s }' % settings
    add_layer('eltwise_' + name, {'x': (2, 3, 4), 'z': (2, 3, 4)}, 'Eltwise', text, ('x', 'z'))
    # Both bottoms are one blob: the MAX of equal values has no kink, since both operands change
    # together.
    add_layer('eltwise_%s_twice' % name, (3, 4), 'Eltwise', text, ('x', 'x'))
for name, settings in (('sum', 'SUM'), ('prod', 'PROD'), ('max', 'MAX'),
                       ('sum_coeff', 'SUM coeff: 2 coeff: -1 coeff: 0.25')):
    text = 'eltwise_param { operation: %s }' % settings
    add_layer('eltwise_%s_3' % name, {'x': (2, 5), 'z': (2, 5), 'u': (2, 5)}, 'Eltwise', text,
              ('x', 'z', 'u'))
    add_layer('eltwise_%s_3_twice' % name, {'x': (2, 5), 'z': (2, 5)}, 'Eltwise', text, ('x', 'z', 'x'))
    add('eltwise_%s_4' % name if 'coeff' not in name else 'eltwise_sum_in_place',
        {'x': (2, 5), 'z': (2, 5), 'u': (2, 5), 'v': (2, 5)} if 'coeff' not in name
        else {'x': (2, 5), 'z': (2, 5)},
        [Layer('layer', 'Eltwise', list('xzuv'), ['y'], text)] if 'coeff' not in name
        else [Layer('layer', 'Eltwise', ['x', 'z'], ['x'], 'eltwise_param { operation: SUM '
                    'coeff: 3 coeff: -1 }')],
        outputs=['y' if 'coeff' not in name else 'x'])


# --- Neurons ----------------------------------------------------------------
NEURONS = {
    'absval': ('AbsVal', ''), 'bnll': ('BNLL', ''),
    'clip': ('Clip', 'clip_param { min: -0.45 max: 0.6 }'),
    'clip_empty': ('Clip', 'clip_param { min: 0.2 max: -0.3 }'),
    'elu': ('ELU', ''), 'elu_alpha': ('ELU', 'elu_param { alpha: 0.3 }'),
    'elu_0': ('ELU', 'elu_param { alpha: 0 }'),
    'elu_negative': ('ELU', 'elu_param { alpha: -0.5 }'),
    'exp': ('Exp', ''), 'exp_affine': ('Exp', 'exp_param { scale: -2 shift: 0.3 }'),
    'exp_base': ('Exp', 'exp_param { base: 2.5 scale: 3 shift: -1 }'),
    'exp_base_1': ('Exp', 'exp_param { base: 1 }'),
    'log': ('Log', 'log_param { shift: 1.5 }'),
    'log_base': ('Log', 'log_param { base: 10 scale: -0.5 shift: 2 }'),
    'relu6': ('ReLU6', ''), 'relu6_leaky': ('ReLU6', 'relu6_param { negative_slope: 0.2 }'),
    'relu6_slope_negative': ('ReLU6', 'relu6_param { negative_slope: -0.2 }'),
    'hard_swish': ('HardSwish', ''), 'sigmoid': ('Sigmoid', ''), 'tanh': ('TanH', ''),
    'swish': ('Swish', ''), 'swish_beta': ('Swish', 'swish_param { beta: 1.702 }'),
    'mish': ('Mish', ''),
    'prelu_shared': ('PReLU', 'prelu_param { channel_shared: true }'),
    'prelu': ('PReLU', '')}
# Neurons without settings.
PLAIN_NEURONS = sorted({kind for kind, _ in NEURONS.values()} -
                       {kind for kind, settings in NEURONS.values() if settings})
# Ten times wider, to cross the bounds at 3 and 6.
WIDER = Layer('wider', 'Power', ['x'], ['w'], 'power_param { scale: 10 }')
for name, (kind, settings) in NEURONS.items():
    bottom = 'w' if kind in ('ReLU6', 'HardSwish') else 'x'
    for place, top in (('', 'y'), ('_in_place', bottom)):
        if kind == 'AbsVal' and place:
            continue  # Caffe refuses
        add(name + place, (2, 3, 4), ([WIDER] if bottom == 'w' else []) +
            [Layer('layer', kind, [bottom], [top], settings)], outputs=[top])
add_layer('dropout', (3, 5, 2), 'Dropout', 'dropout_param { dropout_ratio: 0.3 }')
add_layer('dropout_in_place', (3, 5, 2, 2), 'Dropout', top='x', outputs=['x'])
add_layer('dropout_unscaled', (3, 5, 2), 'Dropout',
          'dropout_param { dropout_ratio: 0.3 scale_train: false }')
add_layer('dropout_in_tests', (3, 5, 2), 'Dropout', 'dropout_param { dropout_ratio: 0.3 sample_weights_test: true }')
add_layer('dropout_nothing', (3, 5), 'Dropout', 'dropout_param { dropout_ratio: 0 }')
add_layer('prelu_matrix', (3, 4), 'PReLU')
add_layer('prelu_image', (2, 3, 2, 3), 'PReLU')
add('threshold_on_the_side', (2, 3), [
    Layer('t', 'Threshold', ['x'], ['t'], 'threshold_param { threshold: 0.1 }'),
    Layer('e', 'Eltwise', ['x', 't'], ['y'], 'eltwise_param { operation: PROD } '
          'propagate_down: true propagate_down: false')])

for name, shape, settings in (
        ('axis_1', (2, 3, 4), ''), ('bias', (2, 3, 4), 'bias_term: true'),
        ('axis_0', (2, 3), 'axis: 0 num_axes: 1'),
        ('axis_negative', (2, 3, 4), 'axis: -1 bias_term: true'),
        ('axes_2', (2, 3, 4, 2), 'axis: 1 num_axes: 2 bias_term: true'),
        ('axes_0', (2, 3), 'num_axes: 0 bias_term: true'),
        ('axes_all', (2, 3, 2), 'axis: 1 num_axes: -1'),
        ('axes_whole', (2, 3), 'axis: 0 num_axes: -1 bias_term: true')):
    add_layer('scale_' + name, shape, 'Scale', 'scale_param { %s }' % settings)
    add_layer('scale_%s_in_place' % name, shape, 'Scale', 'scale_param { %s }' % settings, top='x',
              outputs=['x'])
for name, shapes, settings in (
        ('same', ((2, 3), (2, 3)), 'axis: 0'), ('axis_1', ((2, 3, 2), (3,)), 'bias_term: true'),
        ('axes_2', ((2, 3, 2, 2), (3, 2)), 'axis: 1 bias_term: true'),
        ('last', ((2, 3, 4), (4,)), 'axis: -1')):
    add_layer('scale_bottom_' + name, dict(zip('xz', shapes)), 'Scale', 'scale_param { %s }' % settings,
              bottoms=('x', 'z'))
add_layer('scale_bottom_in_place', {'x': (2, 3), 'z': (3,)}, 'Scale', 'scale_param { bias_term: true }',
          bottoms=('x', 'z'), top='x', outputs=['x'])


# --- Normalisation ----------------------------------------------------------
STATISTICS = [('layer', i) for i in range(3)]
for name, settings in (('batchnorm', ''), ('batchnorm_eps', 'eps: 0.25 moving_average_fraction: 0.7'),
                       ('batchnorm_global', 'use_global_stats: true eps: 0.1')):
    for rank, shape in (('', (3, 4, 2, 3)), ('_5d', (2, 3, 2, 1, 2)), ('_matrix', (5, 3)),
                        ('_vector', (7,)), ('_one_channel', (4, 1, 3)), ('_odd', (2, 17, 3, 5))):
        add_layer(name + rank, shape, 'BatchNorm', 'batch_norm_param { %s }' % settings,
                  frozen=STATISTICS, positive=STATISTICS)
    add(name + '_in_place', (3, 4, 2, 3), [
        Layer('layer', 'BatchNorm', ['x'], ['x'], 'batch_norm_param { %s }' % settings),
        Layer('scale', 'Scale', ['x'], ['x'], 'scale_param { bias_term: true }'),
        Layer('sigmoid', 'Sigmoid', ['x'], ['x'])], outputs=['x'],
        frozen=STATISTICS, positive=STATISTICS)

# NVIDIA Caffe's, with scale and bias.
for name, settings in (('batchnorm_fused', 'scale_bias: true eps: 0.25'),
                       ('batchnorm_fused_global', 'scale_bias: true use_global_stats: true')):
    for rank, shape in (('', (3, 4, 2, 3)), ('_matrix', (5, 3)), ('_odd', (2, 17, 3, 5))):
        add_layer(name + rank, shape, 'BatchNorm', 'batch_norm_param { %s }' % settings,
                  frozen=STATISTICS, positive=STATISTICS)
    add_layer(name + '_in_place', (3, 4, 2, 3), 'BatchNorm', 'batch_norm_param { %s }' % settings,
              top='x', outputs=['x'], frozen=STATISTICS, positive=STATISTICS)

for name, settings, fixed in (
        ('bn', 'scale_filler { value: 2 } eps: 0.2', []), ('bn_none', 'bn_mode: INFERENCE', []),
        ('bn_running', 'momentum: 0.7', [2, 3]), ('bn_frozen', 'frozen: true eps: 0.2', [0, 1, 2, 3])):
    for place, top in (('', 'y'), ('_in_place', 'x')):
        add_layer(name + place, (3, 4, 2, 3), 'BN', 'bn_param { %s }' % settings, top=top, outputs=[top],
                  frozen=[('layer', i) for i in fixed], positive=[('layer', 3)])
# The further tops, the batch's statistics, have no gradient.
add('bn_statistics', (3, 4, 2, 3), [Layer('layer', 'BN', ['x'], ['y', 'mean', 'variance'],
                                          'bn_param { scale_filler { value: 2 } }')], outputs=['y'])
for name, shape, settings in (
        ('', (2, 7, 3, 2), 'alpha: 0.5'), ('size_3', (2, 4, 3, 2), 'local_size: 3 alpha: 2 k: 0.7'),
        ('beta_half', (1, 5, 2, 2), 'beta: 0.5 alpha: 1.5'),
        ('beta_1', (1, 5, 2, 2), 'beta: 1 alpha: 1.5'),
        ('beta_other', (1, 5, 2, 2), 'beta: 1.3 alpha: 1.5 k: 2'),
        ('wider_than_bottom', (1, 3, 2, 2), 'local_size: 9 alpha: 1.5'),
        ('size_1', (1, 3, 2, 2), 'local_size: 1 alpha: 1.5'),
        ('odd', (2, 17, 5, 7), 'alpha: 0.5'),
        ('within', (2, 3, 5, 4), 'norm_region: WITHIN_CHANNEL local_size: 3 alpha: 1.5'),
        ('within_5', (1, 2, 4, 7), 'norm_region: WITHIN_CHANNEL alpha: 1.5 beta: 0.6')):
    add_layer('lrn_' + name if name else 'lrn', shape, 'LRN', 'lrn_param { %s }' % settings)
for name, settings in (('', ''), ('across', 'across_channels: true'),
                       ('mean', 'normalize_variance: false'),
                       ('across_mean', 'across_channels: true normalize_variance: false')):
    add_layer('mvn_' + name if name else 'mvn', (2, 3, 4, 3), 'MVN', 'mvn_param { %s }' % settings)
add_layer('mvn_eps', (2, 3, 7), 'MVN', 'mvn_param { eps: 1e-10 }')
add_layer('mvn_3d', (2, 3, 7), 'MVN')
add_layer('mvn_matrix', (4, 5), 'MVN', 'mvn_param { across_channels: true }')
for name, settings in (('', ''), ('places', 'across_spatial: false'),
                       ('channels', 'channel_shared: false eps: 0.1'),
                       ('places_channels', 'across_spatial: false channel_shared: false')):
    add_layer('normalize_' + name if name else 'normalize', (2, 5, 3, 4), 'Normalize',
              'norm_param { %s }' % settings)
add_layer('normalize_matrix', (3, 5), 'Normalize', 'norm_param { channel_shared: false }')


# --- Reduction --------------------------------------------------------------
for kind in ('SUM', 'ASUM', 'SUMSQ', 'MEAN'):
    for axis, coeff in ((0, 1), (1, -0.5), (-1, 2)):
        name = 'reduction_%s_axis%d_coeff%g' % (kind.lower(), axis, coeff)
        add_layer(name.replace('-', 'm').replace('.', 'p'), (2, 3, 4), 'Reduction',
                  'reduction_param { operation: %s axis: %d coeff: %g }' % (kind, axis, coeff))
    add('reduction_%s_loss' % kind.lower(), (3, 4), [Layer(
        'layer', 'Reduction', ['x'], ['l'],
        'loss_weight: 1.5 reduction_param { operation: %s coeff: 2 }' % kind)], outputs=[])
add('reduction_rows_loss', (3, 4), [Layer(
    'layer', 'Reduction', ['x'], ['l'],
    'loss_weight: -0.5 reduction_param { operation: SUMSQ axis: 1 }')], outputs=[])


# --- Softmax ----------------------------------------------------------------
for axis, shape in ((1, (3, 5)), (1, (2, 3, 2, 3)), (0, (4, 3)), (-1, (2, 3, 4)), (2, (2, 2, 5, 2)),
                    (1, (3, 1))):
    add_layer('softmax_axis%s_rank%d_c%d' % (str(axis).replace('-', 'm'), len(shape), shape[axis]),
              shape,
              'Softmax', 'softmax_param { axis: %d }' % axis)
add_layer('softmax_in_place', (3, 5), 'Softmax', '', top='x', outputs=['x'])


def loss(name, shape, axis, settings, choices=None, label_shape=None):
    label_dims = tuple(d for i, d in enumerate(shape) if i != axis % len(shape))
    add('softmaxloss_' + name, shape, [Layer(
        'layer', 'SoftmaxWithLoss', ['x', 'label'], ['l'],
        'propagate_down: true propagate_down: false ' + settings)], outputs=[],
        labels={'label': (label_shape or label_dims, choices or list(range(shape[axis])))})

loss('plain', (4, 5), 1, '')
loss('label_column', (4, 5), 1, '', label_shape=(4, 1, 1, 1))
loss('weight', (4, 5), 1, 'loss_weight: 2.5')
loss('weight_negative', (4, 5), 1, 'loss_weight: -0.5')
loss('spatial', (2, 3, 2, 3), 1, 'loss_weight: 3')
loss('axis_0', (4, 3), 0, 'softmax_param { axis: 0 }')
loss('axis_last', (2, 3, 4), -1, 'softmax_param { axis: -1 }')
loss('axis_2', (2, 3, 4, 2), 2, 'softmax_param { axis: 2 } loss_weight: 2')
for mode in ('FULL', 'VALID', 'BATCH_SIZE', 'NONE'):
    text = 'loss_param { normalization: %s %s } loss_weight: 1.25'
    loss('%s' % mode.lower(), (2, 4, 3), 1, text % (mode, ''))
    loss('%s_ignore' % mode.lower(), (2, 4, 3), 1, text % (mode, 'ignore_label: 1'))
    loss('%s_ignore_outside' % mode.lower(), (2, 4, 3), 1, text % (mode, 'ignore_label: -1'),
         [-1, 0, 1, 2, 3])
loss('normalize_true', (2, 4, 3), 1, 'loss_param { ignore_label: 2 normalize: true }')
loss('normalize_false', (2, 4, 3), 1, 'loss_param { ignore_label: 2 normalize: false }')
loss('pre_fixed', (2, 4, 3), 1, 'loss_weight: 1.5 loss_param { normalization: PRE_FIXED '
     'pre_fixed_normalizer: 7 ignore_label: 1 }')
loss('ignore_255', (3, 4, 2, 2), 1, 'loss_param { ignore_label: 255 }', [0, 1, 2, 3, 255, 255])
loss('all_ignored', (3, 4), 1, 'loss_param { ignore_label: 2 }', [2])
WEIGHTS = ' '.join('class_weighting: %s' % w for w in (0.5, 2, 0, 3.25))
for mode in ('FULL', 'VALID', 'BATCH_SIZE', 'NONE'):
    loss('classes_%s' % mode.lower(), (3, 4, 2, 2), 1, 'loss_param { normalization: %s ignore_label: 1 '
         'weight_by_label_freqs: true %s } loss_weight: 2' % (mode, WEIGHTS))
loss('classes_axis', (2, 3, 4), -1, 'softmax_param { axis: -1 } loss_param { %s }' % WEIGHTS)
add('softmaxloss_prob_top', (4, 5), [
    Layer('layer', 'SoftmaxWithLoss', ['x', 'label'], ['l', 'p'],
          'propagate_down: true propagate_down: false loss_weight: 2 loss_weight: 0')],
    outputs=[], labels={'label': ((4,), [0, 1, 2, 3, 4])})


def label_loss(name, shape, kind, settings='', choices=None, propagate=2):
    """Adds a loss of scores against one label per item."""
    down = 'propagate_down: true ' + 'propagate_down: false ' * (propagate - 1)
    add(name, shape, [Layer('layer', kind, ['x', 'label'], ['l'], down + settings)], outputs=[],
        labels={'label': ((shape[0],), choices or list(range(shape[1])))})

label_loss('hinge_l1', (5, 4), 'HingeLoss')
label_loss('hinge_l2', (5, 4), 'HingeLoss', 'hinge_loss_param { norm: L2 } loss_weight: 2')
label_loss('hinge_spatial', (3, 2, 2, 2), 'HingeLoss', 'hinge_loss_param { norm: L2 }',
           [0, 3, 5, 7])
for name, shape, choices in (('', (4, 5), None), ('_spatial', (3, 3, 1, 1), [0, 1, 2])):
    add('multinomial' + name, shape, [
        Layer('s', 'Softmax', ['x'], ['p']),
        Layer('layer', 'MultinomialLogisticLoss', ['p', 'label'], ['l'],
              'propagate_down: true propagate_down: false loss_weight: 1.5')], outputs=[],
        labels={'label': ((shape[0],), choices or list(range(shape[1])))})


def infogain(name, shape, axis, settings, choices=None):
    label_dims = tuple(d for i, d in enumerate(shape) if i != axis % len(shape))
    classes = shape[axis]
    add('infogain_' + name, {'x': shape, 'h': (1, 1, classes, classes)}, [
        Layer('layer', 'InfogainLoss', ['x', 'label', 'h'], ['l'],
              'propagate_down: true propagate_down: false propagate_down: false '
              'infogain_loss_param { axis: %d } %s' % (axis, settings))],
        outputs=[], bare=['h'], labels={'label': (label_dims, choices or list(range(classes)))})

infogain('plain', (4, 5), 1, '')
infogain('spatial', (2, 3, 2, 2), 1, 'loss_weight: 2')
infogain('axis', (2, 2, 4), -1, 'loss_param { normalization: FULL }')
infogain('ignore', (4, 3, 2), 1, 'loss_param { ignore_label: 1 normalization: VALID }')
infogain('fixed', (4, 3), 1, 'loss_param { normalization: PRE_FIXED pre_fixed_normalizer: 3 }')
infogain('batch', (4, 3, 2), 1, 'loss_param { ignore_label: 1 normalization: BATCH_SIZE }')


def pair_loss(name, shapes, kind, settings='', **options):
    """Adds a loss of bottoms x, z, ..."""
    names = ['x', 'z', 'w', 'v'][:len(shapes)]
    add(name, dict(zip(names, shapes)), [Layer('layer', kind, names, ['l'], settings)],
        outputs=[], **options)

pair_loss('euclidean', [(4, 3, 2)] * 2, 'EuclideanLoss')
pair_loss('euclidean_weight', [(3, 2, 2, 3)] * 2, 'EuclideanLoss', 'loss_weight: -0.7')
pair_loss('euclidean_shapes', [(4, 6), (4, 3, 2, 1)], 'EuclideanLoss')
pair_loss('smooth_l1', [(4, 5)] * 2, 'SmoothL1Loss')
pair_loss('smooth_l1_sigma', [(4, 5)] * 2, 'SmoothL1Loss', 'smooth_l1_loss_param { sigma: 2.3 }')
pair_loss('smooth_l1_weights', [(2, 3, 2, 2)] * 4, 'SmoothL1Loss',
          'propagate_down: true propagate_down: true propagate_down: false propagate_down: false '
          'loss_weight: 3 smooth_l1_loss_param { sigma: 1.7 }', bare=['w', 'v'])
DOWN = 'propagate_down: true propagate_down: false '
pair_loss('smooth_l1_ohem_normalize', [(3, 4)] * 2, 'SmoothL1LossOHEM', 'loss_param { normalize: false }')
for mode in ('FULL', 'BATCH_SIZE', 'NONE', 'PRE_FIXED'):
    pair_loss('smooth_l1_ohem_%s' % mode.lower(), [(2, 3, 2, 2)] * 2, 'SmoothL1LossOHEM',
              'loss_param { normalization: %s %s }' % (mode, 'pre_fixed_normalizer: 5' * (mode == 'PRE_FIXED')))
add('smooth_l1_ohem_weights', {'x': (4, 3), 'z': (4, 3)}, [
    Layer('layer', 'SmoothL1LossOHEM', ['x', 'z', 'w'], ['l', 'each'],
          'propagate_down: true propagate_down: true propagate_down: false loss_weight: 2 loss_weight: 0')],
    outputs=[], labels={'w': ((4, 3), [0, 1])})
for name, settings in (('', ''), ('_fixed', 'normalization: PRE_FIXED pre_fixed_normalizer: 3'),
                       ('_ignore', 'ignore_label: 1 normalize: true')):
    add('softmax_ohem' + name, (3, 4, 2), [
        Layer('layer', 'SoftmaxWithLossOHEM', ['x', 'label'], ['l', 'p', 'each'], DOWN +
              'loss_weight: 2 loss_weight: 0 loss_weight: 0 softmax_param { axis: 1 } loss_param { %s }' % settings)],
        outputs=[], labels={'label': ((3, 2), list(range(4)))})
for name, settings in (('', ''), ('_full', 'loss_param { normalization: FULL }'),
                       ('_valid', 'loss_param { normalize: true }'),
                       ('_none', 'loss_param { normalization: NONE }'),
                       ('_fixed', 'loss_param { normalization: PRE_FIXED '
                        'pre_fixed_normalizer: 4 }')):
    add('sigmoid_ce' + name, (3, 4), [
        Layer('layer', 'SigmoidCrossEntropyLoss', ['x', 'label'], ['l'], DOWN + settings)],
        outputs=[], labels={'label': ((3, 4), [0, 1, 0.3])})
for mode in ('VALID', 'BATCH_SIZE'):
    add('sigmoid_ce_ignore_%s' % mode.lower(), (2, 3, 2, 2), [
        Layer('layer', 'SigmoidCrossEntropyLoss', ['x', 'label'], ['l'],
              DOWN + 'loss_param { ignore_label: 2 normalization: %s }' % mode)],
        outputs=[], labels={'label': ((2, 3, 2, 2), [0, 1, 2])})
# Only the legacy version: Caffe's other gradient divides by the distance plus 1e-4, so it is not
# the exact derivative; a recorded case covers it.
add('contrastive_legacy', {'x': (6, 3), 'z': (6, 3)}, [
    Layer('layer', 'ContrastiveLoss', ['x', 'z', 'label'], ['l'],
          'propagate_down: true propagate_down: true propagate_down: false '
          'contrastive_loss_param { margin: 1.5 legacy_version: true }')], outputs=[],
    labels={'label': ((6,), [0, 1])})


# --- Recurrent layers -----------------------------------------------------------
FILL = 'weight_filler { type: "uniform" min: -0.5 max: 0.5 } bias_filler { type: "uniform" }'


def recurrent(name, kind, x, states=0, static=None, outputs=3, text='', **options):
    """Adds a sequence layer that exposes `states` hidden blobs."""
    steps, streams = x[:2]
    inputs, bottoms, tops = {'x': x}, ['x', 'cont'], ['y']
    if static:
        inputs['s'] = static
        bottoms.append('s')
    for i in range(states):
        inputs['h%d' % i] = (1, streams, outputs)
        bottoms.append('h%d' % i)
        tops.append('t%d' % i)
    settings = text + ' recurrent_param { num_output: %d %s %s }' % (
        outputs, FILL, 'expose_hidden: true' if states else '')
    add(name, inputs, [Layer('layer', kind, bottoms, tops, settings)], outputs=tops,
        labels={'cont': ((steps, streams), [0, 1, 1])}, **options)

for kind, states in (('LSTM', 2), ('RNN', 1)):
    recurrent(kind.lower(), kind, (4, 2, 3))
    recurrent(kind.lower() + '_one_step', kind, (1, 3, 2))
    recurrent(kind.lower() + '_image', kind, (3, 2, 2, 2))
    recurrent(kind.lower() + '_static', kind, (3, 2, 2), static=(2, 4))
    # Frozen parameters of a layer with a backward pass get gradients, too.
    count = {'LSTM': 3, 'RNN': 5}[kind]
    recurrent(kind.lower() + '_frozen', kind, (3, 2, 2), text='param { lr_mult: 0 } ' * count)
    recurrent(kind.lower() + '_frozen_but_one', kind, (3, 2, 2), bare=['x'],
              text='param { lr_mult: 0 } param { } ' + 'param { lr_mult: 0 } ' * (count - 2))
    recurrent(kind.lower() + '_exposed', kind, (3, 2, 3), states=states)
    recurrent(kind.lower() + '_exposed_static', kind, (2, 3, 2), states=states, static=(3, 2, 2))
add('lstm_unit', {'c': (1, 3, 2), 'x': (1, 3, 8)}, [
    Layer('layer', 'LSTMUnit', ['c', 'x', 'cont'], ['y', 'z'])], outputs=['y', 'z'],
    labels={'cont': ((1, 3), [0, 1])})
add('lstm_unit_h_only', {'c': (1, 2, 3), 'x': (1, 2, 12)}, [
    Layer('layer', 'LSTMUnit', ['c', 'x', 'cont'], ['y', 'z']),
    Layer('quiet', 'Silence', ['y'], [])], outputs=['z'], labels={'cont': ((1, 2), [1])})


# --- Graphs -----------------------------------------------------------------
IP = 'inner_product_param { num_output: %d }'
SQUARE = 'power_param { power: 2 scale: 0.5 shift: 0.3 }'

add('split', (2, 3), [Layer('s', 'Split', ['x'], ['a', 'b', 'c']),
                      Layer('p', 'Power', ['a'], ['y'], SQUARE),
                      Layer('q', 'ReLU', ['b'], ['y2'])], outputs=['y', 'y2', 'c'])
add('split_unused_top', (2, 3), [Layer('s', 'Split', ['x'], ['a', 'b']),
                                 Layer('p', 'Power', ['a'], ['y'], SQUARE),
                                 Layer('z', 'Silence', ['b'], [])])
add('many_users', (2, 3), [Layer('p', 'Power', ['x'], ['a'], SQUARE),
                           Layer('i', 'InnerProduct', ['x'], ['b'], IP % 3),
                           Layer('s', 'Softmax', ['x'], ['c']),
                           Layer('e', 'Eltwise', ['a', 'b', 'c', 'x'], ['y'],
                                 'eltwise_param { operation: PROD }')])
add('diamond', (2, 2, 4, 4), [
    Layer('a', 'Convolution', ['x'], ['a'], 'convolution_param { num_output: 2 kernel_size: 1 }'),
    Layer('r', 'ReLU', ['a'], ['a'], 'relu_param { negative_slope: 0.1 }'),
    Layer('b', 'Convolution', ['a'], ['b'],
          'convolution_param { num_output: 2 kernel_size: 3 pad: 1 }'),
    Layer('e', 'Eltwise', ['a', 'b'], ['e']), Layer('f', 'ReLU', ['e'], ['e']),
    Layer('i', 'InnerProduct', ['e'], ['y'], IP % 3)])
add('in_place_chain', (3, 4), [Layer('i', 'InnerProduct', ['x'], ['a'], IP % 5),
                               Layer('p', 'Power', ['a'], ['a'], SQUARE),
                               Layer('b', 'Bias', ['a'], ['a']),
                               Layer('q', 'Power', ['a'], ['a'], SQUARE),
                               Layer('r', 'ReLU', ['a'], ['a'],
                                     'relu_param { negative_slope: 0.2 }'),
                               Layer('j', 'InnerProduct', ['a'], ['y'], IP % 2)])
add('in_place_twice_relu', (3, 4), [Layer('i', 'InnerProduct', ['x'], ['a'], IP % 5),
                                    Layer('r', 'ReLU', ['a'], ['a'],
                                          'relu_param { negative_slope: 0.2 }'),
                                    Layer('s', 'ReLU', ['a'], ['a'])], outputs=['a'])
add('loss_in_the_middle', (3, 4), [
    Layer('i', 'InnerProduct', ['x'], ['a'], 'loss_weight: 0.5 ' + IP % 4),
    Layer('p', 'Power', ['a'], ['y'], 'loss_weight: -2 ' + SQUARE)])
add('losses_of_one_layer', (3, 4), [
    Layer('s', 'Split', ['x'], ['a', 'b'], 'loss_weight: 0.5 loss_weight: -2'),
    Layer('p', 'Power', ['b'], ['y'], SQUARE)])
add('loss_of_an_input', (3, 4), [Layer('p', 'Power', ['x'], ['a'], 'loss_weight: 3'),
                                 Layer('q', 'Power', ['x'], ['y'], SQUARE)])
add('two_losses', {'x': (4, 3)}, [
    Layer('i', 'InnerProduct', ['x'], ['a'], IP % 4), Layer('r', 'ReLU', ['a'], ['a']),
    Layer('l1', 'SoftmaxWithLoss', ['a', 'label'], ['l1'], 'loss_weight: 0.3'),
    Layer('j', 'InnerProduct', ['a'], ['b'], IP % 4),
    Layer('l2', 'SoftmaxWithLoss', ['b', 'label'], ['l2'], 'loss_weight: 2')],
    outputs=[], labels={'label': ((4,), [0, 1, 2, 3])})

SHARE = 'param { name: "w" } param { name: "b" } ' + IP % 4
add('shared_siblings', {'x': (2, 3), 'z': (2, 3)}, [
    Layer('i', 'InnerProduct', ['x'], ['y'], SHARE),
    Layer('j', 'InnerProduct', ['z'], ['y2'], SHARE)], outputs=['y', 'y2'],
    shared={('j', 0): ('i', 0), ('j', 1): ('i', 1)})
add('shared_by_images', {'x': (2, 3, 2, 2), 'z': (4, 3, 2, 2)}, [
    Layer('i', 'InnerProduct', ['x'], ['y'], SHARE),
    Layer('j', 'InnerProduct', ['z'], ['y2'], SHARE)], outputs=['y', 'y2'],
    shared={('j', 0): ('i', 0), ('j', 1): ('i', 1)})
add('shared_in_a_row', (2, 4), [
    Layer('i', 'InnerProduct', ['x'], ['a'], SHARE), Layer('r', 'Power', ['a'], ['a'], SQUARE),
    Layer('j', 'InnerProduct', ['a'], ['b'], SHARE),
    Layer('k', 'InnerProduct', ['b'], ['y'], SHARE)],
    shared={(n, i): ('i', i) for n in 'jk' for i in (0, 1)})
add('shared_bias_only', (2, 3), [
    Layer('i', 'InnerProduct', ['x'], ['a'], 'param { } param { name: "b" } ' + IP % 4),
    Layer('b', 'Bias', ['a'], ['y'], 'param { name: "b" }')], shared={('b', 0): ('i', 1)})
add('shared_convolution', (1, 2, 5, 5), [
    Layer(n, 'Convolution', [a], [b], 'param { name: "w" } param { name: "b" } '
          'convolution_param { num_output: 2 kernel_size: 3 pad: 1 }')
    for n, a, b in (('i', 'x', 'a'), ('j', 'a', 'y'))],
    shared={('j', 0): ('i', 0), ('j', 1): ('i', 1)})

add('frozen_weights', (2, 3), [
    Layer('i', 'InnerProduct', ['x'], ['a'], 'param { lr_mult: 0 } param { lr_mult: 2 } ' + IP % 4),
    Layer('p', 'Power', ['a'], ['a'], SQUARE),
    Layer('j', 'InnerProduct', ['a'], ['y'], 'param { } param { lr_mult: 0 } ' + IP % 2)],
    frozen=[('i', 0), ('j', 1)])
add('frozen_convolution', (1, 2, 4, 4), [
    Layer('c', 'Convolution', ['x'], ['a'], 'param { lr_mult: 0 } param { lr_mult: 0 } '
          'convolution_param { num_output: 3 kernel_size: 3 }'),
    Layer('d', 'Convolution', ['a'], ['y'], 'param { lr_mult: 0 } '
          'convolution_param { num_output: 2 kernel_size: 2 }')],
    frozen=[('c', 0), ('c', 1), ('d', 0)])
add('frozen_first_layer', (2, 3), [
    Layer('i', 'InnerProduct', ['x'], ['a'], 'param { lr_mult: 0 } param { lr_mult: 0 } ' + IP % 4),
    Layer('r', 'ReLU', ['a'], ['a']), Layer('j', 'InnerProduct', ['a'], ['y'], IP % 2)],
    frozen=[('i', 0), ('i', 1)], bare=['x'])
add('blocked_bottom', (2, 3), [
    Layer('i', 'InnerProduct', ['x'], ['a'], IP % 4),
    Layer('j', 'InnerProduct', ['x'], ['b'], IP % 4),
    Layer('e', 'Eltwise', ['a', 'b'], ['y'], 'eltwise_param { operation: PROD } '
          'propagate_down: true propagate_down: false')])
add('blocked_branch', (2, 3), [
    Layer('p', 'Power', ['x'], ['a'], SQUARE + ' propagate_down: false'),
    Layer('e', 'Eltwise', ['a', 'x'], ['y'], 'eltwise_param { operation: PROD }')])
add('blocked_tail', (2, 3), [
    Layer('i', 'InnerProduct', ['x'], ['a'], IP % 4),
    Layer('p', 'Power', ['a'], ['b'], SQUARE + ' propagate_down: false'),
    Layer('r', 'TanH', ['b'], ['c']), Layer('j', 'InnerProduct', ['c'], ['y'], IP % 2)])
add('blocked_convolution', (1, 2, 4, 4), [
    Layer('c', 'Convolution', ['x'], ['y'], 'propagate_down: false '
          'convolution_param { num_output: 3 kernel_size: 3 }')])
add('force_backward', {'x': (2, 3), 'z': (2, 3)}, [
    Layer('i', 'InnerProduct', ['x'], ['a'], IP % 3),
    Layer('e', 'Eltwise', ['a', 'z'], ['b'], 'eltwise_param { operation: PROD }'),
    Layer('l', 'SoftmaxWithLoss', ['b', 'label'], ['l'])],
    outputs=[], labels={'label': ((2,), [0, 1, 2])}, bare=['x', 'z'], net='force_backward: true')
add('force_backward_frozen', {'x': (2, 3), 'z': (2, 3)}, [
    Layer('i', 'InnerProduct', ['x'], ['a'], IP % 3 + ' param { lr_mult: 0 } param { lr_mult: 0 }'),
    Layer('e', 'Eltwise', ['a', 'z'], ['y'], 'eltwise_param { operation: PROD }')],
    bare=['x', 'z'], net='force_backward: true')
add('unused_branch', (2, 3), [
    Layer('i', 'InnerProduct', ['x'], ['y'], IP % 4),
    Layer('j', 'InnerProduct', ['x'], ['unused'], IP % 2)])

add('lenet_small', {'x': (2, 1, 12, 12)}, [
    Layer('c1', 'Convolution', ['x'], ['c1'], 'convolution_param { num_output: 3 kernel_size: 3 }'),
    Layer('p1', 'Pooling', ['c1'], ['p1'], 'pooling_param { kernel_size: 2 stride: 2 }'),
    Layer('c2', 'Convolution', ['p1'], ['c2'], 'convolution_param { num_output: 4 kernel_size: 2 }'),
    Layer('p2', 'Pooling', ['c2'], ['p2'], 'pooling_param { pool: AVE kernel_size: 3 stride: 2 }'),
    Layer('i1', 'InnerProduct', ['p2'], ['i1'], IP % 6), Layer('r1', 'ReLU', ['i1'], ['i1']),
    Layer('i2', 'InnerProduct', ['i1'], ['i2'], IP % 5),
    Layer('l', 'SoftmaxWithLoss', ['i2', 'label'], ['l'])],
    outputs=[], labels={'label': ((2,), [0, 1, 2, 3, 4])})
add('cifar_small', {'x': (2, 3, 9, 9)}, [
    Layer('c1', 'Convolution', ['x'], ['c1'],
          'convolution_param { num_output: 4 kernel_size: 5 pad: 2 }'),
    Layer('p1', 'Pooling', ['c1'], ['p1'], 'pooling_param { kernel_size: 3 stride: 2 }'),
    Layer('r1', 'ReLU', ['p1'], ['p1']),
    Layer('c2', 'Convolution', ['p1'], ['c2'],
          'convolution_param { num_output: 3 kernel_size: 3 pad: 1 }'),
    Layer('r2', 'ReLU', ['c2'], ['c2']),
    Layer('p2', 'Pooling', ['c2'], ['p2'], 'pooling_param { pool: AVE kernel_size: 3 stride: 2 }'),
    Layer('i1', 'InnerProduct', ['p2'], ['i1'], IP % 6),
    Layer('i2', 'InnerProduct', ['i1'], ['i2'], IP % 4),
    Layer('l', 'SoftmaxWithLoss', ['i2', 'label'], ['l'], 'loss_weight: 1.5')],
    outputs=[], labels={'label': ((2,), [0, 1, 2, 3])})


# --- Expression --------------------------------------------------------------
def expr(name, formula, shape=(2, 3, 4), params='', **options):
    """Adds a formula over x, and over z if it reads z."""
    inputs = {'x': shape, 'z': shape} if re.search(r'\bz\b', formula) else {'x': shape}
    settings = 'expression_param { expr: "%s" %s }' % (formula, params)
    add('formula_' + name, inputs, [Layer('layer', 'Expression', list(inputs), ['y'], settings)],
        **options)

expr('arithmetic', '-x * z + x / (z * z + 1) - 3.5')
expr('quick_gelu', 'x * sigmoid(1.702 * x) + 0.5 * z')
expr('gelu', '0.5 * x * (1 + erf(x / sqrt(2)))')
expr('mish', 'x * tanh(softplus(x))')
expr('swish', 'x / (1 + exp(-x))')
expr('functions', 'sin(x) * cos(z) + exp(-x) * expm1(z) + tanh(x - z) - erf(2 * x)')
expr('angles', 'acos(0.3 * x) + asin(0.3 * z) * atan(x) + tan(x / 2) * sinh(z) - cosh(x)')
expr('roots', 'sqrt(x) + rsqrt(z) + log(x) * log1p(z)', draw='positive')
expr('powers', 'x ^ 2 - x ^ 3 + x ^ 5 + 2 ^ x + x ^ -2', draw='positive')
expr('general_power', 'x ^ z + pow(z, 1.7)', draw='positive')
expr('choice', 'x > 0 ? x * x : 0.1 * x')
expr('logic', 'select(x > 0 && z > 0 || !(x < z), x * z, x - z)')
expr('extremes', 'max(x, z, 0.33) + min(x, z) * relu(x) + abs(z)')
expr('steps', 'x * floor(3 * z) + sign(x) * z + ceil(z) * (x >= 0.1)')
# The branch not taken has no derivative there; its NaN must not propagate.
expr('guarded', 'x > 0.2 ? sqrt(x) + log(x) : z * x')
expr('constant', '2')
expr('other_bottom_only', 'z', bare=['x'])
expr('scalar_parameter', 'param(0) * x', params='param { }')
expr('vector_parameters', 'param(0) * max(x, 0) + param(1) * min(x, 0) + param(2)',
     params='param { axis: 1 } param { axis: 2 } param { }')
expr('parameter_twice', 'param(0) * x + sin(param(0) * x)', params='param { axis: 0 }')
expr('unlearned', 'exp(param(0)) * x', params='param { axis: 1 }')
add('formula_broadcast', {'x': (2, 3, 4), 'z': (2, 3), 's': (2,)},
    [Layer('layer', 'Expression', ['s', 'x', 'z'], ['y'],
           'expression_param { expr: "tanh(x * z) + s * x" }')])
add('formula_in_place', {'x': (2, 5)},
    [Layer('layer', 'Expression', ['x'], ['a'], 'expression_param { expr: "2 * x + 1" }'),
     Layer('again', 'Expression', ['a'], ['a'], 'expression_param { expr: "a * tanh(a)" }'),
     Layer('relu', 'ReLU', ['a'], ['y'])])
add('formula_names', {'x': (2, 3)},
    [Layer('first', 'Expression', ['x'], ['block/a'], 'expression_param { expr: "x * x" }'),
     Layer('layer', 'Expression', ['block/a', 'x'], ['y'],
           'expression_param { expr: "\'block/a\' * bottom(1)" }')])
