//===- ValueSchedule.h - Solver values by iteration -------------*- C++ -*-===//
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace brew::runtime {

/// A text file whose lines contain an iteration and the value that applies from
/// that iteration on, until the next line's:
///
///   0      0.01
///   4000   0.001     # comment
///
/// With `linear`, values between two lines are interpolated.
class ValueSchedule {
public:
  /// `check` throws for an invalid value. Throws Error: (3) if the file is in
  /// none of the folders, (1) with the line that is wrong.
  ValueSchedule(const std::string &file,
                const std::vector<std::string> &folders, bool linear,
                const std::function<void(const std::string &)> &check);

  /// Returns the value that applies at `iteration`; nullopt before the first
  /// line's iteration.
  std::optional<std::string> at(int iteration) const;

private:
  struct Entry {
    int iteration;
    std::string value;
    double number; ///< the value as a number; used if `linear`
  };
  std::vector<Entry> entries; ///< ascending; not empty
  bool linear;
};

} // namespace brew::runtime
