//===- TensorStatistics.cpp - Statistics of parameters and blobs ----------===//

#include "runtime/train/metrics/TensorStatistics.h"

#include "caffe/weights/BufferLayout.h"
#include "runtime/session/Session.h"

#include <algorithm>
#include <cmath>

namespace brew::runtime {
namespace {

std::vector<double> readAll(const Session &session, const TensorName &name) {
  const std::int64_t count = caffe::product(session.find(name).shape);
  std::vector<double> values(static_cast<std::size_t>(count));
  session.read(name, values.data(), count);
  return values;
}

/// Sums over elements.
struct Sums {
  double count = 0, sum = 0, squares = 0, zeros = 0;
  std::optional<double> minimum, maximum;

  void add(const std::vector<double> &values) {
    for (double value : values) {
      ++count;
      sum += value;
      squares += value * value;
      zeros += value == 0;
      // NaN replaces every extreme and remains.
      if (!minimum || value < *minimum || std::isnan(value))
        minimum = minimum && std::isnan(*minimum) ? minimum : value;
      if (!maximum || value > *maximum || std::isnan(value))
        maximum = maximum && std::isnan(*maximum) ? maximum : value;
    }
  }
};

double deviationOf(const std::vector<double> &values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (double value : values)
    sum += value;
  const double mean = sum / count;
  for (double value : values)
    squares += (value - mean) * (value - mean);
  return std::sqrt(squares / count);
}

bool isSame(const TensorName &a, const TensorName &b) {
  return a.name == b.name && a.index == b.index;
}

} // namespace

std::optional<Statistic> parseStatistic(std::string_view name) {
  const auto *found =
      std::find(kStatisticNames.begin(), kStatisticNames.end(), name);
  if (found == kStatisticNames.end())
    return {};
  return static_cast<Statistic>(found - kStatisticNames.begin());
}

void TensorStatistics::rememberWeights(
    const std::vector<TensorName> &parameters) {
  weightsBefore.clear();
  for (const TensorName &name : parameters)
    if (std::none_of(
            weightsBefore.begin(), weightsBefore.end(),
            [&](const auto &known) { return isSame(known.first, name); }))
      weightsBefore.emplace_back(name, readAll(session, name));
}

std::optional<double>
TensorStatistics::updateRatio(const TensorName &parameter) const {
  for (const auto &[name, before] : weightsBefore) {
    if (!isSame(name, parameter))
      continue;
    const double deviation = deviationOf(before);
    if (deviation == 0)
      return {};
    std::vector<double> update = readAll(session, name);
    for (std::size_t i = 0; i < update.size(); ++i)
      update[i] -= before[i];
    return deviationOf(update) / deviation;
  }
  return {};
}

std::optional<double>
TensorStatistics::measure(Statistic statistic,
                          const std::vector<TensorName> &tensors) const {
  if (statistic == Statistic::Update) {
    std::optional<double> largest;
    for (const TensorName &name : tensors)
      if (const std::optional<double> ratio = updateRatio(name))
        largest =
            std::isnan(*ratio) ? *ratio : std::max(largest.value_or(0), *ratio);
    return largest;
  }
  if (statistic == Statistic::Deviation) {
    std::vector<double> all;
    for (const TensorName &name : tensors) {
      const std::vector<double> values = readAll(session, name);
      all.insert(all.end(), values.begin(), values.end());
    }
    return deviationOf(all);
  }
  Sums sums;
  for (const TensorName &name : tensors)
    sums.add(readAll(session, name));
  switch (statistic) {
  case Statistic::Norm:
    return std::sqrt(sums.squares);
  case Statistic::Mean:
    return sums.sum / sums.count;
  case Statistic::Minimum:
    return sums.minimum;
  case Statistic::Maximum:
    return sums.maximum;
  case Statistic::Zeros:
    return sums.zeros / sums.count;
  case Statistic::Deviation:
  case Statistic::Update:
    break;
  }
  return {};
}

} // namespace brew::runtime
