//===- Stragglers.h - Detection of slow ranks -------------------*- C++ -*-===//
#pragma once

#include <optional>
#include <vector>

namespace brew::runtime::comm {

/// A rank that the others wait for.
struct Straggler {
  int rank;
  double seconds; ///< how much longer the others have waited, on average
};

/// Returns the rank that waited least, if the others waited longer by more than
/// a quarter of `seconds`, the measured period. `waits` contains the seconds
/// that each rank waited. Returns nullopt for fewer than two ranks.
std::optional<Straggler> findStraggler(const std::vector<double> &waits,
                                       double seconds);

} // namespace brew::runtime::comm
