//===- AllReduce.h - Step that sums over ranks ------------------*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/comm/Communicator.h"
#include "runtime/cpu/CpuStep.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace brew::runtime {

/// Starts or awaits the all-reduce of a bucket (plan::AllReduceCall). With a
/// single rank, or if steps do not reduce gradients, only copies the operands.
class AllReduce : public CpuStep {
public:
  /// `address` returns the memory of a buffer. `communicator` may be null.
  /// Adjacent buffers in the arena of gradients are coalesced: the alignment
  /// gaps between them are zero on every rank.
  AllReduce(const plan::Manifest &manifest, const plan::Step &step,
            const std::function<std::byte *(std::uint32_t)> &address,
            Communicator *communicator);

  void run(const Threads &) override;
  std::string describe() const override;

private:
  struct Copy {
    const std::byte *source;
    std::byte *target;
    std::size_t bytes;
  };
  struct Buffer {
    ReductionBuffer sum;
    bool isGradient;
  };
  void coalesce(std::vector<Buffer> operands);

  std::vector<Copy> copies;
  std::vector<ReductionBuffer> buffers;
  std::uint32_t bucket;
  bool isStart, isStatistic, asBf16;
  Communicator *communicator;
};

} // namespace brew::runtime
