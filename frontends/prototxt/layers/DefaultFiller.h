//===- DefaultFiller.h - Default fillers of layers --------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"

#include <map>
#include <mutex>

namespace brew::prototxt {

/// Returns `filler` if `isSet`, otherwise a constant filler of `value`, which
/// is valid until the program ends.
inline const caffe::FillerParameter *
fillerOr(bool isSet, const caffe::FillerParameter &filler, float value) {
  if (isSet)
    return &filler;
  static std::mutex mutex; // several nets may be compiled concurrently
  static std::map<float, caffe::FillerParameter> constants;
  std::lock_guard<std::mutex> lock(mutex);
  auto [entry, isNew] = constants.try_emplace(value);
  if (isNew) {
    entry->second.set_type("constant");
    entry->second.set_value(value);
  }
  return &entry->second;
}

} // namespace brew::prototxt
