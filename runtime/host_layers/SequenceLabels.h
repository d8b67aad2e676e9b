//===- SequenceLabels.h - Layers of text recognition ------------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

inline constexpr const char *kCtcLoss = "CtcLoss";
inline constexpr const char *kLabelsequenceAccuracy = "LabelsequenceAccuracy";

/// The type of layers with two bottoms: scores (time steps, items, alphabet)
/// and labels (items, length), in which blank labels do not count. The top is
/// the mean over the items of -log of the probability that connectionist
/// temporal classification gives the labels. As in crnn.caffe, the gradient is
/// that of the sum, and an item with more labels than time steps contributes
/// nothing.
const HostLayerType &ctcLossType();

/// The type of layers with two bottoms: scores (items, time steps, alphabet)
/// and labels as above. The top is the fraction of the items whose best scores,
/// without repetitions and blanks, are the labels.
const HostLayerType &labelsequenceAccuracyType();

} // namespace brew::runtime
