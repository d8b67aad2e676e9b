//===- RecordShape.h - The images of a database -----------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::passes {

/// Channels, rows and columns of the first record of a Data layer's database at
/// `path`, before it is cropped. Error(3) or (1): it cannot be opened, or read.
std::vector<int64_t> recordShape(const caffe::LayerParameter &layer,
                                 const std::string &path);

/// What an AnnotatedData layer's database holds.
struct AnnotatedShape {
  std::vector<int64_t>
      image;             ///< of the first record, before any transformation
  bool hasBoxes = false; ///< else records have a label each
  int64_t maxBoxes = 0; ///< of a record, if they were counted
};
/// Likewise; with `countBoxes` all records are read.
AnnotatedShape annotatedShape(const caffe::LayerParameter &layer,
                              const std::string &path, bool countBoxes);

/// The same of the first image that an ImageData layer's list at `path` names;
/// `folders` are those in which it is looked up.
std::vector<int64_t> listedImageShape(const caffe::LayerParameter &layer,
                                 const std::string &path,
                                 const std::vector<std::string> &folders);

} // namespace brew::passes
