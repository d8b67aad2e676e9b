//===- BufferAssignment.h - Which values of a program share bytes ------*- C++ -*-===//
//
// A *root* is a value that owns bytes; views (brew.reinterpret, brew.subview), what
// is joined (brew.concat_view), and results written in place belong to the root of
// their source or whole. Roots that are stored to a parameter arena live there;
// all others get an offset for the steps between their first write and last
// read: in the place of a gradient that is written later and holds nothing of
// use before, else in the transient arena.
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
  LiveValue live; ///< with its offset in `arena`, unless fixed
  dialects::plan::ArenaKind arena = dialects::plan::ArenaKind::Transient;
  bool pinned = false;
  bool isWrittenByCaller = false; ///< written from outside, maybe before a run
};

/// A copy between a value and a place outside the transient arena.
struct PlannedCopy {
  mlir::Value value;
  FixedBuffer place;
  /// The copy stands before the step of this number: copies from places first,
  /// then those to places.
  int64_t step;
  bool isBackward = false; ///< whether it belongs to the backward pass
};

/// The roots of one program, with their places.
class BufferAssignment {
public:
  /// Plans all of `program`. Steps are numbered in its order.
  BufferAssignment(dialects::ProgramOp program, const FixedBuffers &places);

  const Allocation &of(mlir::Value value) const { return roots[allocationOf(value)]; }
  /// Whether what `owner` (see stripReshapes) holds is read after the run.
  bool isPinned(mlir::Value owner) const {
    return pinnedValues.contains(owner);
  }
  /// For every result of a kernel the input whose bytes it overwrites, or -1.
  llvm::ArrayRef<int64_t> inPlaceOf(dialects::KernelOp kernel) const;
  /// Copies of stored values that cannot be produced in the place they are
  /// stored to.
  llvm::ArrayRef<PlannedCopy> stores() const { return storeCopies; }
  /// Copies of parameters that the forward pass overwrites while the backward
  /// pass still needs what they were: into transient memory.
  llvm::ArrayRef<PlannedCopy> loads() const { return loadCopies; }
  int64_t steps() const { return stepCount; }
  /// The number of steps of the forward pass; all where there is no other.
  int64_t forwardStepCount() const { return forwardSteps; }
  /// Of the transient arena, and the most that is alive at once.
  int64_t arenaBytes = 0, lowerBoundBytes = 0;

private:
  /// FixedBuffer places of one key are the same.
  using FixedKey = std::pair<dialects::plan::ArenaKind, int64_t>;
  static FixedKey keyOf(const FixedBuffer &place) {
    return {place.arena, place.offset};
  }
  unsigned allocationOf(mlir::Value value) const;
  unsigned newAllocation(mlir::Value value, int64_t step);
  void findAllocations();
  void findLastUses();
  bool isStoredByForwardPass(mlir::Operation *store) const;
  bool isOverwrittenBeforeLastUse(mlir::Operation *read,
                                  const FixedBuffer &place) const;
  int64_t firstUseOf(mlir::Value value);
  bool isMadeBeforeLoad(const FixedBuffer &place, int64_t made) const;
  bool isReadAfter(const FixedBuffer &place, int64_t step) const;
  llvm::SmallVector<FixedBuffer> storesOf(mlir::Value value) const;
  void reuseInputs(dialects::KernelOp kernel, int64_t step);
  void accumulateInPlace(mlir::Operation *call, mlir::Value sum, int64_t step);
  void reduceInPlace(mlir::Operation *reduce, int64_t step);
  void assignStores();
  void assignOffsets();
  std::vector<ReusableRange> findReusableRanges();
  void extendLifetime(mlir::Value value, int64_t step);

  dialects::ProgramOp program;
  const FixedBuffers &places;
  std::vector<Allocation> roots;
  llvm::DenseMap<mlir::Value, unsigned> allocationIndex;
  std::map<FixedKey, llvm::SmallVector<mlir::Value>> valuesAt;
  llvm::DenseSet<mlir::Value>
      pinnedValues; // read after the run; owners of views
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t>> inPlace;
  llvm::DenseMap<mlir::Value, int64_t> lastUse;
  llvm::DenseMap<mlir::Operation *, int64_t> stepNumber;
  llvm::SmallVector<PlannedCopy> storeCopies, loadCopies;
  /// Places that the forward pass of a program with a backward pass stores to.
  std::set<FixedKey> storedByForwardPass;
  int64_t stepCount = 0;
  int64_t forwardSteps = 0; ///< how many stand before the backward pass
  bool hasBackwardPass = false;
};

} // namespace brew::passes
