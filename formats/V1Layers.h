//===- V1Layers.h - Layer types as V1 nets number them ----------*- C++ -*-===//
//
// V1 nets name layer types with an enum; today's nets use strings.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"

namespace brew::formats {

/// Today's type name, "" for NONE.
const char *v1LayerTypeName(caffe::V1LayerParameter::LayerType type);

} // namespace brew::formats
