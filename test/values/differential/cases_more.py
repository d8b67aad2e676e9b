"""Cases that values/gradients/cases.py does not have.

These are layer types without a gradient (data layers included), settings that draw random values,
and losses with class weights or a matrix in their settings.
"""
from cases import CASES as _ALL, Layer, add

CASES = []


def case(name, inputs, layers, **options):
    """Adds a case like cases.add(), but only to the cases of this file."""
    add('more_' + name, inputs, layers, **options)
    CASES.append(_ALL.pop())


def layer_case(name, inputs, kind, text='', tops=('y',), **options):
    case(name, inputs, [Layer('layer', kind, list(inputs if isinstance(inputs, dict) else ['x']) +
                              list(options.pop('extra', ())), list(tops), text)],
         outputs=options.pop('outputs', []), **options)


SHAPE = (4, 5)
LABELS = {'label': ((4,), [0, 1, 2, 3, 4])}
layer_case('accuracy', SHAPE, 'Accuracy', labels=LABELS, extra=('label',))
layer_case('accuracy_top_2', SHAPE, 'Accuracy', 'accuracy_param { top_k: 2 }', labels=LABELS, extra=('label',))
layer_case('accuracy_by_class', SHAPE, 'Accuracy', labels=LABELS, extra=('label',), tops=('y', 'classes'))
layer_case('accuracy_ignore', SHAPE, 'Accuracy', 'accuracy_param { ignore_label: 1 }', labels=LABELS, extra=('label',))
layer_case('accuracy_map', (2, 4, 3, 3), 'Accuracy', 'accuracy_param { axis: 1 }',
           labels={'label': ((2, 1, 3, 3), [0, 1, 2, 3])}, extra=('label',))
layer_case('argmax', (2, 4, 3), 'ArgMax')
layer_case('argmax_axis', (2, 4, 3), 'ArgMax', 'argmax_param { axis: 1 top_k: 2 }')
layer_case('argmax_values', (2, 4, 3), 'ArgMax', 'argmax_param { out_max_val: true top_k: 3 }')
case('continuation_indicator', (2, 3), [
    Layer('layer', 'ContinuationIndicator', [], ['c'], 'continuation_indicator_param { time_step: 2 batch_size: 3 }'),
    Layer('e', 'Eltwise', ['x', 'c'], ['y'])])
case('continuation_indicator_of_bottom', {'x': (2, 3), 'z': (4, 3, 2)}, [
    Layer('layer', 'ContinuationIndicator', ['z'], ['c'], 'continuation_indicator_param { time_step: 2 axis: 1 }'),
    Layer('e', 'Eltwise', ['x', 'c'], ['y'])])
layer_case('ctc_greedy_decoder', (5, 3, 4), 'CTCGreedyDecoder', labels={'cont': ((5, 3), [0, 1])}, extra=('cont',))
layer_case('ctc_greedy_decoder_alone', (5, 3, 4), 'CTCGreedyDecoder')
layer_case('ctc_greedy_decoder_labels', (5, 3, 4), 'CTCGreedyDecoder', labels={'label': ((3, 2), [0, 1, 2, 3])},
           extra=('label',))
layer_case('labelsequence_accuracy', (3, 5, 4), 'LabelsequenceAccuracy', 'labelsequence_accuracy_param { '
           'blank_label: 3 }', labels={'label': ((3, 2), [0, 1, 2, 3])}, extra=('label',))
layer_case('seg_accuracy', (2, 4, 3, 5), 'SegAccuracy', 'seg_accuracy_param { ignore_label: 5 }',
           labels={'label': ((2, 1, 3, 5), [0, 1, 3, 5])}, extra=('label',))
for kind in ('DOUBLE', 'TRIPLE', 'QUADRUPLE'):
    layer_case('margin_' + kind.lower(), (6, 3), 'MarginInnerProduct', 'margin_inner_product_param { num_output: 4 '
               'type: %s base: 0.5 gamma: 0.4 }' % kind, labels={'label': ((6,), [0, 1, 2, 3])}, extra=('label',), outputs=['y'])
for name, label in (('labels', ((3,), [0, 1, 2, 3, 4])), ('targets', ((3, 5), [0, 0.5, 1]))):
    layer_case('softmax_cross_entropy_' + name, (3, 5), 'SoftmaxCrossEntropyLoss', labels={'label': label},
               extra=('label',))
layer_case('threshold', (2, 3, 4), 'Threshold', 'threshold_param { threshold: 0.1 }')
layer_case('quantize', (2, 3, 4, 4), 'Quantize')
layer_case('rescale', (2, 1, 4, 4), 'Rescale', 'rescale_param { rf: 14 }')
case('silence', (2, 3), [Layer('layer', 'Silence', ['x'], []), Layer('z', 'Power', ['x'], ['y'], 'power_param { power: 2 }')])
layer_case('prior_box', {'x': (2, 3, 3, 4), 'image': (2, 3, 24, 32)}, 'PriorBox',
           'prior_box_param { min_size: 8 max_size: 12 aspect_ratio: 2 variance: 0.1 }')
layer_case('prior_box_grid', {'x': (2, 3, 3, 4), 'image': (2, 3, 24, 32)}, 'PriorBox',
           'prior_box_param { fixed_size: 8 fixed_size: 12 density: 2 density: 1 fixed_ratio: 1 fixed_ratio: 2 }')
layer_case('prior_box_clustered', {'x': (2, 3, 3, 4), 'image': (2, 3, 24, 32)}, 'PriorBoxClustered',
           'prior_box_param { width: 8 width: 12 height: 20 height: 6 step: 8 }')
PRIORS = [Layer('map', 'DummyData', [], ['map', 'image'], 'dummy_data_param { shape { dim: 1 dim: 1 dim: 2 dim: 3 } '
                'shape { dim: 1 dim: 3 dim: 20 dim: 20 } }'),
          Layer('priors', 'PriorBox', ['map', 'image'], ['priors'], 'prior_box_param { min_size: 8 max_size: 12 '
                'aspect_ratio: 2 variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 }')]
DETECTIONS = PRIORS + [Layer('detections', 'DetectionOutput', ['loc', 'conf', 'priors'], ['y'],
                             'detection_output_param { num_classes: 3 confidence_threshold: 0.2 '
                             'nms_param { nms_threshold: 0.4 top_k: 10 } keep_top_k: 8 code_type: CENTER_SIZE }')]
BOXES = {'loc': (2, 2 * 3 * 4 * 4), 'conf': (2, 2 * 3 * 4 * 3)}
case('detection_output', BOXES, DETECTIONS, outputs=[])
case('detection_output_extended', {'loc': (2, 2, 3, 16), 'conf': (2, 2 * 3 * 4 * 2)}, PRIORS + [
    Layer('detections', 'DetectionOutputExtended', ['loc', 'conf', 'priors'], ['y'], 'detection_output_param { '
          'num_classes: 2 background_label_id: -1 confidence_threshold: 0.2 nms_param { nms_threshold: 0.4 } '
          'code_type: CENTER_SIZE }')], outputs=[])
layer_case('centernet_detection_output', {'boxes': (2, 4, 3, 4), 'scores': (2, 2, 3, 4)}, 'CenternetDetectionOutput',
           'detection_output_param { num_classes: 3 keep_top_k: 6 confidence_threshold: 0.1 nms_thresh: 0.3 }')
layer_case('centernet_landmarks', {'boxes': (1, 14, 2, 3), 'scores': (1, 1, 2, 3)}, 'CenternetDetectionOutput',
           'detection_output_param { num_classes: 2 has_lm: true }')
case('detection_evaluate', BOXES, DETECTIONS + [
    Layer('evaluate', 'DetectionEvaluate', ['y', 'truths'], ['scores'], 'detection_evaluate_param { num_classes: 3 '
          'background_label_id: 0 overlap_threshold: 0.5 }')], outputs=[], labels={'truths': ((1, 1, 3, 8), [1])})
case('proposal', {'scores': (1, 6, 3, 4), 'deltas': (1, 12, 3, 4)}, [
    Layer('layer', 'Proposal', ['scores', 'deltas', 'info'], ['y'], 'proposal_param { ratio: 1 scale: 1 scale: 2 '
          'scale: 3 min_size: 0.1 pre_nms_topn: 20 post_nms_topn: 10 }')], outputs=[],
     labels={'info': ((1, 3), [48])})
case('box_annotator', {'losses': (8,), 'weights': (8, 4)}, [
    Layer('layer', 'BoxAnnotatorOHEM', ['rois', 'losses', 'labels', 'weights'], ['y', 'kept'],
          'box_annotator_ohem_param { roi_per_img: 2 }')], outputs=[],
     labels={'rois': ((8, 5), [0, 1]), 'labels': ((8,), [0, 1, 2])})
YOLO = 'biases: 1 biases: 2 biases: 3 biases: 1'
layer_case('yolo_detections', {'x': (2, 16, 3, 4), 'large': (2, 16, 6, 8)}, 'YoloDetectionOutput',
           'yolo_detection_output_param { num_classes: 3 num_box: 2 %s }' % YOLO)
layer_case('yolov3_detections', {'x': (2, 16, 3, 4)}, 'Yolov3DetectionOutput', 'yolov3_detection_output_param { '
           'num_classes: 3 num_box: 2 mask_group_num: 1 mask: 0 mask: 1 anchors_scale: 2 %s }' % YOLO)
layer_case('region_loss', {'x': (2, 16, 3, 4)}, 'RegionLoss', 'region_loss_param { num: 2 num_class: 3 '
           'coord_scale: 1 %s }' % YOLO, labels={'truths': ((2, 1, 10), [0.75])}, extra=('truths',))
layer_case('yolov3_loss', {'x': (2, 16, 3, 4)}, 'Yolov3', 'yolov3_param { num: 2 num_class: 3 coord_scale: 1 mask: 0 '
           'mask: 1 anchors_scale: 2 %s }' % YOLO, labels={'truths': ((2, 1, 10), [0.75])}, extra=('truths',))
layer_case('eval_detection', {'x': (2, 16, 3, 3)}, 'EvalDetection', 'eval_detection_param { side: 3 num_class: 3 '
           'num_object: 2 nms: 0.45 %s }' % YOLO, labels={'truths': ((1, 1, 3, 8), [1])}, extra=('truths',))
for name, text in (('stochastic', 'kernel_size: 2 stride: 2'), ('stochastic_overlap', 'kernel_size: 3 stride: 2')):
    layer_case('pool_' + name, (4, 4, 6, 6), 'Pooling', 'pooling_param { pool: STOCHASTIC %s }' % text, draw='positive',
               outputs=['y'])
layer_case('pool_stochastic_without_loss', (4, 4, 6, 6), 'Pooling', 'pooling_param { pool: STOCHASTIC kernel_size: 2 stride: 2 }',
           draw='positive')
layer_case('dropout', (40, 50), 'Dropout', outputs=['y'])
layer_case('dropout_most', (40, 50), 'Dropout', 'dropout_param { dropout_ratio: 0.8 }', outputs=['y'])
# Losses with class weights, or a matrix, in their settings.
layer_case('softmax_loss_weights', (4, 3, 2, 2), 'SoftmaxWithLoss', 'loss_param { weight_by_label_freqs: true '
           'class_weighting: 1 class_weighting: 2 class_weighting: 0.5 }',
           labels={'label': ((4, 1, 2, 2), [0, 1, 2])}, extra=('label',))
layer_case('infogain_source', (4, 3), 'InfogainLoss', 'infogain_loss_param { source: "infogain.binaryproto" }',
           labels={'label': ((4,), [0, 1, 2])}, extra=('label',), draw='positive')

# Data layers, which read the next batch in each pass; source_files.py writes their files.
INNER_PRODUCT = [Layer('ip', 'InnerProduct', ['x'], ['y'],
                       'inner_product_param { num_output: 2 weight_filler { type: "xavier" } }')]


def data_case(name, kind, text, tops=('x', 'label'), layers=INNER_PRODUCT):
    case(name, {}, [Layer('layer', kind, [], list(tops), text)] + list(layers))


data_case('data', 'Data', 'data_param { source: "images_lmdb" batch_size: 2 backend: LMDB } transform_param { scale: 0.01 }')
data_case('image_data', 'ImageData', 'image_data_param { source: "images.txt" batch_size: 2 } transform_param { mean_value: 50 }')
data_case('multi_label_image_data', 'MultiLabelImageData', 'image_data_param { source: "labels.txt" batch_size: 2 } '
          'transform_param { mean_value: 50 }')
data_case('dense_image_data', 'DenseImageData', 'dense_image_data_param { source: "pairs.txt" batch_size: 2 } '
          'transform_param { scale: 0.01 }', tops=('x', 'labels'))
data_case('image_labelmap_data', 'ImageLabelmapData', 'image_data_param { source: "pairs.txt" batch_size: 2 '
          'new_height: 6 new_width: 5 } transform_param { scale: 0.01 }', tops=('x', 'labels'))
data_case('image_seg_data', 'ImageSegData', 'image_data_param { source: "pairs.txt" batch_size: 2 label_type: PIXEL } '
          'transform_param { crop_size: 8 mean_value: 50 scale_factors: 1.5 }',
          tops=('x', 'labels', 'sizes'))
data_case('image_seg_data_crop_sides', 'ImageSegData', 'image_data_param { source: "pairs.txt" batch_size: 2 '
          'label_type: PIXEL } transform_param { crop_height: 6 crop_width: 7 mean_value: 50 }', tops=('x', 'labels'))
data_case('video_data', 'VideoData', 'video_data_param { source: "clips.txt" batch_size: 2 use_image: true new_length: 2 '
          'sampling_rate: 2 new_height: 4 new_width: 3 } transform_param { mean_value: 50 scale: 0.1 }')
data_case('hdf5_data', 'HDF5Data', 'hdf5_data_param { source: "h5.txt" batch_size: 2 }')
data_case('tokenized_data', 'TokenizedData', 'tokenized_data_param { source: "text.txt" batch_size: 2 block_size: 3 '
          'debug_index_file: "starts.txt" }', tops=('x', 'position', 'next'))
data_case('dummy_data', 'DummyData', 'dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 } '
          'data_filler { value: 2.5 } data_filler { value: 1 } }')
case('hdf5_output', {'x': (2, 3), 'z': (2,)}, [
    Layer('out', 'HDF5Output', ['x', 'z'], [], 'hdf5_output_param { file_name: "written.h5" }')] + INNER_PRODUCT)
