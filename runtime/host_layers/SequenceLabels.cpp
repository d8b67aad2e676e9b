//===- SequenceLabels.cpp - Layers of text recognition --------------------===//

#include "runtime/host_layers/SequenceLabels.h"

#include "formats/caffe.pb.h"
#include "runtime/host_layers/CtcAlignment.h"
#include "support/Error.h"
#include "support/NumberText.h"

#include <google/protobuf/text_format.h>

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

caffe::LayerParameter settingsOf(const HostLayerSetup &setup,
                                 std::size_t minBottoms = 2) {
  caffe::LayerParameter layer;
  bool isValid =
      google::protobuf::TextFormat::ParseFromString(setup.settings, &layer) &&
      setup.bottoms.size() >= minBottoms && setup.bottoms[0].size() >= 3;
  for (const auto &bottom : setup.bottoms)
    isValid = isValid && bottom.size() >= 2;
  if (!isValid)
    throw badInput("damaged plan: not the settings and bottoms of a " +
                   setup.type);
  return layer;
}

/// The indicators and labels of caffe-ctc (time steps, items).
template <typename Real> class Sequences {
public:
  Sequences(const HostLayerArguments &arguments, std::int64_t steps,
            std::int64_t items)
      : arguments(arguments), steps(steps), items(items) {}

  /// Returns the number of time steps of an item.
  std::int64_t lengthOf(std::int64_t item) const {
    std::int64_t length = 1;
    while (length < steps && static_cast<int>(at(1, length, item) + 0.5) != 0)
      ++length;
    return length;
  }
  /// Returns the labels of an item, up to the first negative one.
  std::vector<int> labelsOf(std::int64_t item) const {
    std::vector<int> labels;
    for (std::int64_t t = 0; t < steps && at(2, t, item) >= 0; ++t)
      labels.push_back(static_cast<int>(at(2, t, item) + 0.5));
    return labels;
  }

private:
  double at(std::size_t bottom, std::int64_t step, std::int64_t item) const {
    return static_cast<const Real *>(
        arguments.bottoms[bottom].values)[step * items + item];
  }

  const HostLayerArguments &arguments;
  const std::int64_t steps, items;
};

//===----------------------------------------------------------------------===//
// CtcLoss
//===----------------------------------------------------------------------===//

class CtcLoss : public HostLayer {
public:
  explicit CtcLoss(const HostLayerSetup &setup)
      : steps(setup.bottoms[0][0]), items(setup.bottoms[0][1]),
        alphabet(setup.bottoms[0][2]) {
    const auto settings = settingsOf(setup).ctc_loss_param();
    blank = settings.blank_label();
    // The default of caffe-ctc is the last label.
    if (setup.type == kIndicatedCtcLoss &&
        (!settings.has_blank_label() || blank < 0))
      blank = static_cast<int>(alphabet - 1);
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
    std::vector<int> labels = sequences.labelsOf(n);
    // Labels from the last one of the alphabet on end the sequence.
    labels.erase(std::find_if(labels.begin(), labels.end(),
                              [&](int label) { return label >= alphabet - 1; }),
                 labels.end());
    return computeItem<Real>(arguments, n, sequences.lengthOf(n), labels);
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
// CTCGreedyDecoder
//===----------------------------------------------------------------------===//

/// Returns the number of insertions, deletions and replacements that turn `a`
/// into `b`.
std::size_t editDistance(const std::vector<int> &a, const std::vector<int> &b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

/// Returns the edit distance as a fraction of the longer sequence.
double relativeDistance(const std::vector<int> &a, const std::vector<int> &b) {
  const std::size_t longer = std::max(a.size(), b.size());
  return longer == 0 ? 0
                     : static_cast<double>(editDistance(a, b)) /
                           static_cast<double>(longer);
}

class CtcGreedyDecoder : public HostLayer {
public:
  explicit CtcGreedyDecoder(const HostLayerSetup &setup)
      : settings(settingsOf(setup, 1).ctc_decoder_param()),
        steps(setup.bottoms[0][0]), items(setup.bottoms[0][1]),
        alphabet(setup.bottoms[0][2]) {
    const auto &bottoms = setup.bottoms;
    hasLabelRows = bottoms.size() == 2 && setup.tops.size() == 1 &&
                   (bottoms[1][0] != steps || bottoms[1][1] != items);
    hasIndicators = bottoms.size() > 1 && !hasLabelRows;
    // The default of caffe_ocr is the first label.
    blank = settings.has_blank_index() || hasIndicators ? settings.blank_index()
                                                        : 0;
    if (blank < 0)
      blank = static_cast<int>(alphabet - 1);
  }

  void forward(HostLayerArguments &arguments) override {
    arguments.f64 ? compute<double>(arguments) : compute<float>(arguments);
  }
  void backward(HostLayerArguments &) override {}

private:
  template <typename Real> void compute(HostLayerArguments &arguments) {
    if (hasLabelRows)
      compareRows<Real>(arguments);
    else
      decode<Real>(arguments);
  }

  template <typename Real> void decode(HostLayerArguments &arguments) {
    const Sequences<Real> sequences(arguments, steps, items);
    const bool hasLabels = arguments.bottoms.size() == 3;
    auto &tops = arguments.tops;
    const bool hasScores = tops.size() == 3 || (tops.size() == 2 && !hasLabels);
    Real *decoded = static_cast<Real *>(tops[0].values);
    std::fill_n(decoded, tops[0].count, Real(-1));
    double errors = 0;
    for (std::int64_t n = 0; n < items; ++n) {
      double score = 0;
      const std::vector<int> labels = decodeItem<Real>(
          arguments, n, hasIndicators ? sequences.lengthOf(n) : steps, score);
      std::copy(labels.begin(), labels.end(), decoded + n * steps);
      if (hasScores)
        static_cast<Real *>(tops[1].values)[n] = static_cast<Real>(score);
      if (hasLabels)
        errors += relativeDistance(sequences.labelsOf(n), labels);
    }
    if (hasLabels && tops.size() > 1)
      *static_cast<Real *>(tops.back().values) =
          static_cast<Real>(1 - errors / static_cast<double>(items));
  }

  /// Computes the accuracies of caffe_ocr: the mean of 1 - the relative
  /// distance, and the fraction of the items without errors. Items without any
  /// labels do not count as such.
  template <typename Real> void compareRows(HostLayerArguments &arguments) {
    const std::int64_t length = arguments.bottoms[1].count / items;
    const Real *rows = static_cast<const Real *>(arguments.bottoms[1].values);
    double errors = 0, correct = 0;
    for (std::int64_t n = 0; n < items; ++n, rows += length) {
      double score = 0;
      const std::vector<int> labels =
          decodeItem<Real>(arguments, n, steps, score);
      std::vector<int> truth;
      for (std::int64_t i = 0; i < length && rows[i] >= 0; ++i)
        if (const int label = static_cast<int>(rows[i] + 0.5); label != blank)
          truth.push_back(label);
      errors += relativeDistance(truth, labels);
      correct += truth == labels && !truth.empty();
    }
    Real *top = static_cast<Real *>(arguments.tops[0].values);
    top[0] = static_cast<Real>(1 - errors / static_cast<double>(items));
    top[1] = static_cast<Real>(correct / static_cast<double>(items));
  }

  /// Returns the labels of item `n`, which has `length` time steps, and the
  /// negative sum of the best scores.
  template <typename Real>
  std::vector<int> decodeItem(const HostLayerArguments &arguments,
                              std::int64_t n, std::int64_t length,
                              double &score) const {
    const Real *scores =
        static_cast<const Real *>(arguments.bottoms[0].values) + n * alphabet;
    std::vector<int> labels;
    int previous = -1;
    for (std::int64_t t = 0; t < length; ++t, scores += items * alphabet) {
      const Real *best = std::max_element(scores, scores + alphabet);
      const int label = static_cast<int>(best - scores);
      score -= *best;
      if (label != blank &&
          !(settings.ctc_merge_repeated() && label == previous))
        labels.push_back(label);
      previous = label;
    }
    return labels;
  }

  const caffe::CTCDecoderParameter settings;
  const std::int64_t steps, items, alphabet;
  bool hasLabelRows = false;  ///< the second bottom has a row for each item
  bool hasIndicators = false; ///< the second bottom ends the items
  int blank = 0;
};

class CtcGreedyDecoderType : public HostLayerType {
public:
  bool hasBackward() const override { return false; }
  std::unique_ptr<HostLayer>
  create(const HostLayerSetup &setup) const override {
    return std::make_unique<CtcGreedyDecoder>(setup);
  }
};

//===----------------------------------------------------------------------===//
// LabelsequenceAccuracy
//===----------------------------------------------------------------------===//

class LabelsequenceAccuracy : public HostLayer {
public:
  explicit LabelsequenceAccuracy(const HostLayerSetup &setup)
      : blank(settingsOf(setup).labelsequence_accuracy_param().blank_label()),
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

const HostLayerType &ctcGreedyDecoderType() {
  static const CtcGreedyDecoderType type;
  return type;
}

const HostLayerType &labelsequenceAccuracyType() {
  static const LabelsequenceAccuracyType type;
  return type;
}

} // namespace brew::runtime
