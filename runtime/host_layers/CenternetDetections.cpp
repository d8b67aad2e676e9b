//===- CenternetDetections.cpp - Detections of CenterNet ------------------===//

#include "runtime/host_layers/CenternetDetections.h"

#include "runtime/detection/Boxes.h"
#include "runtime/host_layers/LayerSettings.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace brew::runtime {
namespace {

constexpr std::int64_t kBoxNumbers = 4, kLandmarkNumbers = 10;
constexpr std::int64_t kBoxFields = 7; ///< image, label, score and box
constexpr int kPixels = 4;             ///< of a position, in each dimension

template <typename Real> struct CenterDetection {
  Box<Real> box; ///< in pixels, clipped
  Real area;     ///< of the box that is not clipped
  Real score;
  std::int64_t label;
  std::vector<Real> landmarks;
};

/// Returns whether the boxes overlap by more than `threshold`.
template <typename Real>
bool overlaps(const CenterDetection<Real> &a, const CenterDetection<Real> &b,
              Real threshold) {
  const Real width =
      std::min(a.box.right, b.box.right) - std::max(a.box.left, b.box.left) + 1;
  const Real height =
      std::min(a.box.bottom, b.box.bottom) - std::max(a.box.top, b.box.top) + 1;
  const Real shared = std::max(width, Real(0)) * std::max(height, Real(0));
  return !(shared / (a.area + b.area - shared) <= threshold);
}

class CenternetDetections : public HostLayer {
public:
  explicit CenternetDetections(const HostLayerSetup &setup)
      : settings(layerSettings(setup).detection_output_param()),
        numbers(kBoxNumbers + (settings.has_lm() ? kLandmarkNumbers : 0)) {
    using Dims = std::vector<std::int64_t>;
    if (setup.bottoms.size() != 2 || setup.bottoms[1].size() != 4 ||
        setup.tops.size() != 2 || setup.tops[1] != Dims{1})
      throw damagedSettings(setup);
    const Dims &scores = setup.bottoms[1];
    images = scores[0];
    classes = scores[1];
    height = scores[2];
    width = scores[3];
    maxDetections = classes * height * width;
    if (settings.keep_top_k() > 0)
      maxDetections =
          std::min<std::int64_t>(maxDetections, settings.keep_top_k());
    if (setup.bottoms[0] != Dims{images, numbers, height, width} ||
        setup.tops[0] != Dims{1, 1, images * maxDetections,
                              kBoxFields + numbers - kBoxNumbers})
      throw damagedSettings(setup);
  }

  void forward(HostLayerArguments &arguments) override {
    if (arguments.f64)
      writeDetections<double>(arguments);
    else
      writeDetections<float>(arguments);
  }
  void backward(HostLayerArguments &) override {
    throw Error(ExitStatus::Bug, "detections of CenterNet have no gradients");
  }

private:
  /// Returns the detection at `position`. `maps` are the numbers of the image.
  template <typename Real>
  CenterDetection<Real> detectionAt(const Real *maps, std::int64_t position,
                                    Real score, std::int64_t label) const {
    const std::int64_t positions = height * width;
    auto number = [&](std::int64_t i) {
      return maps[i * positions + position];
    };
    const Real x = (static_cast<Real>(position % width) + number(0)) * kPixels,
               y = (static_cast<Real>(position / width) + number(1)) * kPixels;
    const Real boxWidth = std::exp(number(2)) * kPixels,
               boxHeight = std::exp(number(3)) * kPixels;
    const Real right = static_cast<Real>(kPixels * width),
               bottom = static_cast<Real>(kPixels * height);
    CenterDetection<Real> result = {
        clipped<Real>({x - boxWidth / 2, y - boxHeight / 2, x + boxWidth / 2,
                       y + boxHeight / 2},
                      right, bottom),
        boxWidth * boxHeight,
        score,
        label,
        {}};
    const Box<Real> &box = result.box;
    for (std::int64_t i = kBoxNumbers; i < numbers; i += 2) {
      const Box<Real> point = clipped<Real>(
          {(x + number(i) * (box.right - box.left)) * kPixels,
           (y + number(i + 1) * (box.bottom - box.top)) * kPixels, 0, 0},
          right, bottom);
      result.landmarks.insert(result.landmarks.end(), {point.left, point.top});
    }
    return result;
  }

  /// Returns the detections of an image, best first.
  template <typename Real>
  std::vector<CenterDetection<Real>> detect(const Real *maps,
                                            const Real *scores) const {
    const Real threshold =
        settings.has_confidence_threshold()
            ? static_cast<Real>(settings.confidence_threshold())
            : std::numeric_limits<Real>::lowest();
    std::vector<CenterDetection<Real>> candidates, kept;
    const std::int64_t positions = height * width;
    for (std::int64_t i = 0; i < classes * positions; ++i)
      if (scores[i] > threshold && scores[i] < 1)
        candidates.push_back(
            detectionAt(maps, i % positions, scores[i], i / positions));
    std::stable_sort(
        candidates.begin(), candidates.end(),
        [](const auto &a, const auto &b) { return a.score > b.score; });
    for (CenterDetection<Real> &candidate : candidates) {
      if (static_cast<std::int64_t>(kept.size()) == maxDetections)
        break;
      auto isWorse = [&](const CenterDetection<Real> &better) {
        return overlaps(candidate, better,
                        static_cast<Real>(settings.nms_thresh()));
      };
      if (std::none_of(kept.begin(), kept.end(), isWorse))
        kept.push_back(std::move(candidate));
    }
    return kept;
  }

  /// Writes a row. Returns its end.
  template <typename Real>
  Real *writeRow(Real *row, std::int64_t image,
                 const CenterDetection<Real> &detection) const {
    const Real right = static_cast<Real>(kPixels * width),
               bottom = static_cast<Real>(kPixels * height);
    *row++ = static_cast<Real>(image);
    *row++ = static_cast<Real>(detection.label + 1);
    *row++ = detection.score;
    *row++ = detection.box.left / right;
    *row++ = detection.box.top / bottom;
    *row++ = detection.box.right / right;
    *row++ = detection.box.bottom / bottom;
    return std::copy(detection.landmarks.begin(), detection.landmarks.end(),
                     row);
  }

  template <typename Real>
  void writeDetections(HostLayerArguments &arguments) const {
    const std::int64_t fields = kBoxFields + numbers - kBoxNumbers;
    const HostLayerBlob &top = arguments.tops[0];
    auto *rows = static_cast<Real *>(top.values);
    Real *row = rows;
    for (std::int64_t image = 0; image < images; ++image)
      for (const CenterDetection<Real> &detection :
           detect(static_cast<const Real *>(arguments.bottoms[0].values) +
                      image * numbers * height * width,
                  static_cast<const Real *>(arguments.bottoms[1].values) +
                      image * classes * height * width))
        row = writeRow(row, image, detection);
    if (row == rows)
      for (std::int64_t image = 0; image < images; ++image) {
        *row = static_cast<Real>(image);
        std::fill_n(row + 1, fields - 1, Real(-1));
        row += fields;
      }
    *static_cast<Real *>(arguments.tops[1].values) =
        static_cast<Real>((row - rows) / fields);
    for (Real *end = rows + top.count; row != end; ++row)
      *row = row[-fields];
  }

  const caffe::DetectionOutputParameter settings;
  const std::int64_t numbers; ///< of a position in the first bottom
  std::int64_t images = 0, classes = 0, height = 0, width = 0;
  std::int64_t maxDetections = 0; ///< of an image
};

class CenternetDetectionsType : public HostLayerType {
public:
  bool hasBackward() const override { return false; }
  std::unique_ptr<HostLayer>
  create(const HostLayerSetup &setup) const override {
    return std::make_unique<CenternetDetections>(setup);
  }
};

} // namespace

const HostLayerType &centernetDetectionsType() {
  static const CenternetDetectionsType type;
  return type;
}

} // namespace brew::runtime
