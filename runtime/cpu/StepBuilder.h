//===- StepBuilder.h - Creation of the steps of CPU programs ----*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/cpu/Arenas.h"
#include "runtime/cpu/CpuBenchmark.h"
#include "runtime/cpu/KernelImages.h"
#include "runtime/cpu/KernelLaunch.h"
#include "runtime/executor/Executor.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace brew::runtime {

/// Creates the steps of a plan, with resolved kernels and addresses. Runs on
/// the compute threads.
class StepBuilder {
public:
  /// The references must outlive this object, and it must outlive its steps.
  /// The steps run on `workers`, with the implementations that are chosen for
  /// `chosenFor` threads; 0: for as many as `workers`.
  StepBuilder(const plan::PlanFile &plan, const Arenas &arenas,
              const Threads &workers, HostLayers &hosts,
              const ExecutorOptions &options, int chosenFor = 0);

  /// Returns whether a step is a library call.
  static bool isCall(const plan::Step &step) {
    return step.has_convolution() || step.has_inner_product();
  }
  /// Returns whether a step is a library call or a loop with library calls.
  static bool hasCall(const plan::Step &step) {
    const auto &nested = step.loop().steps();
    return isCall(step) || std::any_of(nested.begin(), nested.end(), isCall);
  }
  /// Creates a step. Throws Error (3) if no implementation is available.
  std::unique_ptr<CpuStep> build(int program, int index);

  /// See CallTuner.
  void startTuning() { tuner.startTuning(); }
  /// Benchmarks a library call of a program, see CallTuner. Restores the
  /// buffers that it writes.
  const CallTuner::Result &tune(int program, const plan::Step &call,
                                const CpuClock &clock);

  DnnlContext dnnl; ///< the state that the library calls share

private:
  /// The operands of a library call; `b` is null without a bias.
  struct CallBuffers {
    BoundBuffer x, w, b, y;
  };
  BoundBuffer boundBuffer(std::uint32_t index) const;
  BoundBuffer boundWeights(std::uint32_t index, int program) const;
  bool areShared(std::uint32_t weights, const plan::Program &program) const;
  CallBuffers callBuffers(const plan::Step &step, int program) const;
  CallCandidates candidatesOf(const plan::Step &step,
                              const CallBuffers &buffers);
  std::unique_ptr<CpuStep> makeCall(const plan::Step &step, int program,
                                    const std::string &where);
  std::unique_ptr<CpuStep> makeAlternative(const plan::Step &step) const;
  std::unique_ptr<KernelLaunch>
  makeLaunch(std::uint32_t kernelIndex,
             const std::vector<std::uint32_t> &buffers, const char *name) const;
  std::unique_ptr<CpuStep> makeLoop(const plan::Step &step, int program,
                                    const std::string &where);

  const plan::PlanFile &plan;
  const plan::Manifest &manifest;
  const Arenas &arenas;
  HostLayers &hosts;
  Communicator *communicator; ///< may be null
  KernelImages kernels;
  TimingCache cache;
  CallTuner tuner;
};

} // namespace brew::runtime
