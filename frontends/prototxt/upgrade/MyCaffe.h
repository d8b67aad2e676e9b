//===- MyCaffe.h - Detection of MyCaffe's nets ------------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"

namespace brew::prototxt {

/// Returns whether the net has something that only MyCaffe reads: a MemoryLoss,
/// a color_order, or a label_type in memory_data_param.
bool isMyCaffeNet(const caffe::NetParameter &net);

/// Returns whether a layer with `parameters` parameters has no bias, but a
/// `param` for it. MyCaffe ignores the last `param` of such layers.
bool hasParamForMissingBias(const caffe::LayerParameter &layer, int parameters);

} // namespace brew::prototxt
