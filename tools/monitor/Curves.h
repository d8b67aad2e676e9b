//===- Curves.h - Measured values over iterations ---------------*- C++ -*-===//
//
// Whole runs in bounded memory: when a curve is full, neighbouring points
// become their mean, and so do those that come after.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace brew::monitor {

class Curves {
public:
  /// `capacity`: points of each curve, an even number; `curves`: how many there
  /// may be, beyond which points of new ones are dropped.
  explicit Curves(std::size_t capacity = 2000, std::size_t curves = 64)
      : capacity(capacity), most(curves) {}

  /// Values that are not finite are passed over.
  void add(const std::string &curve, double iteration, double value);
  /// {"loss": [[iteration, value], ...], ...}
  nlohmann::json json() const;

private:
  struct Point {
    double iteration, value;
  };
  struct Curve {
    std::vector<Point> points;
    std::size_t each = 1; ///< values that become a point
    Point sum = {0, 0};   ///< of those that wait for the others
    std::size_t waiting = 0;
  };
  std::size_t capacity, most;
  std::map<std::string, Curve> curves;
};

} // namespace brew::monitor
