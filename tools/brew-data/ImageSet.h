//===- ImageSet.h - Conversion of lists of images ---------------*- C++ -*-===//
#pragma once

#include "tools/brew-data/Commands.h"

#include <cstdint>
#include <string>

namespace brew::data {

/// The flags of Caffe's convert_imageset.
struct ImageSetOptions {
  std::string root; ///< prefix of the names in the list
  std::string list;
  bool gray = false, shuffle = false, checkSize = false, encoded = false;
  std::string encodeType;
  int resizeHeight = 0, resizeWidth = 0; ///< 0: original size
  uint64_t seed = 0;                     ///< of the shuffled order
  unsigned threads = 0;                  ///< decoding threads; 0: one per core
  Output output;
};

/// Writes the same records in the same order as Caffe's convert_imageset. Keys
/// are NUMBER_NAME with the number of the line, so unreadable images leave
/// gaps. Throws Error (1) if all images are unreadable, or if sizes differ
/// under checkSize.
void convertImageSet(const ImageSetOptions &options);

} // namespace brew::data
