//===- AllReduce.h - A sum over ranks as a step -----------------*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/comm/Communicator.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace brew::runtime {

/// A part of a sum over ranks (plan::AllReduceCall). Of one rank alone, and
/// where sums are not made in steps, only its copies.
class AllReduce {
public:
  /// `address` gives the memory of a buffer, `ranks` may be null. Neighbours in
  /// the arena of gradients become one piece: the gaps that align them are
  /// zeros on every rank.
  AllReduce(const plan::Manifest &manifest, const plan::AllReduceCall &call,
            const std::function<std::byte *(std::uint32_t)> &address,
            Communicator *ranks);

  void run() const;
  /// What does it.
  std::string implementation() const;

private:
  struct Copy {
    const std::byte *source;
    std::byte *target;
    std::size_t bytes;
  };
  /// A piece, and whether it lies in the arena of gradients.
  struct Buffer {
    ReductionBuffer sum;
    bool isGradient;
  };
  void coalesce(std::vector<Buffer> found);

  std::vector<Copy> copies;
  std::vector<ReductionBuffer> buffers;
  std::uint32_t bucket;
  bool starts, isStatistic, asBf16;
  Communicator *ranks;
};

} // namespace brew::runtime
