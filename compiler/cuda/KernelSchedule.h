//===- KernelSchedule.h - Loop schedules on a GPU ---------------*- C++ -*-===//
//
// Every grid point of a sub-kernel is assigned to a team of threads: one
// thread, a fraction of a warp, a warp, or a block.
//
// * A single thread runs all nests of a point. Adjacent threads take adjacent
//   points in memory order; values between nests are variables.
// * A larger team distributes the loops inside the point over its lanes. In
//   reductions each lane computes a partial result; these are combined in a
//   fixed order. Values between nests are in shared memory.
// * A block can take adjacent points together, as columns: several of its
//   threads reduce each column, and adjacent threads have adjacent columns.
//
// In all cases a thread may process several neighbours (points, columns or
// iterations of a loop shared by lanes) at once. Such a group is a pack; the
// thread loads and stores it as a vector (PackedAccesses.h).
//
// The final reduction of a stage, a sub-kernel that reads results of the
// sub-kernel before it, runs in the last thread block: the block that finishes
// last. There is one last block for all points, or with columns one for each
// tile of neighbouring points.
//
// A kernel with several stages is launched with as many blocks as the device
// can hold at once. They share the work of each stage in a grid-stride loop,
// and wait for each other between stages.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/cuda/PackedAccesses.h"
#include "compiler/kernels/KernelModel.h"
#include "dialects/Target/TargetDialect.h"

namespace brew::compiler::cuda {

/// Lanes of a warp.
inline constexpr unsigned kWarp = dialects::target::GpuAttr::kWarp;

/// Combination of partial results of a reduction.
enum class Combine {
  None, ///< impossible: iterations run in order
  Sum,
  Maximum,       ///< arith.maximumf
  SelectMaximum, ///< select(x > accumulated, x, accumulated)
  First,         ///< the lowest position, counted from 1; 0: no position
};

/// Storage of a nest's result for later nests.
enum class Storage {
  Buffer,   ///< only in the launch's buffers
  Variable, ///< a variable with the same value in every lane of the team
  Array,    ///< an array per thread
  Shared,   ///< shared memory
};

struct NestSchedule {
  llvm::SmallVector<unsigned> parallel, reductions; ///< loops inside the grid
  int64_t values = 1;     ///< iterations of the parallel loops
  int64_t iterations = 1; ///< iterations of the reductions
  /// Lanes that share the reduction of one value: a power of two.
  unsigned lanes = 1;
  /// Columns: the reduction loop that threads share; null: all loops,
  /// collapsed.
  std::optional<unsigned> shared;
  /// Columns: the rows of a tile of interleaved chunks (interleaveChunks());
  /// 0: the chunks are contiguous.
  int64_t tile = 0;
  /// Neighbouring iterations of loop `packed` that a thread processes together.
  /// Accesses that move along the loop are vectors if possible
  /// (PackedAccesses).
  unsigned pack = 1, packed = 0;
  bool storesPacks = true;            ///< store results as vectors, too
  llvm::SmallVector<Combine> combine; ///< of each result
  llvm::SmallVector<Storage> storage; ///< of each result
};

struct SubKernelSchedule {
  int64_t points = 1; ///< of the grid
  unsigned team = 1;  ///< threads per grid point; a whole block if more than 32
  unsigned pack = 1;  ///< neighbouring points per thread
  /// Neighbouring points that a block takes together; 1: no columns. Threads
  /// with the same number modulo `columns` share a point.
  unsigned columns = 1;
  /// In the last block: the number of tiles of points. Each tile has its own
  /// last block. Tile numbers are block numbers modulo `tiles`.
  int64_t tiles = 1;
  std::vector<NestSchedule> nests;
  int64_t firstBlock = 0, blocks = 1;
  double cycles = 0; ///< estimated time

  /// Columns: returns the number of partial results of the first nest in shared
  /// memory, per result. If that nest has packs, the lanes of a warp with equal
  /// columns first combine their partial results.
  int64_t partials() const {
    return nests.front().pack > 1 ? int64_t(team) / kWarp * columns : team;
  }
  /// Returns the number of elements of shared memory per team and result.
  /// Padding lets the teams of one warp begin in different banks, for single
  /// elements and packs.
  int64_t sharedElements(const Output &output) const {
    return output.localSize + (team > 1 && team < kWarp ? team + 2 : 0);
  }
};

struct KernelSchedule {
  unsigned threads = 1; ///< threads per block
  std::vector<SubKernelSchedule> subKernels;
  std::vector<int64_t> stageBlocks; ///< blocks of each stage
  PackedAccesses packs;
  /// Returns the number of blocks of the largest stage.
  int64_t blocks() const { return *llvm::max_element(stageBlocks); }
};

/// Limits of the threads and registers of a kernel.
struct ThreadOptions {
  /// Size of teams where possible; 0: by estimated cost.
  unsigned team = 0;
  /// Maximum threads of a block. Columns have GpuAttr::kReductionThreads if
  /// that is not more.
  unsigned maxThreads = 1024;
  /// Kernels with several stages have few enough registers that a
  /// multiprocessor can run this number of threads.
  unsigned residentThreads = 1024;
};

/// Normalises the kernel's loops and chooses their schedule on `gpu`. Every
/// address passed for argument i is a multiple of `alignments[i]` bytes. Throws
/// Error (Bug) if the values of a grid point do not fit in memory.
KernelSchedule scheduleKernel(Kernel &kernel,
                              llvm::ArrayRef<int64_t> alignments,
                              dialects::target::GpuAttr gpu,
                              const ThreadOptions &options);

/// Returns how partial results of output `number` combine.
Combine combineOf(const Nest &nest, unsigned number);

// The functions below return the number of neighbours per thread for which
// accesses have 16 bytes, for the element size with the most bytes. The number
// is smaller or 1 if too few addresses are provably aligned, or if too few
// threads would remain.

/// Returns the number of points per thread of a sub-kernel; `chosen` is its
/// schedule with one thread per point.
unsigned pointPackSize(const Kernel &kernel, const PackedAccesses &packs,
                       const SubKernel &subKernel,
                       const SubKernelSchedule &chosen,
                       dialects::target::GpuAttr gpu);

/// Returns the number of columns per thread in a sub-kernel's first nest;
/// `chosen` is its schedule in columns.
unsigned columnPackSize(const Kernel &kernel, const PackedAccesses &packs,
                        const SubKernel &subKernel,
                        const SubKernelSchedule &chosen);

/// Returns the number of iterations per lane of a nest, if a team has `team`
/// lanes and `lanes` of them share a value.
unsigned lanePackSize(const Kernel &kernel, const PackedAccesses &packs,
                      const Nest &nest, const NestSchedule &inner,
                      unsigned team, unsigned lanes);

} // namespace brew::compiler::cuda
