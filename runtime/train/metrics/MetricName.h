//===- MetricName.h - Names of what training measures -----------*- C++ -*-===//
//
// How options name a number of a training run:
//
//   test.accuracy     an output of the first test net, its mean over the test
//   test1.loss        of the second
//   test.top[3]       an element of an output that has several
//   train.loss        the training loss as displayed (mean of average_loss); on
//                     a GPU that of the iteration before the last
//   iter              iterations done
//   time              seconds since training began, in this run
//   lr                the learning rate of the last update
//
// and, where hooks are (hooks/Hooks.h),
//
//   epoch             passes over the training data that are complete
//   hook.NAME         what the hook of this name has last given
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/events/Events.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace brew::runtime {

struct MetricName {
  enum Kind {
    TestOutput,
    TrainLoss,
    Iteration,
    Time,
    LearningRate,
    Epoch,
    HookValue
  };
  Kind kind = Iteration;
  // Of a TestOutput.
  int net = 0;        ///< the test net's number
  std::string output; ///< the blob
  std::size_t element = 0;
  std::string hook; ///< of a HookValue: its name

  std::string text; ///< as it was written
};

/// What is wrong with a text, and where.
struct TextError {
  std::size_t offset = 0; ///< bytes before it
  std::string text;
};

/// Whether a name may have this character, but for the element's brackets.
bool isMetricNameCharacter(char c);

/// What names may refer to.
struct MetricScope {
  const plan::Manifest &manifest;
  int testNets; ///< the first test programs, which are run
  /// Names of hooks that give values; null: there are no hooks.
  const std::set<std::string> *hooks = nullptr;
};

/// The metric that `text`, all of it, names. Throws TextError, with names
/// that there are.
MetricName parseMetricName(std::string_view text, const MetricScope &scope);

/// What a bound on a metric wants of it.
enum class Better { Higher, Lower };
/// Higher for what an Accuracy layer makes and for scores of detections, Lower
/// for losses (with a loss weight, or made by a layer whose type ends in Loss);
/// nothing where neither is known.
std::optional<Better> betterOf(const MetricName &metric,
                               const plan::Manifest &manifest);

/// A metric of which one value is better than another.
struct RankedMetric {
  MetricName name;
  Better better = Better::Higher;
};

/// The metric that `text`, all of it, names: NAME where it is known which
/// values are better (betterOf), else NAME:min or NAME:max. Throws TextError.
RankedMetric parseRankedMetric(std::string_view text, const MetricScope &scope);

/// The metric that tells how good a net is, unless the user names one: of the
/// first test net the first output of an Accuracy layer, else the first loss.
/// Nothing if it has neither.
std::optional<MetricName> defaultMetric(const plan::Manifest &manifest,
                                        int testNets);

/// The last value of every metric, taken from the events of a session.
class MetricValues {
public:
  void update(const Event &event);
  /// Nothing before the metric was measured.
  std::optional<double> value(const MetricName &metric) const;
  // What no event tells.
  void setEpoch(std::uint64_t complete) {
    epoch = static_cast<double>(complete);
  }
  void setHook(const std::string &name, double value) { hooks[name] = value; }

private:
  std::optional<int> iteration;
  std::optional<double> seconds, loss, learningRate, epoch;
  std::map<std::string, double> hooks;
  std::map<std::pair<int, std::string>, std::vector<double>> outputs;
};

/// A problem of a text in several lines: what is wrong, and the text with a
/// mark below the place. `what` names the text, e.g. an option as users write
/// it.
std::string markedText(const std::string &what, const std::string &text,
                       const TextError &problem);
/// Throws it as Error (2).
[[noreturn]] void throwTextError(const std::string &option, const std::string &text,
                             const TextError &problem);

} // namespace brew::runtime
