//===- DataLayerKinds.cpp - Types of data layers --------------------------===//
#include "caffe/DataLayerKinds.h"

#include "formats/caffe.pb.h"

namespace brew::caffe {

static constexpr DataLayerKind kKinds[] = {
    {"AnnotatedData", DataLayerSource::Annotated, /*isRefilled=*/true},
    {"Data", DataLayerSource::Database, /*isRefilled=*/true},
    {"DenseImageData", DataLayerSource::LabeledPixels, /*isRefilled=*/true},
    {"DummyData", DataLayerSource::Fillers},
    {"HDF5Data", DataLayerSource::Hdf5, /*isRefilled=*/true},
    {"ImageData", DataLayerSource::Images, /*isRefilled=*/true},
    {"ImageLabelmapData", DataLayerSource::LabeledPixels, /*isRefilled=*/true},
    {"ImageSegData", DataLayerSource::LabeledPixels, /*isRefilled=*/true},
    {"Input", DataLayerSource::Input},
    {"MemoryData", DataLayerSource::Memory},
    {kMultiLabelImageData, DataLayerSource::Images, /*isRefilled=*/true},
    {"TokenizedData", DataLayerSource::Text, /*isRefilled=*/true},
    {"VideoData", DataLayerSource::Videos, /*isRefilled=*/true},
    {"WindowData", DataLayerSource::Windows, /*isRefilled=*/true},
};

const DataLayerKind *findDataLayerKind(std::string_view type) {
  for (const DataLayerKind &kind : kKinds)
    if (type == kind.type)
      return &kind;
  return nullptr;
}

bool isRefilled(const DataLayerKind &kind, const caffe::LayerParameter &layer,
                int index) {
  if (kind.source != DataLayerSource::Fillers)
    return kind.isRefilled;
  const auto &fillers = layer.dummy_data_param().data_filler();
  if (fillers.empty())
    return false; // the tops are zeros
  // A single filler applies to all tops.
  const int fillerIndex = fillers.size() > 1 ? index : 0;
  return fillerIndex < fillers.size() &&
         fillers[fillerIndex].type() != "constant";
}

std::string dataLayerType(DataLayerSource source) {
  for (const DataLayerKind &kind : kKinds)
    if (kind.source == source)
      return kind.type;
  return {};
}

} // namespace brew::caffe
