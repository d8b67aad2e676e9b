//===- BoostList.h - Sampling weights of records ----------------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace brew::formats {

struct BoostEntry {
  std::string key;   ///< key of a record, or name of an image file
  double weight = 0; ///< finite, at least 0
  size_t line = 0;   ///< line number in the list, from 1
};

/// Reads a list with KEY WEIGHT in each line. The last white space is the
/// separator, so keys may contain spaces. Skips empty lines. Throws Error(3) if
/// the list cannot be read, Error(1) if a line is malformed, a weight is
/// negative or infinite, a key occurs twice, or the list is empty.
std::vector<BoostEntry> readBoostList(const std::string &path);

} // namespace brew::formats
