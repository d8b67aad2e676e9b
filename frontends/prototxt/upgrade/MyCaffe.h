//===- MyCaffe.h - What MyCaffe's nets are known by -------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"

namespace brew::prototxt {

/// Whether the net says something that only MyCaffe reads: a MemoryLoss, a
/// color_order, a label_type of arrays.
bool isMyCaffeNet(const caffe::NetParameter &net);

/// Whether the layer, which has so many parameters, has no bias and gives it a
/// `param`. MyCaffe does not count the last `param` of such layers.
bool hasParamForMissingBias(const caffe::LayerParameter &layer, int parameters);

} // namespace brew::prototxt
