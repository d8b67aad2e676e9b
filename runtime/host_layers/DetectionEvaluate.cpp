//===- DetectionEvaluate.cpp - Evaluation of detections -------------------===//

#include "runtime/host_layers/DetectionEvaluate.h"

#include "formats/PathLookup.h"
#include "runtime/detection/Boxes.h"
#include "runtime/detection/ImageNames.h"
#include "support/Error.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <map>

namespace brew::runtime {
namespace {

struct Detection {
  Box<float> box;
  float score;
};
struct Object {
  Box<float> box;
  bool difficult;
  bool isFound = false;
};
template <typename Entry>
using ByImageAndLabel = std::map<int, std::map<int, std::vector<Entry>>>;

class DetectionEvaluate : public HostLayer {
public:
  explicit DetectionEvaluate(const HostLayerSetup &setup) {
    caffe::LayerParameter layer;
    if (!google::protobuf::TextFormat::ParseFromString(setup.settings,
                                                       &layer) ||
        setup.bottoms.size() != 2 || setup.tops.size() != 1)
      throw badInput("damaged plan: not the settings of a DetectionEvaluate");
    settings = layer.detection_evaluate_param();
    if (!settings.name_size_file().empty())
      sizes = readNameSizeFile(formats::requirePath(
          settings.name_size_file(), {setup.paramStr}, "name_size_file"));
  }

  void forward(HostLayerArguments &arguments) override {
    if (arguments.f64)
      evaluate<double>(arguments);
    else
      evaluate<float>(arguments);
  }
  void backward(HostLayerArguments &) override {
    throw Error(ExitStatus::Bug, "DetectionEvaluate has no gradients");
  }
  std::vector<double> state() const override {
    if (sizes.empty())
      return {};
    return {static_cast<double>(firstImage)};
  }
  void restore(const std::vector<double> &state) override {
    if (state.size() != 1 || !(state[0] >= 0))
      throw badInput("the solver state has no current image");
    // Start at the first image if the state is of a longer name_size_file.
    firstImage = state[0] < static_cast<double>(sizes.size())
                     ? static_cast<std::size_t>(state[0])
                     : 0;
  }

private:
  template <typename Real> static Box<float> boxAt(const Real *corners) {
    return {static_cast<float>(corners[0]), static_cast<float>(corners[1]),
            static_cast<float>(corners[2]), static_cast<float>(corners[3])};
  }

  void requireForeground(int label, const char *subject) const {
    if (label == static_cast<int>(settings.background_label_id()))
      throw badInput(std::string(subject) + " has the background's label " +
                     std::to_string(label));
  }

  template <typename Real>
  ByImageAndLabel<Detection> readDetections(const HostLayerBlob &blob) const {
    ByImageAndLabel<Detection> found;
    const auto *row = static_cast<const Real *>(blob.values);
    for (const Real *end = row + blob.count; row < end; row += 7) {
      const int image = static_cast<int>(row[0]);
      if (image < 0)
        continue;
      const int label = static_cast<int>(row[1]);
      requireForeground(label, "a detection");
      found[image][label].push_back(
          {boxAt(row + 3), static_cast<float>(row[2])});
    }
    return found;
  }

  template <typename Real>
  ByImageAndLabel<Object> readObjects(const HostLayerBlob &blob) const {
    ByImageAndLabel<Object> objects;
    const auto *row = static_cast<const Real *>(blob.values);
    for (const Real *end = row + blob.count; row < end; row += 8) {
      const int image = static_cast<int>(row[0]);
      if (image < 0)
        continue;
      const int label = static_cast<int>(row[1]);
      requireForeground(label, "a ground-truth box");
      objects[image][label].push_back({boxAt(row + 3), row[7] != 0});
    }
    return objects;
  }

  /// Returns the box to compare: in pixels if the sizes of images are known.
  PixelBox comparisonBox(const Box<float> &box, int image) const {
    if (sizes.empty())
      return {box, areaOf(box)};
    const NamedImageSize &size =
        sizes[(firstImage + static_cast<std::size_t>(image)) % sizes.size()];
    return toPixels(box, size.height, size.width,
                    settings.has_resize_param() ? &settings.resize_param()
                                                : nullptr);
  }

  /// Returns whether a detection is a true positive, and whether it is a false
  /// positive. Marks the object that it matches as found.
  std::pair<bool, bool> judge(const Detection &detection,
                              std::vector<Object> &objects, int image) const {
    const PixelBox box = comparisonBox(detection.box, image);
    float maxOverlap = -1;
    Object *best = nullptr;
    for (Object &object : objects) {
      const PixelBox objectBox = comparisonBox(object.box, image);
      const float overlap = intersectionOverUnion(box.box, box.area,
                                                  objectBox.box, objectBox.area,
                                                  /*normalized=*/sizes.empty());
      if (overlap > maxOverlap) {
        maxOverlap = overlap;
        best = &object;
      }
    }
    if (!best || maxOverlap < settings.overlap_threshold())
      return {false, true};
    if (best->difficult && !settings.evaluate_difficult_gt())
      return {false, false};
    const bool isFirst = !best->isFound;
    best->isFound = true;
    return {isFirst, !isFirst};
  }

  template <typename Real> void evaluate(HostLayerArguments &arguments) {
    ByImageAndLabel<Detection> detections =
        readDetections<Real>(arguments.bottoms[0]);
    ByImageAndLabel<Object> objects = readObjects<Real>(arguments.bottoms[1]);
    std::map<int, int> objectCounts;
    for (const auto &[image, labels] : objects)
      for (const auto &[label, boxes] : labels)
        for (const Object &object : boxes)
          objectCounts[label] +=
              settings.evaluate_difficult_gt() || !object.difficult;

    auto *row = static_cast<Real *>(arguments.tops[0].values);
    std::fill_n(row, arguments.tops[0].count, Real(0));
    const Real *end = row + arguments.tops[0].count;
    auto addRow = [&](double image, double label, double score,
                      double truePositive, double falsePositive) {
      if (row == end)
        throw Error(ExitStatus::Bug, "more detections than there is room for");
      for (double value : {image, label, score, truePositive, falsePositive})
        *row++ = static_cast<Real>(value);
    };
    for (int c = 0; c < static_cast<int>(settings.num_classes()); ++c)
      if (c != static_cast<int>(settings.background_label_id()))
        addRow(-1, c, objectCounts.count(c) ? objectCounts[c] : 0, -1, -1);
    int images = 0;
    for (const auto &[image, labels] : objects)
      images = std::max(images, image + 1);
    for (auto &[image, labels] : detections) {
      images = std::max(images, image + 1);
      for (auto &[label, boxes] : labels) {
        if (label < 0)
          continue; // an image without detections
        std::vector<Object> &labelObjects = objects[image][label];
        if (!labelObjects.empty())
          std::stable_sort(boxes.begin(), boxes.end(),
                           [](const Detection &a, const Detection &b) {
                             return a.score > b.score;
                           });
        for (const Detection &detection : boxes) {
          const std::pair<bool, bool> verdict =
              judge(detection, labelObjects, image);
          addRow(image, label, detection.score, verdict.first, verdict.second);
        }
      }
    }
    if (!sizes.empty())
      firstImage =
          (firstImage + static_cast<std::size_t>(images)) % sizes.size();
  }

  caffe::DetectionEvaluateParameter settings;
  std::vector<NamedImageSize> sizes;
  std::size_t firstImage = 0; ///< index of the next batch's first image
};

class DetectionEvaluateType : public HostLayerType {
public:
  bool hasBackward() const override { return false; }
  std::unique_ptr<HostLayer>
  create(const HostLayerSetup &setup) const override {
    return std::make_unique<DetectionEvaluate>(setup);
  }
};

} // namespace

const HostLayerType &detectionEvaluateType() {
  static const DetectionEvaluateType type;
  return type;
}

} // namespace brew::runtime
