//===- LoopStep.h - A loop on the processor ---------------------*- C++ -*-===//
#pragma once

#include "runtime/cpu/KernelLaunch.h"
#include "runtime/executor/LoopStep.h"

namespace brew::runtime {

class CpuLoopStep : public LoopStep<CpuStep, KernelLaunch> {
public:
  using LoopStep::LoopStep;

  void run(const Threads &workers) override { runAll(workers); }
  void bindScratch(std::byte *scratch) override {
    for (const std::unique_ptr<CpuStep> &step : steps)
      step->bindScratch(scratch);
  }
  void pack() override {
    for (const std::unique_ptr<CpuStep> &step : steps)
      step->pack();
  }
  std::uint64_t packedBytes() const override {
    std::uint64_t bytes = 0;
    for (const std::unique_ptr<CpuStep> &step : steps)
      bytes += step->packedBytes();
    return bytes;
  }
};

} // namespace brew::runtime
