//===- CallFactory.h - The calls of a plan's steps ----------------*- C++ -*-===//
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

/// Makes calls as the timing cache says; those that it does not know as a model
/// without a clock says. Used on the threads that compute.
class CallFactory {
public:
  struct Bindings {
    std::function<BoundBuffer(std::uint32_t)> buffer;
    /// A call's weights in a program.
    std::function<BoundBuffer(std::uint32_t, int)> weights;
    std::function<KernelLaunch(const plan::Launch &)> launch;
    /// What made generated code, for which processor: other code takes other
    /// times.
    std::string generator;
  };
  /// Without `usesCache`, what the cache says is not looked at until measure().
  CallFactory(DnnlContext &context, Bindings bindings, TimingCache cache,
            bool usesCache);

  /// Whether a step is a call.
  static bool isCall(const plan::Step &step) {
    return step.has_convolution() || step.has_inner_product();
  }

  /// The call of a step that is one, in program `program`; `where` says which
  /// it is, in errors. Throws Error (3) where it cannot be done.
  std::unique_ptr<CpuCall> make(const plan::Step &step, int program,
                                const std::string &where) const;

  /// Throws Error (3) where the cache's file cannot be written.
  void requireWritable() { cache.write(); }
  /// Begins to measure anew: measure() asks once for equal calls.
  void clearMeasurements() { measured.clear(); }
  /// Measures the candidates to do a step's call, whose results are overwritten, and
  /// keeps the fastest in the cache and its file. Nothing where there is none.
  std::optional<CallTuner::Choice> measure(const plan::Step &step,
                                             int program, CallTuner &tuner);

private:
  std::string keyOf(const plan::Step &step, int program) const;
  std::vector<CallCandidate> candidatesOf(const plan::Step &step,
                                          int program) const;
  std::unique_ptr<CpuCall> generated(const plan::Step &step) const;

  DnnlContext &context;
  Bindings bindings;
  TimingCache cache;
  bool usesCache;
  std::map<std::string, std::optional<CallTuner::Choice>>
      measured; ///< by key
};

} // namespace brew::runtime
