"""Gradients of layers of transformers; see cases.py and cases_random.py."""
from cases import Layer, add, add_layer
from cases_random import DOWN, elementwise, random_cases

MASKED = 'propagate_down: true ' * 3 + 'propagate_down: false '
NO_DROPOUT = 'attn_dropout: 0 resid_dropout: 0 '
COMMON = NO_DROPOUT + ('block_size: 8 layers: 2 enable_rotary_positional_embedding: false '
                       'enable_key_value_cache: false ')


# --- Functions ------------------------------------------------------------------
for name, text in (('gelu', ''), ('gelu_bert', 'gelu_param { enable_bert_version: true }')):
    for kind in ('Gelu', 'GELU'):
        add(name + ('' if kind == 'Gelu' else '_upper'), (2, 3, 4), [
            Layer('scale', 'Power', ['x'], ['w'], 'power_param { scale: 3 }'),
            Layer('layer', kind, ['w'], ['y'], text)])
elementwise('Gelu', lambda d: 'gelu_param { enable_bert_version: %s }' % d.flag())
add_layer('positional_encoder', (2, 3, 4), 'PositionalEncoder', 'positional_encoder_param { embed: 4 block_size: 3 }')
add('eltwise_single_item', {'x': (3, 2, 4), 'z': (1, 2, 4)}, [
    Layer('layer', 'Eltwise', ['x', 'z'], ['y'], 'eltwise_param { allow_single_batch_input: true coeff: 1 coeff: -2 }')])


@random_cases('upper_gelu', 1)
def _(name, d):
    add_layer(name, d.shape(), 'GELU', 'gelu_param { enable_bert_version: %s }' % d.flag())


@random_cases('PositionalEncoder', 1)
def _(name, d):
    shape = d.shape(3, 3)
    add_layer(name, shape, 'PositionalEncoder', 'positional_encoder_param { block_size: %d embed: %d }' % shape[1:])


# --- Attention ------------------------------------------------------------------
def self_attention(name, shape, heads, text=''):
    add_layer(name, shape, 'CausalSelfAttention', 'causal_self_attention_param { heads: %d embed: %d %s }' % (
        heads, shape[2], COMMON + text))


self_attention('attention_causal', (2, 5, 6), 3)
self_attention('attention_causal_one_head', (1, 4, 3), 1, 'bias_term: false')
self_attention('attention_causal_one_position', (3, 1, 4), 2)
self_attention('attention_causal_long', (1, 37, 8), 2)
add_layer('attention_dropout', (2, 5, 6), 'CausalSelfAttention', 'causal_self_attention_param { heads: 2 embed: 6 '
          'attn_dropout: 0.4 resid_dropout: 0.3 }')


@random_cases('CausalSelfAttention')
def _(name, d):
    heads = d.size(1, 3)
    self_attention(name, (d.size(1, 3), d.size(1, 9), heads * d.size(1, 4)), heads, 'bias_term: ' + d.flag())


def multihead_attention(name, query, keys, mask, heads, text=''):
    shape = (query[0], keys, query[2])
    add(name, {'x': query, 'k': shape, 'v': shape}, [
        Layer('layer', 'MultiheadAttention', ['x', 'k', 'v', 'mask'], ['y'], MASKED + 'multihead_attention_param { '
              'heads: %d embed: %d %s }' % (heads, query[2], COMMON + text))],
        labels={'mask': (mask, [0, 1, 1])})


multihead_attention('attention_mask_of_keys', (2, 4, 6), 5, (2, 5), 3)
multihead_attention('attention_mask_of_pairs', (2, 4, 6), 5, (2, 4, 5), 2, 'weight_init: GPT bias_term: false')
multihead_attention('attention_mask_of_all_items', (2, 4, 4), 3, (1, 1, 4, 3), 1)


@random_cases('MultiheadAttention')
def _(name, d):
    items, queries, keys, heads = (d.size(1, n) for n in (3, 5, 5, 3))
    multihead_attention(name, (items, queries, heads * d.size(1, 3)), keys,
                        d.choose((items, keys), (items, queries, keys), (1, 1, queries, keys)), heads)


# --- Blocks ---------------------------------------------------------------------
def block(name, shape, heads, text='', kind='CAUSAL_SELF_ATTENTION', encoded=5):
    inputs, labels = {'x': shape}, {}
    bottoms, down = ['x'], 'propagate_down: true '
    if kind in ('ENCODER', 'DECODER'):
        bottoms, down = bottoms + ['mask'], DOWN
        labels['mask'] = ((shape[0], shape[1]), [0, 1, 1])
    if kind == 'DECODER':
        inputs['e'] = (shape[0], encoded, shape[2])
        labels['emask'] = ((shape[0], encoded), [0, 1, 1])
        bottoms, down = bottoms + ['e', 'emask'], 2 * DOWN
    add(name, inputs, [Layer('layer', 'TransformerBlock', bottoms, ['y'], down + 'transformer_block_param { heads: %d '
                             'embed: %d block_type: %s %s }' % (heads, shape[2], kind, COMMON + text))], labels=labels)


block('transformer_causal', (2, 5, 6), 3)
block('transformer_causal_settings', (2, 4, 4), 2, 'activation: GELU bias_term: false hidden_dim: 5 '
      'enable_llama_style_head: false')
block('transformer_causal2', (2, 4, 4), 2, 'activation: GELU_BERT', 'CAUSAL_SELF_ATTENTION2')
block('transformer_encoder', (2, 4, 6), 2, 'activation: SILU', 'ENCODER')
block('transformer_decoder', (2, 4, 6), 2, '', 'DECODER')


@random_cases('TransformerBlock', 3)
def _(name, d):
    heads = d.size(1, 3)
    block(name, (d.size(1, 3), d.size(1, 6), heads * d.size(1, 3)), heads,
          'activation: %s bias_term: %s' % (d.choose('GELU', 'GELU_BERT', 'SILU'), d.flag()),
          d.choose('CAUSAL_SELF_ATTENTION', 'CAUSAL_SELF_ATTENTION2', 'ENCODER', 'DECODER'), d.size(1, 5))


# --- Losses -----------------------------------------------------------------------
add_layer('softmax_logarithm', (2, 4, 3), 'Softmax', 'softmax_param { axis: 1 algorithm: LOG }')
add_layer('softmax_logarithm_in_training', (2, 4), 'Softmax', 'softmax_param { algorithm: ACCURATE '
          'algorithm_train: LOG }')


def nll_loss(name, shape, axis, text=''):
    add(name, {'x': shape}, [
        Layer('layer', 'NLLLoss', ['x', 'label'], ['l'], DOWN + 'nll_loss_param { axis: %d } %s' % (axis, text))],
        outputs=[], labels={'label': (shape[:axis] + shape[axis + 1:], list(range(shape[axis])))})


nll_loss('nll_loss', (3, 4), 1)
nll_loss('nll_loss_axis_2', (2, 3, 4), 2, 'loss_param { normalization: VALID ignore_label: 1 }')
nll_loss('nll_loss_fixed', (2, 3, 4), 1, 'loss_param { normalization: PRE_FIXED pre_fixed_normalizer: 3 '
         'normalize: true }')


@random_cases('NLLLoss', 1)
def _(name, d):
    nll_loss(name, d.shape(2), 1)
