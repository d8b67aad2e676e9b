//===- Proposal.cpp - Region proposals and RoIAlign -----------------------===//
//
// Layers of the C++ forks for Faster R-CNN, Mask R-CNN and Cascade R-CNN.
//
//===----------------------------------------------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"

namespace brew::prototxt {

namespace {

//===----------------------------------------------------------------------===//
// Proposal
//===----------------------------------------------------------------------===//

/// Maximum number of regions of an image. The top has a row for each.
constexpr std::uint32_t kMaxRegions = 1 << 20;

void checkProposal(LayerChecker &c) {
  const caffe::ProposalParameter &settings = c.layer.proposal_param();
  for (const char *field : {"feat_stride", "base_size", "post_nms_topn"})
    if (settings.GetReflection()->GetUInt32(
            settings, settings.GetDescriptor()->FindFieldByName(field)) == 0)
      c.error(settings, field,
              std::string(field) + " is 0; it must be at least 1");
  auto checkPositive = [&](const google::protobuf::RepeatedField<float> &values,
                           const char *field) {
    for (int i = 0; i < values.size(); ++i)
      if (!(values[i] > 0))
        c.error(settings, field, std::string(field) + " must be positive", i);
  };
  if (settings.post_nms_topn() > kMaxRegions)
    c.error(settings, "post_nms_topn",
            "post_nms_topn must be at most " + std::to_string(kMaxRegions));
  checkPositive(settings.ratio(), "ratio");
  checkPositive(settings.scale(), "scale");
  if (!(settings.min_size() >= 0))
    c.error(settings, "min_size", "min_size must not be negative");
  if (!(settings.nms_thresh() >= 0))
    c.error(settings, "nms_thresh", "nms_thresh must not be negative");
}

//===----------------------------------------------------------------------===//
// ROIAlign
//===----------------------------------------------------------------------===//

/// Maximum number of points of a cell in one direction. More would need too
/// much memory for tables of points.
constexpr int kMaxSamples = 64;

void checkRoiAlign(LayerChecker &c) {
  if (c.layer.has_roi_align_param() && c.layer.has_roi_pooling_param()) {
    c.error(c.layer, "roi_pooling_param",
            "give roi_align_param (Mask R-CNN) or roi_pooling_param (Cascade "
            "R-CNN), not both");
    return;
  }
  if (!hasCornerRois(c.layer)) {
    const caffe::ROIAlignParameter &settings = c.layer.roi_align_param();
    c.count(settings, "pooled_h");
    c.count(settings, "pooled_w");
    if (settings.sampling_ratio() > kMaxSamples)
      c.error(settings, "sampling_ratio",
              "sampling_ratio must be at most " + std::to_string(kMaxSamples));
    return;
  }
  const caffe::ROIPoolingParameter &settings = c.layer.roi_pooling_param();
  c.warn(c.layer, "roi_pooling_param",
         "with roi_pooling_param this is Cascade R-CNN's ROIAlign, whose top "
         "is one row and one column larger than pooled_h and pooled_w; for "
         "Mask R-CNN's write roi_align_param");
  c.count(settings, "pooled_h");
  c.count(settings, "pooled_w");
  if (!(settings.pad_ratio() >= 0))
    c.error(settings, "pad_ratio", "pad_ratio must not be negative");
}

} // namespace

LayerRows proposalLayers() {
  return {
      LayerKind{"Proposal", 3, 3, 1, 2, "proposal_param"}.checkedBy(
          checkProposal),
      LayerKind{"ROIAlign", 2, 2, 1, 1, "roi_align_param roi_pooling_param"}
          .differentiatingBottoms(1)
          .checkedBy(checkRoiAlign),
  };
}

} // namespace brew::prototxt
