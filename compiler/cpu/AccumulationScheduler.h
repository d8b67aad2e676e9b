//===- AccumulationScheduler.h - Reductions of a schedule -------*- C++ -*-===//
#pragma once

#include "compiler/cpu/NestCosts.h"
#include "compiler/cpu/Schedule.h"

namespace brew::compiler::cpu {

/// Chooses how the nests of a Rows schedule accumulate values: rows, blocks of
/// sums, and the loops to jam, which are parallel loops whose iterations share
/// loads.
class AccumulationScheduler {
public:
  explicit AccumulationScheduler(dialects::target::CpuAttr cpu)
      : costs(cpu), lanes(cpu.lanes()), cpu(cpu) {}

  /// Returns the maximum length of the rows that a nest accumulates along the
  /// loop `innermost`.
  int64_t maxRowLength(const Nest &nest, unsigned innermost) const;
  /// Returns how a nest whose loops from `outer` on run separately accumulates
  /// rows, or nullopt if it does not.
  std::optional<RowAccumulation>
  accumulationOf(const Nest &nest, unsigned outer,
                 std::optional<unsigned> innermost) const;
  /// If the nest with the most work accumulates rows of a grid loop that are
  /// longer than maxRowLength, makes that loop the last one of the grid, so
  /// that it can be divided, and all other loops of the grid loops of the
  /// domain.
  void moveRowsLast(SubKernel &subKernel, Schedule &schedule) const;
  /// If the nest with the most work accumulates rows with long sums, moves grid
  /// loops whose iterations read the same elements into the unit of the domain:
  /// taps of the gradient of a convolution's weights.
  void moveOverlapsIntoUnit(SubKernel &subKernel, Schedule &schedule) const;
  /// If the nest with the most work accumulates rows, and the iterations of a
  /// grid loop share more loads than those of the unit's loops, moves
  /// iterations of it into the unit of the domain, to be jammed.
  void jamGridLoop(SubKernel &subKernel, Schedule &schedule) const;
  /// Jams two loops of the nest with the most work, if it computes sums of
  /// products along its innermost loop: blocks of rows of both inputs are
  /// loaded once for all pairs of their rows.
  void jamProduct(SubKernel &subKernel, Schedule &schedule) const;

private:
  /// Processors with vectors of 512 bits have 32 of them, others 16.
  bool hasManyRegisters() const { return cpu.getVectorBits() >= 512; }
  /// Maximum number of vectors of accumulators that leaves registers for
  /// operands.
  int64_t maxVectors() const { return hasManyRegisters() ? 24 : 12; }
  /// Number of vectors in a row that shares its loads with other rows.
  int64_t sharingRowVectors() const { return hasManyRegisters() ? 4 : 2; }
  /// Maximum bytes of the rows of a nest in a unit of several rows: the rows of
  /// all nests stay in a part of the L2 cache.
  int64_t maxUnitBytes(const SubKernel &subKernel) const;
  int64_t jamFactor(const Nest &nest, unsigned loop, unsigned innermost,
                    int64_t vectors) const;
  void chooseJam(const Nest &nest, unsigned begin, unsigned end,
                 RowAccumulation &accumulation) const;
  bool isProduct(const SubKernel &subKernel, const Schedule &schedule,
                 unsigned number) const;
  /// Returns whether the domain has enough units for all threads if jamming
  /// divides their number by `factor`.
  bool staysParallel(const SubKernel &subKernel, const Schedule &schedule,
                     int64_t factor) const;

  NestCosts costs;
  int64_t lanes; ///< elements of a vector
  dialects::target::CpuAttr cpu;
};

} // namespace brew::compiler::cpu
