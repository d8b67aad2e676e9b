//===- AnnotatedData.cpp - Images with annotated objects ------------------===//

#include "frontends/prototxt/layers/DataLayers.h"

#include "caffe/YoloData.h"

namespace brew::prototxt {

namespace {

using google::protobuf::Message;

bool hasCrop(const caffe::TransformationParameter &transform) {
  return transform.crop_size() || (transform.crop_h() && transform.crop_w());
}

void checkNotNegative(LayerChecker &c, const Message &block, const char *field,
                      float value) {
  if (!(value >= 0))
    c.error(block, field, std::string(field) + " must not be negative");
}

void checkRange(LayerChecker &c, const Message &block, const char *lowField,
                float low, const char *highField, float high) {
  checkNotNegative(c, block, lowField, low);
  if (!(high >= low))
    c.error(block, highField,
            std::string(highField) + " must not be below " +
                std::string(lowField));
}

void checkSampler(LayerChecker &c, const caffe::BatchSampler &batch) {
  const caffe::Sampler &sampler = batch.sampler();
  if (!(sampler.min_scale() > 0))
    c.error(sampler, "min_scale", "min_scale must be positive");
  if (!(sampler.max_scale() <= 1))
    c.error(sampler, "max_scale", "max_scale must be at most 1");
  checkRange(c, sampler, "min_scale", sampler.min_scale(), "max_scale",
             sampler.max_scale());
  if (!(sampler.min_aspect_ratio() > 0))
    c.error(sampler, "min_aspect_ratio", "min_aspect_ratio must be positive");
  checkRange(c, sampler, "min_aspect_ratio", sampler.min_aspect_ratio(),
             "max_aspect_ratio", sampler.max_aspect_ratio());
  // RandomDraws reserves a limited range of random numbers for each record.
  constexpr uint32_t kMaxTrials = 100000;
  if (batch.max_trials() > kMaxTrials)
    c.error(batch, "max_trials", "max_trials must be at most 100000");
  if (!batch.use_original_image())
    c.warn(batch, "use_original_image",
           "the sampler has no effect: use_original_image is false, as in SSD");
}

void checkDistortion(LayerChecker &c, const caffe::DistortionParameter &d) {
  checkNotNegative(c, d, "brightness_delta", d.brightness_delta());
  checkRange(c, d, "contrast_lower", d.contrast_lower(), "contrast_upper",
             d.contrast_upper());
  checkRange(c, d, "saturation_lower", d.saturation_lower(), "saturation_upper",
             d.saturation_upper());
  checkNotNegative(c, d, "hue_delta", d.hue_delta());
}

void checkNoise(LayerChecker &c, const caffe::NoiseParameter &noise) {
  if (noise.has_prob())
    c.warn(noise, "prob",
           "prob has no effect: all images get the noise, as in SSD");
  if (noise.convert_to_lab())
    c.unsupported(noise, "convert_to_lab",
                  "convert_to_lab is not supported: SSD reinterprets the bytes "
                  "of floats as pixels");
  if (noise.jpeg() > 100)
    c.error(noise, "jpeg", "jpeg must be a quality from 0 to 100");
  const caffe::SaltPepperParameter &pixels = noise.saltpepper_param();
  if (noise.saltpepper() && pixels.value_size() == 0)
    c.error(noise, "saltpepper",
            "saltpepper needs a value in saltpepper_param");
  if (!(pixels.fraction() >= 0 && pixels.fraction() <= 1))
    c.error(pixels, "fraction", "fraction must be from 0 to 1");
  for (int i = 0; i < pixels.value_size(); ++i)
    if (!(pixels.value(i) >= 0 && pixels.value(i) < 256))
      c.error(pixels, "value", "value must be from 0 to 255", i);
}

void checkResize(LayerChecker &c,
                 const caffe::TransformationParameter &transform) {
  const bool isList = transform.further_resize_param_size() > 0;
  auto checkOne = [&](const caffe::ResizeParameter &resize) {
    c.resize(resize);
    if (resize.prob() != 1 && !isList)
      c.warn(resize, "prob",
             "prob has no effect: all images are resized, as in SSD");
    if (resize.resize_mode() == caffe::ResizeParameter::FIT_SMALL_SIZE &&
        !hasCrop(transform))
      c.unsupported(resize, "resize_mode",
                    "FIT_SMALL_SIZE resizes each image to its own shape; it "
                    "requires crop_size, or crop_h and crop_w");
  };
  checkOne(transform.resize_param());
  for (const caffe::ResizeParameter &resize : transform.further_resize_param())
    checkOne(resize);
  if (!isList)
    return;
  if (hasCrop(transform))
    c.unsupported(transform, "further_resize_param",
                  "several resize_param with a crop are not supported");
  else
    c.warn(transform, "further_resize_param",
           "resize_param is given " +
               std::to_string(1 + transform.further_resize_param_size()) +
               " times; MobileNet-YOLO draws one for each batch, but a plan "
               "has one size, which --input-shape chooses");
}

void checkCrop(LayerChecker &c,
               const caffe::TransformationParameter &transform) {
  if (!transform.crop_h() != !transform.crop_w())
    c.error(transform, transform.crop_h() ? "crop_h" : "crop_w",
            "set both or neither of crop_h and crop_w");
  else if (transform.crop_h() && transform.crop_size())
    c.error(transform, "crop_h",
            "give either crop_size or crop_h and crop_w, not both");
  constexpr uint32_t kMaxSide = 1 << 16;
  for (uint32_t side : {transform.crop_h(), transform.crop_w()})
    if (side > kMaxSide)
      c.error(transform, "crop_h", "crop_h and crop_w are too large");
}

/// Checks the fields of MobileNet-YOLO.
void checkYoloData(LayerChecker &c) {
  const caffe::AnnotatedDataParameter &settings =
      c.layer.annotated_data_param();
  if (settings.yolo_data_type() != 0 && settings.yolo_data_type() != 1)
    c.error(settings, "yolo_data_type",
            "yolo_data_type must be 0 (rows of boxes) or 1 (lists of boxes)");
  if (!(settings.yolo_data_jitter() >= 0 && settings.yolo_data_jitter() < 1))
    c.error(settings, "yolo_data_jitter",
            "yolo_data_jitter must be at least 0 and below 1");
  if (settings.has_yolo_data_jitter() && settings.batch_sampler_size())
    c.warn(settings, "yolo_data_jitter",
           "yolo_data_jitter has no effect with batch_sampler, as in "
           "MobileNet-YOLO");
  if (settings.has_train_diffcult() && settings.yolo_data_type() == 0)
    c.warn(settings, "train_diffcult",
           "train_diffcult has no effect without yolo_data_type: 1");
}

void checkAnnotatedData(LayerChecker &c) {
  checkDatabase(c);
  const caffe::AnnotatedDataParameter &settings =
      c.layer.annotated_data_param();
  const caffe::TransformationParameter &transform = c.layer.transform_param();
  if (settings.has_label_map_file())
    c.warn(settings, "label_map_file",
           "label_map_file has no effect: records contain numbers, as in SSD");
  // A record has many labels, so it cannot be balanced or paired by its label.
  const caffe::DataParameter &data = c.layer.data_param();
  if (data.balance() != caffe::DataParameter::default_instance().balance())
    c.error(data, "balance", "balance is only for Data and ImageData");
  if (data.images_per_blob() != 1)
    c.error(data, "images_per_blob",
            "images_per_blob is only for Data and ImageData");
  for (const caffe::BatchSampler &batch : settings.batch_sampler())
    checkSampler(c, batch);
  checkYoloData(c);
  checkCrop(c, transform);
  const bool cropsRandomly =
      settings.batch_sampler_size() || caffe::yoloJitter(settings) > 0;
  if (transform.has_resize_param())
    checkResize(c, transform);
  else if (!hasCrop(transform) &&
           (cropsRandomly || transform.has_expand_param()))
    c.error(cropsRandomly ? static_cast<const Message &>(settings) : transform,
            settings.batch_sampler_size() ? "batch_sampler"
            : cropsRandomly               ? "yolo_data_jitter"
                                          : "expand_param",
            "images of random size need a resize_param in transform_param");
  if (transform.has_distort_param())
    checkDistortion(c, transform.distort_param());
  if (transform.has_noise_param())
    checkNoise(c, transform.noise_param());
  if (!transform.has_expand_param())
    return;
  // Beyond this ratio, even an image of a single pixel would exceed the maximum
  // size of an image.
  constexpr float kMaxExpanded = 1 << 15;
  const float ratio = transform.expand_param().max_expand_ratio();
  if (!(ratio > 1 && ratio <= kMaxExpanded))
    c.error(transform.expand_param(), "max_expand_ratio",
            "max_expand_ratio must be above 1 and at most 32768");
  if (transform.has_mean_file())
    c.error(transform, "mean_file",
            "an image is expanded by mean_value; a mean_file has one size");
}

} // namespace

LayerRows annotatedLayers() {
  return {
      sourceKind("AnnotatedData", 1, 2,
                 "annotated_data_param data_param transform_param")
          .checkedBy(checkAnnotatedData),
  };
}

} // namespace brew::prototxt
