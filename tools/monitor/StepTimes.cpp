//===- StepTimes.cpp - Execution times of the nodes of a net --------------===//

#include "tools/monitor/StepTimes.h"

#include <algorithm>
#include <utility>

namespace brew::monitor {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::seconds kMinMeasurePause(3);
/// Minimum pause after a timed iteration, as a multiple of its duration.
constexpr int kPauseFactor = 100;

} // namespace

StepTimes::StepTimes(const Json &graph) : nodes(graph.at("nodes").size()) {
  for (const Json &step : graph.at("steps"))
    stepNodes.push_back({step.at(0).get<int>(), step.at(1).get<bool>()});
}

void StepTimes::request() {
  std::lock_guard<std::mutex> lock(mutex);
  requested = true;
}

Json StepTimes::last() const {
  std::lock_guard<std::mutex> lock(mutex);
  return times;
}

bool StepTimes::isDue() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!requested || Clock::now() < next)
    return false;
  requested = false;
  next = Clock::now() + kMinMeasurePause;
  return true;
}

void StepTimes::store(int iteration, const double *seconds, std::size_t count) {
  std::vector<std::pair<double, double>> sums(nodes);
  double total = 0;
  for (std::size_t i = 0; i < std::min(count, stepNodes.size()); ++i) {
    total += seconds[i];
    if (stepNodes[i].node < 0)
      continue;
    auto &[forward, backward] =
        sums[static_cast<std::size_t>(stepNodes[i].node)];
    (stepNodes[i].backward ? backward : forward) += seconds[i];
  }
  next = std::max(next,
                  Clock::now() +
                      std::chrono::duration_cast<Clock::duration>(
                          std::chrono::duration<double>(kPauseFactor * total)));
  Json list = Json::array();
  for (const auto &[forward, backward] : sums)
    list.push_back({forward, backward});
  std::lock_guard<std::mutex> lock(mutex);
  times = {{"iteration", iteration}, {"nodes", std::move(list)}};
}

} // namespace brew::monitor
