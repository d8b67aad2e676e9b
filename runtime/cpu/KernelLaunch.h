//===- KernelLaunch.h - A generated kernel, ready to run --------*- C++ -*-===//
#pragma once

#include "runtime/cpu/CpuCall.h"
#include "runtime/cpu/KernelImages.h"
#include "runtime/cpu/Threads.h"
#include "runtime/executor/CallTimingKey.h"

#include <utility>
#include <vector>

namespace brew::runtime {

/// A kernel and its arguments.
struct KernelLaunch {
  KernelFunction function = nullptr;
  std::int64_t domain = 0, grain = 1;
  std::vector<void *> arguments;

  /// Runs the kernel over its domain, on all threads.
  void run(const Threads &workers) {
    workers.parallelFor(domain, grain,
                        [&](std::int64_t begin, std::int64_t end) {
                          function(arguments.data(), begin, end);
                        });
  }
};

/// A generated alternative to a library call. It reads its operands in the
/// plan's layouts.
class GeneratedCall : public CpuCall {
public:
  GeneratedCall(KernelLaunch launch, const Threads &workers)
      : launch(std::move(launch)), workers(workers) {}

  void pack() override {}
  std::uint64_t scratchBytes() const override { return 0; }
  void bindScratch(std::byte *) override {}
  void run() override { launch.run(workers); }
  std::string implementation() const override { return kGeneratedCode; }

private:
  KernelLaunch launch;
  const Threads &workers;
};

} // namespace brew::runtime
