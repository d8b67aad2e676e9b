//===- FeedKinds.cpp - What brings data into a program --------------------===//
#include "caffe/FeedKinds.h"

#include "formats/caffe.pb.h"

namespace brew::caffe {

static constexpr FeedKind kKinds[] = {
    {"AnnotatedData", FeedSource::Annotated, /*isRefilled=*/true},
    {"Data", FeedSource::Database, /*isRefilled=*/true},
    {"DummyData", FeedSource::Fillers},
    {"HDF5Data", FeedSource::Hdf5, /*isRefilled=*/true},
    {"ImageData", FeedSource::Images, /*isRefilled=*/true},
    {"InfogainLoss", FeedSource::Matrix},
    {"Input", FeedSource::Input},
    {"MemoryData", FeedSource::Memory},
    {"Random", FeedSource::RandomKey, /*isRefilled=*/true},
    {"SoftmaxWithLoss", FeedSource::Weights},
    {"WindowData", FeedSource::Windows, /*isRefilled=*/true},
};

const FeedKind *findFeedKind(std::string_view type) {
  for (const FeedKind &kind : kKinds)
    if (type == kind.type)
      return &kind;
  return nullptr;
}

bool isRefilled(const FeedKind &kind, const caffe::LayerParameter &layer,
                int index) {
  if (kind.source != FeedSource::Fillers)
    return kind.isRefilled;
  const auto &fillers = layer.dummy_data_param().data_filler();
  if (fillers.empty())
    return false; // zeros
  // One is for all.
  const int own = fillers.size() > 1 ? index : 0;
  return own < fillers.size() && fillers[own].type() != "constant";
}

std::string feedTypeOf(FeedSource source) {
  for (const FeedKind &kind : kKinds)
    if (kind.source == source)
      return kind.type;
  return {};
}

} // namespace brew::caffe
