//===- SegAccuracy.cpp - Accuracies of semantic segmentation --------------===//
#include "runtime/host_layers/SegAccuracy.h"

#include "formats/caffe.pb.h"
#include "support/Error.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <vector>

namespace brew::runtime {

namespace {

class SegAccuracy : public HostLayer {
public:
  explicit SegAccuracy(const HostLayerSetup &setup)
      : items(setup.bottoms[0][0]), classes(setup.bottoms[0][1]),
        pixels(setup.bottoms[0][2] * setup.bottoms[0][3]), actual(classes),
        predicted(classes), correct(classes) {
    caffe::LayerParameter layer;
    if (!google::protobuf::TextFormat::ParseFromString(setup.settings, &layer))
      throw badInput("damaged plan: not the settings of a SegAccuracy");
    settings = layer.seg_accuracy_param();
  }

  void forward(HostLayerArguments &arguments) override {
    if (arguments.f64)
      compute<double>(arguments);
    else
      compute<float>(arguments);
  }
  void backward(HostLayerArguments &) override {}

private:
  template <typename Real> void compute(HostLayerArguments &arguments) {
    if (settings.reset())
      for (auto *counts : {&actual, &predicted, &correct})
        std::fill(counts->begin(), counts->end(), 0);
    const Real *scores = static_cast<Real *>(arguments.bottoms[0].values);
    const Real *labels = static_cast<Real *>(arguments.bottoms[1].values);
    for (std::int64_t n = 0; n < items; ++n)
      for (std::int64_t i = 0; i < pixels; ++i)
        add(static_cast<std::int64_t>(labels[n * pixels + i]),
            bestClass(scores + n * classes * pixels + i));
    Real *top = static_cast<Real *>(arguments.tops[0].values);
    top[0] = static_cast<Real>(pixelAccuracy());
    top[1] = static_cast<Real>(meanClassAccuracy());
    top[2] = static_cast<Real>(meanIntersectionOverUnion());
  }

  /// Returns the class with the highest score, the last one of equals.
  template <typename Real> std::int64_t bestClass(const Real *scores) const {
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < classes; ++c)
      if (scores[c * pixels] >= scores[best * pixels])
        best = c;
    return best;
  }

  void add(std::int64_t label, std::int64_t best) {
    const auto &ignored = settings.ignore_label();
    if (std::find(ignored.begin(), ignored.end(), label) != ignored.end())
      return;
    if (label < 0 || label >= classes)
      throw badInput("label " + std::to_string(label) +
                     " is neither one of the " + std::to_string(classes) +
                     " classes nor an ignore_label");
    ++actual[label];
    ++predicted[best];
    correct[label] += label == best;
  }

  double pixelAccuracy() const {
    double right = 0, total = 0;
    for (std::int64_t c = 0; c < classes; ++c) {
      right += correct[c];
      total += actual[c];
    }
    return total > 0 ? right / total : 0;
  }

  double meanClassAccuracy() const {
    double sum = 0;
    int present = 0;
    for (std::int64_t c = 0; c < classes; ++c)
      if (actual[c] > 0) {
        sum += correct[c] / actual[c];
        ++present;
      }
    return present > 0 ? sum / present : 0;
  }

  double meanIntersectionOverUnion() const {
    double sum = 0;
    for (std::int64_t c = 0; c < classes; ++c) {
      const double united = actual[c] + predicted[c] - correct[c];
      sum += united > 0 ? correct[c] / united : 1;
    }
    return sum / static_cast<double>(classes);
  }

  caffe::SegAccuracyParameter settings;
  const std::int64_t items, classes, pixels;
  // Numbers of pixels by class.
  std::vector<double> actual, predicted, correct;
};

class SegAccuracyType : public HostLayerType {
public:
  bool hasBackward() const override { return false; }
  std::unique_ptr<HostLayer>
  create(const HostLayerSetup &setup) const override {
    return std::make_unique<SegAccuracy>(setup);
  }
};

} // namespace

const HostLayerType &segAccuracyType() {
  static const SegAccuracyType type;
  return type;
}

} // namespace brew::runtime
