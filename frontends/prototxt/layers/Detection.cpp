//===- Detection.cpp - Layers of detection nets ---------------------------===//
//
// Layers of the forks for Fast and Faster R-CNN, R-FCN, SSD and FaceBoxes, and
// of Intel's fork for OpenVINO.
//
//===----------------------------------------------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"

#include "support/NumberText.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace brew::prototxt {

namespace {

void checkRoiPooling(LayerChecker &c) {
  const caffe::ROIPoolingParameter &settings = c.layer.roi_pooling_param();
  c.count(settings, "pooled_h");
  c.count(settings, "pooled_w");
  if (!(settings.pad_ratio() >= 0))
    c.error(settings, "pad_ratio", "pad_ratio must not be negative");
}

void checkRoiAlignment(LayerChecker &c) {
  c.count(c.layer.roi_alignment_param(), "pooled_h");
  c.count(c.layer.roi_alignment_param(), "pooled_w");
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

void checkDeformablePsRoiPooling(LayerChecker &c) {
  const caffe::DeformablePSROIPoolingParameter &settings =
      c.layer.deformable_psroi_pooling_param();
  if (!settings.has_spatial_scale())
    c.reportMissing(settings, "spatial_scale");
  const bool hasOffsets = !settings.no_trans();
  auto requirePositive = [&](const std::string &field, int value) {
    // Larger numbers of points would take forever.
    constexpr int kMaxCount = 1 << 16;
    if (value < 1 || value > kMaxCount)
      c.error(settings, field, field + " must be given and from 1 to 65536");
  };
  requirePositive("output_dim", settings.output_dim());
  requirePositive("group_size", settings.group_size());
  requirePositive("sample_per_part", settings.sample_per_part());
  if (settings.has_pooled_size() &&
      settings.pooled_size() != settings.group_size())
    c.error(settings, "pooled_size",
            "pooled_size is " + std::to_string(settings.pooled_size()) +
                "; it must be group_size, the number of cells in each "
                "dimension");
  if (hasOffsets != (c.layer.bottom_size() == 3))
    c.error(settings, "no_trans",
            hasOffsets ? "takes 3 bottoms (features, regions, offsets) without "
                         "no_trans: true"
                       : "takes 2 bottoms with no_trans: true, which means no "
                         "offsets");
  if (!hasOffsets)
    c.refuse(settings, {"part_size", "trans_std"},
             "has no effect with no_trans: true");
  else
    requirePositive("part_size", settings.part_size());
}

void checkBoxAnnotator(LayerChecker &c) {
  c.count(c.layer.box_annotator_ohem_param(), "roi_per_img");
}

//===----------------------------------------------------------------------===//
// PriorBox
//===----------------------------------------------------------------------===//

/// Reports every value of a repeated float field that is not positive, or too
/// large for a size in pixels.
void checkPositive(LayerChecker &c, const std::string &field) {
  const caffe::PriorBoxParameter &settings = c.layer.prior_box_param();
  const auto *descriptor = settings.GetDescriptor()->FindFieldByName(field);
  const auto *reflection = settings.GetReflection();
  for (int i = 0; i < reflection->FieldSize(settings, descriptor); ++i) {
    const float value = reflection->GetRepeatedFloat(settings, descriptor, i);
    if (!(value > 0))
      c.error(settings, field, field + " must be positive", i);
    else if (value > kMaxWindowSetting)
      c.error(settings, field, field + " is too large", i);
  }
}

/// Checks that `field` has one value for each of `reference`.
bool checkOneForEach(LayerChecker &c, const std::string &field, int count,
                     const std::string &reference, int referenceCount) {
  if (count == referenceCount)
    return true;
  c.error(c.layer.prior_box_param(), field,
          field + " is given " +
              countWithNoun(static_cast<size_t>(count), "time") + " and " +
              reference + " " +
              countWithNoun(static_cast<size_t>(referenceCount), "time") +
              "; it takes one for each");
  return false;
}

/// Warns of fields that the layer type ignores.
void warnOfUnused(LayerChecker &c, std::initializer_list<const char *> fields,
                  const std::string &owner) {
  const caffe::PriorBoxParameter &settings = c.layer.prior_box_param();
  const auto *reflection = settings.GetReflection();
  for (const char *name : fields) {
    const auto *field = settings.GetDescriptor()->FindFieldByName(name);
    if (field->is_repeated() ? reflection->FieldSize(settings, field) > 0
                             : reflection->HasField(settings, field))
      c.warn(settings, name,
             std::string(name) + " has no effect: it belongs to " + owner);
  }
}

/// Checks the boxes of forks for FaceBoxes.
void checkDenseBoxes(LayerChecker &c) {
  // Maximum number of boxes along a side of the grid.
  constexpr float kMaxDensity = 32;
  const caffe::PriorBoxParameter &settings = c.layer.prior_box_param();
  checkPositive(c, "fixed_size");
  checkPositive(c, "fixed_ratio");
  for (int i = 0; i < settings.density_size(); ++i) {
    const float density = settings.density(i);
    if (!(density >= 1 && density <= kMaxDensity) ||
        density != std::floor(density))
      c.error(settings, "density",
              "density must be a whole number from 1 to 32", i);
  }
  if (checkOneForEach(c, "density", settings.density_size(), "fixed_size",
                      settings.fixed_size_size())) {
    // Boxes become code, one by one.
    constexpr double kMaxBoxes = 1024;
    double boxes = 0;
    for (float density : settings.density())
      boxes += double(density) * density *
               std::max(settings.fixed_ratio_size(),
                        1 + settings.aspect_ratio_size());
    if (boxes > kMaxBoxes)
      c.error(settings, "density",
              "density gives more than 1024 boxes for each position");
  }
  if (settings.fixed_ratio_size() && settings.aspect_ratio_size())
    c.error(settings, "fixed_ratio",
            "give either fixed_ratio or aspect_ratio, not both");
  else if (settings.fixed_ratio_size() && !settings.fixed_size_size())
    c.warn(settings, "fixed_ratio",
           "fixed_ratio has no effect without fixed_size");
}

void checkBoxSizes(LayerChecker &c) {
  const caffe::PriorBoxParameter &settings = c.layer.prior_box_param();
  if (settings.min_size_size() == 0 && settings.fixed_size_size() == 0)
    c.reportMissing(settings, "min_size");
  checkPositive(c, "min_size");
  checkDenseBoxes(c);
  if (settings.max_size_size() == 0)
    return;
  if (!checkOneForEach(c, "max_size", settings.max_size_size(), "min_size",
                       settings.min_size_size()))
    return;
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

/// Checks the settings that PriorBox and PriorBoxClustered share.
void checkBoxPlaces(LayerChecker &c) {
  const caffe::PriorBoxParameter &settings = c.layer.prior_box_param();
  if (settings.variance_size() > 1 && settings.variance_size() != 4)
    c.error(settings, "variance",
            "variance is given " + std::to_string(settings.variance_size()) +
                " times; it takes one or four");
  checkPositive(c, "variance");
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

void checkPriorBox(LayerChecker &c) {
  checkBoxSizes(c);
  checkPositive(c, "aspect_ratio");
  checkBoxPlaces(c);
  warnOfUnused(c, {"width", "height"}, "PriorBoxClustered");
}

void checkPriorBoxClustered(LayerChecker &c) {
  const caffe::PriorBoxParameter &settings = c.layer.prior_box_param();
  if (settings.width_size() == 0)
    c.reportMissing(settings, "width");
  checkPositive(c, "width");
  checkPositive(c, "height");
  checkOneForEach(c, "height", settings.height_size(), "width",
                  settings.width_size());
  checkBoxPlaces(c);
  warnOfUnused(c,
               {"min_size", "max_size", "aspect_ratio", "flip", "fixed_size",
                "fixed_ratio", "density"},
               "PriorBox");
}

//===----------------------------------------------------------------------===//
// DetectionOutput
//===----------------------------------------------------------------------===//

void checkResultFiles(LayerChecker &c,
                      const caffe::SaveOutputParameter &files) {
  if (files.output_directory().empty())
    return;
  if (!writesResultFiles(files)) {
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
  c.refuse(settings, {"nms_thresh", "has_lm"},
           "is a setting of CenternetDetectionOutput");
}

void checkCenternetDetections(LayerChecker &c) {
  const caffe::DetectionOutputParameter &settings =
      c.layer.detection_output_param();
  c.count(settings, "num_classes");
  if (settings.num_classes() == 1)
    c.error(settings, "num_classes",
            "num_classes is 1; it must be at least 2, as it counts the "
            "background");
  if (!(settings.nms_thresh() >= 0))
    c.error(settings, "nms_thresh", "nms_thresh must not be negative");
  if (!settings.share_location())
    c.unsupported(settings, "share_location",
                  "all classes have the same boxes; share_location: false is "
                  "not supported");
  c.refuse(settings,
           {"background_label_id", "nms_param", "save_output_param",
            "code_type", "variance_encoded_in_target", "visualize",
            "visualize_threshold", "save_file"},
           "is not a setting of CenternetDetectionOutput");
}

/// The background is class 0, regardless of background_label_id.
void checkDetectionOutputExtended(LayerChecker &c) {
  const caffe::DetectionOutputParameter &settings =
      c.layer.detection_output_param();
  checkDetectionOutput(c);
  if (settings.has_num_classes() && settings.num_classes() != 2)
    c.error(settings, "num_classes",
            "num_classes is " + std::to_string(settings.num_classes()) +
                "; DetectionOutputExtended has 2, background and object");
  if (!settings.share_location())
    c.unsupported(settings, "share_location",
                  "DetectionOutputExtended has one location for both classes; "
                  "share_location: false is not supported");
  if (writesResultFiles(settings.save_output_param()))
    c.error(settings, "save_output_param",
            "DetectionOutputExtended writes no result files");
}

} // namespace

LayerRows detectionLayers() {
  return {
      LayerKind{"BoxAnnotatorOHEM", 4, 4, 2, 2, "box_annotator_ohem_param"}
          .checkedBy(checkBoxAnnotator),
      // yuqj1991's caffe_train.
      LayerKind{"CenternetDetectionOutput", 2, 2, 1, 1,
                "detection_output_param"}
          .checkedBy(checkCenternetDetections),
      LayerKind{"DeformablePSROIPooling", 2, 3, 1, 1,
                "deformable_psroi_pooling_param"}
          .withoutForcedGradient(1)
          .checkedBy(checkDeformablePsRoiPooling),
      LayerKind{"DetectionOutput", 3, 4, 1, 1, "detection_output_param"}
          .checkedBy(checkDetectionOutput),
      LayerKind{"DetectionOutputExtended", 3, 3, 1, 1, "detection_output_param"}
          .checkedBy(checkDetectionOutputExtended),
      LayerKind{"PSROIPooling", 2, 2, 1, 1, "psroi_pooling_param"}
          .differentiatingBottoms(1)
          .checkedBy(checkPsRoiPooling),
      LayerKind{"PriorBox", 2, 2, 1, 1, "prior_box_param"}.checkedBy(
          checkPriorBox),
      LayerKind{"PriorBoxClustered", 2, 2, 1, 1, "prior_box_param"}.checkedBy(
          checkPriorBoxClustered),
      // GuohongWu's caffe-windows.
      LayerKind{"ROIAlignment", 2, 2, 1, 1, "roi_alignment_param"}
          .differentiatingBottoms(1)
          .checkedBy(checkRoiAlignment),
      LayerKind{"ROIPooling", 2, 2, 1, 1, "roi_pooling_param"}
          .differentiatingBottoms(1)
          .checkedBy(checkRoiPooling),
  };
}

} // namespace brew::prototxt
