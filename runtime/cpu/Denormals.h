//===- Denormals.h - Treatment of denormal numbers --------------*- C++ -*-===//
//
// Processors compute up to a hundred times slower with denormal numbers (below
// 1.2e-38 in single precision), which weights contain after much weight decay
// and activations after many layers. Steps therefore read and write them as 0,
// unless a session keeps them.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace brew::runtime {

/// The period in which the current thread and the threads of its OpenMP team
/// treat denormal numbers as 0, or `keep` them. The destructor restores the
/// current thread. The team's threads, which only run steps or parallel regions
/// of this thread, stay as they are until the next period.
class DenormalScope {
public:
  /// `workers`: the size of the team, with the current thread.
  DenormalScope(int workers, bool keep);
  ~DenormalScope();
  DenormalScope(const DenormalScope &) = delete;
  DenormalScope &operator=(const DenormalScope &) = delete;

private:
  unsigned previous;
};

} // namespace brew::runtime
