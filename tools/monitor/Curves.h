//===- Curves.h - Curves of values over iterations --------------*- C++ -*-===//
//
// Stores complete runs in bounded memory: when a curve is full, each pair of
// neighbouring points is replaced by its mean, and from then on each new point
// averages twice as many values.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace brew::monitor {

/// A set of named curves.
class Curves {
public:
  /// `capacity`: maximum number of points per curve, even. `curves`: maximum
  /// number of curves; further curves are dropped.
  explicit Curves(std::size_t capacity = 2000, std::size_t curves = 64)
      : capacity(capacity), maxCurves(curves) {}

  /// Adds a value; ignores values that are not finite.
  void add(const std::string &curve, double iteration, double value);
  /// Returns {"loss": [[iteration, value], ...], ...}.
  nlohmann::json json() const;

private:
  struct Point {
    double iteration, value;
  };
  struct Curve {
    std::vector<Point> points;
    std::size_t valuesPerPoint = 1;
    Point sum = {0, 0};      ///< of the values of the incomplete point
    std::size_t pending = 0; ///< number of values in `sum`
  };
  std::size_t capacity, maxCurves;
  std::map<std::string, Curve> curves;
};

} // namespace brew::monitor
