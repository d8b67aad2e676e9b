//===- KernelLaunch.h - A generated kernel, ready to run --------*- C++ -*-===//
#pragma once

#include "runtime/cpu/CpuStep.h"
#include "runtime/cpu/KernelImages.h"

#include <string>
#include <vector>

namespace brew::runtime {

/// A kernel and its arguments.
struct KernelLaunch : CpuStep {
  KernelFunction function = nullptr;
  std::int64_t domain = 0, grain = 1;
  std::vector<void *> arguments;
  std::string name; ///< the result of describe()

  /// Runs the kernel over its domain, on all threads.
  void run(const Threads &workers) override {
    workers.parallelFor(domain, grain,
                        [&](std::int64_t begin, std::int64_t end) {
                          function(arguments.data(), begin, end);
                        });
  }
  /// Moves the address of an argument by `bytes`.
  void move(std::size_t argument, std::int64_t bytes) {
    arguments[argument] = static_cast<std::byte *>(arguments[argument]) + bytes;
  }
  std::string describe() const override { return name; }
};

} // namespace brew::runtime
