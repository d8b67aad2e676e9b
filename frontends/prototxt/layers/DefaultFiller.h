//===- DefaultFiller.h - Default fillers of layers --------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"

#include <map>
#include <mutex>

namespace brew::prototxt {

/// Returns `given` if it is set, otherwise a constant filler of `value`, which
/// lives as long as the program.
inline const caffe::FillerParameter *
fillerOr(bool isGiven, const caffe::FillerParameter &given, float value) {
  if (isGiven)
    return &given;
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
