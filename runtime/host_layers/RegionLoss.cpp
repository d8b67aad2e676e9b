//===- RegionLoss.cpp - Loss of YOLO 2 ------------------------------------===//

#include "runtime/host_layers/RegionLoss.h"

#include "runtime/host_layers/YoloLoss.h"

#include <algorithm>
#include <cmath>

namespace brew::runtime {
namespace {

class RegionLoss : public YoloLoss {
public:
  RegionLoss(const HostLayerSetup &setup,
             const caffe::RegionLossParameter &settings)
      : YoloLoss(setup, settings.num(), settings.num_class()),
        settings(settings) {
    if (settings.biases_size() != 2 * static_cast<int>(settings.num()))
      throw damagedSettings(setup);
    for (int i = 0; i < settings.biases_size(); i += 2)
      anchors.push_back(
          {settings.biases(i) / static_cast<double>(shape.width),
           settings.biases(i + 1) / static_cast<double>(shape.height)});
    isMean = !hasRows;
  }

private:
  void addDeltas(const ImageMaps<float> &image,
                 const std::vector<YoloTruth<float>> &truths) const override {
    add(image, truths);
  }
  void addDeltas(const ImageMaps<double> &image,
                 const std::vector<YoloTruth<double>> &truths) const override {
    add(image, truths);
  }

  template <typename Real>
  void add(const ImageMaps<Real> &image,
           const std::vector<YoloTruth<Real>> &truths) const {
    for (std::int64_t position = 0; position < shape.positions(); ++position)
      for (std::int64_t anchor = 0; anchor < shape.anchors; ++anchor) {
        const std::size_t object = image.index(anchor, kObject, position);
        const CenterBox<Real> box = boxOf(image, anchor, position);
        const Real s = sigmoid(image.maps[object]);
        image.deltas[object] =
            bestOverlap(box, truths) > settings.thresh()
                ? Real(0)
                : static_cast<Real>(settings.noobject_scale()) * s * s *
                      (1 - s);
      }
    for (const YoloTruth<Real> &truth : truths)
      addTruth(image, truth);
  }

  template <typename Real>
  CenterBox<Real> boxOf(const ImageMaps<Real> &image, std::int64_t anchor,
                        std::int64_t position) const {
    return decodeBox(shape, image.maps, anchor, position,
                     anchors[static_cast<std::size_t>(anchor)]);
  }

  /// Returns the anchor with the largest overlap of sizes.
  template <typename Real>
  std::int64_t bestAnchor(const ImageMaps<Real> &image, std::int64_t position,
                          const CenterBox<Real> &truth) const {
    std::int64_t best = 0;
    Real largest = 0;
    for (std::int64_t anchor = 0; anchor < shape.anchors; ++anchor) {
      CenterBox<Real> box = boxOf(image, anchor, position);
      if (settings.bias_match()) {
        const YoloAnchor &size = anchors[static_cast<std::size_t>(anchor)];
        box.width = static_cast<Real>(size.width);
        box.height = static_cast<Real>(size.height);
      }
      const Real overlap = overlapOfSizes(box.width, box.height, truth);
      if (overlap > largest) {
        largest = overlap;
        best = anchor;
      }
    }
    return best;
  }

  template <typename Real>
  void addTruth(const ImageMaps<Real> &image,
                const YoloTruth<Real> &truth) const {
    const std::int64_t position = positionOf(shape, truth.box);
    const std::int64_t anchor = bestAnchor(image, position, truth.box);
    auto deltaOf = [&](std::int64_t field) -> Real & {
      return image.deltas[image.index(anchor, field, position)];
    };
    const bool isIntel = hasRows;
    Real scale = static_cast<Real>(settings.coord_scale());
    if (!isIntel && !settings.rescore())
      scale *= 2 - truth.box.width * truth.box.height;
    const BoxTarget<Real> target =
        boxTarget(image, anchor, position,
                  anchors[static_cast<std::size_t>(anchor)], truth.box);
    for (int k = 0; k < 4; ++k) {
      Real difference = target.difference[k];
      if (isIntel)
        difference = std::clamp(difference, Real(-1), Real(1));
      const Real slope =
          k < 2 ? target.sigmoids[k] * (1 - target.sigmoids[k]) : Real(1);
      deltaOf(k) = -scale * difference * slope;
    }
    const Real s = sigmoid(image.maps[image.index(anchor, kObject, position)]);
    Real difference = 1 - s;
    if (isIntel)
      difference = 2 * difference * difference * difference;
    else if (settings.rescore())
      difference = overlapOf(boxOf(image, anchor, position), truth.box) - s;
    deltaOf(kObject) =
        -static_cast<Real>(settings.object_scale()) * difference * s * (1 - s);
    const std::vector<Real> classes =
        classProbabilities(shape, image.maps, anchor, position);
    for (std::int64_t c = 0; c < shape.classes; ++c)
      deltaOf(kYoloFields + c) =
          static_cast<Real>(settings.class_scale()) *
          (classes[static_cast<std::size_t>(c)] - (c == truth.label));
  }

  const caffe::RegionLossParameter settings;
};

class RegionLossType : public HostLayerType {
public:
  bool hasBackward() const override { return true; }
  std::unique_ptr<HostLayer>
  create(const HostLayerSetup &setup) const override {
    return std::make_unique<RegionLoss>(
        setup, layerSettings(setup).region_loss_param());
  }
};

} // namespace

const HostLayerType &regionLossType() {
  static const RegionLossType type;
  return type;
}

} // namespace brew::runtime
