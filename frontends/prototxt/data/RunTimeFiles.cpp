//===- RunTimeFiles.cpp - Files that data layers read at run time ---------===//
#include "frontends/prototxt/data/RunTimeFiles.h"

#include "formats/PathLookup.h"
#include "frontends/prototxt/data/DataLayerQuery.h"

using namespace brew;
using namespace brew::prototxt;

void RunTimeFiles::check(const std::string &name, const std::string &fileKind) {
  if (name.empty())
    return; // an error of another check
  try {
    formats::requirePath(name, folders, fileKind);
  } catch (const Error &error) {
    texts.push_back(std::string(error.what()) +
                    "; the plan reads it when it runs");
  }
}

void RunTimeFiles::checkMean() {
  check(layer.transform_param().mean_file(), "mean file");
}

std::vector<std::string>
brew::prototxt::missingRunTimeFiles(const caffe::LayerParameter &layer,
                                    const std::vector<std::string> &folders,
                                    const DataShapeOptions &options) {
  const caffe::DataLayerKind *layerKind =
      caffe::findDataLayerKind(layer.type());
  const DataKind *kind = layerKind ? &dataKindOf(layerKind->source) : nullptr;
  RunTimeFiles files{layer, folders};
  files.hasShape =
      layer.top_size() > 0 && options.explicitShapes.count(layer.top(0));
  if (kind && kind->checkFiles)
    kind->checkFiles(files);
  return std::move(files.texts);
}
