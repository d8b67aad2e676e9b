//===- CtcGreedyDecoder.cpp - Labels of the best scores -------------------===//

#include "runtime/host_layers/SequenceInputs.h"
#include "runtime/host_layers/SequenceLabels.h"

#include <algorithm>

namespace brew::runtime {
namespace {

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
      : settings(sequenceSettings(setup, 1).ctc_decoder_param()),
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

} // namespace

const HostLayerType &ctcGreedyDecoderType() {
  static const CtcGreedyDecoderType type;
  return type;
}

} // namespace brew::runtime
