//===- DefaultFiller.h - Fillers that a layer has by itself -----*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"

#include <map>

namespace brew::prototxt {

/// The filler of a parameter that is filled with `value` unless the layer says
/// otherwise. Lives as long as the program.
inline const caffe::FillerParameter *
fillerOr(bool isGiven, const caffe::FillerParameter &given, float value) {
  if (isGiven)
    return &given;
  static std::map<float, caffe::FillerParameter> constants;
  caffe::FillerParameter &filler = constants[value];
  filler.set_type("constant");
  filler.set_value(value);
  return &filler;
}

} // namespace brew::prototxt
