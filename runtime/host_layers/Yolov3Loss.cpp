//===- Yolov3Loss.cpp - Loss of YOLO 3 ------------------------------------===//

#include "runtime/host_layers/Yolov3Loss.h"

#include "runtime/host_layers/YoloLoss.h"

#include <algorithm>
#include <cmath>

namespace brew::runtime {
namespace {

class Yolov3Loss : public YoloLoss {
public:
  Yolov3Loss(const HostLayerSetup &setup,
             const caffe::Yolov3Parameter &settings)
      : YoloLoss(setup, settings.num(), settings.num_class()),
        settings(settings) {
    const double pixels = settings.anchors_scale();
    for (int i = 0; i + 1 < settings.biases_size(); i += 2)
      anchors.push_back(
          {settings.biases(i) / (pixels * static_cast<double>(shape.width)),
           settings.biases(i + 1) /
               (pixels * static_cast<double>(shape.height))});
    bool fits = settings.mask_size() == static_cast<int>(settings.num());
    for (std::size_t anchor : settings.mask())
      fits &= anchor < anchors.size();
    if (!fits)
      throw damagedSettings(setup);
    multipliesSigmoids = settings.use_logic_gradient();
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

  /// Returns the size of the anchor `slot` of the map.
  const YoloAnchor &sizeOf(std::int64_t slot) const {
    return anchors[settings.mask(static_cast<int>(slot))];
  }

  template <typename Real>
  void add(const ImageMaps<Real> &image,
           const std::vector<YoloTruth<Real>> &truths) const {
    for (std::int64_t position = 0; position < shape.positions(); ++position)
      for (std::int64_t slot = 0; slot < shape.anchors; ++slot) {
        const std::size_t object = image.index(slot, kObject, position);
        const CenterBox<Real> box =
            decodeBox(shape, image.maps, slot, position, sizeOf(slot));
        image.deltas[object] = bestOverlap(box, truths) > settings.thresh()
                                   ? Real(0)
                                   : sigmoid(image.maps[object]);
      }
    for (const YoloTruth<Real> &truth : truths)
      addTruth(image, truth);
  }

  /// Adds the deltas of the anchor with the largest overlap, if this map has
  /// it, and those of the map's other anchors with more than iou_thresh.
  template <typename Real>
  void addTruth(const ImageMaps<Real> &image,
                const YoloTruth<Real> &truth) const {
    const std::int64_t position = positionOf(shape, truth.box);
    std::vector<Real> overlaps;
    for (const YoloAnchor &size : anchors)
      overlaps.push_back(overlapOfSizes(static_cast<Real>(size.width),
                                        static_cast<Real>(size.height),
                                        truth.box));
    const auto best = std::max_element(overlaps.begin(), overlaps.end());
    std::int64_t done = -1;
    if (*best > 0)
      for (int slot = 0; slot < settings.mask_size() && done < 0; ++slot)
        if (settings.mask(slot) == best - overlaps.begin())
          done = slot;
    if (done >= 0)
      addMatch(image, done, position, truth);
    for (std::size_t anchor = 0; anchor < overlaps.size(); ++anchor) {
      // The fork compares the number of the anchor with the position in `mask`
      // of the best one.
      const bool isDone = static_cast<std::int64_t>(anchor) == done;
      if (isDone || !(settings.iou_thresh() < 1) ||
          !(overlaps[anchor] > settings.iou_thresh()))
        continue;
      const auto slot =
          std::find(settings.mask().begin(), settings.mask().end(), anchor);
      if (slot != settings.mask().end())
        addMatch(image, slot - settings.mask().begin(), position, truth);
    }
  }

  /// Sets the deltas of an anchor that should predict a true box.
  template <typename Real>
  void addMatch(const ImageMaps<Real> &image, std::int64_t slot,
                std::int64_t position, const YoloTruth<Real> &truth) const {
    auto indexOf = [&](std::int64_t field) {
      return image.index(slot, field, position);
    };
    const Real scale = static_cast<Real>(settings.coord_scale()) *
                       (2 - truth.box.width * truth.box.height);
    const BoxTarget<Real> target =
        boxTarget(image, slot, position, sizeOf(slot), truth.box);
    for (int k = 0; k < 4; ++k)
      image.deltas[indexOf(k)] = -scale * target.difference[k];
    image.deltas[indexOf(kObject)] =
        (sigmoid(image.maps[indexOf(kObject)]) - 1) *
        static_cast<Real>(
            settings.use_logic_gradient() ? settings.object_scale() : 1);
    auto setClass = [&](std::int64_t c, Real target, double factor) {
      const std::size_t index = indexOf(kYoloFields + c);
      image.deltas[index] = static_cast<Real>(settings.class_scale()) *
                            (sigmoid(image.maps[index]) - target) *
                            static_cast<Real>(factor);
    };
    const Real smoothing = static_cast<Real>(settings.label_smooth_eps());
    auto smoothed = [&](bool isTrue) {
      return isTrue ? 1 - smoothing / 2 : smoothing / 2;
    };
    // Another true box with the same anchor adds a class.
    if (image.deltas[indexOf(kYoloFields + truth.label)] != 0) {
      setClass(truth.label, smoothed(true), 1);
      return;
    }
    const double factor =
        settings.use_focal_loss()
            ? focalFactor(
                  sigmoid(image.maps[indexOf(kYoloFields + truth.label)]))
            : 1;
    for (std::int64_t c = 0; c < shape.classes; ++c) {
      const bool isTrue = c == truth.label;
      setClass(c, settings.use_focal_loss() ? Real(isTrue) : smoothed(isTrue),
               factor);
    }
  }

  /// Returns the factor of the deltas of all classes for the probability of the
  /// true class: the derivative of the focal loss with exponent 2 and weight
  /// 0.5, relative to that of the cross entropy.
  static double focalFactor(double probability) {
    const double p = probability + 1e-15;
    return -0.5 * (1 - p) * (2 * p * std::log(p) + p - 1);
  }

  const caffe::Yolov3Parameter settings;
};

class Yolov3Type : public HostLayerType {
public:
  bool hasBackward() const override { return true; }
  std::unique_ptr<HostLayer>
  create(const HostLayerSetup &setup) const override {
    return std::make_unique<Yolov3Loss>(setup,
                                        layerSettings(setup).yolov3_param());
  }
};

} // namespace

const HostLayerType &yolov3Type() {
  static const Yolov3Type type;
  return type;
}

} // namespace brew::runtime
