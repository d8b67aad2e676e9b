"""Rows of layer types without a gradient, and of settings that draw random values. For all other
types see values/gradients/cases.py.
"""
from cases import CASES as _ALL, row, Layer

_before = len(_ALL)

CASES = []


def case(name, inputs, layers, **more):
    """As cases.row, for this file alone."""
    row('more_' + name, inputs, layers, **more)
    CASES.append(_ALL.pop())


def single(name, inputs, kind, text='', tops=('y',), **more):
    case(name, inputs, [Layer('layer', kind, list(inputs if isinstance(inputs, dict) else ['x']) +
                              list(more.pop('extra', ())), list(tops), text)],
         outputs=more.pop('outputs', []), **more)


ROWS = (4, 5)
LABELS = {'label': ((4,), [0, 1, 2, 3, 4])}
single('accuracy', ROWS, 'Accuracy', labels=LABELS, extra=('label',))
single('accuracy_top_2', ROWS, 'Accuracy', 'accuracy_param { top_k: 2 }', labels=LABELS, extra=('label',))
single('accuracy_by_class', ROWS, 'Accuracy', labels=LABELS, extra=('label',), tops=('y', 'classes'))
single('accuracy_ignore', ROWS, 'Accuracy', 'accuracy_param { ignore_label: 1 }', labels=LABELS, extra=('label',))
single('accuracy_map', (2, 4, 3, 3), 'Accuracy', 'accuracy_param { axis: 1 }',
       labels={'label': ((2, 1, 3, 3), [0, 1, 2, 3])}, extra=('label',))
single('argmax', (2, 4, 3), 'ArgMax')
single('argmax_axis', (2, 4, 3), 'ArgMax', 'argmax_param { axis: 1 top_k: 2 }')
single('argmax_values', (2, 4, 3), 'ArgMax', 'argmax_param { out_max_val: true top_k: 3 }')
single('threshold', (2, 3, 4), 'Threshold', 'threshold_param { threshold: 0.1 }')
single('quantize', (2, 3, 4, 4), 'Quantize')
single('rescale', (2, 1, 4, 4), 'Rescale', 'rescale_param { rf: 14 }')
case('silence', (2, 3), [Layer('layer', 'Silence', ['x'], []), Layer('z', 'Power', ['x'], ['y'], 'power_param { power: 2 }')])
single('prior_box', {'x': (2, 3, 3, 4), 'image': (2, 3, 24, 32)}, 'PriorBox',
       'prior_box_param { min_size: 8 max_size: 12 aspect_ratio: 2 variance: 0.1 }')
PRIORS = [Layer('map', 'DummyData', [], ['map', 'image'], 'dummy_data_param { shape { dim: 1 dim: 1 dim: 2 dim: 3 } '
                'shape { dim: 1 dim: 3 dim: 20 dim: 20 } }'),
          Layer('priors', 'PriorBox', ['map', 'image'], ['priors'], 'prior_box_param { min_size: 8 max_size: 12 '
                'aspect_ratio: 2 variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 }')]
DETECTIONS = PRIORS + [Layer('detections', 'DetectionOutput', ['loc', 'conf', 'priors'], ['y'],
                             'detection_output_param { num_classes: 3 confidence_threshold: 0.2 '
                             'nms_param { nms_threshold: 0.4 top_k: 10 } keep_top_k: 8 code_type: CENTER_SIZE }')]
BOXES = {'loc': (2, 2 * 3 * 4 * 4), 'conf': (2, 2 * 3 * 4 * 3)}
case('detection_output', BOXES, DETECTIONS, outputs=[])
case('detection_evaluate', BOXES, DETECTIONS + [
    Layer('evaluate', 'DetectionEvaluate', ['y', 'truths'], ['scores'], 'detection_evaluate_param { num_classes: 3 '
          'background_label_id: 0 overlap_threshold: 0.5 }')], outputs=[], labels={'truths': ((1, 1, 3, 8), [1])})
case('proposal', {'scores': (1, 6, 3, 4), 'deltas': (1, 12, 3, 4)}, [
    Layer('layer', 'Proposal', ['scores', 'deltas', 'info'], ['y'], 'proposal_param { ratio: 1 scale: 1 scale: 2 '
          'scale: 3 min_size: 0.1 pre_nms_topn: 20 post_nms_topn: 10 }')], outputs=[],
     labels={'info': ((1, 3), [48])})
for name, text in (('stochastic', 'kernel_size: 2 stride: 2'), ('stochastic_overlap', 'kernel_size: 3 stride: 2')):
    single('pool_' + name, (4, 4, 6, 6), 'Pooling', 'pooling_param { pool: STOCHASTIC %s }' % text, draw='positive',
           outputs=['y'])
single('pool_stochastic_without_loss', (4, 4, 6, 6), 'Pooling', 'pooling_param { pool: STOCHASTIC kernel_size: 2 stride: 2 }',
       draw='positive')
single('dropout', (40, 50), 'Dropout', outputs=['y'])
single('dropout_most', (40, 50), 'Dropout', 'dropout_param { dropout_ratio: 0.8 }', outputs=['y'])
# Losses with class weights, or a matrix, in their settings.
single('softmax_loss_weights', (4, 3, 2, 2), 'SoftmaxWithLoss', 'loss_param { weight_by_label_freqs: true '
       'class_weighting: 1 class_weighting: 2 class_weighting: 0.5 }',
       labels={'label': ((4, 1, 2, 2), [0, 1, 2])}, extra=('label',))
single('infogain_source', (4, 3), 'InfogainLoss', 'infogain_loss_param { source: "infogain.binaryproto" }',
       labels={'label': ((4,), [0, 1, 2])}, extra=('label',), draw='positive')

# Data layers, which read the next batch in each pass; source_files.py writes their files.
LOSS = [Layer('ip', 'InnerProduct', ['x'], ['y'], 'inner_product_param { num_output: 2 weight_filler { type: "xavier" } }')]


def source(name, kind, text, tops=('x', 'label'), layers=LOSS):
    case(name, {}, [Layer('layer', kind, [], list(tops), text)] + list(layers))


source('data', 'Data', 'data_param { source: "images_lmdb" batch_size: 2 backend: LMDB } transform_param { scale: 0.01 }')
source('image_data', 'ImageData', 'image_data_param { source: "images.txt" batch_size: 2 } transform_param { mean_value: 50 }')
source('hdf5_data', 'HDF5Data', 'hdf5_data_param { source: "h5.txt" batch_size: 2 }')
source('dummy_data', 'DummyData', 'dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 } '
       'data_filler { value: 2.5 } data_filler { value: 1 } }')
case('hdf5_output', {'x': (2, 3), 'z': (2,)}, [
    Layer('out', 'HDF5Output', ['x', 'z'], [], 'hdf5_output_param { file_name: "written.h5" }')] + LOSS)
