//===- PlanCache.h - Plans kept from one run to the next --------*- C++ -*-===//
#pragma once

#include <string>
#include <vector>

namespace brew::caffe_command {

/// The plan of a prototxt compiled with those flags of brewc: one that is kept
/// in $XDG_CACHE_HOME/brew/plans (~/.cache without it), or a new one, which
/// standard error tells in a line. What a plan depends on is in PlanKey.h; a
/// net or solver that comes from a pipe is compiled each time. Of more than 64
/// the ones unused the longest go. Where a solver is wanted, a net is refused
/// (brewc alone would train it by settings of its own). Throws Error: (3) if
/// the folder cannot be written to.
struct CachedPlan {
  int status = 0; ///< brewc's, if that is not 0
  std::string path;
};
CachedPlan compileCached(const std::string &prototxt,
                         const std::vector<std::string> &flags, bool isSolver);

} // namespace brew::caffe_command
