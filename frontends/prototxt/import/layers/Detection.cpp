//===- Detection.cpp - Layers of detection nets ---------------------------===//

#include "dialects/Brew/layers/detection/Detection.h"
#include "frontends/prototxt/import/LayerBuilder.h"

#include <algorithm>
#include <cmath>

using namespace brew::dialects;
using llvm::APFloat;

namespace brew::prototxt {

namespace {

/// Sets the attributes of layers with pooled_h and pooled_w.
template <typename Op, typename Settings>
void setPooledShape(Op op, const Settings &settings) {
  op.setPooledH(settings.pooled_h());
  op.setPooledW(settings.pooled_w());
  op.setSpatialScale(APFloat(settings.spatial_scale()));
}

void buildRoiPooling(LayerBuilder &l) {
  const caffe::ROIPoolingParameter &settings = l.layer.roi_pooling_param();
  auto op = l.layerOp<RoiPoolingOp>(l.types(1));
  setPooledShape(op, settings);
  op.setPadRatio(APFloat(settings.pad_ratio()));
}

void buildRoiAlign(LayerBuilder &l) {
  auto op = l.layerOp<RoiAlignOp>();
  if (!hasCornerRois(l.layer)) {
    const caffe::ROIAlignParameter &settings = l.layer.roi_align_param();
    setPooledShape(op, settings);
    op.setSamples(std::max(settings.sampling_ratio(), 0));
    return;
  }
  const caffe::ROIPoolingParameter &settings = l.layer.roi_pooling_param();
  setPooledShape(op, settings);
  op.setSamples(1);
  op.setCorners(true);
  op.setPadRatio(APFloat(settings.pad_ratio()));
}

void buildPsRoiPooling(LayerBuilder &l) {
  const caffe::PSROIPoolingParameter &settings = l.layer.psroi_pooling_param();
  auto op = l.layerOp<PsRoiPoolingOp>();
  op.setOutputDim(settings.output_dim());
  op.setGroupSize(settings.group_size());
  op.setSpatialScale(APFloat(settings.spatial_scale()));
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
  auto op = l.layerOp<PriorBoxOp>();
  op.setWidths(widths);
  op.setHeights(heights);
  op.setVariances(variances);
  if (settings.has_img_size())
    op.setImageSize({settings.img_size(), settings.img_size()});
  else if (settings.has_img_h())
    op.setImageSize({settings.img_h(), settings.img_w()});
  else
    op.setImageSize({});
  if (settings.has_step())
    op.setStep({settings.step(), settings.step()});
  else
    op.setStep({settings.step_h(), settings.step_w()});
  op.setOffset(APFloat(settings.offset()));
  op.setClip(settings.clip());
}

} // namespace

BuildFunctions detectionFunctions() {
  return {{"PSROIPooling", buildPsRoiPooling},
          {"PriorBox", buildPriorBox},
          {"ROIAlign", buildRoiAlign},
          {"ROIPooling", buildRoiPooling}};
}

} // namespace brew::prototxt
