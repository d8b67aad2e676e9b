"""Gradients of MultiBoxLoss; see cases.py.

Ground-truth boxes are constants from columns of DummyData; priors come from a PriorBox. The losses
at both ends of a difference are so close that mining chooses the same priors.
"""
from cases import Layer, add
from cases_random import random_cases

# Each row: image, label, instance, corners, and whether the box is difficult. The first two boxes
# overlap many priors.
GROUND_TRUTH = ((0, 1, 0, 0.1, 0.15, 0.55, 0.6, 0), (0, 2, 0, 0.45, 0.4, 0.95, 0.9, 0),
                (1, 2, 0, 0.3, 0.1, 0.8, 0.45, 0), (1, 1, 1, 0.05, 0.55, 0.4, 0.98, 1),
                (-1, -1, -1, -1, -1, -1, -1, -1))


def constants(name, values, shape):
    """Returns (tops, layer) of a DummyData with one top for each value."""
    tops = ['%s_%d' % (name, i) for i in range(len(values))]
    fillers = ' '.join('data_filler { value: %g }' % v for v in values)
    return tops, Layer(name, 'DummyData', [], tops, 'dummy_data_param { shape { %s } %s }' % (
        ' '.join('dim: %d' % d for d in shape), fillers))


def add_multibox(name, settings, text='', feature=(2, 3), images=2, classes=3, share=True):
    layers, rows = [], []
    for i, truth in enumerate(GROUND_TRUTH):
        tops, layer = constants('box%d' % i, truth, (1, 1, 1, 1))
        layers += [layer, Layer('row%d' % i, 'Concat', tops, ['row%d' % i],
                                'concat_param { axis: 3 }')]
        rows.append('row%d' % i)
    layers.append(Layer('truths', 'Concat', rows, ['truths'], 'concat_param { axis: 2 }'))
    tops, layer = constants('map', [0], (1, 1) + feature)
    layers.append(layer)
    image, layer = constants('picture', [0], (1, 3, 20, 20))
    layers += [layer, Layer('priors', 'PriorBox', tops + image, ['priors'],
                            'prior_box_param { min_size: 8 max_size: 12 aspect_ratio: 2 '
                            'variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 }')]
    boxes = feature[0] * feature[1] * 4
    layers.append(Layer('layer', 'MultiBoxLoss', ['loc', 'conf', 'priors', 'truths'], ['l'],
                        'multibox_loss_param { num_classes: %d %s } %s' % (
                            classes, settings, text)))
    add(name, {'loc': (images, boxes * 4 * (1 if share else classes)),
               'conf': (images, boxes * classes)}, layers, outputs=[])


add_multibox('multibox_default', 'code_type: CENTER_SIZE')
add_multibox('multibox_ssd', 'loc_loss_type: SMOOTH_L1 conf_loss_type: SOFTMAX loc_weight: 1 '
             'share_location: true match_type: PER_PREDICTION overlap_threshold: 0.4 '
             'use_prior_for_matching: true background_label_id: 0 use_difficult_gt: true '
             'neg_pos_ratio: 3 neg_overlap: 0.3 code_type: CENTER_SIZE '
             'ignore_cross_boundary_bbox: false mining_type: MAX_NEGATIVE',
             'loss_param { normalization: VALID } loss_weight: 2.5 propagate_down: true '
             'propagate_down: true propagate_down: false propagate_down: false')
add_multibox('multibox_l2', 'loc_loss_type: L2 loc_weight: 0.7 code_type: CORNER neg_pos_ratio: 1.5',
             'loss_param { normalize: false }')
add_multibox('multibox_logistic', 'conf_loss_type: LOGISTIC code_type: CORNER_SIZE '
             'do_neg_mining: true match_type: BIPARTITE', 'loss_param { normalization: FULL }')
add_multibox('multibox_all', 'mining_type: NONE background_label_id: 0 do_neg_mining: false',
             'loss_param { normalization: BATCH_SIZE }')
add_multibox('multibox_all_logistic', 'mining_type: NONE conf_loss_type: LOGISTIC',
             'loss_param { normalization: NONE }')
add_multibox('multibox_hard', 'mining_type: HARD_EXAMPLE sample_size: 7 code_type: CENTER_SIZE '
             'nms_param { nms_threshold: 0.8 top_k: 30 } use_prior_for_nms: true',
             'loss_param { normalization: PRE_FIXED pre_fixed_normalizer: 5 }')
add_multibox('multibox_own_boxes', 'share_location: false mining_type: NONE code_type: CENTER_SIZE',
             share=False)
add_multibox('multibox_encoded', 'encode_variance_in_target: true code_type: CENTER_SIZE '
             'use_difficult_gt: false')
add_multibox('multibox_inside', 'bp_inside: true code_type: CORNER')
add_multibox('multibox_crossing', 'ignore_cross_boundary_bbox: true code_type: CORNER_SIZE')
add_multibox('multibox_agnostic', 'map_object_to_agnostic: true code_type: CENTER_SIZE', classes=2)
add_multibox('multibox_locations_only', 'code_type: CENTER_SIZE', 'propagate_down: true '
             'propagate_down: false propagate_down: false propagate_down: false')


@random_cases('MultiBoxLoss', 3)
def _(name, d):
    add_multibox(name, 'code_type: %s neg_pos_ratio: %g overlap_threshold: %g loc_weight: %g' % (
        d.choose('CORNER', 'CENTER_SIZE', 'CORNER_SIZE'), d.real(1, 4), d.real(0.3, 0.6),
        d.real(0.5, 2)), feature=(d.size(1, 3), d.size(1, 3)), images=d.size(2, 3),
        classes=d.size(3, 5))
