//===- BufferAssignment.h - Memory of a program's values --------*- C++ -*-===//
//
// Assigns memory to the values of a program. An *allocation* is a range of
// bytes that one or more values share: a value with its views
// (brew.reinterpret, brew.subview), the operands of a concatenation
// (brew.concat_view), and results written in place. An allocation that is
// stored to a parameter arena is assigned there. All others get an offset for
// the steps between first write and last read: in the memory of a gradient that
// is written later, or in the transient arena.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "passes/analysis/MemoryPlanner.h"
#include "passes/plan/FixedBuffers.h"
#include "passes/plan/MemoryReuse.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace brew::passes {

/// Bytes that one or more values share.
struct Allocation {
  std::optional<FixedBuffer> fixed;
  LiveValue live; ///< lifetime, and offset in `arena` unless fixed
  dialects::plan::ArenaKind arena = dialects::plan::ArenaKind::Transient;
  bool pinned = false;
  /// Written by the caller or a data layer, possibly before a run.
  bool isWrittenExternally = false;
};

/// A copy between a value and a fixed buffer.
struct PlannedCopy {
  mlir::Value value;
  FixedBuffer buffer;
  /// The copy precedes the step of this number: loads first, then stores.
  int64_t step;
  bool isBackward = false; ///< whether it belongs to the backward pass
};

/// The allocations of one program, with their offsets.
class BufferAssignment {
public:
  /// Assigns all values of `program`. Steps are numbered in program order.
  BufferAssignment(dialects::ProgramOp program,
                   const FixedBuffers &fixedBuffers);

  const Allocation &of(mlir::Value value) const {
    return allocations[allocationOf(value)];
  }
  /// Returns whether `owner` (see stripReshapes) is read after the run.
  bool isPinned(mlir::Value owner) const {
    return pinnedValues.contains(owner);
  }
  /// Returns, for every result of a kernel, the index of the input whose bytes
  /// it overwrites; -1 if there is none.
  llvm::ArrayRef<int64_t> inPlaceOf(dialects::KernelOp kernel) const;
  /// Copies of values that cannot be computed in the buffer they are stored to.
  llvm::ArrayRef<PlannedCopy> stores() const { return storeCopies; }
  /// Copies, to transient memory, of parameters that the forward pass
  /// overwrites while the backward pass still needs their old values.
  llvm::ArrayRef<PlannedCopy> loads() const { return loadCopies; }
  /// Moves the values of the transient arena to higher addresses.
  void moveInArena(int64_t bytes);
  int64_t steps() const { return stepCount; }
  /// Returns the number of steps of the forward pass; all steps if there is no
  /// backward pass.
  int64_t forwardStepCount() const { return forwardSteps; }
  /// Size of the transient arena, and the maximum of the live bytes at one
  /// step, a lower bound of that size.
  int64_t arenaBytes = 0, lowerBoundBytes = 0;

private:
  /// Fixed buffers with equal keys are the same buffer.
  using FixedKey = std::pair<dialects::plan::ArenaKind, int64_t>;
  static FixedKey keyOf(const FixedBuffer &buffer) {
    return {buffer.arena, buffer.offset};
  }
  unsigned allocationOf(mlir::Value value) const;
  unsigned newAllocation(mlir::Value value, int64_t step);
  void findAllocations();
  void findLastUses();
  bool isStoredByForwardPass(mlir::Operation *store) const;
  bool isOverwrittenBeforeLastUse(mlir::Operation *read,
                                  const FixedBuffer &buffer) const;
  int64_t firstUseOf(mlir::Value value);
  bool isComputedBeforeLoad(const FixedBuffer &buffer, int64_t writeStep) const;
  bool isReadAfter(const FixedBuffer &buffer, int64_t step) const;
  llvm::SmallVector<FixedBuffer> storesOf(mlir::Value value) const;
  void reuseInputs(dialects::KernelOp kernel, int64_t step);
  void accumulateInPlace(mlir::Operation *call, mlir::Value sum, int64_t step);
  void reduceInPlace(mlir::Operation *reduce, int64_t step);
  void assignStores();
  void assignOffsets();
  std::vector<ReusableRange> findReusableRanges();
  void extendLifetime(mlir::Value value, int64_t step);

  dialects::ProgramOp program;
  const FixedBuffers &fixedBuffers;
  std::vector<Allocation> allocations;
  llvm::DenseMap<mlir::Value, unsigned> allocationIndex;
  std::map<FixedKey, llvm::SmallVector<mlir::Value>> valuesAt;
  /// Values read after the run, without views.
  llvm::DenseSet<mlir::Value> pinnedValues;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t>> inPlace;
  llvm::DenseMap<mlir::Value, int64_t> lastUse;
  llvm::DenseMap<mlir::Operation *, int64_t> stepNumber;
  llvm::SmallVector<PlannedCopy> storeCopies, loadCopies;
  /// Buffers that the forward pass of a program with a backward pass stores to.
  std::set<FixedKey> storedByForwardPass;
  int64_t stepCount = 0;
  int64_t forwardSteps = 0; ///< number of steps before the backward pass
  bool hasBackwardPass = false;
};

} // namespace brew::passes
