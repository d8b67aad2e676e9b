"""Gradients of layers that rearrange elements; see cases.py."""
from cases import IP, Layer, SQUARE, add, add_layer


def square(bottom, top):
    """Makes the gradient of `bottom` depend on its values."""
    return Layer('square_' + bottom, 'Power', [bottom], [top], SQUARE)


# --- Concat, Slice, Crop ----------------------------------------------------
for name, shapes, settings in (
        ('axis_1', ((2, 3, 2), (2, 1, 2)), ''), ('axis_0', ((2, 3), (1, 3)), 'axis: 0'),
        ('axis_last', ((2, 3, 2), (2, 3, 4)), 'axis: -1'),
        ('concat_dim', ((1, 2, 2, 3), (1, 2, 3, 3)), 'concat_dim: 2'),
        ('channels', ((2, 3, 4, 5), (2, 5, 4, 5)), ''),
        ('one_image', ((1, 16, 3, 3), (1, 32, 3, 3)), '')):
    add_layer('concat_' + name, dict(zip('xz', shapes)), 'Concat', 'concat_param { %s }' % settings,
              ('x', 'z'))
add_layer('concat_three', {'x': (2, 1, 3), 'z': (2, 2, 3), 'u': (2, 3, 3)}, 'Concat', '',
          ('x', 'z', 'u'))
add_layer('concat_one', (2, 3), 'Concat')
add_layer('concat_twice', (2, 3), 'Concat', '', ('x', 'x'))
add('concat_of_concat', {'x': (2, 2, 3, 3), 'z': (2, 1, 3, 3), 'u': (2, 3, 3, 3)}, [
    square('x', 'a'), square('z', 'b'), square('u', 'c'),
    Layer('i', 'Concat', ['a', 'b'], ['ab']), Layer('r', 'ReLU', ['ab'], ['r']),
    Layer('j', 'Concat', ['ab', 'c'], ['y'])], outputs=['y', 'r'])
add('concat_dense', (2, 2, 3, 3), [
    Layer('c1', 'Convolution', ['x'], ['a'], 'convolution_param { num_output: 3 kernel_size: 1 }'),
    Layer('r1', 'ReLU', ['a'], ['a'], 'relu_param { negative_slope: 0.1 }'),
    Layer('j1', 'Concat', ['x', 'a'], ['xa']), square('xa', 'b'),
    Layer('c2', 'Convolution', ['b'], ['c'], 'convolution_param { num_output: 2 kernel_size: 1 }'),
    Layer('j2', 'Concat', ['xa', 'c'], ['y'])])
add('concat_loss', {'x': (2, 3), 'z': (2, 2)}, [
    square('x', 'a'), square('z', 'b'),
    Layer('c', 'Concat', ['a', 'b'], ['y'], 'loss_weight: 0.5')], outputs=[])
add('flatten_loss', (2, 3, 2), [square('x', 'a'), Layer('f', 'Flatten', ['a'], ['y'],
                                                       'loss_weight: -2')], outputs=[])
add('slice_loss', (2, 5), [square('x', 'a'), Layer(
    's', 'Slice', ['a'], ['y', 'z'], 'slice_param { slice_point: 2 } loss_weight: 3 '
    'loss_weight: 0')], outputs=['z'])
add('concat_one_branch_constant', {'x': (2, 3), 'z': (2, 2)}, [
    Layer('c', 'Concat', ['x', 'z'], ['y'], 'propagate_down: true propagate_down: false')])
for name, shape, settings, tops in (
        ('even', (2, 6, 2), '', 3), ('points', (2, 7, 3, 2), 'slice_point: 2 slice_point: 3', 3),
        ('axis_0', (4, 3), 'axis: 0', 2), ('axis_last', (2, 3, 4), 'axis: -1 slice_point: 3', 2),
        ('slice_dim', (1, 2, 4, 3), 'slice_dim: 2 slice_point: 1', 2), ('one', (2, 3), '', 1)):
    names = ['y%d' % i for i in range(tops)]
    add('slice_' + name, shape, [Layer('layer', 'Slice', ['x'], names,
                                       'slice_param { %s }' % settings)], outputs=names)
# The compiler can prove that each row is aligned for a wide access within its slice, but the slice
# itself is not aligned.
add('concat_begins_anywhere', {'x': (8, 2), 'z': (8, 8192), 'u': (8, 2)}, [
    Layer('c', 'Concat', ['x', 'z', 'u'], ['y'])])
add('slice_begins_anywhere', (8, 8196), [
    Layer('s', 'Slice', ['x'], ['y', 'y2', 'y3'],
          'slice_param { slice_point: 2 slice_point: 8194 }')], outputs=['y', 'y2', 'y3'])
add('slice_unused_top', (2, 6, 2), [Layer('s', 'Slice', ['x'], ['y', 'b', 'c']),
                                    Layer('z', 'Silence', ['b', 'c'], [])])
add('slice_of_concat', {'x': (2, 3, 2, 2), 'z': (2, 3, 2, 2)}, [
    square('x', 'a'), square('z', 'b'), Layer('c', 'Concat', ['a', 'b'], ['ab']),
    Layer('s', 'Slice', ['ab'], ['p', 'q'], 'slice_param { slice_point: 2 }'),
    Layer('cp', 'Convolution', ['p'], ['y'], 'convolution_param { num_output: 2 kernel_size: 1 }'),
    square('q', 'y2')], outputs=['y', 'y2'])
for name, shape, reference, settings in (
        ('default', (1, 2, 5, 6), (1, 2, 3, 4), ''),
        ('offset', (1, 2, 5, 6), (1, 2, 3, 4), 'offset: 1'),
        ('offsets', (1, 2, 5, 6), (1, 2, 3, 4), 'offset: 2 offset: 1'),
        ('channels', (2, 4, 3), (2, 2, 3), 'axis: 1 offset: 1 offset: 0'),
        ('axis_last', (2, 5), (2, 3), 'axis: -1 offset: 2'),
        ('all', (3, 4), (2, 2), 'axis: 0 offset: 1'),
        ('nothing', (1, 2, 3, 3), (1, 2, 3, 3), '')):
    add_layer('crop_' + name, {'x': shape, 'r': reference}, 'Crop', 'crop_param { %s }' % settings,
              ('x', 'r'), bare=['r'])


# --- Views ------------------------------------------------------------------
for name, shape, settings in (
        ('all', (2, 3, 4), 'shape { dim: 4 dim: 6 }'),
        ('keep', (2, 3, 4), 'shape { dim: 0 dim: 0 dim: 2 dim: -1 }'),
        ('inferred', (2, 3, 4), 'shape { dim: -1 dim: 0 dim: 2 }'),
        ('axis', (2, 3, 4), 'axis: 1 shape { dim: -1 }'),
        ('axis_num', (2, 3, 4), 'axis: 1 num_axes: 1 shape { dim: 3 dim: 1 }'),
        ('insert', (2, 3), 'axis: 1 num_axes: 0 shape { dim: 1 }'),
        ('append', (2, 3), 'axis: -1 shape { dim: 1 dim: 1 }'),
        ('axis_negative', (2, 3, 4), 'axis: -2 shape { dim: 2 dim: -1 }'),
        ('image', (2, 3, 2, 4), 'shape { dim: 2 dim: 4 dim: 3 dim: 2 }')):
    add_layer('reshape_' + name, shape, 'Reshape', 'reshape_param { %s }' % settings)
for name, shape, settings in (
        ('default', (2, 3, 2, 2), ''), ('axis_0', (2, 3, 2), 'axis: 0'),
        ('middle', (2, 3, 2, 2), 'axis: 1 end_axis: 2'),
        ('negative', (2, 3, 2, 2), 'axis: -3 end_axis: -2'), ('same', (2, 3), ''),
        ('nothing', (2, 3), 'axis: 1 end_axis: 0')):
    add_layer('flatten_' + name, shape, 'Flatten', 'flatten_param { %s }' % settings)
add_layer('squeeze_all', (1, 3, 1, 2), 'Squeeze')
add_layer('squeeze_axes', (1, 3, 1, 2), 'Squeeze', 'squeeze_param { axis: -2 }')
CONV = 'convolution_param { num_output: 4 kernel_size: 2 }'
for name, settings in (('flatten', ''), ('flatten_axis_2', 'flatten_param { axis: 2 }')):
    add(name + '_before_ip', (2, 2, 4, 3), [
        Layer('c', 'Convolution', ['x'], ['a'], CONV), Layer('f', 'Flatten', ['a'], ['b'], settings),
        Layer('i', 'InnerProduct', ['b'], ['y'], IP % 3)])
add('flatten_shared', (2, 2, 4, 3), [
    Layer('c', 'Convolution', ['x'], ['a'], CONV), Layer('f', 'Flatten', ['a'], ['b']),
    Layer('i', 'InnerProduct', ['b'], ['y'], IP % 3), square('b', 'y2'), square('a', 'y3')],
    outputs=['y', 'y2', 'y3'])
add('reshape_between_convolutions', (2, 2, 4, 4), [
    Layer('c', 'Convolution', ['x'], ['a'], 'convolution_param { num_output: 4 kernel_size: 1 }'),
    Layer('v', 'Reshape', ['a'], ['b'], 'reshape_param { shape { dim: 0 dim: 2 dim: 8 dim: 4 } }'),
    Layer('d', 'Convolution', ['b'], ['y'], CONV)])
add('slice_of_reshape', (2, 6, 2, 2), [
    square('x', 'a'), Layer('v', 'Reshape', ['a'], ['b'],
                            'reshape_param { shape { dim: 0 dim: 2 dim: 3 dim: 4 } }'),
    Layer('s', 'Slice', ['b'], ['y', 'y2'], 'slice_param { axis: 2 slice_point: 1 }')],
    outputs=['y', 'y2'])
add('concat_into_reshape', {'x': (2, 2, 2, 2), 'z': (2, 1, 2, 2)}, [
    square('x', 'a'), square('z', 'b'), Layer('c', 'Concat', ['a', 'b'], ['ab']),
    Layer('v', 'Flatten', ['ab'], ['f']), Layer('i', 'InnerProduct', ['f'], ['y'], IP % 3)],
    outputs=['y', 'ab'])


# --- Reverse ------------------------------------------------------------------
for name, shape, axes in (('items', (3, 2), ''), ('plane', (2, 2, 3, 4), 'axis: 2 axis: -1')):
    add_layer('reverse_' + name, shape, 'Reverse', 'reverse_param { %s }' % axes)

# --- Permute, Tile, Parameter -----------------------------------------------
for name, shape, order in (('nhwc', (2, 3, 2, 4), (0, 2, 3, 1)), ('swap', (2, 3), (1, 0)),
                           ('rest', (2, 3, 4), (2,)), ('same', (2, 3), (0, 1))):
    add_layer('permute_' + name, shape, 'Permute',
              'permute_param { %s }' % ' '.join('order: %d' % i for i in order))
add_layer('transpose', (2, 3, 4), 'Transpose', 'transpose_param { dim: 2 dim: 0 dim: 1 }')
for name, shape, settings in (('axis_1', (2, 3, 2), 'tiles: 3'), ('axis_0', (2, 3), 'axis: 0 tiles: 2'),
                              ('axis_last', (2, 3), 'axis: -1 tiles: 2'),
                              ('image', (1, 2, 3, 3), 'tiles: 2'), ('once', (2, 3), 'tiles: 1')):
    add_layer('tile_' + name, shape, 'Tile', 'tile_param { %s }' % settings)
add('parameter', (2, 3), [
    Layer('layer', 'Parameter', [], ['w'], 'parameter_param { shape { dim: 2 dim: 3 } }'),
    Layer('e', 'Eltwise', ['x', 'w'], ['y'], 'eltwise_param { operation: PROD }')],
    outputs=['y', 'w'])
add('parameter_shared', (2, 3), [
    Layer('layer', 'Parameter', [], ['w'],
          'param { name: "w" } parameter_param { shape { dim: 3 dim: 3 } }'),
    square('w', 'y2'),
    Layer('i', 'InnerProduct', ['x'], ['y'], 'param { name: "w" } ' + IP % 3)],
    outputs=['y', 'y2'], shared={('i', 0): ('layer', 0)})
add('parameter_in_concat', (2, 3), [
    Layer('layer', 'Parameter', [], ['w'], 'parameter_param { shape { dim: 2 dim: 2 } }'),
    Layer('c', 'Concat', ['x', 'w'], ['y'])])


# --- Choosing by index ------------------------------------------------------
for name, shape, index in (('image', (3, 2, 2, 2), 5), ('vector', (4,), 6), ('rows', (3, 2), 2)):
    add('batch_reindex_' + name, shape, [Layer('layer', 'BatchReindex', ['x', 'i'], ['y'])],
        labels={'i': ((index,), list(range(shape[0])))})
for name, shape, settings in (('plain', (5, 3), ''), ('vector', (6,), ''),
                              ('no_bias', (2, 3), 'bias_term: false'), ('image', (2, 1, 2, 2), '')):
    add('embed_' + name, {}, [Layer('layer', 'Embed', ['i'], ['y'], 'embed_param { '
                                    'num_output: 4 input_dim: 7 %s }' % settings)],
        labels={'i': (shape, list(range(7)))})
add('argmax_beside_a_loss', (3, 4), [Layer('a', 'ArgMax', ['x'], ['a']),
                                     Layer('s', 'Silence', ['a'], []), square('x', 'y')])


# --- Layers of forks --------------------------------------------------------
add_layer('shuffle_channel', (2, 6, 2, 3), 'ShuffleChannel', 'shuffle_channel_param { group: 3 }')
add_layer('shuffle_channel_rank_2', (2, 4), 'ShuffleChannel', 'shuffle_channel_param { group: 2 }')
for name, shape, settings in (('2', (2, 4, 4, 6), 'stride: 2'), ('3', (1, 9, 3, 6), 'stride: 3'),
                              ('reverse', (1, 8, 2, 3), 'stride: 2 reverse: true')):
    add_layer('reorg_' + name, shape, 'Reorg', 'reorg_param { %s }' % settings)
for name, settings in (('2', 'scale: 2'), ('rect', 'scale_h: 3 scale_w: 1'), ('once', '')):
    add_layer('upsample_' + name, (2, 3, 2, 3), 'Upsample', 'upsample_param { %s }' % settings)
for name, shape, settings in (
        ('size', (2, 2, 3, 4), 'height: 7 width: 5'), ('smaller', (1, 2, 7, 6), 'height: 3 width: 4'),
        ('zoom', (1, 2, 3, 4), 'zoom_factor: 4'), ('shrink', (1, 2, 7, 5), 'shrink_factor: 2'),
        ('shrink_zoom', (1, 2, 7, 5), 'shrink_factor: 2 zoom_factor: 3'),
        ('same', (1, 2, 3, 4), 'height: 3 width: 4'), ('one_row', (1, 2, 1, 4), 'height: 3 width: 8'),
        ('to_one', (1, 2, 4, 4), 'height: 1 width: 1'), ('wide', (1, 1, 2, 2), 'height: 33 width: 17'),
        ('crop', (1, 2, 6, 7), 'height: 5 width: 9 pad_beg: -1 pad_end: -2')):
    add_layer('interp_' + name, shape, 'Interp', 'interp_param { %s }' % settings)
add_layer('interp_reference', {'x': (1, 2, 3, 4), 'r': (1, 1, 5, 6)}, 'Interp', '',
          ('x', 'r'), bare=['r'])
add_layer('axpy', {'a': (2, 3, 1, 1), 'x': (2, 3, 2, 4), 'z': (2, 3, 2, 4)}, 'Axpy', '', ('a', 'x', 'z'))
add_layer('axpy_matrix', {'a': (2, 3), 'x': (2, 3, 5), 'z': (2, 3, 5)}, 'Axpy', '', ('a', 'x', 'z'))
add('axpy_squeeze_excitation', (2, 4, 3, 3), [
    Layer('g', 'Pooling', ['x'], ['g'], 'pooling_param { pool: AVE global_pooling: true }'),
    Layer('i', 'Convolution', ['g'], ['h'], 'convolution_param { num_output: 4 kernel_size: 1 }'),
    Layer('s', 'Sigmoid', ['h'], ['s']), Layer('a', 'Axpy', ['s', 'x', 'x'], ['y'])])


# --- Upsample with the mask of a pooling ---------------------------------------
for name, shape, pooling, settings in (
        ('even', (2, 3, 6, 4), 'kernel_size: 2 stride: 2', ''),
        ('odd', (1, 2, 5, 7), 'kernel_size: 2 stride: 2', 'pad_out_h: true pad_out_w: true'),
        ('sized', (1, 2, 5, 8), 'kernel_size: 3 stride: 3', 'upsample_h: 5 upsample_w: 8'),
        ('padded', (2, 2, 5, 5), 'kernel_size: 2 stride: 2 pad: 1', 'upsample_h: 5 upsample_w: 5'),
        ('larger', (1, 2, 4, 6), 'kernel_size: 2 stride: 2', 'scale: 2 upsample_h: 7 upsample_w: 9')):
    add('unpool_' + name, shape, [
        Layer('p', 'Pooling', ['x'], ['p', 'mask'], 'pooling_param { %s }' % pooling),
        square('p', 'q'), Layer('u', 'Upsample', ['q', 'mask'], ['y'],
                                'upsample_param { %s }' % settings)])
