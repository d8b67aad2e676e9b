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

/// Reads a list with KEY WEIGHT in each line. The last white space separates
/// them, so keys may contain spaces. Skips empty lines. Error(3): the list
/// cannot be read; Error(1): a line is malformed, a weight is negative, a key
/// occurs twice, or the list is empty.
std::vector<BoostEntry> readBoostList(const std::string &path);

} // namespace brew::formats
