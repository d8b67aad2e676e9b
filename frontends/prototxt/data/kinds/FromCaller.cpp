//===- FromCaller.cpp - Shapes of Input and MemoryData layers ------------===//
#include "frontends/prototxt/data/DataLayerQuery.h"

#include "support/Error.h"

namespace brew::prototxt {
namespace {

std::vector<DataShape> inputShapes(DataLayerQuery &q) {
  caffe::InputParameter &settings = *q.layer.mutable_input_param();
  std::vector<DataShape> shapes;
  for (int i = 0; i < q.layer.top_size(); ++i) {
    if (const DataShape *shape = q.explicitShape(i)) {
      shapes.push_back(*shape);
    } else if (settings.shape_size() == 0) {
      throw badInput(
          "the shape of '" + q.layer.top(i) +
          "' is not specified; write input_param { shape { ... } } or "
          "pass --input-shape " +
          q.layer.top(i) + "=N,...");
    } else {
      const auto &dims =
          settings.shape(settings.shape_size() > 1 ? i : 0).dim();
      shapes.emplace_back(dims.begin(), dims.end());
    }
    q.setBatch(shapes.back());
  }
  storeShapes(shapes, settings);
  return shapes;
}

std::vector<DataShape> memoryShapes(DataLayerQuery &q) {
  caffe::MemoryDataParameter &settings = *q.layer.mutable_memory_data_param();
  if (const DataShape *shape = q.explicitShape(0)) {
    if (shape->size() != 4)
      throw badInput("--input-shape for '" + q.layer.top(0) +
                     "' needs four dimensions");
    settings.set_batch_size(shape->at(0));
    settings.set_channels(shape->at(1));
    settings.set_height(shape->at(2));
    settings.set_width(shape->at(3));
  } else if (const DataShape *labels =
                 q.layer.top_size() > 1 ? q.explicitShape(1) : nullptr;
             labels && !labels->empty()) {
    settings.set_batch_size(labels->at(0));
  }
  const int64_t batch = q.takeBatch(settings);
  DataShape labels = {batch};
  if (settings.label_type() == caffe::MemoryDataParameter::MULTIPLE)
    labels = {batch, settings.label_channels(), settings.label_height(),
              settings.label_width()};
  std::vector<DataShape> shapes = {
      {batch, settings.channels(), settings.height(), settings.width()}};
  if (q.layer.top_size() > 1)
    shapes.push_back(labels);
  return shapes;
}

} // namespace

const DataKind inputKind = {caffe::DataLayerSource::Input, inputShapes};
const DataKind memoryKind = {caffe::DataLayerSource::Memory, memoryShapes};

} // namespace brew::prototxt
