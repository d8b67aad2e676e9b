//===- V1Layers.h - Layer types of V1 nets ----------------------*- C++ -*-===//
//
// V1 nets name layer types with an enum; current nets use strings.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"

namespace brew::formats {

/// Returns the current name of a layer type, or "" for NONE.
const char *v1LayerTypeName(caffe::V1LayerParameter::LayerType type);

} // namespace brew::formats
