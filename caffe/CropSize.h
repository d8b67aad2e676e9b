//===- CropSize.h - Size of the crop of transform_param ---------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"

namespace brew::caffe {

/// Rows and columns of a crop; 0 if images are not cropped.
struct CropSize {
  int rows = 0, columns = 0;
};

/// Returns the size of the crop that `crop_size`, or `crop_height` and
/// `crop_width`, set.
inline CropSize cropSizeOf(const TransformationParameter &transform) {
  const auto size = static_cast<int>(transform.crop_size());
  if (size)
    return {size, size};
  return {static_cast<int>(transform.crop_height()),
          static_cast<int>(transform.crop_width())};
}

} // namespace brew::caffe
