"""Gradients through blobs whose number of items depends on the data; see cases.py."""
from cases import IP, Layer, add


def add_filtered(name, shape, layers, select=(0, 1), labels=None, bottoms=('x',), **options):
    """Adds `layers` after Filters, whose tops are fx for x, and so on. Labels, which get no
    gradient, have a Filter of their own."""
    labels = dict(labels or {})
    filters = [Layer('filter%d' % i, 'Filter', list(blobs) + ['sel'],
                     ['f' + blob for blob in blobs])
               for i, blobs in enumerate([bottoms, labels]) if blobs]
    labels['sel'] = ((shape[0], 1), list(select))
    add('filter_' + name, {bottom: shape for bottom in bottoms}, filters + layers,
        labels=labels, outputs=[], **options)


def loss(kind, bottoms, text='', tops=('loss',)):
    return Layer('loss', kind, bottoms, list(tops), text)


for operation in ('SUM', 'ASUM', 'SUMSQ', 'MEAN'):
    add_filtered('reduction_' + operation.lower(), (6, 3, 2), [Layer(
        'loss', 'Reduction', ['fx'], ['loss'],
        'loss_weight: 0.7 reduction_param { operation: %s coeff: 1.5 }' % operation)])
sumsq = Layer('loss', 'Reduction', ['y'], ['loss'],
              'loss_weight: 1 reduction_param { operation: SUMSQ }')
add_filtered('none', (4, 3), [Layer('i', 'InnerProduct', ['fx'], ['y'], IP % 2), sumsq], select=[0])
add_filtered('all', (4, 3), [Layer('i', 'InnerProduct', ['fx'], ['y'], IP % 2), sumsq], select=[1, -2])
add_filtered('convolution', (5, 2, 5, 4), [
    Layer('c', 'Convolution', ['fx'], ['c'], 'convolution_param { num_output: 3 kernel_size: 3 pad: 1 }'),
    Layer('r', 'ReLU', ['c'], ['c'], 'relu_param { negative_slope: 0.1 }'),
    Layer('p', 'Pooling', ['c'], ['p'], 'pooling_param { kernel_size: 2 stride: 2 }'),
    Layer('i', 'InnerProduct', ['p'], ['y'], IP % 3), sumsq])
add_filtered('elementwise', (6, 3), [
    Layer('s', 'Scale', ['fx'], ['s'], 'scale_param { bias_term: true }'),
    Layer('e', 'Eltwise', ['s', 'fz'], ['e'], 'eltwise_param { operation: PROD }'),
    Layer('j', 'Concat', ['e', 'fx'], ['j']), Layer('t', 'TanH', ['j'], ['y']), sumsq],
    bottoms=('x', 'z'))
add_filtered('log', (5, 3), [Layer('l', 'Log', ['fx'], ['y']), sumsq], draw='positive')
add_filtered('euclidean', (5, 4), [loss('EuclideanLoss', ['fx', 'fz'])], bottoms=('x', 'z'))
add_filtered('smooth_l1', (5, 4), [loss('SmoothL1Loss', ['fx', 'fz'], 'smooth_l1_loss_param { sigma: 2 }')],
             bottoms=('x', 'z'))
add_filtered('contrastive', (6, 3), [loss('ContrastiveLoss', ['fx', 'fz', 'fsim'],
                                          'contrastive_loss_param { legacy_version: true }')],
             bottoms=('x', 'z'), labels={'sim': ((6,), [0, 1])})
classes = {'label': ((6,), [0, 1, 2])}
for name, text in (('valid', ''), ('batch', 'loss_param { normalization: BATCH_SIZE }'),
                   ('full', 'loss_param { normalization: FULL }'),
                   ('sum', 'loss_param { normalization: NONE }'),
                   ('ignore', 'loss_param { ignore_label: 1 }'),
                   ('ignore_full', 'loss_param { ignore_label: 1 normalization: FULL }')):
    add_filtered('softmax_' + name, (6, 4), [Layer('i', 'InnerProduct', ['fx'], ['y'], IP % 3),
                                             loss('SoftmaxWithLoss', ['y', 'flabel'], text)],
                 labels=classes)
add_filtered('softmax_map', (4, 3, 2, 2), [loss('SoftmaxWithLoss', ['fx', 'flabel'],
                                                'loss_param { normalization: BATCH_SIZE }')],
             labels={'label': ((4, 1, 2, 2), [0, 1, 2])})
for name, text in (('batch', ''), ('valid', 'loss_param { normalization: VALID }'),
                   ('ignore', 'loss_param { ignore_label: 0 normalization: VALID }')):
    add_filtered('sigmoid_ce_' + name, (6, 3), [loss('SigmoidCrossEntropyLoss', ['fx', 'ft'], text)],
                 labels={'t': ((6, 3), [0, 1])})
add_filtered('embed', (6, 3), [Layer('e', 'Embed', ['flabel'], ['e'],
                                     'embed_param { input_dim: 3 num_output: 3 }'),
                               Layer('a', 'Eltwise', ['e', 'fx'], ['y']), sumsq], labels=classes)
add('filter_twice', {'x': (7, 3)}, [
    Layer('f', 'Filter', ['x', 'a'], ['fx']), Layer('h', 'Filter', ['b', 'a'], ['fb']),
    Layer('g', 'Filter', ['fx', 'fb'], ['gx']),
    Layer('i', 'InnerProduct', ['gx'], ['y'], IP % 2), sumsq], outputs=[],
    labels={'a': ((7,), [0, 1, 1]), 'b': ((7,), [0, 1, 1])})
add('filter_branches', {'x': (6, 3)}, [
    Layer('f', 'Filter', ['x', 'a'], ['fx']), Layer('g', 'Filter', ['x', 'b'], ['gx']),
    Layer('m', 'Reduction', ['fx'], ['m'], 'loss_weight: 2 reduction_param { operation: MEAN }'),
    Layer('n', 'Reduction', ['gx'], ['n'], 'loss_weight: 1 reduction_param { operation: SUMSQ }')],
    outputs=[], labels={'a': ((6,), [0, 1]), 'b': ((6,), [0, 1])})

for name, text in (('l1', ''), ('l2', 'hinge_loss_param { norm: L2 }')):
    add_filtered('hinge_' + name, (6, 4), [Layer('i', 'InnerProduct', ['fx'], ['y'], IP % 3),
                                           loss('HingeLoss', ['y', 'flabel'], text)], labels=classes)
add_filtered('hinge_none', (6, 3), [loss('HingeLoss', ['fx', 'flabel'])], select=[0], labels=classes)
add_filtered('multinomial', (6, 3), [Layer('p', 'Softmax', ['fx'], ['p']),
                                     loss('MultinomialLogisticLoss', ['p', 'flabel'], 'loss_weight: 3')],
             labels=classes)
STATISTICS = [('n', i) for i in range(3)]
tanh = Layer('t', 'TanH', ['n'], ['y'])
for name, shape in (('', (6, 3, 2, 2)), ('_vectors', (7, 3))):
    add_filtered('batch_norm' + name, shape, [
        Layer('n', 'BatchNorm', ['fx'], ['n'], 'batch_norm_param { eps: 0.1 }'), tanh, sumsq],
        frozen=STATISTICS, positive=STATISTICS)
add_filtered('batch_norm_in_place', (6, 2, 3, 3), [
    Layer('c', 'Convolution', ['fx'], ['n'], 'convolution_param { num_output: 3 kernel_size: 2 }'),
    Layer('n', 'BatchNorm', ['n'], ['n'], 'batch_norm_param { eps: 0.1 }'),
    Layer('s', 'Scale', ['n'], ['n'], 'scale_param { bias_term: true }'), tanh, sumsq],
    frozen=STATISTICS, positive=STATISTICS)
add_filtered('batch_norm_forks', (6, 3, 2), [
    Layer('b', 'BN', ['fx'], ['b'], 'bn_param { eps: 0.1 }'),
    Layer('n', 'BatchNorm', ['b'], ['n'], 'batch_norm_param { eps: 0.1 scale_bias: true }'),
    tanh, sumsq], frozen=STATISTICS + [('b', 2), ('b', 3)], positive=STATISTICS + [('b', 3)])
for name, select in (('none', [0]), ('all', [1])):
    add_filtered('batch_norm_' + name, (4, 3), [
        Layer('n', 'BatchNorm', ['fx'], ['n'], 'batch_norm_param { eps: 0.1 }'), tanh, sumsq],
        select=select, frozen=STATISTICS, positive=STATISTICS)
add_filtered('pyramid', (5, 2, 4, 4), [Layer('p', 'SPP', ['fx'], ['y'],
                                             'spp_param { pyramid_height: 2 pool: AVE }'), sumsq])
add_filtered('squeeze', (5, 1, 3, 1), [
    Layer('q', 'Squeeze', ['fx'], ['q'], 'squeeze_param { axis: 1 axis: 3 }'),
    Layer('i', 'InnerProduct', ['q'], ['y'], IP % 2), sumsq])
add_filtered('interp', (5, 2, 3, 4), [
    Layer('i', 'Interp', ['fx', 'fz'], ['y'], ''), sumsq],
    labels={'z': ((5, 1, 4, 6), [0])})
add_filtered('crop', (5, 2, 5, 4), [
    Layer('c', 'Crop', ['fx', 'fz'], ['y'],
          'crop_param { offset: 2 offset: 1 }'), sumsq],
    labels={'z': ((5, 1, 2, 3), [0])})
add('filter_batch_reindex', {'x': (4, 3)}, [
    Layer('f', 'Filter', ['index', 'sel'], ['findex']),
    Layer('r', 'BatchReindex', ['x', 'findex'], ['y']), sumsq], outputs=[],
    labels={'index': ((7,), [0, 1, 3]), 'sel': ((7,), [0, 1])})
for kind, channels, text in (
        ('ROIPooling', 2, 'roi_pooling_param { pooled_h: 2 pooled_w: 2 }'),
        ('ROIAlign', 2, 'roi_align_param { pooled_h: 2 pooled_w: 2 }'),
        ('PSROIPooling', 8, 'psroi_pooling_param { spatial_scale: 1 output_dim: 2 group_size: 2 }')):
    add('filter_' + kind.lower(), {'x': (3, channels, 4, 5)}, [
        Layer('f', 'Filter', ['rois', 'sel'], ['frois']),
        Layer('r', kind, ['x', 'frois'], ['y'], text), sumsq], outputs=[],
        labels={'rois': ((6, 5), [0, 1, 2]), 'sel': ((6,), [0, 1])})
