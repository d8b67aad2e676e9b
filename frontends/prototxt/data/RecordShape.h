//===- RecordShape.h - Image shapes of databases ----------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::prototxt {

/// Returns channels, rows and columns of the first record, before cropping, of
/// a Data layer's database at `path`. Throws an Error of status Unavailable if
/// it cannot be opened, and of status BadInput if it cannot be read.
std::vector<int64_t> recordShape(const caffe::LayerParameter &layer,
                                 const std::string &path);

/// The shapes of all images of a source: channels, rows and columns.
struct ImageShapes {
  std::string firstName; ///< of the first intact image
  std::vector<int64_t> first;
  std::string otherName; ///< of the first image of another shape, or ""
  std::vector<int64_t> other;
  std::vector<int64_t> largest; ///< maximum of each extent

  bool areEqual() const { return otherName.empty(); }
  void add(const std::string &name, const std::array<int, 3> &shape);
};

/// Returns the shapes of a Data layer's records at `path`; reads the headers of
/// all records, or with `untilOther` up to the first one of another shape.
/// Skips damaged records, which are reported when they are read.
ImageShapes recordShapes(const caffe::LayerParameter &layer,
                         const std::string &path, bool untilOther);

/// Likewise for the images of an ImageData layer, which are looked up in
/// `folders`.
ImageShapes listedImageShapes(const caffe::LayerParameter &layer,
                              const std::string &path,
                              const std::vector<std::string> &folders,
                              bool untilOther);

/// Likewise for the images, not their labels, of a layer with labels of pixels.
ImageShapes pairedImageShapes(const caffe::LayerParameter &layer,
                              const std::string &path,
                              const std::vector<std::string> &folders,
                              bool untilOther);

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
