//===- Stragglers.h - Which rank the others wait for ------------*- C++ -*-===//
#pragma once

#include <optional>
#include <vector>

namespace brew::runtime::comm {

struct Straggler {
  int rank;
  double seconds; ///< that the others have waited longer than it, on average
};

/// The rank that the others waited for, if that took more than a quarter of the
/// `seconds` in which the ranks waited as long as `waits` says; needs two
/// ranks.
std::optional<Straggler> findStraggler(const std::vector<double> &waits,
                                       double seconds);

} // namespace brew::runtime::comm
