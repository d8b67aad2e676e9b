//===- FolderSet.h - Conversion of folders of classes -----------*- C++ -*-===//
#pragma once

#include "tools/brew-data/Commands.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace brew::data {

/// Options of convertFolder().
struct FolderSetOptions {
  std::string folder; ///< with a subfolder of images for each class
  /// Height and width of resized images; one number: the length of the shorter
  /// side, with the aspect ratio kept; empty: original size.
  std::vector<int> resize;
  /// Height and width of the centre crop; one number: both; empty: no crop.
  std::vector<int> crop;
  double testShare = 0.2; ///< share of the images of each class, below 1
  bool gray = false;
  std::string encodeType; ///< png or jpg; "": raw pixels
  bool skipBadImages = false;
  uint64_t seed = 0;    ///< of the split and the order of training images
  unsigned threads = 0; ///< decoding threads; 0: one per core
  Output output;        ///< path: the folder for the results
};

/// Writes the databases train_lmdb, in random order, and test_lmdb, the file
/// labels.txt with a class per line, and mean.binaryproto, the mean of the
/// training images, into the output folder. Keys are NUMBER_CLASS/FILE. Lists
/// unreadable images at the end. Throws Error (1) if there are any, unless
/// skipBadImages is set, and if the images differ in size; then writes nothing.
void convertFolder(const FolderSetOptions &options);

} // namespace brew::data
