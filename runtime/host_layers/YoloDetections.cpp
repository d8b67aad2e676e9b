//===- YoloDetections.cpp - Detections of YOLO ----------------------------===//

#include "runtime/host_layers/YoloDetections.h"

#include "runtime/detection/Yolo.h"
#include "runtime/host_layers/LayerSettings.h"

#include <algorithm>

namespace brew::runtime {
namespace {

constexpr std::int64_t kRowFields = 7; ///< image, label, score and box

/// The maps of one bottom.
struct YoloScale {
  YoloShape shape;
  std::vector<YoloAnchor> anchors;
};

/// How a layer chooses and writes detections.
struct DetectionFormat {
  double confidence, overlap; ///< thresholds
  bool eachClass = false;     ///< YOLO 3: a detection for each probable class
  bool clipsBoxes = false;    ///< for the overlap
  bool fromOne = true;        ///< labels from 1, and corners
  bool marksEmpty = true;     ///< rows of images if there are no detections
};

template <typename Real>
Real clippedOverlap(const CenterBox<Real> &a, const CenterBox<Real> &b) {
  return intersectionOverUnion(clipped(cornersOf(a)), clipped(cornersOf(b)));
}

class YoloDetections : public HostLayer {
public:
  YoloDetections(std::vector<YoloScale> scales, DetectionFormat format)
      : scales(std::move(scales)), format(format) {}

  void forward(HostLayerArguments &arguments) override {
    if (arguments.f64)
      writeDetections<double>(arguments);
    else
      writeDetections<float>(arguments);
  }
  void backward(HostLayerArguments &) override {
    throw Error(ExitStatus::Bug, "detections of YOLO have no gradients");
  }

private:
  /// Adds the candidates of an image at one scale, whose boxes have the numbers
  /// from `firstBox`.
  template <typename Real>
  void addCandidates(const YoloScale &scale, const Real *maps,
                     std::int64_t firstBox,
                     std::vector<YoloDetection<Real>> &candidates) const {
    const YoloShape &shape = scale.shape;
    const auto threshold = static_cast<Real>(format.confidence);
    for (std::int64_t position = 0; position < shape.positions(); ++position)
      for (std::int64_t anchor = 0; anchor < shape.anchors; ++anchor) {
        auto add = [&](Real score, std::int64_t label) {
          candidates.push_back(
              {decodeBox(shape, maps, anchor, position,
                         scale.anchors[static_cast<std::size_t>(anchor)]),
               score, static_cast<int>(label),
               firstBox + position * shape.anchors + anchor});
        };
        const Real object =
            sigmoid(maps[shape.index(anchor, kObject, position)]);
        if (!format.eachClass) {
          const std::vector<Real> classes =
              classProbabilities(shape, maps, anchor, position);
          const auto best = std::max_element(classes.begin(), classes.end());
          if (object * *best >= threshold)
            add(object * *best, best - classes.begin());
          continue;
        }
        if (!(object > threshold)) // no class is more probable
          continue;
        for (std::int64_t label = 0; label < shape.classes; ++label) {
          const Real score =
              object *
              sigmoid(maps[shape.index(anchor, kYoloFields + label, position)]);
          if (score > threshold)
            add(score, label);
        }
      }
  }

  template <typename Real>
  void writeDetections(HostLayerArguments &arguments) const {
    const std::int64_t images = arguments.bottoms[0].dims[0];
    const HostLayerBlob &top = arguments.tops[0];
    auto *rows = static_cast<Real *>(top.values);
    Real *row = rows;
    std::vector<YoloDetection<Real>> detections;
    for (std::int64_t image = 0; image < images; ++image) {
      detections.clear();
      std::int64_t boxes = 0;
      for (std::size_t i = 0; i < scales.size(); ++i) {
        const YoloShape &shape = scales[i].shape;
        addCandidates(scales[i],
                      static_cast<const Real *>(arguments.bottoms[i].values) +
                          image * shape.count(),
                      boxes, detections);
        boxes += shape.boxes();
      }
      suppress<Real>(detections, static_cast<Real>(format.overlap),
                     format.clipsBoxes ? clippedOverlap<Real>
                                       : overlapOf<Real>);
      for (const YoloDetection<Real> &detection : detections)
        row = writeRow(row, image, detection);
    }
    if (row == rows && format.marksEmpty)
      for (std::int64_t image = 0; image < images; ++image) {
        *row = static_cast<Real>(image);
        std::fill_n(row + 1, kRowFields - 1, Real(-1));
        row += kRowFields;
      }
    *static_cast<Real *>(arguments.tops[1].values) =
        static_cast<Real>((row - rows) / kRowFields);
    for (Real *end = rows + top.count; row != end; ++row)
      *row = row - rows >= kRowFields ? row[-kRowFields] : Real(0);
  }

  /// Writes a row. Returns its end.
  template <typename Real>
  Real *writeRow(Real *row, std::int64_t image,
                 const YoloDetection<Real> &detection) const {
    const CenterBox<Real> &box = detection.box;
    const Box<Real> corners = cornersOf(box);
    *row++ = static_cast<Real>(image);
    *row++ = static_cast<Real>(detection.label + format.fromOne);
    *row++ = detection.score;
    *row++ = format.fromOne ? corners.left : box.x;
    *row++ = format.fromOne ? corners.top : box.y;
    *row++ = format.fromOne ? corners.right : box.width;
    *row++ = format.fromOne ? corners.bottom : box.height;
    return row;
  }

  std::vector<YoloScale> scales;
  DetectionFormat format;
};

/// Returns the maps with the shape of a bottom, or no anchors if it is not the
/// shape of such maps.
YoloShape mapShape(const std::vector<std::int64_t> &dims, std::int64_t anchors,
                   std::int64_t classes) {
  if (dims.size() != 4 || dims[1] != anchors * (kYoloFields + classes))
    return {};
  return {anchors, classes, dims[2], dims[3]};
}

/// Creates the layer. Throws Error (1) unless bottoms and tops have the shapes
/// that the settings require.
std::unique_ptr<HostLayer> makeDetections(const HostLayerSetup &setup,
                                          std::vector<YoloScale> scales,
                                          const DetectionFormat &format) {
  using Dims = std::vector<std::int64_t>;
  std::int64_t boxes = 0;
  bool fits = !scales.empty() && scales.size() <= setup.bottoms.size() &&
              setup.tops.size() == 2 && setup.tops[1] == Dims{1};
  for (const YoloScale &scale : scales) {
    fits &=
        scale.shape.anchors > 0 &&
        scale.anchors.size() == static_cast<std::size_t>(scale.shape.anchors);
    boxes += scale.shape.boxes();
  }
  if (!fits ||
      setup.tops[0] !=
          Dims{1, 1, setup.bottoms[0][0] * std::max<std::int64_t>(boxes, 1),
               kRowFields})
    throw damagedSettings(setup);
  for (std::size_t i = 1; i < scales.size(); ++i)
    if (setup.bottoms[i][0] != setup.bottoms[0][0])
      throw damagedSettings(setup);
  return std::make_unique<YoloDetections>(std::move(scales), format);
}

class YoloDetectionOutputType : public HostLayerType {
public:
  bool hasBackward() const override { return false; }
  std::unique_ptr<HostLayer>
  create(const HostLayerSetup &setup) const override {
    const auto settings = layerSettings(setup).yolo_detection_output_param();
    DetectionFormat format = {settings.confidence_threshold(),
                              settings.nms_threshold()};
    std::vector<YoloScale> scales;
    for (const auto &dims : setup.bottoms) {
      YoloScale scale = {
          mapShape(dims, settings.num_box(), settings.num_classes()), {}};
      const bool isImage = !scales.empty() && scale.shape.anchors == 0;
      if (settings.ssd_format() || isImage) {
        format.clipsBoxes = true;
        format.fromOne = settings.ssd_format();
        format.marksEmpty = false;
        if (!scales.empty())
          break;
      }
      for (int i = 0; i + 1 < settings.biases_size(); i += 2)
        scale.anchors.push_back(
            {settings.biases(i) / static_cast<double>(scale.shape.width),
             settings.biases(i + 1) / static_cast<double>(scale.shape.height)});
      scales.push_back(std::move(scale));
    }
    return makeDetections(setup, std::move(scales), format);
  }
};

class Yolov3DetectionOutputType : public HostLayerType {
public:
  bool hasBackward() const override { return false; }
  std::unique_ptr<HostLayer>
  create(const HostLayerSetup &setup) const override {
    const auto settings = layerSettings(setup).yolov3_detection_output_param();
    DetectionFormat format = {settings.confidence_threshold(),
                              settings.nms_threshold()};
    format.eachClass = true;
    const auto bottoms = static_cast<int>(setup.bottoms.size());
    const auto anchors = static_cast<int>(settings.num_box());
    std::vector<YoloScale> scales;
    for (int i = 0; i < bottoms && i < settings.anchors_scale_size(); ++i) {
      YoloScale scale = {mapShape(setup.bottoms[static_cast<std::size_t>(i)],
                                  anchors, settings.num_classes()),
                         {}};
      const double pixels = settings.anchors_scale(i);
      for (int k = 0; k < anchors && i * anchors + k < settings.mask_size();
           ++k) {
        const std::int64_t anchor = settings.mask(i * anchors + k);
        if (2 * anchor + 1 < settings.biases_size())
          scale.anchors.push_back(
              {settings.biases(static_cast<int>(2 * anchor)) /
                   (pixels * static_cast<double>(scale.shape.width)),
               settings.biases(static_cast<int>(2 * anchor + 1)) /
                   (pixels * static_cast<double>(scale.shape.height))});
      }
      scales.push_back(std::move(scale));
    }
    if (scales.size() != setup.bottoms.size())
      scales.clear();
    return makeDetections(setup, std::move(scales), format);
  }
};

} // namespace

const HostLayerType &yoloDetectionOutputType() {
  static const YoloDetectionOutputType type;
  return type;
}

const HostLayerType &yolov3DetectionOutputType() {
  static const Yolov3DetectionOutputType type;
  return type;
}

} // namespace brew::runtime
