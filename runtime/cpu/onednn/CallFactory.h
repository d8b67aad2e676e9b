//===- CallFactory.h - Creation of the library calls of steps ---*- C++ -*-===//
#pragma once

#include "runtime/cpu/CallTuner.h"
#include "runtime/cpu/KernelLaunch.h"
#include "runtime/cpu/onednn/DnnlCall.h"
#include "runtime/executor/TimingCache.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace brew::runtime {

/// Creates the calls of steps, by the choice in the timing cache or, if there
/// is none, by a cost model. Runs on the compute threads.
class CallFactory {
public:
  struct Bindings {
    std::function<BoundBuffer(std::uint32_t)> buffer;
    /// Returns the weights of a call in a program.
    std::function<BoundBuffer(std::uint32_t, int)> weights;
    /// Returns the launch of a kernel, by its index, on buffers.
    std::function<KernelLaunch(std::uint32_t,
                               const std::vector<std::uint32_t> &)>
        launch;
    /// Compiler and processor of the generated code, for keys of the timing
    /// cache: other code takes other times.
    std::string generator;
  };
  /// Without `usesCache` the cache is ignored until measure().
  CallFactory(DnnlContext &context, Bindings bindings, TimingCache cache,
              bool usesCache);

  /// Returns whether a step is a library call.
  static bool isCall(const plan::Step &step) {
    return step.has_convolution() || step.has_inner_product();
  }

  /// Creates the call of a step of program `program`. isCall() must be true for
  /// the step. `where` identifies the step in errors. Throws Error (3) if no
  /// implementation is available.
  std::unique_ptr<CpuCall> make(const plan::Step &step, int program,
                                const std::string &where) const;

  /// Throws Error (3) if the cache's file cannot be written.
  void requireWritable() { cache.write(); }
  /// Discards earlier measurements, which measure() returns for equal calls.
  void clearMeasurements() { measurements.clear(); }
  /// Benchmarks the candidates of a step's call and stores the fastest in the
  /// cache and its file. Restores the buffers that the call writes. Returns
  /// nullopt if no candidate is available.
  std::optional<CallTuner::Choice> measure(const plan::Step &step, int program,
                                           CallTuner &tuner);

private:
  std::string keyOf(const plan::Step &step, int program) const;
  std::vector<CallCandidate> candidatesOf(const plan::Step &step,
                                          int program) const;
  std::unique_ptr<CpuCall> makeGenerated(const plan::Step &step) const;

  DnnlContext &context;
  Bindings bindings;
  TimingCache cache;
  bool usesCache;
  std::map<std::string, std::optional<CallTuner::Choice>>
      measurements; ///< by key
};

} // namespace brew::runtime
