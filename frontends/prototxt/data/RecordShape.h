//===- RecordShape.h - Image shapes of databases ----------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::prototxt {

/// Returns channels, rows and columns of the first record, before cropping, of
/// a Data layer's database at `path`. Throws an Error of status Unavailable if
/// it cannot be opened, and of status BadInput if it cannot be read.
std::vector<int64_t> recordShape(const caffe::LayerParameter &layer,
                                 const std::string &path);

/// Throws an Error of status BadInput that names two records if the records at
/// `path` have other shapes than `first`, the shape of the first one. Reads the
/// headers of all records.
void requireEqualRecords(const caffe::LayerParameter &layer,
                         const std::string &path,
                         const std::vector<int64_t> &first);

/// Likewise for the images of an ImageData layer.
void requireEqualImages(const caffe::LayerParameter &layer,
                        const std::string &path,
                        const std::vector<std::string> &folders,
                        const std::vector<int64_t> &first);

/// Shape of the records in an AnnotatedData layer's database.
struct AnnotatedShape {
  /// Shape of the first record, before any transformation.
  std::vector<int64_t> image;
  bool hasBoxes = false; ///< otherwise each record has a label
  int64_t maxBoxes = 0;  ///< maximum per record, if counted
};

/// Returns the shape of the records at `path`. With `countBoxes` reads all
/// records. Throws like recordShape().
AnnotatedShape annotatedShape(const caffe::LayerParameter &layer,
                              const std::string &path, bool countBoxes);

/// Returns channels, rows and columns of the first image in an ImageData
/// layer's list at `path`. Looks the image up in `folders`. Throws like
/// recordShape().
std::vector<int64_t> listedImageShape(const caffe::LayerParameter &layer,
                                      const std::string &path,
                                      const std::vector<std::string> &folders);

} // namespace brew::prototxt
