//===- TensorStatistics.h - Statistics of parameters and blobs --*- C++ -*-===//
//
// Metrics of tensors, which hooks and rules name STATISTIC(PATTERN):
//
//   norm     L2 norm
//   mean, std, min, max
//   zeros    fraction of elements that are 0
//   update   standard deviation of the last update divided by that of the
//            weights before it
//
// A pattern (TensorPattern.h) may match several tensors: the statistic is that
// of all their elements together, except `update`, which is the largest of
// their ratios.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/session/Tensor.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace brew::runtime {

class Session;

enum class Statistic { Norm, Mean, Deviation, Minimum, Maximum, Zeros, Update };

/// The names of statistics, in the order of the enumerators.
inline constexpr std::array<const char *, 7> kStatisticNames = {
    "norm", "mean", "std", "min", "max", "zeros", "update"};
std::optional<Statistic> parseStatistic(std::string_view name);

/// Measures tensors of a session between two iterations.
class TensorStatistics {
public:
  /// `session` must outlive this object.
  explicit TensorStatistics(const Session &session) : session(session) {}

  /// Copies the weights before an iteration, so that their update can be
  /// measured until the next call.
  void rememberWeights(const std::vector<TensorName> &parameters);

  /// Returns the statistic of the tensors, which are not empty. Nullopt for an
  /// update if the weights were not copied or are all equal.
  std::optional<double> measure(Statistic statistic,
                                const std::vector<TensorName> &tensors) const;

private:
  std::optional<double> updateRatio(const TensorName &parameter) const;

  const Session &session;
  /// The weights before the last iteration.
  std::vector<std::pair<TensorName, std::vector<double>>> weightsBefore;
};

} // namespace brew::runtime
