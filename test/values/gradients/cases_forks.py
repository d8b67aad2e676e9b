"""Gradients of layers of Caffe's forks; see cases.py and cases_random.py."""
from cases import Layer, add, add_layer
from cases_random import elementwise, random_cases

FILL = 'weight_filler { type: "uniform" min: -0.5 max: 0.5 } bias_filler { type: "uniform" }'
DOWN = 'propagate_down: true propagate_down: false '

# --- Functions ------------------------------------------------------------------
# Ten times wider than the inputs, to cross bounds, or narrower, to stay in a domain.
for name, kind, scale, settings in (
        ('arccos', 'Arccos', 0.3, ''), ('atan', 'Atan', 10, ''), ('cosine', 'Cosine', 3, ''), ('sin', 'Sin', 3, ''),
        ('ceil', 'Ceil', 3.3, ''), ('floor', 'Floor', 3.3, ''), ('round', 'Round', 3.3, ''),
        ('hard_tanh', 'HardTanH', 3, ''), ('softplus', 'Softplus', 10, ''), ('softsign', 'Softsign', 10, ''),
        ('hard_sigmoid', 'HardSigmoid', 10, ''),
        ('hard_sigmoid_steep', 'HardSigmoid', 1, 'hard_sigmoid_param { alpha: 1.7 beta: -0.2 }'),
        ('scaled_tanh', 'ScaledTanH', 1, 'scaled_tanh_param { alpha: 1.7159 beta: 0.6667 }'),
        ('selu', 'SeLU', 3, ''), ('selu_settings', 'SeLU', 3, 'selu_param { alpha: 0.7 lambda: 2 }'),
        ('thresholded_relu', 'ThresholdedReLU', 3, 'thresholded_relu_param { alpha: 0.6 }'),
        ('truncation', 'Truncation', 3, 'truncation_param { lower_bound: -0.7 upper_bound: 1.9 }')):
    add('function_' + name, (2, 3, 4), [
        Layer('scale', 'Power', ['x'], ['w'], 'power_param { scale: %g }' % scale),
        Layer('layer', kind, ['w'], ['w' if 'steep' in name else 'y'], settings)],
        outputs=['w' if 'steep' in name else 'y'])
for kind in ('Atan', 'Ceil', 'Cosine', 'Floor', 'HardTanH', 'SeLU', 'Sin', 'Softplus', 'Softsign',
             'ThresholdedReLU'):
    elementwise(kind)
elementwise('HardSigmoid', lambda d: 'hard_sigmoid_param { alpha: %g beta: %g }' % (d.real(0.1, 2), d.real(0, 1)))
elementwise('ScaledTanH', lambda d: 'scaled_tanh_param { alpha: %g beta: %g }' % (d.real(0.1, 2), d.real(-2, 2)))
elementwise('Truncation', lambda d: 'truncation_param { lower_bound: %g upper_bound: %g }' % (
    d.real(-0.8, -0.1), d.real(0.1, 0.8)))


for kind in ('Arccos', 'Round'):  # within the domain, and not at a jump
    @random_cases(kind, 1)
    def _(name, d, kind=kind):
        add(name, d.shape(), [Layer('scale', 'Power', ['x'], ['w'], 'power_param { scale: 0.3 }'),
                              Layer('layer', kind, ['w'], ['y'])])


# --- Shapes ---------------------------------------------------------------------
add_layer('flip_columns', (2, 3, 4, 5), 'Flip')
add_layer('flip_rows', (2, 3, 4, 5), 'Flip', 'flip_param { flip_width: false flip_height: true }')
add_layer('flip_nothing', (2, 3), 'Flip', 'flip_param { flip_width: false }')
add_layer('pad', (2, 3, 4), 'Pad', 'pad_param { paddings: 0 paddings: 0 paddings: 2 paddings: 1 paddings: 0 '
          'paddings: 3 constant_values: -1.5 }')
add_layer('pad_nothing', (2, 3), 'Pad', 'pad_param { paddings: [0, 0, 0, 0] }')
add_layer('upsample_darknet', (1, 2, 3, 2), 'UpsampleDarknet', 'upsample_darknet_param { stride: 3 }')


@random_cases('Flip')
def _(name, d):
    add_layer(name, d.shape(4), 'Flip', 'flip_param { flip_width: %s flip_height: %s }' % (d.flag(), d.flag()))


@random_cases('Pad')
def _(name, d):
    shape = d.shape()
    add_layer(name, shape, 'Pad', 'pad_param { %s constant_values: %g }' % (
        ' '.join('paddings: %d' % d.size(0, 2) for _ in 2 * shape), d.real(-1, 1)))


@random_cases('UpsampleDarknet', 1)
def _(name, d):
    add_layer(name, d.shape(4), 'UpsampleDarknet', 'upsample_darknet_param { stride: %d }' % d.size(1, 3))


# --- Arrays -----------------------------------------------------------------------
ARRAYS = ('Add', 'Div', 'Maximum', 'Minimum', 'Mul', 'Pow', 'Sub')
for kind in ARRAYS:
    for name, shapes in (('', ((2, 3, 4), (2, 3, 4))), ('_rows', ((2, 3, 4), (3, 1))), ('_both', ((2, 1, 4), (3, 1)))):
        add_layer('array_%s%s' % (kind.lower(), name), dict(zip('xz', shapes)), kind, '', 'xz', draw='positive')
add_layer('array_mul_blob', (2, 3, 4), 'Mul', 'mul_param { mul_shape: 3 mul_shape: 1 }')
add_layer('array_matmul', {'x': (2, 3, 4), 'z': (2, 4, 5)}, 'MatMul', '', 'xz')
add_layer('array_matmul_transposed', {'x': (2, 4, 3), 'z': (2, 5, 4)}, 'MatMul',
          'matmul_param { transpose_a: true transpose_b: true }', 'xz')
add_layer('array_matmul_blob', (2, 3, 4), 'MatMul', 'matmul_param { blob_shape: 4 blob_shape: 2 }')
add_layer('array_matrix_multiplication', {'x': (4, 3), 'z': (2, 3, 2)}, 'MatrixMultiplication', '', 'xz')


def shapes_to_broadcast(d):
    """Returns two shapes that are broadcast to one."""
    full = d.shape(1, 4)
    shapes = [tuple(d.choose(1, n) for n in full)[d.size(0, len(full)):] for _ in range(2)]
    return shapes if all(shapes) else [full, full[1:] or (1,)]


for kind in ARRAYS:
    @random_cases(kind)
    def _(name, d, kind=kind):
        add_layer(name, dict(zip('xz', shapes_to_broadcast(d))), kind, '', 'xz', draw='positive')


for kind in ('MatMul', 'MatrixMultiplication'):
    @random_cases(kind)
    def _(name, d, kind=kind):
        batch, rows, inner, columns = d.shape(0, 2), d.size(1, 4), d.size(1, 4), d.size(1, 4)
        add_layer(name, {'x': batch + (rows, inner), 'z': d.choose(batch, ()) + (inner, columns)}, kind, '', 'xz')


# --- Resizing ---------------------------------------------------------------------
for name, settings in (('plain', ''), ('aligned', 'align_corners: true'), ('centers', 'half_pixel_centers: true'),
                       ('pytorch', 'pytorch_half_pixel: true')):
    for size in ((6, 7), (2, 3), (1, 1)):
        add_layer('resize_bilinear_%s_%d' % (name, size[0]), (2, 2, 3, 5), 'ResizeBilinear', 'resize_bilinear_param { '
                  'data_format: "NCHW" output_height: %d output_width: %d %s }' % (size + (settings,)))
for name, settings in (('plain', ''), ('aligned', 'align_corners: true'), ('centers', 'half_pixel_centers: true'),
                       ('onnx', 'half_pixel_onnx: true')):
    for size in ((6, 7), (2, 3)):
        add_layer('resize_nearest_%s_%d' % (name, size[0]), (2, 2, 3, 5), 'ResizeNearestNeighbor',
                  'resize_nearest_neighbor_param { data_format: "NCHW" output_height: %d output_width: %d %s }' % (
                      size + (settings,)))
add_layer('resize_bilinear_scale', (1, 3, 4, 2), 'ResizeBilinear',
          'resize_bilinear_param { scale_height: 2.4 scale_width: 0.5 }')
add_layer('resize_nearest_scale', (1, 3, 4, 2), 'ResizeNearestNeighbor',
          'resize_nearest_neighbor_param { scale_height: 2.4 scale_width: 0.5 }')
add_layer('resize_images', (2, 2, 3, 5), 'Resize', 'resize_param { height: 5 width: 4 }')
add_layer('resize_pyramid', (2, 2, 3, 5), 'Resize',
          'resize_param { is_pyramid_test: true out_height_scale: 2.1 out_width_scale: 0.7 }')
add_layer('crop_center', (2, 3, 5, 6), 'CropCenter', 'crop_center_param { crop_size: [0, 1, 2, 1] }')


@random_cases('ResizeBilinear')
def _(name, d):
    add_layer(name, d.shape(4, 4), 'ResizeBilinear', 'resize_bilinear_param { output_height: %d output_width: %d '
              'data_format: "%s" %s }' % (d.size(1, 9), d.size(1, 9), d.choose('NCHW', 'NHWC'), d.choose(
                  'align_corners: true', 'half_pixel_centers: true', 'pytorch_half_pixel: true', '')))


@random_cases('ResizeNearestNeighbor')
def _(name, d):
    add_layer(name, d.shape(4, 4), 'ResizeNearestNeighbor', 'resize_nearest_neighbor_param { output_height: %d '
              'output_width: %d data_format: "%s" %s }' % (
                  d.size(1, 9), d.size(1, 9), d.choose('NCHW', 'NHWC'),
                  d.choose('align_corners: true', 'half_pixel_centers: true', 'half_pixel_onnx: true', '')))


@random_cases('Resize')
def _(name, d):
    add_layer(name, d.shape(4, 4), 'Resize', 'resize_param { height: %d width: %d }' % (d.size(1, 9), d.size(1, 9)))


@random_cases('CropCenter')
def _(name, d):
    crops = [d.size(0, 2) for _ in range(d.size(1, 4))]
    add_layer(name, tuple(2 * n + d.size(1, 3) for n in crops), 'CropCenter', 'crop_center_param { %s }' % ' '.join(
        'crop_size: %d' % n for n in crops))


# --- Normalization ----------------------------------------------------------------
add_layer('layer_norm_items', (3, 2, 3, 2), 'LayerNorm', 'layer_norm_param { eps: 0.3 }')
add_layer('layer_norm_plain_items', (3, 4), 'LayerNorm', 'layer_norm_param { elementwise_affine: false }')
add_layer('layer_norm_channels', (2, 3, 5), 'LayerNorm')
add_layer('layer_norm_vectors', (3, 5), 'LayerNorm', 'layer_norm_param { epsilon: 0.2 }')
add_layer('normalize_unit', (2, 4, 2, 3), 'Normalize')
add_layer('normalize_unit_vectors', (3, 5), 'Normalize',
          'normalize_param { normalize_type: "L2" bp_norm: false fix_gradient: false }')
add_layer('normalization2', (2, 3, 2, 2), 'Normalization2',
          'normalization2_param { across_spatial: false channel_shared: false eps: 0.1 }')


add_layer('grn', (2, 4, 2, 3), 'GRN', 'grn_param { bias: 0.01 dummy_backward: false }')
add_layer('l2_norm', (3, 5), 'L2Norm')
add_layer('l2_norm_of_images', (2, 4, 2, 3), 'L2Norm')
for kind in ('L1', 'L2'):
    for bp_norm in ('true', 'false'):
        add('normalize_%s_norms_%s' % (kind, bp_norm), (2, 4, 2, 3), [
            Layer('layer', 'Normalize', ['x'], ['y', 'n'], 'normalize_param { normalize_type: "%s" bp_norm: %s }' % (
                kind, bp_norm))], outputs=['y', 'n'] if bp_norm == 'true' else ['y'])


@random_cases('GRN', 1)
def _(name, d):
    add_layer(name, d.shape(2, 4), 'GRN', 'grn_param { bias: %g }' % d.real(0.01, 1))


@random_cases('L2Norm', 1)
def _(name, d):
    add_layer(name, d.shape(2, 4), 'L2Norm')


@random_cases('LayerNorm')
def _(name, d):
    add_layer(name, d.shape(2, 4), 'LayerNorm', d.choose('layer_norm_param { eps: %g }', 'layer_norm_param { epsilon: %g }')
              % d.real(0.01, 1))


@random_cases('Normalization2', 1)
def _(name, d):
    add_layer(name, d.shape(2, 4), 'Normalization2', 'normalization2_param { across_spatial: %s }' % d.flag())


# --- Losses -----------------------------------------------------------------------
add('l1_loss', {'x': (3, 2, 4), 'z': (3, 2, 4)},
    [Layer('layer', 'L1Loss', ['x', 'z'], ['l'], 'loss_weight: 0.7')], outputs=[])
add('triplet_loss', {'x': (5, 3), 'z': (5, 3), 'u': (5, 3)}, [
    Layer('layer', 'TripletLoss', ['x', 'z', 'u'], ['l'], 'triplet_loss_param { margin: 0.3 }')], outputs=[])
add('triplet_loss_one_gradient', {'x': (4, 2), 'z': (4, 2), 'u': (4, 2)}, [
    Layer('layer', 'TripletLoss', ['x', 'z', 'u'], ['l'], 'loss_weight: 2 propagate_down: false '
          'propagate_down: true propagate_down: false')], outputs=[], bare=['x', 'u'])
for losstype in range(3):
    add('triplet_loss_of_sets_%d' % losstype, {'x': (8, 3)}, [
        Layer('layer', 'TripletLoss', ['x', 'label'], ['l'], DOWN + 'triplet_loss_param { margin: 0.4 losstype: %d '
              'num_negatives: 2 use_pair: %d }' % (losstype, losstype % 2))], outputs=[], labels={'label': ((8,), [0, 1])})
add('triplet_loss_num_triplets', {'x': (6, 2, 2)}, [
    Layer('layer', 'TripletLoss', ['x', 'label'], ['l'], DOWN + 'loss_weight: 0.5 triplet_loss_param { losstype: 0 '
          'num_triplets: 1 }')], outputs=[], labels={'label': ((6,), [0, 1])})
# The gradient of the centers is not that of the loss; test_fork_layers.py checks it.
add('center_loss', {'x': (6, 2, 2)}, [
    Layer('layer', 'CenterLoss', ['x', 'label'], ['l'], DOWN + 'loss_weight: 0.3 param { lr_mult: 0 } '
          'center_loss_param { num_output: 4 axis: 1 distance_type: "L2" }')], outputs=[],
    labels={'label': ((6,), [0, 1, 3])}, frozen=[('layer', 0)])
add('label_specific_add', {'x': (4, 5)}, [
    Layer('layer', 'LabelSpecificAdd', ['x', 'label'], ['y'], DOWN + 'label_specific_add_param { bias: -0.35 '
          'transform_test: false }')], labels={'label': ((4,), list(range(5)))})
add('l1_loss_of_other_shapes', {'x': (3, 2, 4), 'z': (3, 8)},
    [Layer('layer', 'L1Loss', ['x', 'z'], ['l'])], outputs=[])
add('center_loss_absolute', {'x': (6, 4)}, [
    Layer('layer', 'CenterLoss', ['x', 'label'], ['l'], DOWN + 'param { lr_mult: 0 } '
          'center_loss_param { num_output: 4 distance_type: "L1" }')], outputs=[],
    labels={'label': ((6,), [0, 1, 3])}, frozen=[('layer', 0)])
# With bias_gamma 0, the bias is the same in every run.
add('label_specific_add_limits', {'x': (4, 5)}, [
    Layer('layer', 'LabelSpecificAdd', ['x', 'label'], ['y', 'bias'], DOWN + 'label_specific_add_param { bias_base: -0.9 '
          'bias_gamma: 0 bias_power: 2 bias_min: -0.5 bias_max: -0.3 iteration: 7 }')],
    labels={'label': ((4,), list(range(5)))})


def add_margin(name, kind, items, classes, width, settings, text='', **options):
    block = kind.lower().replace('innerproduct', '_inner_product_param')
    add(name, {'x': (items, width)}, [
        Layer('layer', kind, ['x', 'label'], ['y', 'lambda'], DOWN + text + '%s { num_output: %d gamma: 0 power: 2 '
              'iteration: 3 axis: 1 %s }' % (block, classes, settings))],
        labels={'label': ((items,), list(range(classes)))}, **options)


for kind in ('DOUBLE', 'TRIPLE', 'QUADRUPLE', 'SINGLE'):
    add_margin('margin_large_%s' % kind.lower(), 'LargeMarginInnerProduct', 5, 4, 3,
               'type: %s base: 0.4 lambda_min: 0.1' % kind)
# The gradients of SphereFace's margins are not derivatives; test_fork_margins.py checks them.
add_margin('margin_single', 'MarginInnerProduct', 5, 4, 3, 'type: SINGLE base: 0.4 lambda_min: 0.1',
           'param { lr_mult: 0 }', frozen=[('layer', 0)])
add('softmax_cross_entropy2', {'x': (3, 4, 2)}, [
    Layer('layer', 'SoftmaxCrossEntropy2Loss', ['x', 'label'], ['l'], DOWN)], outputs=[],
    labels={'label': ((3, 2), list(range(4)))})


@random_cases('L1Loss', 1)
def _(name, d):
    shape = d.shape(2)
    add(name, {'x': shape, 'z': shape}, [Layer('layer', 'L1Loss', ['x', 'z'], ['l'])], outputs=[])


@random_cases('TripletLoss', 3)
def _(name, d):
    if d.choose(True, False):
        shape = d.shape(2, 2)
        add(name, {'x': shape, 'z': shape, 'u': shape}, [
            Layer('layer', 'TripletLoss', ['x', 'z', 'u'], ['l'], 'triplet_loss_param { margin: %g }' % d.real(0.1, 1))],
            outputs=[])
        return
    negatives = d.size(1, 3)
    items = d.size(1, 3) * (2 + negatives)
    add(name, {'x': (items, d.size(1, 3))}, [
        Layer('layer', 'TripletLoss', ['x', 'label'], ['l'], DOWN + 'triplet_loss_param { margin: %g losstype: %d '
              'num_negatives: %d use_pair: %d }' % (d.real(0.1, 1), d.choose(0, 1, 2), negatives, d.choose(0, 1)))],
        outputs=[], labels={'label': ((items,), [0, 1])})


@random_cases('CenterLoss', 1)
def _(name, d):
    shape, classes = d.shape(2, 4), d.size(1, 5)
    add(name, {'x': shape}, [Layer('layer', 'CenterLoss', ['x', 'label'], ['l'], DOWN + 'param { lr_mult: 0 } '
                                   'center_loss_param { num_output: %d }' % classes)], outputs=[],
        labels={'label': (shape[:1], list(range(classes)))}, frozen=[('layer', 0)])


@random_cases('LabelSpecificAdd', 1)
def _(name, d):
    shape = d.shape(2, 2)
    add(name, {'x': shape}, [Layer('layer', 'LabelSpecificAdd', ['x', 'label'], ['y'], DOWN +
                                   'label_specific_add_param { bias: %g }' % d.real(-1, 1))],
        labels={'label': (shape[:1], list(range(shape[1])))})


@random_cases('LargeMarginInnerProduct', 1)
def _(name, d):
    add_margin(name, 'LargeMarginInnerProduct', d.size(1, 5), d.size(1, 5), d.size(2, 5), 'type: %s base: %g' % (
        d.choose('DOUBLE', 'TRIPLE', 'QUADRUPLE'), d.real(0.1, 1)))


@random_cases('MarginInnerProduct', 1)
def _(name, d):
    add_margin(name, 'MarginInnerProduct', d.size(1, 5), d.size(1, 5), d.size(1, 5), 'type: SINGLE',
               'param { lr_mult: 0 }', frozen=[('layer', 0)])


@random_cases('SoftmaxCrossEntropy2Loss', 1)
def _(name, d):
    shape = d.shape(2, 2)
    add(name, {'x': shape}, [Layer('layer', 'SoftmaxCrossEntropy2Loss', ['x', 'label'], ['l'], DOWN)], outputs=[],
        labels={'label': (shape[:1], list(range(shape[1])))})


# --- Text recognition -------------------------------------------------------------
# The gradient is that of the sum of the items' losses, so the cases have one item.
def add_ctc(name, steps, alphabet, labels, text=''):
    add(name, {'x': (steps, 1, alphabet)}, [
        Layer('layer', 'CtcLoss', ['x', 'label'], ['l'], DOWN + 'ctc_loss_param { time_step: %d alphabet_size: %d %s }'
              % (steps, alphabet, text))], outputs=[], labels={'label': ((1, labels), list(range(alphabet)))})


add_ctc('ctc_loss', 6, 4, 3)
add_ctc('ctc_loss_last_is_blank', 5, 3, 4, 'blank_label: 2')


@random_cases('CtcLoss')
def _(name, d):
    labels = d.size(1, 3)
    add_ctc(name, 2 * labels + d.size(0, 3), d.size(2, 5), labels)


def add_warp_ctc(name, steps, alphabet, labels):
    add(name, {'x': (steps, 1, alphabet)}, [
        Layer('layer', 'WarpCTCLoss', ['x', 'label'], ['l'], DOWN + 'ctc_loss_param { blank_label: 1 }')],
        outputs=[], labels={'label': ((1, labels), list(range(alphabet)))})


add_warp_ctc('ctc_loss_of_caffe_ocr', 5, 4, 3)


def add_indicated_ctc(name, steps, alphabet, text=''):
    """The random labels contain no negative one, so as many labels as time steps are left but for the last."""
    add(name, {'x': (steps, 1, alphabet)}, [
        Layer('layer', 'CTCLoss', ['x', 'cont', 'label'], ['l'], DOWN + 'propagate_down: false ' + text)],
        outputs=[], labels={'cont': ((steps, 1), [1]), 'label': ((steps, 1), [0, alphabet - 1])})


add_indicated_ctc('ctc_loss_indicated', 4, 3)
add_indicated_ctc('ctc_loss_indicated_settings', 4, 3, 'ctc_loss_param { output_delay: 0 loss_calculation_t: 0 '
                  'preprocess_collapse_repeated: false ctc_merge_repeated: true }')


@random_cases('indicated_ctc', 1)
def _(name, d):
    add_indicated_ctc(name, d.size(2, 5), d.size(2, 4))


@random_cases('WarpCTCLoss', 1)
def _(name, d):
    add_warp_ctc(name, 5, d.size(2, 4), d.size(1, 2))


# --- Recurrent layers -------------------------------------------------------------
for name, kind, block in (('lstm_of_fork', 'Lstm', 'lstm_param'), ('lstm_simple', 'LstmSimple', 'lstm_simple_param')):
    add_layer(name, (8, 3), kind, '%s { num_output: 2 batch_size: 2 %s }' % (block, FILL))
    add(name + '_starts', {'x': (6, 2, 2)}, [
        Layer('layer', kind, ['x', 'cont'], ['y'], DOWN + '%s { num_output: 3 batch_size: 2 %s }' % (block, FILL))],
        labels={'cont': ((6, 1), [0, 1])})
    # A limit that no gradient reaches.
    add_layer(name + '_unlimited', (3, 2), kind,
              '%s { num_output: 2 batch_size: 1 clipping_threshold: 1000 %s }' % (block, FILL))
add_layer('lstm_simple_alone', (3, 2), 'LstmSimple', 'lstm_simple_param { num_output: 2 %s }' % FILL)
add_layer('lstm_of_caffe_ocr', (4, 2, 3), 'Lstm', 'lstm_param { num_output: 2 %s }' % FILL)


for kind, block in (('Lstm', 'lstm_param'), ('LstmSimple', 'lstm_simple_param')):
    @random_cases(block, 1)
    def _(name, d, kind=kind, block=block):
        streams = d.size(1, 3)
        add_layer(name, (streams * d.size(1, 3), d.size(1, 4)), kind,
                  '%s { num_output: %d batch_size: %d %s }' % (block, d.size(1, 3), streams, FILL))


@random_cases('lstm_of_caffe_ocr', 1)
def _(name, d):
    add_layer(name, (d.size(1, 3), d.size(1, 3), d.size(1, 4)), 'Lstm',
              'lstm_param { num_output: %d %s }' % (d.size(1, 3), FILL))


# --- Dense blocks -----------------------------------------------------------------
def add_dense_block(name, shape, transitions, growth, bottleneck, text=''):
    statistics = [i * transitions + t for i in (3, 4, 8, 9)[:4 if bottleneck else 2] for t in range(transitions)]
    statistics.append((10 if bottleneck else 5) * transitions)
    add_layer(name, shape, 'DenseBlock', 'denseblock_param { numTransition: %d growthRate: %d use_BC: %s %s }' % (
        transitions, growth, str(bottleneck).lower(), text), frozen=[('layer', i) for i in statistics])


add_dense_block('dense_block', (3, 2, 4, 3), 2, 3, False, 'moving_average_fraction: 0.3')
add_dense_block('dense_block_bottleneck', (2, 3, 3, 4), 2, 1, True)


@random_cases('DenseBlock')
def _(name, d):
    add_dense_block(name, (d.size(2, 3), d.size(1, 3), d.size(3, 4), d.size(3, 4)), d.size(1, 3), d.size(1, 2),
                    d.flag() == 'true')
