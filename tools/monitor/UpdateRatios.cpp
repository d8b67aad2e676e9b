//===- UpdateRatios.cpp - Update-to-weight ratios of layers ---------------===//

#include "tools/monitor/UpdateRatios.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace brew::monitor {
namespace {

/// Larger parameters are sampled at equal intervals.
constexpr std::size_t kMaxSampledValues = 16384;

double deviationOf(const std::vector<float> &values) {
  if (values.empty())
    return 0;
  double sum = 0, squares = 0;
  for (float value : values) {
    sum += value;
    squares += double(value) * value;
  }
  const double count = static_cast<double>(values.size());
  return std::sqrt(
      std::max(0.0, squares / count - sum / count * (sum / count)));
}

} // namespace

void UpdateRatios::request() {
  std::lock_guard<std::mutex> lock(mutex);
  requested = true;
}

nlohmann::json UpdateRatios::last() const {
  std::lock_guard<std::mutex> lock(mutex);
  return ratios;
}

std::vector<UpdateRatios::Sample> UpdateRatios::sample(api::Session &session) {
  std::vector<Sample> samples;
  for (const api::TensorName &name : session.names(BREW_PARAMETER)) {
    if (name.index != 0) // biases start at 0, so they have no ratio
      continue;
    const std::vector<float> all = session.read<float>(name);
    Sample sample{name, {}};
    const std::size_t stride = std::max<std::size_t>(
        1, (all.size() + kMaxSampledValues - 1) / kMaxSampledValues);
    for (std::size_t i = 0; i < all.size(); i += stride)
      sample.values.push_back(all[i]);
    samples.push_back(std::move(sample));
  }
  return samples;
}

bool UpdateRatios::poll(api::Session &session, int iteration, bool mayRead) {
  if (beforeIteration < 0) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (!requested || !mayRead)
        return false;
      requested = false;
    }
    before = sample(session);
    beforeIteration = iteration;
    return true;
  }
  if (iteration == beforeIteration)
    return false;
  const bool isNext = iteration == beforeIteration + 1;
  const std::vector<Sample> old = std::move(before);
  before.clear();
  beforeIteration = -1;
  if (!isNext)
    return false;
  const std::vector<Sample> current = sample(session);
  nlohmann::json layers = nlohmann::json::object();
  for (std::size_t i = 0; i < current.size() && i < old.size(); ++i) {
    std::vector<float> update = current[i].values;
    for (std::size_t k = 0; k < update.size(); ++k)
      update[k] -= old[i].values[k];
    const double weights = deviationOf(old[i].values);
    if (weights > 0 && std::isfinite(weights))
      layers[current[i].name.name] = deviationOf(update) / weights;
  }
  std::lock_guard<std::mutex> lock(mutex);
  ratios = {{"iteration", iteration}, {"layers", std::move(layers)}};
  return true;
}

} // namespace brew::monitor
