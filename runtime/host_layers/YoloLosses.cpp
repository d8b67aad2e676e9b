//===- YoloLosses.cpp - Losses of YOLO ------------------------------------===//

#include "runtime/host_layers/YoloLosses.h"

#include "runtime/detection/Yolo.h"
#include "runtime/host_layers/LayerSettings.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace brew::runtime {
namespace {

/// The maps and deltas of one image.
template <typename Real> struct ImageMaps {
  const YoloShape &shape;
  const Real *maps;
  Real *deltas;

  std::size_t index(std::int64_t anchor, std::int64_t field,
                    std::int64_t position) const {
    return static_cast<std::size_t>(shape.index(anchor, field, position));
  }
};

/// Returns the position of the centre of a true box. Throws Error (1) if it is
/// outside of the image.
template <typename Real>
std::int64_t positionOf(const YoloShape &shape, const CenterBox<Real> &box) {
  if (!(box.x >= 0 && box.x < 1 && box.y >= 0 && box.y < 1))
    throw badInput("the centre of a true box is outside of its image");
  const auto column =
      static_cast<std::int64_t>(box.x * static_cast<Real>(shape.width));
  const auto row =
      static_cast<std::int64_t>(box.y * static_cast<Real>(shape.height));
  return std::min(row, shape.height - 1) * shape.width +
         std::min(column, shape.width - 1);
}

/// Returns the largest overlap of `box` with a true box. As in the forks, a
/// true box at x = 0 ends the list.
template <typename Real>
Real bestOverlap(const CenterBox<Real> &box,
                 const std::vector<YoloTruth<Real>> &truths) {
  Real best = 0;
  for (const YoloTruth<Real> &truth : truths) {
    if (truth.box.x == 0)
      break;
    best = std::max(best, overlapOf(box, truth.box));
  }
  return best;
}

/// Returns the overlap of two boxes of these sizes with the same centre.
template <typename Real>
Real overlapOfSizes(Real width, Real height, const CenterBox<Real> &box) {
  return overlapOf<Real>({0, 0, width, height}, {0, 0, box.width, box.height});
}

/// The differences of a true box and the prediction of an anchor, as the
/// network predicts boxes.
template <typename Real> struct BoxTarget {
  Real difference[4];
  Real sigmoids[2]; ///< of the predicted centre
};

template <typename Real>
BoxTarget<Real> boxTarget(const ImageMaps<Real> &image, std::int64_t anchor,
                          std::int64_t position, const YoloAnchor &size,
                          const CenterBox<Real> &box) {
  const YoloShape &shape = image.shape;
  auto at = [&](YoloField field) {
    return image.maps[image.index(anchor, field, position)];
  };
  const Real x = sigmoid(at(kCenterX)), y = sigmoid(at(kCenterY));
  return {{box.x * static_cast<Real>(shape.width) -
               static_cast<Real>(position % shape.width) - x,
           box.y * static_cast<Real>(shape.height) -
               static_cast<Real>(position / shape.width) - y,
           std::log(box.width / static_cast<Real>(size.width)) - at(kWidth),
           std::log(box.height / static_cast<Real>(size.height)) - at(kHeight)},
          {x, y}};
}

/// A loss of YOLO: a derived class computes the deltas.
class YoloLoss : public HostLayer {
public:
  void forward(HostLayerArguments &arguments) override {
    if (arguments.f64)
      computeLoss<double>(arguments);
    else
      computeLoss<float>(arguments);
  }
  void backward(HostLayerArguments &arguments) override {
    if (arguments.f64)
      computeGradient<double>(arguments);
    else
      computeGradient<float>(arguments);
  }

protected:
  YoloLoss(const HostLayerSetup &setup, std::int64_t anchors,
           std::int64_t classes) {
    const auto &bottoms = setup.bottoms;
    if (bottoms.size() != 2 || bottoms[0].size() != 4 || bottoms[1].empty() ||
        bottoms[0][1] != anchors * (kYoloFields + classes))
      throw damagedSettings(setup);
    shape = {anchors, classes, bottoms[0][2], bottoms[0][3]};
    images = bottoms[0][0];
    const auto &truths = bottoms[1];
    hasRows = truths.size() == 4 && truths[3] == 8;
    std::int64_t count = 1;
    for (std::int64_t dim : truths)
      count *= dim;
    if (!hasRows && (truths[0] != images || count % (5 * images) != 0))
      throw damagedSettings(setup);
    boxesPerImage = count / (hasRows ? 8 : 5 * images);
  }

  virtual void addDeltas(const ImageMaps<float> &image,
                         const std::vector<YoloTruth<float>> &truths) const = 0;
  virtual void
  addDeltas(const ImageMaps<double> &image,
            const std::vector<YoloTruth<double>> &truths) const = 0;

  YoloShape shape = {};
  std::int64_t images = 0;
  bool hasRows = false; ///< true boxes as in SSD
  bool isMean = true;   ///< the loss is divided by the number of images
  /// The gradient is multiplied by the derivatives of the sigmoids.
  bool multipliesSigmoids = false;
  /// Sizes of the anchors at each position.
  std::vector<YoloAnchor> anchors;

private:
  template <typename Real> void computeLoss(HostLayerArguments &arguments) {
    auto &all = std::get<std::vector<Real>>(deltas);
    all.assign(static_cast<std::size_t>(images * shape.count()), Real(0));
    const auto *maps = static_cast<const Real *>(arguments.bottoms[0].values);
    const auto *rows = static_cast<const Real *>(arguments.bottoms[1].values);
    std::vector<std::vector<YoloTruth<Real>>> truths;
    if (hasRows)
      truths = readTrueRows(rows, boxesPerImage, images, shape.classes);
    for (std::int64_t n = 0; n < images; ++n) {
      if (!hasRows)
        truths.push_back(readTrueList(rows + n * boxesPerImage * 5,
                                      boxesPerImage, shape.classes));
      addDeltas(ImageMaps<Real>{shape, maps + n * shape.count(),
                                all.data() + n * shape.count()},
                truths[static_cast<std::size_t>(n)]);
    }
    double sum = 0;
    for (Real delta : all)
      sum += static_cast<double>(delta) * static_cast<double>(delta);
    *static_cast<Real *>(arguments.tops[0].values) =
        static_cast<Real>(isMean ? sum / static_cast<double>(images) : sum);
  }

  template <typename Real> void computeGradient(HostLayerArguments &arguments) {
    auto *gradient = static_cast<Real *>(arguments.bottoms[0].gradient);
    if (!gradient)
      return;
    const auto *maps = static_cast<const Real *>(arguments.bottoms[0].values);
    const Real scale = *static_cast<const Real *>(arguments.tops[0].gradient) /
                       static_cast<Real>(images);
    const auto &all = std::get<std::vector<Real>>(deltas);
    for (std::size_t i = 0; i < all.size(); ++i) {
      gradient[i] = all[i] * scale;
      const std::int64_t field = static_cast<std::int64_t>(i) /
                                 shape.positions() %
                                 (kYoloFields + shape.classes);
      if (multipliesSigmoids && all[i] != 0 && field != kWidth &&
          field != kHeight) {
        const Real s = sigmoid(maps[i]);
        gradient[i] *= s * (1 - s);
      }
    }
  }

  std::int64_t boxesPerImage = 0; ///< with rows: of all images
  std::tuple<std::vector<float>, std::vector<double>> deltas;
};

//===----------------------------------------------------------------------===//
// YOLO 2
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// YOLO 3
//===----------------------------------------------------------------------===//

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

const HostLayerType &regionLossType() {
  static const RegionLossType type;
  return type;
}

const HostLayerType &yolov3Type() {
  static const Yolov3Type type;
  return type;
}

} // namespace brew::runtime
