//===- Curves.cpp - Curves of values over iterations ----------------------===//

#include "tools/monitor/Curves.h"

#include <cmath>

namespace brew::monitor {

void Curves::add(const std::string &name, double iteration, double value) {
  if (!std::isfinite(value))
    return;
  auto found = curves.find(name);
  if (found == curves.end()) {
    if (curves.size() == maxCurves)
      return;
    found = curves.emplace(name, Curve()).first;
  }
  Curve &curve = found->second;
  curve.sum.iteration += iteration;
  curve.sum.value += value;
  if (++curve.pending < curve.valuesPerPoint)
    return;
  const double count = static_cast<double>(curve.valuesPerPoint);
  curve.points.push_back(
      {curve.sum.iteration / count, curve.sum.value / count});
  curve.sum = {0, 0};
  curve.pending = 0;
  if (curve.points.size() < capacity)
    return;
  for (std::size_t i = 0; i + 1 < capacity; i += 2) {
    const Point &a = curve.points[i], &b = curve.points[i + 1];
    curve.points[i / 2] = {(a.iteration + b.iteration) / 2,
                           (a.value + b.value) / 2};
  }
  curve.points.resize(capacity / 2);
  curve.valuesPerPoint *= 2;
}

nlohmann::json Curves::json() const {
  nlohmann::json result = nlohmann::json::object();
  for (const auto &[name, curve] : curves) {
    nlohmann::json &points = result[name] = nlohmann::json::array();
    for (const Point &point : curve.points)
      points.push_back({point.iteration, point.value});
    if (curve.pending) {
      const double count = static_cast<double>(curve.pending);
      points.push_back({curve.sum.iteration / count, curve.sum.value / count});
    }
  }
  return result;
}

} // namespace brew::monitor
