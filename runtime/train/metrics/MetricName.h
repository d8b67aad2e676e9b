//===- MetricName.h - Names of training metrics -----------------*- C++ -*-===//
//
// Options name a metric of a training run as follows:
//
//   test.accuracy     an output of the first test net, its mean over the test
//   test1.loss        of the second test net
//   test.top[3]       an element of an output with several
//   train.loss        the displayed training loss (mean of average_loss); on a
//                     GPU, of the iteration before the last
//   iter              iterations done
//   time              seconds since training began, in this run
//   lr                the learning rate of the last update
//   norm(conv*.weights), mean(ip1)
//                     statistics of parameters, their gradients and readable
//                     blobs of the training net, as they are now
//                     (TensorStatistics.h)
//
// Runs of a learner (reinforcement learning) also have
//
//   episode.reward    of the last episode; also .running_reward, .mean_reward,
//                     .maximum_reward, .entropy, .steps and .count
//                     (EpisodeMetrics.h)
//
// and the outputs of their tests are test.reward and test.steps, means over the
// episodes of a test.
//
// Hooks (hooks/Hooks.h) can also name
//
//   epoch             completed passes over the training data
//   hook.NAME         the last value of the hook of this name
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/session/Tensor.h"
#include "runtime/train/metrics/TensorStatistics.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace brew::runtime {

/// A parsed name.
struct MetricName {
  enum Kind {
    TestOutput,
    TrainLoss,
    Iteration,
    Time,
    LearningRate,
    EpisodeValue,
    Epoch,
    HookValue,
    OfTensors
  };
  Kind kind = Iteration;
  // For a TestOutput.
  int net = 0;        ///< the test net's number
  std::string output; ///< the blob; for an EpisodeValue, its name
  std::size_t element = 0;
  std::string hook; ///< of a HookValue: the hook's name

  std::string text; ///< as written by the user
  // Of OfTensors.
  Statistic statistic = Statistic::Norm;
  std::vector<TensorName> tensors = {};

  /// Returns the parameters whose weights must be copied before the iteration
  /// (TensorStatistics::rememberWeights).
  std::vector<TensorName> updatesOf() const {
    return kind == OfTensors && statistic == Statistic::Update
               ? tensors
               : std::vector<TensorName>();
  }
};

/// An error in a text, and its position.
struct TextError {
  std::size_t offset = 0; ///< bytes before it
  std::string text;
};

/// Returns whether the character may occur in a name, apart from the brackets
/// of an element.
bool isMetricNameCharacter(char c);

/// The objects that names may refer to.
struct MetricScope {
  const plan::Manifest &manifest;
  int testNets; ///< the first test programs, which are run
  /// Names of hooks with values; null: there are no hooks.
  const std::set<std::string> *hooks = nullptr;
  /// A learner trains: there are metrics of episodes, and tests play episodes.
  bool hasLearner = false;
};

/// Parses the whole `text`. Throws TextError, which lists the available names.
MetricName parseMetricName(std::string_view text, const MetricScope &scope);

/// Whether higher or lower values of a metric are better.
enum class Better { Higher, Lower };
/// Returns Higher for tops of Accuracy layers, detection scores and rewards;
/// Lower for losses (with a loss weight, or tops of a layer whose type ends in
/// Loss); else nullopt.
std::optional<Better> betterOf(const MetricName &metric,
                               const MetricScope &scope);

/// A metric with a direction of improvement.
struct RankedMetric {
  MetricName name;
  Better better = Better::Higher;
};

/// Parses the whole `text`: NAME if betterOf() knows the direction, else
/// NAME:min or NAME:max. Throws TextError.
RankedMetric parseRankedMetric(std::string_view text, const MetricScope &scope);

/// Returns the metric that measures a net's quality by default: of the first
/// test net, the first output for which higher is better, else the first for
/// which lower is better; else nullopt. With a learner, test.reward.
std::optional<MetricName> defaultMetric(const MetricScope &scope);

/// Formats an error in several lines: the message, and the text with a mark
/// below the position. `source` names the text, e.g. an option as users write
/// it.
std::string markedText(const std::string &source, const std::string &text,
                       const TextError &problem);
/// Throws the formatted error as Error (2).
[[noreturn]] void throwTextError(const std::string &option,
                                 const std::string &text,
                                 const TextError &problem);

} // namespace brew::runtime
