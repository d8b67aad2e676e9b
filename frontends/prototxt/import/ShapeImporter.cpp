//===- ShapeImporter.cpp - Shapes from outside the net --------------------===//

#include "frontends/prototxt/import/ShapeImporter.h"

#include "frontends/prototxt/data/RunTimeFiles.h"

#include <filesystem>

namespace brew::prototxt {

void ShapeImporter::readFiles(
    const caffe::LayerParameter &layer, const std::string &folder,
    const SourceLocation &where,
    const std::function<void(const std::vector<std::string> &)> &read) {
  std::vector<std::string> folders;
  std::error_code status;
  if (std::filesystem::current_path(status) != folder)
    folders.push_back(folder);
  try {
    read(folders);
  } catch (const Error &error) {
    const LayerText text = LayerText(layer.name(), layer.type()) + error.what();
    if (inspectOnly)
      diagnostics.warning(where, text);
    else
      diagnostics.error(where, text).status = error.status();
  }
}

std::optional<DataShapes>
ShapeImporter::importDataLayer(caffe::LayerParameter &layer,
                               const std::string &folder,
                               const SourceLocation &where) {
  std::optional<DataShapes> shapes;
  readFiles(layer, folder, where, [&](const std::vector<std::string> &folders) {
    shapes = inferDataShapes(layer, folders, options);
    for (const std::string &text : missingRunTimeFiles(layer, folders, options))
      diagnostics.warning(where, LayerText(layer.name(), layer.type()) + text);
  });
  return shapes;
}

const DataShape *ShapeImporter::explicitShape(const std::string &blob) const {
  auto entry = options.explicitShapes.find(blob);
  return entry == options.explicitShapes.end() ? nullptr : &entry->second;
}

} // namespace brew::prototxt
