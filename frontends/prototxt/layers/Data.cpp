//===- Data.cpp - Layers that bring data in -------------------------------===//

#include "frontends/prototxt/layers/DataLayers.h"

#include <climits>

namespace brew::prototxt {

namespace {

void checkInput(LayerChecker &c) {
  const caffe::InputParameter &settings = c.layer.input_param();
  if (settings.shape_size() > 1 && settings.shape_size() != c.layer.top_size())
    c.error(settings, "shape",
            "shape is given " + std::to_string(settings.shape_size()) +
                " times for " + std::to_string(c.layer.top_size()) +
                " tops; it takes one, or one for each");
  for (const caffe::BlobShape &shape : settings.shape())
    c.shape(shape);
}

void checkDummyData(LayerChecker &c) {
  const caffe::DummyDataParameter &settings = c.layer.dummy_data_param();
  const int tops = c.layer.top_size();
  auto checkCount = [&](const std::string &field, int count, bool optional) {
    if (count == 1 || count == tops || (optional && count == 0))
      return;
    if (count == 0)
      c.reportMissing(settings, field);
    else
      c.error(settings, field,
              field + " is given " + std::to_string(count) + " times for " +
                  std::to_string(tops) +
                  " tops; it takes one, or one for each");
  };
  checkCount("data_filler", settings.data_filler_size(), true);
  for (const caffe::FillerParameter &filler : settings.data_filler())
    c.filler(filler);
  const google::protobuf::RepeatedField<uint32_t> *sizes[] = {
      &settings.num(), &settings.channels(), &settings.height(),
      &settings.width()};
  const char *names[] = {"num", "channels", "height", "width"};
  bool isLegacy = false;
  for (const auto *list : sizes)
    isLegacy |= list->size() > 0;
  if (!isLegacy) {
    checkCount("shape", settings.shape_size(), false);
    for (const caffe::BlobShape &shape : settings.shape())
      c.shape(shape);
    return;
  }
  if (settings.shape_size() > 0)
    c.error(settings, "shape",
            "give either shape or num, channels, height and width, not both");
  for (int i = 0; i < 4; ++i) {
    checkCount(names[i], sizes[i]->size(), false);
    for (int j = 0; j < sizes[i]->size(); ++j)
      if (sizes[i]->Get(j) == 0 || sizes[i]->Get(j) > INT_MAX)
        c.error(settings, names[i],
                std::string(names[i]) + " is " +
                    std::to_string(sizes[i]->Get(j)) +
                    "; it must be at least 1",
                j);
  }
}

/// Checks a height and a width in pixels: a layer sets both or neither.
template <typename Settings>
void checkSize(LayerChecker &c, const Settings &settings,
               const std::string &heightField, std::uint32_t height,
               const std::string &widthField, std::uint32_t width) {
  if (!height != !width)
    c.error(settings, height ? heightField : widthField,
            "set both or neither of " + heightField + " and " + widthField);
  // Maximum height and width of an image.
  constexpr uint32_t kMaxPixels = 1 << 16;
  if (height > kMaxPixels)
    c.error(settings, heightField, heightField + " is too large");
  if (width > kMaxPixels)
    c.error(settings, widthField, widthField + " is too large");
}

template <typename Settings>
void checkNewSize(LayerChecker &c, const Settings &settings) {
  checkSize(c, settings, "new_height", settings.new_height(), "new_width",
            settings.new_width());
}

/// Checks the settings that all types with image_data_param share.
void checkImageList(LayerChecker &c) {
  const caffe::ImageDataParameter &settings = c.layer.image_data_param();
  if (settings.has_batch_size())
    c.count(settings, "batch_size");
  if (!settings.has_source())
    c.reportMissing(settings, "source");
  checkNewSize(c, settings);
  c.refuse(settings,
           {"use_image", "sampling_rate", "mean_value", "new_length",
            "show_data", "use_temporal_jitter"},
           "is a setting of C3D's VIDEO_DATA");
  c.transform();
}

void checkImageData(LayerChecker &c) {
  checkImageList(c);
  c.refuse(c.layer.image_data_param(), {"label_type", "ignore_label"},
           "is a setting of DeepLab's ImageSegData");
  checkSelection(c, c.layer.image_data_param());
}

void checkMultiLabelImageData(LayerChecker &c) {
  checkImageList(c);
  c.refuse(c.layer.image_data_param(),
           {"label_type", "ignore_label", "enable_random_selection",
            "enable_pair_selection", "images_per_blob", "output_all_labels",
            "balance_matches", "balance", "boost_file", "boost_default"},
           "is not a setting of MultiLabelImageData");
}

/// Refuses the fields of ImageData that layers with labels of pixels lack.
void refuseImageDataFields(LayerChecker &c) {
  c.refuse(c.layer.image_data_param(),
           {"scale", "mean_file", "crop_size", "mirror"},
           "is a setting of transform_param");
  c.refuse(c.layer.image_data_param(),
           {"enable_random_selection", "enable_pair_selection",
            "images_per_blob", "output_all_labels", "balance_matches",
            "balance", "boost_file", "boost_default"},
           "is a setting of ImageData");
}

void checkImageLabelmapData(LayerChecker &c) {
  checkImageList(c);
  refuseImageDataFields(c);
  c.refuse(c.layer.image_data_param(), {"label_type", "ignore_label"},
           "is a setting of DeepLab's ImageSegData");
}

void checkImageSegData(LayerChecker &c) {
  const caffe::ImageDataParameter &settings = c.layer.image_data_param();
  const caffe::TransformationParameter &transform = c.layer.transform_param();
  checkImageList(c);
  refuseImageDataFields(c);
  constexpr int kMaxLabel = 255; // labels are pixels of images
  if (settings.ignore_label() < 0 || settings.ignore_label() > kMaxLabel)
    c.error(settings, "ignore_label", "ignore_label must be from 0 to 255");
  if (transform.has_mean_file())
    c.error(transform, "mean_file",
            "ImageSegData does not support mean_file, as in DeepLab; use "
            "mean_value");
  for (int i = 0; i < transform.scale_factors_size(); ++i) {
    constexpr float kMaxFactor = 64;
    const float factor = transform.scale_factors(i);
    if (!(factor > 0 && factor <= kMaxFactor))
      c.error(transform, "scale_factors",
              "scale_factors must be above 0 and at most 64", i);
  }
  const bool hasRows = transform.crop_height() > 0,
             hasColumns = transform.crop_width() > 0;
  if (hasRows != hasColumns)
    c.error(transform, hasRows ? "crop_height" : "crop_width",
            "set both or neither of crop_height and crop_width");
  if (transform.crop_size() && (hasRows || hasColumns))
    c.error(transform, "crop_size",
            "give either crop_size, or crop_height and crop_width");
  if (transform.scale_factors_size() && !transform.crop_size() && !hasRows)
    c.error(transform, "scale_factors",
            "scale_factors change the size of images, so they need crop_size, "
            "or crop_height and crop_width");
}

void checkDenseImageData(LayerChecker &c) {
  const caffe::DenseImageDataParameter &settings =
      c.layer.dense_image_data_param();
  const caffe::TransformationParameter &transform = c.layer.transform_param();
  c.count(settings, "batch_size");
  if (!settings.has_source())
    c.reportMissing(settings, "source");
  checkNewSize(c, settings);
  c.transform();
  for (const char *field : {"mirror", "crop_size"})
    if (field == std::string("mirror") ? transform.mirror()
                                       : transform.crop_size() > 0)
      c.error(transform, field,
              std::string(field) +
                  " in transform_param is not supported, as in SegNet; "
                  "dense_image_data_param has mirror, crop_height and "
                  "crop_width");
  checkSize(c, settings, "crop_height", settings.crop_height(), "crop_width",
            settings.crop_width());
  if (settings.new_height() &&
      (settings.crop_height() > settings.new_height() ||
       settings.crop_width() > settings.new_width()))
    c.error(settings,
            settings.crop_height() > settings.new_height() ? "crop_height"
                                                           : "crop_width",
            "the crop is larger than new_height and new_width");
  if (settings.has_mean_file())
    c.warn(settings, "mean_file",
           "mean_file in dense_image_data_param has no effect, as in SegNet");
}

/// Warns of settings of C3D's VideoData that others make ineffective.
void warnOfVideoSettings(LayerChecker &c) {
  const caffe::VideoDataParameter &settings = c.layer.video_data_param();
  const auto warn = [&](const char *field, const std::string &text) {
    if (c.locations.find(settings, field))
      c.warn(settings, field, std::string(field) + " has no effect " + text);
  };
  if (settings.use_sampling_rate_jitter())
    warn("sampling_rate", "with use_sampling_rate_jitter: the rate is drawn "
                          "from 1 to max_sampling_rate");
  else
    warn("max_sampling_rate", "without use_sampling_rate_jitter");
  if (!settings.use_multiple_label())
    warn("num_of_labels", "without use_multiple_label");
}

void checkVideoData(LayerChecker &c) {
  const caffe::VideoDataParameter &settings = c.layer.video_data_param();
  // video-caffe, which reads folders too, has no use_image.
  if (!settings.use_image() &&
      (settings.has_use_image() || !settings.has_source()))
    return c.unsupported(
        settings, "use_image",
        "videos are read from folders of images of their frames: extract them, "
        "as by 'ffmpeg -i VIDEO FOLDER/%06d.jpg', list lines of 'FOLDER FRAME "
        "LABEL' in source, where the first frame is 1, and set use_image: "
        "true");
  if (settings.has_batch_size())
    c.count(settings, "batch_size");
  c.count(settings, "new_length");
  for (const char *field : {"sampling_rate", "max_sampling_rate"})
    if (c.locations.find(settings, field))
      c.count(settings, field);
  if (!settings.has_source())
    c.reportMissing(settings, "source");
  checkNewSize(c, settings);
  c.transform();
  if (settings.show_data())
    c.unsupported(settings, "show_data",
                  "show_data is not supported: Brew opens no windows");
  if (settings.use_multiple_label())
    c.count(settings, "num_of_labels");
  warnOfVideoSettings(c);
}

void checkWindowData(LayerChecker &c) {
  const caffe::WindowDataParameter &settings = c.layer.window_data_param();
  const caffe::TransformationParameter &transform = c.layer.transform_param();
  c.count(settings, "batch_size");
  if (!settings.has_source())
    c.reportMissing(settings, "source");
  if (settings.crop_mode() != "warp" && settings.crop_mode() != "square")
    c.error(settings, "crop_mode",
            "crop_mode '" + settings.crop_mode() +
                "' is neither 'warp' nor 'square'");
  if (!(settings.fg_fraction() >= 0 && settings.fg_fraction() <= 1))
    c.error(settings, "fg_fraction", "fg_fraction must be from 0 to 1");
  c.transform();
  c.count(transform, "crop_size");
  if (transform.crop_size() &&
      2 * uint64_t(settings.context_pad()) >= transform.crop_size())
    c.error(settings, "context_pad",
            "context_pad " + std::to_string(settings.context_pad()) +
                " leaves nothing of crop_size " +
                std::to_string(transform.crop_size()));
  if (transform.mean_value_size() > 1 && transform.mean_value_size() != 3)
    c.error(transform, "mean_value",
            "mean_value is given " +
                std::to_string(transform.mean_value_size()) +
                " times for images of 3 channels; give one, or one for each "
                "channel");
  for (const char *field : {"force_color", "force_gray"})
    if (transform.GetReflection()->HasField(
            transform, transform.GetDescriptor()->FindFieldByName(field)))
      c.warn(transform, field,
             std::string(field) +
                 " has no effect: windows are read in colour, as in Caffe");
  if (transform.has_scale())
    c.warn(transform, "scale",
           "scale in transform_param has no effect in WindowData, as in Caffe; "
           "write it in window_data_param");
}

void checkHdf5Data(LayerChecker &c) {
  c.count(c.layer.hdf5_data_param(), "batch_size");
  if (!c.layer.hdf5_data_param().has_source())
    c.reportMissing(c.layer.hdf5_data_param(), "source");
  if (c.layer.has_transform_param())
    c.error(c.layer, "transform_param", "HDF5 data cannot be transformed");
}

/// Checks MyCaffe's fields about labels.
void checkMemoryLabels(LayerChecker &c) {
  using Settings = caffe::MemoryDataParameter;
  const Settings &settings = c.layer.memory_data_param();
  if (!settings.label_channels() || !settings.label_height() ||
      !settings.label_width())
    c.error(settings,
            !settings.label_channels() ? "label_channels"
            : !settings.label_height() ? "label_height"
                                       : "label_width",
            "labels have at least one channel, row and column");
  const bool hasSeveralValues = settings.label_channels() > 1 ||
                                settings.label_height() > 1 ||
                                settings.label_width() > 1;
  if (hasSeveralValues && settings.label_type() != Settings::MULTIPLE)
    c.warn(settings,
           settings.has_label_type() ? "label_type" : "label_channels",
           "label_channels, label_height and label_width have no effect "
           "without label_type: MULTIPLE");
  if (settings.label_type() == Settings::NONE && c.layer.top_size() > 1)
    c.error(settings, "label_type",
            "label_type is NONE, but there is a top for labels");
  if (settings.label_type() != Settings::NONE && c.layer.top_size() == 1)
    c.error(c.layer, "top",
            "gives 2 tops, but has 1; without labels it has label_type: NONE");
}

void checkMemoryData(LayerChecker &c) {
  for (const char *field : {"batch_size", "channels", "height", "width"})
    c.count(c.layer.memory_data_param(), field);
  const caffe::TransformationParameter &transform = c.layer.transform_param();
  std::vector<const google::protobuf::FieldDescriptor *> setFields;
  transform.GetReflection()->ListFields(transform, &setFields);
  // MyCaffe writes a colour order in every transform_param.
  if (c.layer.has_transform_param() &&
      !(setFields.size() == 1 && transform.has_color_order()))
    c.warn(c.layer, "transform_param",
           "transform_param has no effect: arrays are taken as they are given, "
           "as in Caffe");
  checkMemoryLabels(c);
}

void checkTokenizedData(LayerChecker &c) {
  const caffe::TokenizedDataParameter &settings =
      c.layer.tokenized_data_param();
  for (const char *field : {"batch_size", "block_size"})
    c.count(settings, field);
  if (!settings.has_source())
    c.reportMissing(settings, "source");
  if (settings.has_sample_method())
    c.warn(settings, "sample_method",
           "sample_method has no effect: the program that runs the net chooses "
           "tokens by its output");
}

} // namespace

void checkDatabase(LayerChecker &c) {
  const caffe::DataParameter &settings = c.layer.data_param();
  c.count(settings, "batch_size");
  if (!settings.has_source())
    c.reportMissing(settings, "source");
  if (settings.has_prefetch() && settings.prefetch() == 0)
    c.error(settings, "prefetch", "prefetch must be at least 1");
  if (settings.rand_skip())
    c.warn(settings, "rand_skip",
           "rand_skip has no effect in " + c.layer.type() +
               ", as in Caffe 1.0");
  if (settings.has_force_encoded_color())
    c.warn(settings, "force_encoded_color",
           "force_encoded_color has no effect, as in Caffe; write force_color "
           "in transform_param");
  c.transform();
  checkSelection(c, settings);
}

LayerRows dataLayers() {
  return {
      sourceKind("Data", 1, 2, "data_param transform_param")
          .checkedBy(checkDatabase),
      sourceKind("DenseImageData", 2, 2,
                 "dense_image_data_param transform_param")
          .checkedBy(checkDenseImageData),
      sourceKind("DummyData", 1, -1, "dummy_data_param")
          .checkedBy(checkDummyData),
      sourceKind("HDF5Data", 1, -1, "hdf5_data_param")
          .refusing("transform_param")
          .checkedBy(checkHdf5Data),
      sourceKind("ImageData", 2, 2, "image_data_param transform_param")
          .checkedBy(checkImageData),
      sourceKind("ImageLabelmapData", 2, 2, "image_data_param transform_param")
          .checkedBy(checkImageLabelmapData),
      sourceKind("ImageSegData", 2, 3, "image_data_param transform_param")
          .checkedBy(checkImageSegData),
      sourceKind("Input", 1, -1, "input_param").checkedBy(checkInput),
      sourceKind("MemoryData", 1, 2, "memory_data_param transform_param")
          .checkedBy(checkMemoryData),
      sourceKind("MultiLabelImageData", 2, 2,
                 "image_data_param transform_param")
          .checkedBy(checkMultiLabelImageData),
      sourceKind("TokenizedData", 3, 3, "tokenized_data_param")
          .checkedBy(checkTokenizedData),
      sourceKind("VideoData", 1, 2, "transform_param video_data_param")
          .checkedBy(checkVideoData),
      sourceKind("WindowData", 2, 2, "window_data_param transform_param")
          .checkedBy(checkWindowData),
  };
}

} // namespace brew::prototxt
