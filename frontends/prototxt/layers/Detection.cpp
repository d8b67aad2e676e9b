//===- Detection.cpp - Layers of detection nets ---------------------------===//
//
// Layers of the forks for Fast and Faster R-CNN, R-FCN and SSD.
//
//===----------------------------------------------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/HostSettings.h"
#include "frontends/prototxt/layers/LayerBuilder.h"

#include <cmath>

namespace brew::prototxt {

namespace {

void checkRoiPooling(LayerChecker &c) {
  const caffe::ROIPoolingParameter &settings = c.layer.roi_pooling_param();
  c.count(settings, "pooled_h");
  c.count(settings, "pooled_w");
  if (!(settings.pad_ratio() >= 0))
    c.error(settings, "pad_ratio", "pad_ratio must not be negative");
}

void buildRoiPooling(LayerBuilder &l) {
  const caffe::ROIPoolingParameter &settings = l.layer.roi_pooling_param();
  OperationSpec &op = l.layerOp("roi_pooling");
  op.integer("pooled_h", settings.pooled_h())
      .integer("pooled_w", settings.pooled_w())
      .real("spatial_scale", settings.spatial_scale())
      .addResults(1);
  if (settings.pad_ratio() != 0)
    op.real("pad_ratio", settings.pad_ratio());
}

void checkPsRoiPooling(LayerChecker &c) {
  const caffe::PSROIPoolingParameter &settings = c.layer.psroi_pooling_param();
  if (!settings.has_spatial_scale())
    c.reportMissing(settings, "spatial_scale");
  if (settings.output_dim() < 1)
    c.error(settings, "output_dim", "output_dim must be given and at least 1");
  if (settings.group_size() < 1)
    c.error(settings, "group_size", "group_size must be given and at least 1");
}

void buildPsRoiPooling(LayerBuilder &l) {
  const caffe::PSROIPoolingParameter &settings = l.layer.psroi_pooling_param();
  l.layerOp("psroi_pooling")
      .integer("output_dim", settings.output_dim())
      .integer("group_size", settings.group_size())
      .real("spatial_scale", settings.spatial_scale());
}

//===----------------------------------------------------------------------===//
// PriorBox
//===----------------------------------------------------------------------===//

void checkBoxSizes(LayerChecker &c) {
  const caffe::PriorBoxParameter &settings = c.layer.prior_box_param();
  if (settings.min_size_size() == 0)
    c.reportMissing(settings, "min_size");
  for (int i = 0; i < settings.min_size_size(); ++i)
    if (!(settings.min_size(i) > 0))
      c.error(settings, "min_size", "min_size must be positive", i);
  if (settings.max_size_size() == 0)
    return;
  if (settings.max_size_size() != settings.min_size_size()) {
    c.error(settings, "max_size",
            "max_size is given " + std::to_string(settings.max_size_size()) +
                " times and min_size " +
                std::to_string(settings.min_size_size()) +
                " times; it takes one for each");
    return;
  }
  for (int i = 0; i < settings.max_size_size(); ++i)
    if (!(settings.max_size(i) > settings.min_size(i)))
      c.error(settings, "max_size", "max_size must be above its min_size", i);
}

/// Checks a setting for height and width, which has one field for both, or the
/// fields `prefix`_h and `prefix`_w.
void checkHeightAndWidth(LayerChecker &c, const std::string &prefix,
                         bool hasShared, bool hasHeight, bool hasWidth) {
  const caffe::PriorBoxParameter &settings = c.layer.prior_box_param();
  const std::string sides[] = {prefix + "_h", prefix + "_w"};
  if (hasShared && (hasHeight || hasWidth))
    c.error(settings, hasHeight ? sides[0] : sides[1],
            "give either " + (prefix == "img" ? "img_size" : prefix) + " or " +
                sides[0] + " and " + sides[1] + ", not both");
  else if (hasHeight != hasWidth)
    c.error(settings, sides[hasHeight ? 0 : 1],
            sides[hasHeight ? 0 : 1] + " is given without " +
                sides[hasHeight ? 1 : 0]);
}

void checkPriorBox(LayerChecker &c) {
  const caffe::PriorBoxParameter &settings = c.layer.prior_box_param();
  checkBoxSizes(c);
  for (int i = 0; i < settings.aspect_ratio_size(); ++i)
    if (!(settings.aspect_ratio(i) > 0))
      c.error(settings, "aspect_ratio", "aspect_ratio must be positive", i);
  if (settings.variance_size() > 1 && settings.variance_size() != 4)
    c.error(settings, "variance",
            "variance is given " + std::to_string(settings.variance_size()) +
                " times; it takes one or four");
  for (int i = 0; i < settings.variance_size(); ++i)
    if (!(settings.variance(i) > 0))
      c.error(settings, "variance", "variance must be positive", i);
  checkHeightAndWidth(c, "img", settings.has_img_size(), settings.has_img_h(),
                      settings.has_img_w());
  checkHeightAndWidth(c, "step", settings.has_step(), settings.has_step_h(),
                      settings.has_step_w());
  for (const char *field : {"img_size", "img_h", "img_w"})
    if (c.locations.find(settings, field) &&
        settings.GetReflection()->GetUInt32(
            settings, settings.GetDescriptor()->FindFieldByName(field)) == 0)
      c.error(settings, field,
              std::string(field) + " is 0; it must be at least 1");
  for (const char *field : {"step", "step_h", "step_w"})
    if (c.locations.find(settings, field) &&
        !(settings.GetReflection()->GetFloat(
              settings, settings.GetDescriptor()->FindFieldByName(field)) > 0))
      c.error(settings, field, std::string(field) + " must be positive");
}

/// Returns the aspect ratios other than 1, each once, with their inverses if
/// `flip`.
std::vector<float> aspectRatios(const caffe::PriorBoxParameter &settings) {
  std::vector<float> ratios = {1};
  for (float ratio : settings.aspect_ratio()) {
    bool isDuplicate = false;
    for (float other : ratios)
      isDuplicate |= std::fabs(ratio - other) < 1e-6;
    if (isDuplicate)
      continue;
    ratios.push_back(ratio);
    if (settings.flip())
      ratios.push_back(1 / ratio);
  }
  ratios.erase(ratios.begin());
  return ratios;
}

void buildPriorBox(LayerBuilder &l) {
  const caffe::PriorBoxParameter &settings = l.layer.prior_box_param();
  std::vector<float> widths, heights;
  auto addBox = [&](double width, double height) {
    widths.push_back(static_cast<float>(width));
    heights.push_back(static_cast<float>(height));
  };
  for (int i = 0; i < settings.min_size_size(); ++i) {
    // Sizes are truncated to whole pixels.
    const int minSize = static_cast<int>(settings.min_size(i));
    addBox(minSize, minSize);
    if (settings.max_size_size()) {
      const double side =
          std::sqrt(double(minSize) * static_cast<int>(settings.max_size(i)));
      addBox(side, side);
    }
    for (float ratio : aspectRatios(settings))
      addBox(minSize * std::sqrt(ratio), minSize / std::sqrt(ratio));
  }
  std::vector<float> variances(settings.variance().begin(),
                               settings.variance().end());
  if (variances.empty())
    variances = {0.1F};
  std::vector<int64_t> image;
  if (settings.has_img_size())
    image = {settings.img_size(), settings.img_size()};
  else if (settings.has_img_h())
    image = {settings.img_h(), settings.img_w()};
  std::vector<float> step = {settings.step_h(), settings.step_w()};
  if (settings.has_step())
    step = {settings.step(), settings.step()};
  l.layerOp("prior_box")
      .reals("widths", widths)
      .reals("heights", heights)
      .reals("variances", variances)
      .integers("image_size", image)
      .reals("step", step)
      .real("offset", settings.offset())
      .flag("clip", settings.clip());
}

//===----------------------------------------------------------------------===//
// DetectionOutput
//===----------------------------------------------------------------------===//

/// Returns whether the settings are complete, so that the layer writes files.
bool writesFiles(const caffe::SaveOutputParameter &files) {
  return !files.output_directory().empty() && !files.label_map_file().empty() &&
         !files.name_size_file().empty();
}

void checkResultFiles(LayerChecker &c,
                      const caffe::SaveOutputParameter &files) {
  if (files.output_directory().empty())
    return;
  if (!writesFiles(files)) {
    c.warn(files, "output_directory",
           "no result files are written without label_map_file and "
           "name_size_file, as in SSD");
    return;
  }
  const std::string &format = files.output_format();
  if (format != "VOC" && format != "COCO" && format != "ILSVRC")
    c.error(files, "output_format",
            "output_format '" + format + "' is not VOC, COCO or ILSVRC");
  if (files.has_num_test_image())
    c.count(files, "num_test_image");
  if (files.has_resize_param())
    c.resize(files.resize_param());
}

void checkDetectionOutput(LayerChecker &c) {
  const caffe::DetectionOutputParameter &settings =
      c.layer.detection_output_param();
  c.count(settings, "num_classes");
  const caffe::NonMaximumSuppressionParameter &suppression =
      settings.nms_param();
  if (!(suppression.nms_threshold() >= 0))
    c.error(suppression, "nms_threshold", "nms_threshold must not be negative");
  if (!(suppression.eta() > 0 && suppression.eta() <= 1))
    c.error(suppression, "eta", "eta must be above 0 and at most 1");
  if (suppression.has_top_k() && suppression.top_k() == 0)
    c.error(suppression, "top_k",
            "top_k is 0: nothing would ever be found; -1 means no limit");
  checkResultFiles(c, settings.save_output_param());
  if (settings.visualize())
    c.unsupported(settings, "visualize", "drawing detections is not supported");
}

/// Ignores the optional fourth bottom, the images, which SSD reads for drawing
/// only.
void buildDetectionOutput(LayerBuilder &l) {
  const caffe::DetectionOutputParameter &settings =
      l.layer.detection_output_param();
  const caffe::NonMaximumSuppressionParameter &suppression =
      settings.nms_param();
  OperationSpec &op = l.layerOp("detection_output");
  op.operands.resize(3);
  op.integer("num_classes", settings.num_classes())
      .flag("share_location", settings.share_location())
      .integer("background", settings.background_label_id())
      .flag("center_size",
            settings.code_type() == caffe::PriorBoxParameter::CENTER_SIZE)
      .flag("corner_size",
            settings.code_type() == caffe::PriorBoxParameter::CORNER_SIZE)
      .flag("variance_encoded", settings.variance_encoded_in_target())
      .real("nms_threshold", suppression.nms_threshold())
      .real("eta", suppression.eta())
      .integer("top_k", suppression.has_top_k() ? suppression.top_k() : -1)
      .integer("keep_top_k", settings.keep_top_k())
      .addResults(1, OperationSpec::Element::I32);
  if (settings.has_confidence_threshold())
    op.real("confidence_threshold", settings.confidence_threshold());
  if (!writesFiles(settings.save_output_param()))
    return;
  OperationSpec &files = l.bareOp("host_layer");
  files.setOperands({op.result(0), LayerBuilder::bottom(0)})
      .text("layer", l.layer.name())
      .add("tops", std::vector<std::string>());
  addHostSettings(files, l, "DetectionOutput", l.folder);
}

} // namespace

LayerRows detectionLayers() {
  return {
      LayerKind{"DetectionOutput", 3, 4, 1, 1, "detection_output_param"}
          .checkedBy(checkDetectionOutput)
          .builtBy(buildDetectionOutput),
      LayerKind{"PSROIPooling", 2, 2, 1, 1, "psroi_pooling_param"}
          .checkedBy(checkPsRoiPooling)
          .builtBy(buildPsRoiPooling),
      LayerKind{"PriorBox", 2, 2, 1, 1, "prior_box_param"}
          .checkedBy(checkPriorBox)
          .builtBy(buildPriorBox),
      LayerKind{"ROIPooling", 2, 2, 1, 1, "roi_pooling_param"}
          .checkedBy(checkRoiPooling)
          .builtBy(buildRoiPooling),
  };
}

} // namespace brew::prototxt
