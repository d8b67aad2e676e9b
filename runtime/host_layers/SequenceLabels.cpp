//===- SequenceLabels.cpp - Layers of text recognition --------------------===//

#include "runtime/host_layers/SequenceLabels.h"

#include "runtime/host_layers/CtcAlignment.h"
#include "runtime/host_layers/SequenceInputs.h"
#include "support/NumberText.h"

#include <algorithm>
#include <cmath>

namespace brew::runtime {
namespace {

/// Returns the labels of an item that are not blank. Throws Error if one is
/// not in the alphabet.
template <typename Real>
std::vector<int> labelsOf(const Real *values, std::int64_t length,
                          std::int64_t alphabet, int blank) {
  std::vector<int> labels;
  for (std::int64_t i = 0; i < length; ++i) {
    if (!(values[i] > -1 && values[i] < static_cast<Real>(alphabet)))
      throw badInput("label " + shortestText(static_cast<double>(values[i])) +
                     " is not in the alphabet of " + std::to_string(alphabet));
    if (const int label = static_cast<int>(values[i]); label != blank)
      labels.push_back(label);
  }
  return labels;
}

//===----------------------------------------------------------------------===//
// CtcLoss
//===----------------------------------------------------------------------===//

class CtcLoss : public HostLayer {
public:
  explicit CtcLoss(const HostLayerSetup &setup)
      : steps(setup.bottoms[0][0]), items(setup.bottoms[0][1]),
        alphabet(setup.bottoms[0][2]) {
    const auto settings = sequenceSettings(setup).ctc_loss_param();
    blank = settings.blank_label();
    // The default of caffe-ctc is the last label.
    if (setup.type == kIndicatedCtcLoss &&
        (!settings.has_blank_label() || blank < 0))
      blank = static_cast<int>(alphabet - 1);
    if (blank < 0 || blank >= alphabet)
      throw badInput("damaged plan: the blank of a " + setup.type +
                     " is not in its alphabet");
  }

  void forward(HostLayerArguments &arguments) override {
    arguments.f64 ? computeLoss<double>(arguments)
                  : computeLoss<float>(arguments);
  }
  void backward(HostLayerArguments &arguments) override {
    arguments.f64 ? computeGradient<double>(arguments)
                  : computeGradient<float>(arguments);
  }

private:
  template <typename Real> void computeLoss(HostLayerArguments &arguments) {
    derivatives.assign(static_cast<std::size_t>(arguments.bottoms[0].count), 0);
    double loss = 0;
    for (std::int64_t n = 0; n < items; ++n)
      loss += computeItem<Real>(arguments, n);
    *static_cast<Real *>(arguments.tops[0].values) =
        static_cast<Real>(loss / static_cast<double>(items));
  }

  /// Returns the loss of item `n` and sets its derivatives.
  template <typename Real>
  double computeItem(const HostLayerArguments &arguments, std::int64_t n) {
    if (arguments.bottoms.size() == 2) {
      const std::int64_t length = arguments.bottoms[1].count / items;
      const Real *labels = static_cast<Real *>(arguments.bottoms[1].values);
      return computeItem<Real>(
          arguments, n, steps,
          labelsOf(labels + n * length, length, alphabet, blank));
    }
    const Sequences<Real> sequences(arguments, steps, items);
    const std::int64_t length = sequences.lengthOf(n);
    std::vector<int> labels = sequences.labelsOf(n);
    if (labels.empty() && length == 1)
      return 0; // padding
    // The blank, and labels that are not in the alphabet, end the sequence.
    labels.erase(std::find_if(labels.begin(), labels.end(),
                              [&](int label) {
                                return label >= alphabet || label == blank;
                              }),
                 labels.end());
    return computeItem<Real>(arguments, n, length, labels);
  }

  template <typename Real>
  double computeItem(const HostLayerArguments &arguments, std::int64_t n,
                     std::int64_t length, const std::vector<int> &labels) {
    const Real *scores = static_cast<Real *>(arguments.bottoms[0].values);
    std::vector<double> logs(static_cast<std::size_t>(length * alphabet)), sums;
    for (std::int64_t t = 0; t < length; ++t) {
      const Real *row = scores + (t * items + n) * alphabet;
      const double largest = *std::max_element(row, row + alphabet);
      double sum = 0;
      for (std::int64_t c = 0; c < alphabet; ++c)
        sum += std::exp(row[c] - largest);
      for (std::int64_t c = 0; c < alphabet; ++c)
        logs[t * alphabet + c] = row[c] - largest - std::log(sum);
    }
    const double logProbability =
        CtcAlignment(logs, length, alphabet, labels, blank).compute(sums);
    if (std::isinf(logProbability))
      return 0;
    for (std::int64_t t = 0; t < length; ++t)
      for (std::int64_t c = 0; c < alphabet; ++c)
        derivatives[(t * items + n) * alphabet + c] =
            std::exp(logs[t * alphabet + c]) -
            std::exp(sums[t * alphabet + c] - logProbability);
    return -logProbability;
  }

  template <typename Real> void computeGradient(HostLayerArguments &arguments) {
    const Real scale = *static_cast<const Real *>(arguments.tops[0].gradient);
    Real *gradient = static_cast<Real *>(arguments.bottoms[0].gradient);
    for (std::size_t i = 0; gradient && i < derivatives.size(); ++i)
      gradient[i] = static_cast<Real>(derivatives[i] * scale);
  }

  const std::int64_t steps, items, alphabet;
  int blank = 0;
  std::vector<double> derivatives; ///< of the sum of the items' losses
};

class CtcLossType : public HostLayerType {
public:
  bool hasBackward() const override { return true; }
  std::unique_ptr<HostLayer>
  create(const HostLayerSetup &setup) const override {
    return std::make_unique<CtcLoss>(setup);
  }
};

//===----------------------------------------------------------------------===//
// LabelsequenceAccuracy
//===----------------------------------------------------------------------===//

class LabelsequenceAccuracy : public HostLayer {
public:
  explicit LabelsequenceAccuracy(const HostLayerSetup &setup)
      : blank(sequenceSettings(setup)
                  .labelsequence_accuracy_param()
                  .blank_label()),
        items(setup.bottoms[0][0]), steps(setup.bottoms[0][1]),
        alphabet(setup.bottoms[0][2]) {}

  void forward(HostLayerArguments &arguments) override {
    arguments.f64 ? compute<double>(arguments) : compute<float>(arguments);
  }
  void backward(HostLayerArguments &) override {}

private:
  template <typename Real> void compute(HostLayerArguments &arguments) {
    const Real *scores = static_cast<Real *>(arguments.bottoms[0].values);
    const Real *labels = static_cast<Real *>(arguments.bottoms[1].values);
    const std::int64_t length = arguments.bottoms[1].count / items;
    std::int64_t correct = 0;
    for (std::int64_t n = 0; n < items; ++n)
      correct += predicted(scores + n * steps * alphabet) ==
                 labelsOf(labels + n * length, length, alphabet, blank);
    *static_cast<Real *>(arguments.tops[0].values) =
        static_cast<Real>(correct) / static_cast<Real>(items);
  }

  template <typename Real> std::vector<int> predicted(const Real *scores) {
    std::vector<int> labels;
    int previous = blank;
    for (std::int64_t t = 0; t < steps; ++t, scores += alphabet) {
      const int best = static_cast<int>(
          std::max_element(scores, scores + alphabet) - scores);
      if (best != previous && best != blank)
        labels.push_back(best);
      previous = best;
    }
    return labels;
  }

  const int blank;
  const std::int64_t items, steps, alphabet;
};

class LabelsequenceAccuracyType : public HostLayerType {
public:
  bool hasBackward() const override { return false; }
  std::unique_ptr<HostLayer>
  create(const HostLayerSetup &setup) const override {
    return std::make_unique<LabelsequenceAccuracy>(setup);
  }
};

} // namespace

const HostLayerType &ctcLossType() {
  static const CtcLossType type;
  return type;
}

const HostLayerType &labelsequenceAccuracyType() {
  static const LabelsequenceAccuracyType type;
  return type;
}

} // namespace brew::runtime
