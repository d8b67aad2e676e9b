//===- BoostList.h - How often records are to be drawn ----------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace brew::formats {

struct BoostEntry {
  std::string key;   ///< of a record, or the name of an image's file
  double weight = 0; ///< finite, at least 0
  size_t line = 0;   ///< in the list, from 1
};

/// A list of KEY WEIGHT, one a line; white space before the weight divides, so
/// that keys may hold spaces. Empty lines are passed over. Error(3): the list
/// cannot be read; Error(1): a line is of another form, a weight is negative, a
/// key stands in two lines, or there is none.
std::vector<BoostEntry> readBoostList(const std::string &path);

} // namespace brew::formats
