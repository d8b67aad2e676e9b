//===- DefaultFiller.h - Fillers that a layer has by itself -----*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"

#include <map>
#include <mutex>

namespace brew::prototxt {

/// The filler of a parameter that is filled with `value` unless the layer says
/// otherwise. Lives as long as the program.
inline const caffe::FillerParameter *
fillerOr(bool isGiven, const caffe::FillerParameter &given, float value) {
  if (isGiven)
    return &given;
  static std::mutex mutex; // several nets may be compiled at once
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
