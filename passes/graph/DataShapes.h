//===- DataShapes.h - Shapes of data-layer tops -----------------*- C++ -*-===//
//
// Infers the shapes that a data layer delivers, from its settings or its
// source. Independent of MLIR.
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
  /// Shapes from the command line, by blob.
  std::map<std::string, DataShape> explicitShapes;
  /// Leading dimension of every top; 0: the layer's own.
  int64_t batch = 0;
};

/// Parses "BLOB=d,d,..." entries. The option parser may have split them at
/// commas, so that a dimension can be an entry of its own. Throws an Error of
/// status Usage for anything else.
std::map<std::string, DataShape>
parseInputShapes(const std::vector<std::string> &entries);

/// Returns the shape of every top of `layer`. Looks files up from the working
/// directory, then in `folders`. Writes batch and shape from the options back
/// into `layer`, so that the data reader sees the same values. Throws an Error
/// of status Unavailable if a source is missing and no shape is explicit, and
/// of status BadInput if the source's content or the layer is wrong. The
/// message does not name the layer.
std::vector<DataShape> inferDataShapes(caffe::LayerParameter &layer,
                                       const std::vector<std::string> &folders,
                                       const DataShapeOptions &options);

} // namespace brew::passes
