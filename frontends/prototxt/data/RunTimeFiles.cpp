//===- RunTimeFiles.cpp - Files that data layers read at run time ---------===//
#include "frontends/prototxt/data/RunTimeFiles.h"

#include "caffe/DataLayerKinds.h"
#include "formats/PathLookup.h"
#include "support/Error.h"

using namespace brew;
using namespace brew::prototxt;
using caffe::DataLayerSource;

std::vector<std::string>
brew::prototxt::missingRunTimeFiles(const caffe::LayerParameter &layer,
                                    const std::vector<std::string> &folders,
                                    const DataShapeOptions &options) {
  std::vector<std::string> texts;
  auto check = [&](const std::string &name, const std::string &kind) {
    if (name.empty())
      return; // an error of another check
    try {
      formats::requirePath(name, folders, kind);
    } catch (const Error &error) {
      texts.push_back(std::string(error.what()) +
                      "; the plan reads it when it runs");
    }
  };
  const caffe::DataLayerKind *kind = caffe::findDataLayerKind(layer.type());
  if (!kind)
    return texts;
  const bool hasShape =
      layer.top_size() > 0 && options.explicitShapes.count(layer.top(0));
  switch (kind->source) {
  case DataLayerSource::Images:
    if (!hasShape)
      check(layer.image_data_param().source(), "list of images");
    check(layer.image_data_param().boost_file(), "boost_file");
    break;
  case DataLayerSource::Windows:
    if (!hasShape)
      check(layer.window_data_param().source(), "window file");
    break;
  case DataLayerSource::Database:
    check(layer.data_param().boost_file(), "boost_file");
    break;
  case DataLayerSource::Annotated:
    break;
  default:
    return texts; // without a transformation of images
  }
  check(layer.transform_param().mean_file(), "mean file");
  return texts;
}
