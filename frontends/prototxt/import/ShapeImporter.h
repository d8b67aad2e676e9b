//===- ShapeImporter.h - Shapes and files from outside the net --*- C++ -*-===//
#pragma once

#include "frontends/prototxt/data/DataShapes.h"
#include "frontends/prototxt/text/Diagnostic.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace brew::prototxt {

/// Determines the shapes of data layers and of the tops of host layers, which
/// no operation can infer. Reads the sources of data layers, and other files
/// that become part of the net.
class ShapeImporter {
public:
  /// With `inspectOnly`, unknown shapes are warnings instead of errors.
  ShapeImporter(DataShapeOptions options, bool inspectOnly)
      : options(std::move(options)), inspectOnly(inspectOnly) {}

  /// Returns the shapes of a data layer whose prototxt is in `folder`. Writes
  /// the batch size and the explicit shapes into `layer`. If a shape cannot be
  /// determined, adds the reason to `diagnostics` and returns nullopt.
  std::optional<DataShapes> importDataLayer(caffe::LayerParameter &layer,
                                            const std::string &folder,
                                            const SourceLocation &where);
  /// Calls `read` with the folders in which the files of a layer are looked up
  /// after the working directory. Adds its Error to `diagnostics`.
  void
  readFiles(const caffe::LayerParameter &layer, const std::string &folder,
            const SourceLocation &where,
            const std::function<void(const std::vector<std::string> &)> &read);
  /// Returns the explicit shape of a blob, or null.
  const DataShape *explicitShape(const std::string &blob) const;
  const DataShapeOptions &shapeOptions() const { return options; }

  /// The diagnostics of all data layers so far.
  Diagnostics diagnostics;

private:
  const DataShapeOptions options;
  const bool inspectOnly;
};

} // namespace brew::prototxt
