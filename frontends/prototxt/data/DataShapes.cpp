//===- DataShapes.cpp - Shapes of data-layer tops -------------------------===//
#include "frontends/prototxt/data/DataShapes.h"

#include "formats/Blob.h"
#include "frontends/prototxt/data/DataLayerQuery.h"

#include <charconv>
#include <climits>

using namespace brew;
using namespace brew::prototxt;
using formats::dimsText;

std::map<std::string, DataShape>
brew::prototxt::parseInputShapes(const std::vector<std::string> &entries) {
  std::string text;
  for (const std::string &entry : entries)
    text += (text.empty() ? "" : ",") + entry;
  std::map<std::string, DataShape> shapes;
  DataShape *current = nullptr;
  size_t position = 0;
  while (position < text.size()) {
    const size_t comma = std::min(text.find(',', position), text.size());
    std::string word = text.substr(position, comma - position);
    position = comma + 1;
    const size_t equals = word.rfind('=');
    auto fail = [&] {
      throw Error(ExitStatus::Usage,
                  "--input-shape: '" + word +
                      "' is not a dimension; write BLOB=d,d,... with "
                      "dimensions from 1 to 2147483647");
    };
    if (equals != std::string::npos) {
      auto [entry, isNew] = shapes.try_emplace(word.substr(0, equals));
      if (!isNew || equals == 0)
        throw Error(ExitStatus::Usage,
                    "--input-shape: '" + word +
                        (equals ? "' names a blob twice" : "' names no blob"));
      current = &entry->second;
      word = word.substr(equals + 1);
      if (word.empty() && position > text.size())
        break; // a scalar has no dimensions
    }
    int64_t dim = 0;
    const char *end = word.data() + word.size();
    auto [stop, status] = std::from_chars(word.data(), end, dim);
    if (!current || status != std::errc() || stop != end || dim < 1 ||
        dim > INT_MAX)
      fail();
    current->push_back(dim);
  }
  return shapes;
}

DataShapes
brew::prototxt::inferDataShapes(caffe::LayerParameter &layer,
                                const std::vector<std::string> &folders,
                                const DataShapeOptions &options) {
  const caffe::DataLayerKind *layerKind =
      caffe::findDataLayerKind(layer.type());
  if (!layerKind)
    throw badInput("data layers of type " + layer.type() +
                   " are not supported yet");
  DataLayerQuery query(layer, *layerKind, folders, options);
  std::vector<DataShape> tops = dataKindOf(layerKind->source).shapes(query);
  DataShapes shapes = std::move(query.result);
  shapes.tops = std::move(tops);
  for (size_t i = 0; i < shapes.tops.size(); ++i)
    query.checkExplicit(static_cast<int>(i), shapes.tops[i]);
  for (size_t i = 0; i < shapes.tops.size(); ++i) {
    int64_t count = 1;
    for (int64_t dim : shapes.tops[i]) {
      if (dim < 1)
        throw badInput("'" + layer.top(i) + "' has no elements: its shape is " +
                       dimsText(shapes.tops[i]));
      // Caffe counts elements in an int.
      if (dim > INT_MAX / count)
        throw badInput("'" + layer.top(i) +
                       "' has more than 2147483647 elements: its shape is " +
                       dimsText(shapes.tops[i]));
      count *= dim;
    }
  }
  return shapes;
}
