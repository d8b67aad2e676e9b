//===- PlanCache.h - Cache of compiled plans --------------------*- C++ -*-===//
#pragma once

#include <string>
#include <vector>

namespace brew::caffe_command {

/// The result of compileCached().
struct CachedPlan {
  /// brewc's exit status; 0 also for a cached plan. brewc prints its errors,
  /// except those of status ShapesVary.
  int status = 0;
  std::string path;
};

/// Returns the plan of a prototxt compiled with `flags` of brewc, from the
/// folder of CacheFolder.h. If the plan is not cached, was written by another
/// user or is damaged, compiles it and prints a line to standard error.
/// PlanKey.h defines the dependencies of a plan; a prototxt from a pipe is
/// compiled each time. The least recently used plans are removed beyond
/// $BREW_PLAN_CACHE_MB (1000) megabytes. With `isSolver`, a net is rejected,
/// because brewc would train it with default settings. Throws Error (3) if the
/// folder cannot be written, and Error (2) for another value of the variable.
CachedPlan compileCached(const std::string &prototxt,
                         const std::vector<std::string> &flags, bool isSolver);

} // namespace brew::caffe_command
