//===- SequenceLabels.cpp - Layers of text recognition --------------------===//

#include "runtime/host_layers/SequenceLabels.h"

#include "formats/caffe.pb.h"
#include "support/Error.h"
#include "support/NumberText.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace brew::runtime {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

/// Returns log(exp(a) + exp(b)).
double addLogs(double a, double b) {
  if (a < b)
    std::swap(a, b);
  return b == kImpossible ? a : a + std::log1p(std::exp(b - a));
}

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
                                 size_t scoreRank) {
  caffe::LayerParameter layer;
  if (!google::protobuf::TextFormat::ParseFromString(setup.settings, &layer) ||
      setup.bottoms.size() != 2 || setup.bottoms[0].size() != scoreRank ||
      setup.bottoms[1].size() < 2)
    throw badInput("damaged plan: not the settings and bottoms of a " +
                   setup.type);
  return layer;
}

//===----------------------------------------------------------------------===//
// CtcLoss
//===----------------------------------------------------------------------===//

/// The forward-backward algorithm of one item. A state is a position in the
/// labels with blanks before, between and after them.
class Alignment {
public:
  /// `logs` are log probabilities (steps, alphabet).
  Alignment(const std::vector<double> &logs, std::int64_t steps,
            std::int64_t alphabet, const std::vector<int> &labels, int blank)
      : logs(logs), steps(steps), alphabet(alphabet) {
    for (int label : labels) {
      symbols.push_back(blank);
      symbols.push_back(label);
    }
    symbols.push_back(blank);
  }

  /// Returns log of the probability of the labels; -infinity if there are too
  /// many. Sets log of the sum over the paths through each symbol at each time
  /// step (steps, alphabet).
  double compute(std::vector<double> &symbolSums) const {
    const std::vector<double> before = pathsTo(false), after = pathsTo(true);
    const std::size_t states = symbols.size();
    symbolSums.assign(static_cast<std::size_t>(steps * alphabet), kImpossible);
    for (std::int64_t t = 0; t < steps; ++t)
      for (std::size_t s = 0; s < states; ++s) {
        // Both sums contain the probability of this state.
        double &sum = symbolSums[index(t, symbols[s])];
        sum =
            addLogs(sum, before[t * states + s] +
                             after[(steps - 1 - t) * states + states - 1 - s] -
                             logs[index(t, symbols[s])]);
      }
    const double *last = &before[(steps - 1) * states];
    return states == 1 ? last[0] : addLogs(last[states - 1], last[states - 2]);
  }

private:
  std::size_t index(std::int64_t step, int symbol) const {
    return static_cast<std::size_t>(step * alphabet + symbol);
  }

  /// Returns log probabilities (steps, states) of the paths from the start to
  /// each state, or, reversed, from the end.
  std::vector<double> pathsTo(bool reversed) const {
    const std::size_t states = symbols.size();
    std::vector<double> paths(steps * states, kImpossible);
    auto symbol = [&](std::size_t s) {
      return symbols[reversed ? states - 1 - s : s];
    };
    for (std::int64_t t = 0; t < steps; ++t)
      for (std::size_t s = 0; s < states; ++s) {
        double sum = kImpossible;
        if (t == 0) {
          sum = s < 2 ? 0 : kImpossible;
        } else {
          const double *previous = &paths[(t - 1) * states];
          sum = previous[s];
          if (s > 0)
            sum = addLogs(sum, previous[s - 1]);
          // A blank between different labels may be skipped. Labels have odd
          // positions.
          if (s > 1 && s % 2 == 1 && symbol(s) != symbol(s - 2))
            sum = addLogs(sum, previous[s - 2]);
        }
        paths[t * states + s] =
            sum + logs[index(reversed ? steps - 1 - t : t, symbol(s))];
      }
    return paths;
  }

  const std::vector<double> &logs;
  const std::int64_t steps, alphabet;
  std::vector<int> symbols; ///< of the states
};

class CtcLoss : public HostLayer {
public:
  explicit CtcLoss(const HostLayerSetup &setup)
      : blank(settingsOf(setup, 3).ctc_loss_param().blank_label()),
        steps(setup.bottoms[0][0]), items(setup.bottoms[0][1]),
        alphabet(setup.bottoms[0][2]) {}

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

private:
  template <typename Real> void computeLoss(HostLayerArguments &arguments) {
    const Real *scores = static_cast<Real *>(arguments.bottoms[0].values);
    const Real *labels = static_cast<Real *>(arguments.bottoms[1].values);
    const std::int64_t length = arguments.bottoms[1].count / items;
    derivatives.assign(static_cast<std::size_t>(arguments.bottoms[0].count), 0);
    double loss = 0;
    for (std::int64_t n = 0; n < items; ++n)
      loss += computeItem(
          scores, n, labelsOf(labels + n * length, length, alphabet, blank));
    *static_cast<Real *>(arguments.tops[0].values) =
        static_cast<Real>(loss / static_cast<double>(items));
  }

  /// Returns the loss of item `n` and sets its derivatives.
  template <typename Real>
  double computeItem(const Real *scores, std::int64_t n,
                     const std::vector<int> &labels) {
    std::vector<double> logs(static_cast<std::size_t>(steps * alphabet)), sums;
    for (std::int64_t t = 0; t < steps; ++t) {
      const Real *row = scores + (t * items + n) * alphabet;
      const double largest = *std::max_element(row, row + alphabet);
      double sum = 0;
      for (std::int64_t c = 0; c < alphabet; ++c)
        sum += std::exp(row[c] - largest);
      for (std::int64_t c = 0; c < alphabet; ++c)
        logs[t * alphabet + c] = row[c] - largest - std::log(sum);
    }
    const double logProbability =
        Alignment(logs, steps, alphabet, labels, blank).compute(sums);
    if (logProbability == kImpossible)
      return 0;
    for (std::int64_t t = 0; t < steps; ++t)
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

  const int blank;
  const std::int64_t steps, items, alphabet;
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
      : blank(
            settingsOf(setup, 3).labelsequence_accuracy_param().blank_label()),
        items(setup.bottoms[0][0]), steps(setup.bottoms[0][1]),
        alphabet(setup.bottoms[0][2]) {}

  void forward(HostLayerArguments &arguments) override {
    if (arguments.f64)
      compute<double>(arguments);
    else
      compute<float>(arguments);
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
