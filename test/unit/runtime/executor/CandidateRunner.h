//===- CandidateRunner.h - Runs candidates of library calls -----*- C++ -*-===//
#pragma once

#include "runtime/cpu/onednn/DnnlCall.h"
#include "runtime/executor/Executor.h"

#include <cstdint>
#include <memory>

namespace brew::test {

/// Runs candidates of calls on the memory of an executor for the CPU.
class CandidateRunner {
public:
  explicit CandidateRunner(const runtime::Executor &executor)
      : executor(executor), threadsScope(workers.enter()) {
    context.threads = workers.count();
    context.workers = &workers;
  }

  runtime::BoundBuffer bound(std::uint32_t index) const {
    return {&executor.manifest().buffers(static_cast<int>(index)),
            executor.hostData(index)};
  }
  /// Returns false if the candidate is not available.
  bool run(const runtime::CallCandidate &candidate) {
    const std::unique_ptr<runtime::CpuStep> call = candidate.make(context);
    if (!call)
      return false;
    const runtime::Arena scratch(call->scratchBytes(), "scratch");
    call->bindScratch(scratch.data());
    call->pack();
    call->run(workers);
    return true;
  }

  const runtime::Executor &executor;
  runtime::Threads workers{2};
  runtime::Threads::Scope threadsScope;
  runtime::DnnlContext context;
};

} // namespace brew::test
