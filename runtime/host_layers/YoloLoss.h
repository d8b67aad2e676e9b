//===- YoloLoss.h - Common parts of the losses of YOLO ----------*- C++ -*-===//
//
// Bottoms are the maps of one scale and the true boxes: for each image, a list
// of label (from 0), centre and size, which ends before the first box without
// width, or rows of image, label (from 1), instance, corners and a last field.
//
// The loss is the sum of the squares of *deltas*. The gradient is, as in the
// forks, delta by number of images, which is not the derivative of the
// displayed loss: most deltas are gradients of other losses.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/detection/Yolo.h"
#include "runtime/host_layers/LayerSettings.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace brew::runtime {

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

/// A loss of YOLO. A derived class computes the deltas.
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

} // namespace brew::runtime
