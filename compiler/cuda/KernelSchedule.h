//===- KernelSchedule.h - How the loops of a subKernel run on a GPU ----*- C++ -*-===//
//
// Every grid point of a subKernel belongs to a team of threads: one thread, a warp,
// a part of one or a block. One thread runs a point's nests alone, neighbouring
// threads take neighbouring points in memory order, and values between nests
// are its variables. A larger team spreads the loops inside the point over its
// lanes; reductions give each lane a partial result, combined in a fixed order,
// and values between nests lie in shared memory. A block can also take
// neighbouring points together, as columns: each is summed up by some of its
// threads, and neighbouring threads belong to neighbouring points, as in
// memory. In each of these a thread may do several neighbours at once, points,
// columns or iterations of a loop that lanes share: a pack (PackedAccesses.h).
//
// The last part of a stage, where it reads what the subKernel before it computes,
// is done by the block that ends last: one block for all points, or where
// blocks are columns, the last block of each tile of neighbouring points.
//
// A kernel with several stages is launched with as many blocks as the device
// can hold at once; they take those of each stage in turns, and wait for each
// other between stages.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/cuda/PackedAccesses.h"
#include "compiler/kernels/KernelModel.h"
#include "dialects/Target/TargetDialect.h"

namespace brew::compiler::cuda {

/// Lanes of a warp.
inline constexpr unsigned kWarp = dialects::target::GpuAttr::kWarp;

/// How partial results of a reduction are combined.
enum class Combine {
  None, ///< not at all: iterations run in order
  Sum,
  Maximum,       ///< arith.maximumf
  SelectMaximum, ///< select(x > accumulated, x, accumulated)
  First,         ///< the least position, counted from 1; 0 is none
};

/// Where a nest's result is when later nests read it.
enum class Storage {
  Buffer,   ///< only in the launch's buffers
  Variable, ///< one value, known to every lane of the team
  Array,    ///< an array of the thread's
  Shared,   ///< shared memory
};

struct NestSchedule {
  llvm::SmallVector<unsigned> parallel, reductions; ///< loops inside the grid
  int64_t values = 1;     ///< iterations of the parallel ones
  int64_t iterations = 1; ///< of the reductions
  /// Lanes that share the reduction of one value: a power of two.
  unsigned lanes = 1;
  /// In columns: the reduction loop that is shared; all of them if there is
  /// none.
  std::optional<unsigned> shared;
  /// Neighbouring iterations of loop `packed` that a thread does together:
  /// what moves along it moves as vectors where that can be (PackedAccesses).
  unsigned pack = 1, packed = 0;
  bool storesPacks = true;            ///< results too
  llvm::SmallVector<Combine> combine; ///< of each result
  llvm::SmallVector<Storage> storage; ///< of each result
};

struct SubKernelSchedule {
  int64_t points = 1; ///< of the grid
  unsigned team = 1;  ///< threads per grid point; a block's if more than 32
  unsigned pack = 1;  ///< neighbouring points per thread
  /// Neighbouring points that a block takes together if not 1: threads with the
  /// same number modulo `columns` share a point.
  unsigned columns = 1;
  /// Of the last block's subKernel: tiles of points with a last block each. Blocks
  /// take them in turn.
  int64_t tiles = 1;
  std::vector<NestSchedule> nests;
  int64_t firstBlock = 0, blocks = 1;
  double cycles = 0; ///< that it takes, by estimate

  /// In columns: partial results that the first nest leaves in shared memory
  /// for each of its own. A warp's lanes that belong to the same columns have
  /// added up theirs before if they have packs.
  int64_t partials() const {
    return nests.front().pack > 1 ? int64_t(team) / kWarp * columns : team;
  }
  /// Elements of shared memory that a team has for a result. The teams of one
  /// warp begin in different banks, whether their lanes read neighbours or
  /// packs.
  int64_t sharedElements(const Output &output) const {
    return output.localSize + (team > 1 && team < kWarp ? team + 2 : 0);
  }
};

struct KernelSchedule {
  unsigned threads = 1; ///< of a block
  std::vector<SubKernelSchedule> subKernels;
  std::vector<int64_t> stageBlocks; ///< of each stage
  PackedAccesses packs;
  /// Of the largest stage.
  int64_t blocks() const { return *llvm::max_element(stageBlocks); }
};

/// Brings the kernel's loops into normal form and chooses how they run on
/// `gpu`: with teams of `team` threads where they can, by estimated cost if
/// that is 0; columns have GpuAttr::kReductionThreads. `alignments` has, for each
/// argument, bytes of which every address that it is given is a multiple.
/// Throws Error (Bug) if a grid point's values fit no memory.
KernelSchedule scheduleKernel(Kernel &kernel, llvm::ArrayRef<int64_t> alignments,
                             dialects::target::GpuAttr gpu, unsigned team = 0);

/// How partial results of output `number` can be combined.
Combine combineOf(const Nest &nest, unsigned number);

// How many neighbours a thread takes, so that accesses have 16 bytes: as many
// as make that of the elements with most bytes; fewer or one where too few of
// the addresses can be shown to be aligned, or too few threads would be left.

/// Points of a subKernel; `chosen` is its schedule, of one thread per point.
unsigned pointPackSize(const Kernel &kernel, const PackedAccesses &packs, const SubKernel &subKernel,
                const SubKernelSchedule &chosen, dialects::target::GpuAttr gpu);

/// Columns of a subKernel's first nest; `chosen` is its schedule, in columns.
unsigned columnPackSize(const Kernel &kernel, const PackedAccesses &packs,
                      const SubKernel &subKernel, const SubKernelSchedule &chosen);

/// Iterations of a nest whose values `team` lanes have `lanes` each.
unsigned lanePackSize(const Kernel &kernel, const PackedAccesses &packs,
                    const Nest &nest, const NestSchedule &inner, unsigned team,
                    unsigned lanes);

} // namespace brew::compiler::cuda
