//===- Data.cpp - Layers that bring data in -------------------------------===//

#include "frontends/prototxt/import/LayerBuilder.h"

namespace brew::prototxt {

namespace {

/// Clears fields of a data layer's own settings that transform_param has
/// replaced.
template <typename Settings> void dropOldTransform(Settings &settings) {
  settings.clear_mean_file();
  settings.clear_crop_size();
  settings.clear_mirror();
}

/// Builds a data input whose results are the layer's tops.
void buildDataInput(LayerBuilder &l) {
  caffe::LayerParameter config = l.layer;
  // Readers do not need the rules, and must not use the fields that
  // transform_param has replaced.
  config.clear_include();
  config.clear_exclude();
  if (config.has_data_param()) {
    caffe::DataParameter &data = *config.mutable_data_param();
    dropOldTransform(data);
    data.clear_scale();
    data.clear_rand_skip();
    data.clear_force_encoded_color();
  }
  if (config.has_image_data_param()) {
    dropOldTransform(*config.mutable_image_data_param());
    config.mutable_image_data_param()->clear_scale();
  }
  if (config.has_video_data_param()) {
    dropOldTransform(*config.mutable_video_data_param());
    config.mutable_video_data_param()->clear_scale();
  }
  if (config.has_window_data_param()) // its scale has an effect
    dropOldTransform(*config.mutable_window_data_param());
  l.dataInput(std::move(config), l.folder, l.topCount());
}

} // namespace

BuildFunctions dataFunctions() {
  BuildFunctions functions;
  for (const char *type :
       {"AnnotatedData", "Data", "DenseImageData", "DummyData", "HDF5Data",
        "ImageData", "ImageLabelmapData", "ImageSegData", "Input", "MemoryData",
        "MultiLabelImageData", "TokenizedData", "VideoData", "WindowData"})
    functions.emplace_back(type, buildDataInput);
  return functions;
}

} // namespace brew::prototxt
