//===- ValueSchedule.h - Values of a field over iterations ------*- C++ -*-===//
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace brew::runtime {

/// What a text file says, of which each line has a number of iterations and the
/// value that holds once so many are done, until the next line's:
///
///   0      0.01
///   4000   0.001     # comment
///
/// Linearly, numbers in between go from each line's to the next.
class ValueSchedule {
public:
  /// `check` throws for a value that cannot be. Throws Error: (3) if the file is
  /// in none of the folders, (1) with the line that is wrong.
  ValueSchedule(const std::string &file,
                const std::vector<std::string> &folders, bool linear,
                const std::function<void(const std::string &)> &check);

  /// Nothing before the first line's number.
  std::optional<std::string> at(int iteration) const;

private:
  struct Entry {
    int iteration;
    std::string value;
    double number; ///< linearly
  };
  std::vector<Entry> entries; ///< in ascending order; not empty
  bool linear;
};

} // namespace brew::runtime
