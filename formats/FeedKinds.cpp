//===- FeedKinds.cpp - What brings data into a program --------------------===//
#include "formats/FeedKinds.h"

namespace brew::formats {

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

std::string feedTypeOf(FeedSource source) {
  for (const FeedKind &kind : kKinds)
    if (kind.source == source)
      return kind.type;
  return {};
}

} // namespace brew::formats
