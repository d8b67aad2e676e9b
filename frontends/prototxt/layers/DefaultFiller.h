//===- DefaultFiller.h - Default fillers of layers --------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"

#include <map>
#include <mutex>
#include <string>

namespace brew::prototxt {

/// Returns a copy of `filler` that is valid until the program ends.
inline const caffe::FillerParameter *
cachedFiller(const caffe::FillerParameter &filler) {
  static std::mutex mutex; // several nets may be compiled concurrently
  static std::map<std::string, caffe::FillerParameter> fillers;
  std::lock_guard<std::mutex> lock(mutex);
  return &fillers.try_emplace(filler.SerializeAsString(), filler).first->second;
}

/// Returns `filler` if `isSet`, otherwise a constant filler of `value`, which
/// is valid until the program ends.
inline const caffe::FillerParameter *
fillerOr(bool isSet, const caffe::FillerParameter &filler, float value) {
  if (isSet)
    return &filler;
  caffe::FillerParameter constant;
  constant.set_type("constant");
  constant.set_value(value);
  return cachedFiller(constant);
}

} // namespace brew::prototxt
