//===- SequenceLabels.h - Layers of text recognition ------------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

inline constexpr const char *kCtcLoss = "CtcLoss";
inline constexpr const char *kIndicatedCtcLoss = "CTCLoss";
inline constexpr const char *kCtcGreedyDecoder = "CTCGreedyDecoder";
inline constexpr const char *kLabelsequenceAccuracy = "LabelsequenceAccuracy";

/// The type of two kinds of losses: the mean over the items of -log of the
/// probability that connectionist temporal classification gives the labels. The
/// first bottom contains scores (time steps, items, alphabet).
///
/// - CtcLoss, of crnn.caffe, has labels (items, length), in which blank labels
///   do not count.
/// - CTCLoss, of caffe-ctc, has sequence indicators (time steps, items), whose
///   first 0 after the first step ends the item, and labels (time steps,
///   items), which end at the first negative one. An item of one time step
///   without labels contributes nothing.
///
/// As in these forks, the gradient is that of the sum, and an item with more
/// labels than time steps contributes nothing.
const HostLayerType &ctcLossType();

/// The type of layers with scores and sequence indicators, as those of CTCLoss,
/// and optional labels. Its tops are the best labels of each item, without
/// repetitions and blanks, filled with -1; the negative sums of their scores,
/// if there are two bottoms or three tops; and the mean of 1 - (edit distance /
/// length of the longer sequence), if there are labels.
///
/// In caffe_ocr, items have all time steps. The top is the best labels if the
/// scores are the only bottom. With labels (items, length), which end at the
/// first negative one, it is this mean and the fraction of items without
/// errors.
const HostLayerType &ctcGreedyDecoderType();

/// The type of layers with two bottoms: scores (items, time steps, alphabet)
/// and labels as those of CtcLoss. The top is the fraction of the items whose
/// best scores, without repetitions and blanks, are the labels.
const HostLayerType &labelsequenceAccuracyType();

} // namespace brew::runtime
