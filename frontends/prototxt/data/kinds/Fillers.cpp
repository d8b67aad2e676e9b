//===- Fillers.cpp - Shapes of DummyData layers --------------------------===//
#include "frontends/prototxt/data/DataLayerQuery.h"

#include "support/Error.h"

namespace brew::prototxt {
namespace {

std::vector<DataShape> fillerShapes(DataLayerQuery &q) {
  caffe::DummyDataParameter &settings = *q.layer.mutable_dummy_data_param();
  std::vector<DataShape> shapes;
  auto pick = [](const auto &list, int i) -> int64_t {
    return list.Get(list.size() > 1 ? i : 0);
  };
  for (int i = 0; i < q.layer.top_size(); ++i) {
    if (const DataShape *shape = q.explicitShape(i)) {
      shapes.push_back(*shape);
    } else if (settings.shape_size() > 0) {
      const auto &dims =
          settings.shape(settings.shape_size() > 1 ? i : 0).dim();
      shapes.emplace_back(dims.begin(), dims.end());
    } else if (settings.num_size() && settings.channels_size() &&
               settings.height_size() && settings.width_size()) {
      shapes.push_back({pick(settings.num(), i), pick(settings.channels(), i),
                        pick(settings.height(), i), pick(settings.width(), i)});
    } else {
      throw badInput("the shape of '" + q.layer.top(i) + "' is not specified");
    }
    q.setBatch(shapes.back());
  }
  settings.clear_num();
  settings.clear_channels();
  settings.clear_height();
  settings.clear_width();
  storeShapes(shapes, settings);
  return shapes;
}

} // namespace

const DataKind fillersKind = {caffe::DataLayerSource::Fillers, fillerShapes};

} // namespace brew::prototxt
