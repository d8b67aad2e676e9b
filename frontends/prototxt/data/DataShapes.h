//===- DataShapes.h - Shapes of data-layer tops -----------------*- C++ -*-===//
//
// Infers the shapes that a data layer delivers, from its settings or its
// source.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace brew::prototxt {

using DataShape = std::vector<int64_t>;

/// The shapes of a data layer.
struct DataShapes {
  std::vector<DataShape> tops;
  /// Channels, rows and columns of the first record of a database, or of each
  /// resized image file, before cropping; empty if unknown. With
  /// DataShapeOptions::recordsFirstImage also of the first image file.
  DataShape record;
  /// Channels, rows and columns of the image in mean_file; empty without one
  /// and if the file does not exist yet.
  DataShape mean;
  /// Each batch is an image with its own size; the tops have the largest
  /// extents of all images (ImageSizes::Any).
  bool sizesVary = false;
};

/// The treatment of images that may have several sizes: in batches of one
/// without a crop, Caffe changes the shape of the net with each image. All
/// other images are expected to have the size of the first one, or of the crop.
enum class ImageSizes {
  Equal, ///< images of several sizes are an error
  First, ///< reads the first image only, whose size is the shape
  Any,   ///< the shape has the largest extents of all images
};

struct DataShapeOptions {
  /// Shapes from the command line, by blob.
  std::map<std::string, DataShape> explicitShapes;
  /// Leading dimension of every top; 0: the layer's own.
  int64_t batch = 0;
  ImageSizes imageSizes = ImageSizes::Equal;
  /// Whether images that may have any size are recorded as of the first one's.
  bool recordsFirstImage = false;
};

/// Parses "BLOB=d,d,..." entries. An entry may be split at its commas. Throws
/// an Error of status Usage for anything else.
std::map<std::string, DataShape>
parseInputShapes(const std::vector<std::string> &entries);

/// Returns the shapes of `layer`, with an entry for every top. Looks files up
/// from the working directory, then in `folders`. Writes batch and shape from
/// the options back into `layer`, so that the data reader sees the same values.
/// Throws an Error of status Unavailable if a source is missing and no shape is
/// explicit, of status ShapesVary for images of several sizes, and of status
/// BadInput if the source's content or the layer is wrong. The message does not
/// name the layer.
DataShapes inferDataShapes(caffe::LayerParameter &layer,
                           const std::vector<std::string> &folders,
                           const DataShapeOptions &options);

} // namespace brew::prototxt
