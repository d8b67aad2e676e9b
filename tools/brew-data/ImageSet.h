//===- ImageSet.h - A list of images to a database --------------*- C++ -*-===//
#pragma once

#include "tools/brew-data/Commands.h"

#include <cstdint>
#include <string>

namespace brew::data {

/// Caffe's flags of convert_imageset.
struct ImageSetOptions {
  std::string root; ///< stands before each name
  std::string list;
  bool gray = false, shuffle = false, checkSize = false, encoded = false;
  std::string encodeType;
  int resizeHeight = 0, resizeWidth = 0; ///< 0: as it is
  uint64_t seed = 0;                     ///< of the order
  unsigned threads = 0;                  ///< that decode; 0: one for each core
  Output output;
};

/// Writes the records that Caffe's convert_imageset would, in its order:
/// NUMBER_NAME, by the number of the line, so that images that cannot be read
/// leave gaps. Error(1) if none can, or if sizes differ under checkSize.
void convertImageSet(const ImageSetOptions &options);

} // namespace brew::data
