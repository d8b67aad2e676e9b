//===- LoneProgram.h - A program on one thread ------------------*- C++ -*-===//
#pragma once

#include "runtime/cpu/Arena.h"
#include "runtime/cpu/StepBuilder.h"

#include <memory>
#include <vector>

namespace brew::runtime {

/// The steps of a program for one thread instead of a team. They compute the
/// same values: only library calls, which are created for a number of threads,
/// exist twice, with weights packed twice.
class LoneProgram {
public:
  /// `teamSteps`: the program's steps for `team`, without host layers. All
  /// references must outlive this object. Throws Error (3) or dnnl::error if a
  /// call cannot be created, or memory is lacking.
  LoneProgram(const plan::PlanFile &plan, const Arenas &arenas,
              HostLayers &hosts, const ExecutorOptions &options,
              const Threads &team, int program,
              const std::vector<std::unique_ptr<CpuStep>> &teamSteps);

  /// Runs the program on the current thread.
  void run();
  /// The weights have changed and must be packed before the next run.
  void weightsChanged() { isPacked = false; }

private:
  const Threads self{1};
  StepBuilder builder;
  std::vector<std::unique_ptr<CpuStep>> calls;
  std::vector<CpuStep *> steps;
  Arena scratch;
  bool isPacked = false;
};

} // namespace brew::runtime
