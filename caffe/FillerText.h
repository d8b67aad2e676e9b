//===- FillerText.h - Fillers in one line -----------------------*- C++ -*-===//
//
//   filler   = TYPE [ "(" argument { "," argument } ")" ]
//   argument = VALUE | FIELD "=" VALUE
//
// Arguments without a field are, in order:
//
//   constant(value)  uniform(min, max)  gaussian(mean, std, sparse)
//   xavier(variance_norm)  msra(variance_norm)  positive_unitball  bilinear
//
// Values of variance_norm are FAN_IN, FAN_OUT and AVERAGE, in any case.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"

#include <string>

namespace brew::caffe {

/// Parses a filler. Throws Error (1) that contains the text.
FillerParameter parseFiller(const std::string &text);

} // namespace brew::caffe
