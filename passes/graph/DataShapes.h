//===- DataShapes.h - Shapes of the tops of data layers ---------*- C++ -*-===//
//
// What a data layer will deliver, from its settings or from its source. No MLIR
// here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace brew::passes {

using DataShape = std::vector<int64_t>;

struct DataShapeOptions {
  /// Shapes given on the command line, by blob.
  std::map<std::string, DataShape> given;
  /// Leading dimension of every top; 0: as the layer says.
  int64_t batch = 0;
};

/// Reads "BLOB=d,d,..." entries. Commas may have been taken for separators of
/// the list, so that a dimension stands in an entry of its own. Error(2) for
/// anything else.
std::map<std::string, DataShape>
parseInputShapes(const std::vector<std::string> &entries);

/// The shape of every top of `layer`. Files are looked up from the working
/// directory, then in `folders`. Writes what the options change back into the
/// layer, so that the reader sees the same batch and shape. The text of an
/// Error does not name the layer. Error(3): a source is not there and no shape
/// is given; Error(1): its content, or the layer, is wrong.
std::vector<DataShape> inferDataShapes(caffe::LayerParameter &layer,
                                  const std::vector<std::string> &folders,
                                  const DataShapeOptions &options);

} // namespace brew::passes
