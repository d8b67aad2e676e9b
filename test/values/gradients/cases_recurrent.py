"""Gradients of ConvLSTM, MultiStageMeanfield and TopK; see cases.py and cases_random.py."""
from cases import Layer, add, add_layer
from cases_random import random_cases


# --- ConvLSTM ---------------------------------------------------------------------
def conv_lstm(name, shape, outputs, convolutions, debug='', exposes=False, text=''):
    """Adds a case with x of `shape` and the lstm_conv_param `convolutions`, a list of texts."""
    inputs, bottoms, tops = {'x': shape}, ['x', 'cont'], ['y']
    for state in ('h', 'c') if exposes else ():
        inputs[state] = (1, shape[1], outputs) + shape[3:]
        bottoms.append(state)
        tops.append('last_' + state)
    settings = ' '.join('lstm_conv_param { num_output: %d %s }' % (outputs, convolution) for convolution in convolutions)
    # The parameters of the fork's placeholders, which nothing reads.
    hidden = 1 if 'ignore_x: true' not in debug else 0
    last = hidden + (4 if 'disable_hadamard: true' in debug else 7)
    add(name, inputs, [Layer('layer', 'ConvLSTM', bottoms, tops, '%s %s %s %s' % (
        settings, 'lstm_debug_param { %s }' % debug if debug else '',
        'recurrent_param { expose_hidden: true }' if exposes else '', text))], outputs=tops,
        labels={'cont': (shape[:2], [0, 1, 1])}, frozen=[('layer', i) for i in (hidden, hidden + 1, last, last + 1)])


SAME = 'kernel_size: 3 pad: 1'
conv_lstm('convlstm', (3, 2, 2, 3, 2), 2, [SAME])
conv_lstm('convlstm_one_step', (1, 2, 1, 2, 3), 3, ['kernel_size: 1'])
conv_lstm('convlstm_states', (2, 2, 1, 3, 2), 2, [SAME], exposes=True)
conv_lstm('convlstm_states_only', (2, 2, 1, 3, 2), 2, ['type: "hidden" ' + SAME], 'ignore_x: true', exposes=True)
conv_lstm('convlstm_no_peepholes', (3, 1, 2, 2, 3), 2, [SAME], 'disable_hadamard: true')
conv_lstm('convlstm_peepholes', (2, 2, 1, 2, 2), 3, [SAME], 'axis_hadamard: 2 num_axes_hadamard: 1')
conv_lstm('convlstm_two', (2, 1, 4, 3, 4), 2, [
    'type: "input" kernel_size: 3 kernel_size: 1 pad: 1 pad: 0 group: 2', 'type: "hidden" kernel_size: 3 dilation: 2 '
    'pad: 2 group: 2 stride: 1 bias_term: true'])
conv_lstm('convlstm_frozen', (2, 1, 1, 2, 2), 1, [SAME], text='param { lr_mult: 0 } ' * 10)
# Only the values of the hidden state reach the output, without its gradient.
conv_lstm('convlstm_down', (2, 1, 1, 2, 2), 1, [SAME], exposes=True,
          text='propagate_down: true propagate_down: false propagate_down: false propagate_down: true')


@random_cases('ConvLSTM')
def _(name, d):
    outputs, size = d.size(1, 3), d.size(0, 1)
    conv_lstm(name, (d.size(1, 3), d.size(1, 2), d.size(1, 2), d.size(2, 3), d.size(2, 3)), outputs,
              ['kernel_size: %d pad: %d' % (2 * size + 1, size)],
              'disable_hadamard: %s ignore_x: %s' % (d.flag(), d.flag()), exposes=d.flag() == 'true')


# --- Mean field -------------------------------------------------------------------
def mean_field(name, shape, settings, text='', **options):
    add(name, {'unary': shape, 'start': shape, 'image': (shape[0], 3) + shape[2:]}, [
        Layer('layer', 'MultiStageMeanfield', ['unary', 'start', 'image'], ['y'],
              '%s multi_stage_meanfield_param { %s }' % (text, settings))], bare=['image'], **options)


mean_field('mean_field', (2, 3, 4, 5), 'num_iterations: 2 theta_alpha: 3 theta_beta: 0.5 theta_gamma: 1.5')
mean_field('mean_field_weights', (1, 2, 3, 3), 'num_iterations: 3 theta_alpha: 2 theta_beta: 1 theta_gamma: 1 '
           'spatial_filter_weights_str: "2 3" bilateral_filter_weights_str: "1 0.5" compatibility_mode: POTTS')
mean_field('mean_field_weight', (1, 2, 3, 3), 'num_iterations: 2 spatial_filter_weight: 2 bilateral_filter_weight: 3')
mean_field('mean_field_unary', (1, 2, 3, 3), 'num_iterations: 2', 'propagate_down: true propagate_down: false propagate_down: false')
mean_field('mean_field_start', (1, 2, 3, 3), 'num_iterations: 2', 'propagate_down: false propagate_down: true propagate_down: false')


@random_cases('MultiStageMeanfield')
def _(name, d):
    mean_field(name, (d.size(1, 2), d.size(1, 3), d.size(1, 4), d.size(1, 4)),
               'num_iterations: %d theta_alpha: %g theta_beta: %g theta_gamma: %g' % (
                   d.size(2, 3), d.real(0.5, 5), d.real(0.2, 2), d.real(0.5, 5)))


# --- Largest elements -------------------------------------------------------------
for grouping, count in (('LATERAL', 60), ('LIFETIME', 3), ('CONV_SPATIAL', 20), ('CONV_CROSS_CHANNEL', 3),
                        ('CONV_LIFETIME_SPATIAL', 3), ('CONV_LIFETIME_CHANNEL', 60)):
    add_layer('top_k_' + grouping.lower(), (3, 3, 4, 5), 'TopK',
              'topk_param { k_num: %d a: 2 grouping: %s }' % (count // 3, grouping))
add_layer('top_k_part', (2, 7), 'TopK', 'topk_param { k_perc: 0.3 a: 1 }')
add_layer('top_k_all', (2, 3), 'TopK', 'topk_param { k_num: 9 a: 1 }')


@random_cases('TopK')
def _(name, d):
    add_layer(name, d.shape(2), 'TopK', 'topk_param { k_perc: %g a: 1.5 grouping: %s }' % (
        d.real(0.1, 1), d.choose('LATERAL', 'LIFETIME')))
