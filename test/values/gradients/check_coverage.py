#!/usr/bin/python3
"""Fails unless the gradient cases cover every differentiable layer type and its settings.

usage: check_coverage.py SOURCE_FOLDER

The types are the rows of frontends/prototxt/layers, their settings the blocks that the rows name,
with the fields of formats/caffe.proto. Every type must have a case of its own and a case with a
random shape; every field must be set in some case of its type. This file lists types without a
gradient, and fields without influence on gradients.
"""
import glob
import os
import re
import sys

import cases
import check_gradients  # noqa: F401 (imports all files of cases)

# Types without a backward pass, and types that read or write data.
WITHOUT_GRADIENT = {
    'Accuracy', 'ArgMax', 'BoxAnnotatorOHEM', 'CTCGreedyDecoder', 'CenternetDetectionOutput', 'DetectionEvaluate', 'DetectionOutput', 'DetectionOutputExtended',
    'LabelsequenceAccuracy', 'PriorBox',
    'PriorBoxClustered', 'Proposal', 'Quantize', 'Rescale', 'SegAccuracy', 'Silence', 'Threshold',
    'EvalDetection', 'YoloDetectionOutput', 'Yolov3DetectionOutput',
    'RegionLoss', 'Yolov3',  # no derivatives of the displayed losses: see python/test_yolo.py
    'SoftmaxCrossEntropyLoss',  # the gradient of another loss: see python/test_fork_margins.py
    'MemoryLoss',  # the caller provides its gradient: see values/reinforcement
    'Python',  # the host program computes it: see values/host_layers
    'AnnotatedData', 'ContinuationIndicator', 'Data', 'DenseImageData', 'DummyData', 'HDF5Data', 'HDF5Output', 'ImageData',
    'ImageLabelmapData', 'ImageSegData', 'Input', 'MemoryData', 'MultiLabelImageData', 'TokenizedData',
    'VideoData', 'WindowData'}
# Fields that choose initial values, which the cases set themselves, or an implementation.
IRRELEVANT_FIELDS = re.compile(r'^(engine|\w*filler|debug_info)$')
# Fields of messages that several types share, which only C3D's types or DeformableConvolution accept.
TEMPORAL_FIELDS = {'kernel_depth', 'temporal_stride', 'temporal_pad'}
TYPE_FIELDS = TEMPORAL_FIELDS | {'deformable_group'}
PLANE_FIELDS = {'kernel_h', 'kernel_w', 'stride_h', 'stride_w', 'pad_h', 'pad_w'}
CONVOLUTION_FIELDS = PLANE_FIELDS | {'pad_l', 'pad_r', 'pad_t', 'pad_b', 'pad_type', 'dilation', 'axis',
                                     'force_nd_im2col', 'deformable_group'}
CTC_FIELDS = {'output_delay', 'preprocess_collapse_repeated', 'ctc_merge_repeated', 'loss_calculation_t'}
# MyCaffe's fields of Softmax in the same message as those of losses.
SOFTMAX_FIELDS = {'algorithm', 'algorithm_train'}
# Fields that the type ignores or rejects.
UNUSED_FIELDS = {
    'ConvLSTM': {'expose'},
    'Convolution': TYPE_FIELDS,
    'Convolution3D': CONVOLUTION_FIELDS,
    'ConvolutionDepthwise': TYPE_FIELDS,
    'Deconvolution3D': CONVOLUTION_FIELDS,
    'DepthwiseConvolution': TYPE_FIELDS,
    'Pooling': TEMPORAL_FIELDS,
    'Pooling3D': PLANE_FIELDS | {'global_pooling', 'round_mode', 'ceil_mode'},
    'Deconvolution': TYPE_FIELDS | {'force_nd_im2col'},
    'DeformableConvolution': TEMPORAL_FIELDS | {'pad_l', 'pad_r', 'pad_t', 'pad_b', 'pad_type', 'axis', 'force_nd_im2col'},
    # No gradient depends on the fillers, and a case cannot know what is dropped.
    'DenseBlock': {'initChannel', 'pad_h', 'pad_w', 'conv_verticalStride', 'conv_horizentalStride', 'filter_H', 'filter_W',
                   'Filter_Filler', 'BN_Scaler_Filler', 'BN_Bias_Filler', 'use_dropout', 'dropout_amount'},
    'DeformablePSROIPooling': {'pooled_size'},  # must be group_size
    'Im2col': TYPE_FIELDS | {'num_output', 'bias_term', 'group', 'force_nd_im2col'},
    'Lstm': {'expose_hidden'},  # of the refused recurrent_param
    'CtcLoss': CTC_FIELDS,
    'WarpCTCLoss': CTC_FIELDS,
    'MultiBoxLoss': {'ignore_label', 'class_weighting', 'weight_by_label_freqs'},
    # In the cases the matrix is the third bottom.
    'InfogainLoss': SOFTMAX_FIELDS | {'source', 'normalize', 'class_weighting', 'weight_by_label_freqs'},
    'SmoothL1LossOHEM': {'ignore_label', 'class_weighting', 'weight_by_label_freqs'},
    'SoftmaxCrossEntropy2Loss': SOFTMAX_FIELDS,
    'SoftmaxWithLoss': SOFTMAX_FIELDS,
    'SoftmaxWithLossOHEM': SOFTMAX_FIELDS | {'class_weighting', 'weight_by_label_freqs'},
    'NLLLoss': {'class_weighting', 'weight_by_label_freqs'},
    'SigmoidCrossEntropyLoss': {'class_weighting', 'weight_by_label_freqs'},
}
# Types that compute the same as another type, whose cases count for them.
EQUIVALENT_TYPES = {'ConvolutionDepthwise': 'Convolution', 'DepthwiseConvolution': 'Convolution',
                    'SoftmaxCrossEntropy2Loss': 'SoftmaxWithLoss', 'Transpose': 'Permute',
                    'WarpCTCLoss': 'CtcLoss', 'CTCLoss': 'CtcLoss'}


def source(root, *names):
    with open(os.path.join(root, *names)) as file:
        return file.read()


def without_comments(text):
    return re.sub(r'//[^\n]*', '', text)


def rows(root):
    """Returns {type: text of its row}."""
    rows_by_type = {}
    start = re.compile(r'(?:LayerKind\s*\{|\b\w+Kind\s*\()\s*"(\w+)"')
    for path in glob.glob(os.path.join(root, 'frontends/prototxt/layers/*.cpp')):
        text = without_comments(source(path))
        starts = list(start.finditer(text))
        for row, following in zip(starts, starts[1:] + [None]):
            rows_by_type[row.group(1)] = text[row.start():following.start() if following else None]
    return rows_by_type


def kinds(root):
    """Returns {type: names of its settings blocks}."""
    return {kind: [word for words in re.findall(r'"([^"]*)"', row)
                   for word in words.split() if word.endswith('_param')]
            for kind, row in rows(root).items()}


def fields(root):
    """Returns {block: names of its fields}."""
    text = without_comments(source(root, 'formats/caffe.proto'))
    messages = {}
    for name, body in re.findall(r'^message (\w+) \{(.*?)^\}', text, re.S | re.M):
        body = re.sub(r'enum \w+ \{.*?\}', '', body, flags=re.S)
        messages[name] = re.findall(r'(?:optional|repeated|required) ([\w.]+) (\w+) =', body)
    return {field: [name for _, name in messages[kind]]
            for kind, field in messages['LayerParameter'] if kind in messages}


def main():
    root = sys.argv[1]
    blocks = fields(root)
    layers = [(case, layer) for case in cases.CASES for layer in case.layers]
    problems = []
    all_kinds = kinds(root)
    if len(all_kinds) < 60:
        sys.exit('only %d types were found in the rows' % len(all_kinds))
    for type_, settings in sorted(all_kinds.items()):
        if type_ in WITHOUT_GRADIENT:
            continue
        own_cases = [(case, layer) for case, layer in layers if layer.type == type_]
        if not any(case.name.startswith('random_') for case, _ in own_cases):
            problems.append('%s: no case with a random shape' % type_)
        if not any(not case.name.startswith('random_') for case, _ in own_cases):
            problems.append('%s: no case of its own' % type_)
        text = ' '.join(layer.text for _, layer in layers
                        if layer.type in (type_, EQUIVALENT_TYPES.get(type_)))
        for field in (f for block in settings for f in blocks.get(block, [])):
            if not IRRELEVANT_FIELDS.match(field) and field not in UNUSED_FIELDS.get(type_, ()) and \
                    not re.search(r'\b%s\b *[:{]' % field, text):
                problems.append('%s: %s is set in no case' % (type_, field))
    unknown = WITHOUT_GRADIENT - set(all_kinds)
    for problem in problems:
        print('FAIL ' + problem)
    print('%d types, %d cases, %d problems (missing: %s)' % (
        len(all_kinds), len(cases.CASES), len(problems), ' '.join(sorted(unknown)) or 'none'))
    sys.exit(bool(problems))


if __name__ == '__main__':
    main()
