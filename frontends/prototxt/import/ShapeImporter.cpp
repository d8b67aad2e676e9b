//===- ShapeImporter.cpp - Shapes from outside the net --------------------===//

#include "frontends/prototxt/import/ShapeImporter.h"

#include <filesystem>

namespace brew::prototxt {

std::optional<DataShapes>
ShapeImporter::importDataLayer(caffe::LayerParameter &layer,
                               const std::string &folder,
                               const SourceLocation &where) {
  std::vector<std::string> folders;
  std::error_code status;
  if (std::filesystem::current_path(status) != folder)
    folders.push_back(folder);
  try {
    return inferDataShapes(layer, folders, options);
  } catch (const Error &error) {
    const LayerText text = LayerText(layer.name(), layer.type()) + error.what();
    if (inspectOnly)
      diagnostics.warning(where, text);
    else
      diagnostics.error(where, text).status = error.status();
    return std::nullopt;
  }
}

const DataShape *ShapeImporter::explicitShape(const std::string &blob) const {
  auto entry = options.explicitShapes.find(blob);
  return entry == options.explicitShapes.end() ? nullptr : &entry->second;
}

} // namespace brew::prototxt
