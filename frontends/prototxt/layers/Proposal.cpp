//===- Proposal.cpp - Region proposals and RoIAlign -----------------------===//
//
// Layers of the C++ forks for Faster R-CNN, Mask R-CNN and Cascade R-CNN.
//
//===----------------------------------------------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/HostSettings.h"
#include "frontends/prototxt/layers/LayerBuilder.h"

#include <algorithm>

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

/// Adds a host layer with which the runtime computes the regions and their
/// number.
void buildProposal(LayerBuilder &l) {
  OperationSpec &proposals = l.bareOp("host_layer");
  proposals
      .setOperands({LayerBuilder::bottom(0), LayerBuilder::bottom(1),
                    LayerBuilder::bottom(2)})
      .text("layer", l.layer.name())
      .add("tops", std::vector<std::string>())
      .addResults(l.tops() + 1);
  addHostSettings(proposals, l, "Proposal", l.folder);
  OperationSpec &withItemCount = l.layerOp("with_item_count");
  withItemCount.operands.clear();
  for (int i = 0; i <= l.tops(); ++i)
    withItemCount.operands.push_back(proposals.result(i));
  withItemCount.addResults(1, OperationSpec::Element::I32);
  // The operation never has a gradient, so it needs no propagate_down.
  auto &attributes = withItemCount.attributes;
  attributes.erase(std::remove_if(attributes.begin(), attributes.end(),
                                  [](const auto &attribute) {
                                    return attribute.first == "propagate_down";
                                  }),
                   attributes.end());
}

//===----------------------------------------------------------------------===//
// ROIAlign
//===----------------------------------------------------------------------===//

/// Maximum number of points of a cell in one direction. More would need too
/// much memory for tables of points.
constexpr int kMaxSamples = 64;

/// Returns whether the layer is Cascade R-CNN's ROIAlign, which samples the
/// corners of the cells (roi_pooling_param). Mask R-CNN's layer of the same
/// name averages points of each cell (roi_align_param).
bool hasCornerRois(const caffe::LayerParameter &layer) {
  return !layer.has_roi_align_param() && layer.has_roi_pooling_param();
}

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

void buildRoiAlign(LayerBuilder &l) {
  OperationSpec &op = l.layerOp("roi_align");
  auto addPooledShape = [&](const auto &settings) {
    op.integer("pooled_h", settings.pooled_h())
        .integer("pooled_w", settings.pooled_w())
        .real("spatial_scale", settings.spatial_scale());
  };
  if (!hasCornerRois(l.layer)) {
    addPooledShape(l.layer.roi_align_param());
    op.integer("samples",
               std::max(l.layer.roi_align_param().sampling_ratio(), 0));
    return;
  }
  const caffe::ROIPoolingParameter &settings = l.layer.roi_pooling_param();
  addPooledShape(settings);
  op.integer("samples", 1).flag("corners", true);
  if (settings.pad_ratio() != 0)
    op.real("pad_ratio", settings.pad_ratio());
}

} // namespace

LayerRows proposalLayers() {
  return {
      LayerKind{"Proposal", 3, 3, 1, 2, "proposal_param"}
          .checkedBy(checkProposal)
          .builtBy(buildProposal),
      LayerKind{"ROIAlign", 2, 2, 1, 1, "roi_align_param roi_pooling_param"}
          .checkedBy(checkRoiAlign)
          .builtBy(buildRoiAlign),
  };
}

} // namespace brew::prototxt
