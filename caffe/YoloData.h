//===- YoloData.h - AnnotatedData of MobileNet-YOLO -------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"

#include <cstdint>

namespace brew::caffe {

/// Numbers of each box in the lists of yolo_data_type 1: class from 0, centre
/// and size as fractions of the image.
inline constexpr std::int64_t kYoloBoxFields = 5;
/// Boxes of each image's list. Zeros follow the last box.
inline constexpr std::int64_t kYoloBoxes = 300;

/// Returns the largest part of a side that random crops remove; 0: there are no
/// such crops.
inline float yoloJitter(const AnnotatedDataParameter &settings) {
  const bool isEnabled =
      settings.batch_sampler_size() == 0 &&
      (settings.yolo_data_type() == 1 || settings.has_yolo_data_jitter());
  return isEnabled ? settings.yolo_data_jitter() : 0;
}

} // namespace brew::caffe
