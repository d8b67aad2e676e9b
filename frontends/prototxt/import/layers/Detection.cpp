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

void buildRoiAlignment(LayerBuilder &l) {
  auto op = l.layerOp<RoiAlignOp>();
  setPooledShape(op, l.layer.roi_alignment_param());
  op.setSamples(0);
  op.setUnitSteps(true);
}

void buildPsRoiPooling(LayerBuilder &l) {
  const caffe::PSROIPoolingParameter &settings = l.layer.psroi_pooling_param();
  auto op = l.layerOp<PsRoiPoolingOp>();
  op.setOutputDim(settings.output_dim());
  op.setGroupSize(settings.group_size());
  op.setSpatialScale(APFloat(settings.spatial_scale()));
}

void buildDeformablePsRoiPooling(LayerBuilder &l) {
  const caffe::DeformablePSROIPoolingParameter &settings =
      l.layer.deformable_psroi_pooling_param();
  auto op = l.layerOp<DeformablePsRoiPoolingOp>();
  op.setOutputDim(settings.output_dim());
  op.setGroupSize(settings.group_size());
  op.setSpatialScale(APFloat(settings.spatial_scale()));
  op.setSamples(settings.sample_per_part());
  op.setOffsetScale(APFloat(settings.trans_std()));
  op.setParts(settings.part_size());
}

void buildBoxAnnotator(LayerBuilder &l) {
  const caffe::BoxAnnotatorOHEMParameter &settings =
      l.layer.box_annotator_ohem_param();
  auto op = l.layerOp<HardRegionsOp>();
  op.setCount(settings.roi_per_img());
  op.setIgnoreLabel(settings.ignore_label());
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

/// The boxes of a position, in pixels.
class PriorBoxes {
public:
  explicit PriorBoxes(const caffe::PriorBoxParameter &settings)
      : settings(settings) {}

  /// Adds the boxes of PriorBox, in the order of the forks.
  void addAll();
  /// Adds the boxes of PriorBoxClustered.
  void addClustered();

  std::vector<float> widths, heights, xShifts, yShifts;

private:
  void add(double width, double height, double xShift = 0, double yShift = 0);
  /// Adds a grid of density x density boxes of equal size, which divides a
  /// square of size `fixedSize`.
  void addGrid(float fixedSize, int density, double width, double height);
  void addDense();

  const caffe::PriorBoxParameter &settings;
};

void PriorBoxes::add(double width, double height, double xShift,
                     double yShift) {
  widths.push_back(static_cast<float>(width));
  heights.push_back(static_cast<float>(height));
  xShifts.push_back(static_cast<float>(xShift));
  yShifts.push_back(static_cast<float>(yShift));
}

void PriorBoxes::addGrid(float fixedSize, int density, double width,
                         double height) {
  // The forks truncate to whole pixels: the size, its half, and the distance
  // of the boxes.
  const int half = static_cast<int>(fixedSize) / 2;
  const int distance =
      static_cast<int>(fixedSize / static_cast<float>(density));
  auto shift = [&](int index) {
    return distance / 2. + index * distance - half;
  };
  for (int row = 0; row < density; ++row)
    for (int column = 0; column < density; ++column)
      add(width, height, shift(column), shift(row));
}

void PriorBoxes::addDense() {
  for (int i = 0; i < settings.fixed_size_size(); ++i) {
    const float size = settings.fixed_size(i);
    const int density = static_cast<int>(settings.density(i));
    auto addRatio = [&](float ratio) {
      addGrid(size, density, size * std::sqrt(ratio), size / std::sqrt(ratio));
    };
    for (float ratio : settings.fixed_ratio())
      addRatio(ratio);
    if (settings.fixed_ratio_size())
      continue;
    addGrid(size, density, static_cast<int>(size), static_cast<int>(size));
    for (float ratio : aspectRatios(settings))
      addRatio(ratio);
  }
}

void PriorBoxes::addAll() {
  addDense();
  for (int i = 0; i < settings.min_size_size(); ++i) {
    // Sizes are truncated to whole pixels.
    const int minSize = static_cast<int>(settings.min_size(i));
    add(minSize, minSize);
    if (settings.max_size_size()) {
      const double side =
          std::sqrt(double(minSize) * static_cast<int>(settings.max_size(i)));
      add(side, side);
    }
    for (float ratio : aspectRatios(settings))
      add(minSize * std::sqrt(ratio), minSize / std::sqrt(ratio));
  }
}

void PriorBoxes::addClustered() {
  for (int i = 0; i < settings.width_size(); ++i)
    add(settings.width(i), settings.height(i));
}

void setBoxes(LayerBuilder &l, const PriorBoxes &boxes) {
  const caffe::PriorBoxParameter &settings = l.layer.prior_box_param();
  std::vector<float> variances(settings.variance().begin(),
                               settings.variance().end());
  if (variances.empty())
    variances = {0.1F};
  auto op = l.layerOp<PriorBoxOp>();
  op.setWidths(boxes.widths);
  op.setHeights(boxes.heights);
  auto isZero = [](float shift) { return shift == 0; };
  if (!llvm::all_of(boxes.xShifts, isZero) ||
      !llvm::all_of(boxes.yShifts, isZero)) {
    op.setXShifts(boxes.xShifts);
    op.setYShifts(boxes.yShifts);
  }
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

void buildPriorBox(LayerBuilder &l) {
  PriorBoxes boxes(l.layer.prior_box_param());
  boxes.addAll();
  setBoxes(l, boxes);
}

void buildPriorBoxClustered(LayerBuilder &l) {
  PriorBoxes boxes(l.layer.prior_box_param());
  boxes.addClustered();
  setBoxes(l, boxes);
}

} // namespace

BuildFunctions detectionFunctions() {
  return {{"BoxAnnotatorOHEM", buildBoxAnnotator},
          {"DeformablePSROIPooling", buildDeformablePsRoiPooling},
          {"PSROIPooling", buildPsRoiPooling},
          {"PriorBox", buildPriorBox},
          {"PriorBoxClustered", buildPriorBoxClustered},
          {"ROIAlign", buildRoiAlign},
          {"ROIAlignment", buildRoiAlignment},
          {"ROIPooling", buildRoiPooling}};
}

} // namespace brew::prototxt
