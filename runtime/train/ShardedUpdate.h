//===- ShardedUpdate.h - Parameter update sharded over ranks ----*- C++ -*-===//
//
// Each rank of a data-parallel run updates its shard of the parameters and
// sends the result to the others. The solver history of other shards is never
// accessed, so that it takes no memory.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/comm/Communicator.h"
#include "runtime/executor/Executor.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace brew::runtime {

/// Splits consecutive items of `sizes` bytes into shards of about equal size,
/// which may be empty. Returns `cuts`: shard p has the items [cuts[p],
/// cuts[p + 1]). Cuts before item i only if `mayCut[i]`.
std::vector<std::size_t> splitEvenly(const std::vector<std::size_t> &sizes,
                                     const std::vector<bool> &mayCut,
                                     std::size_t shards);

/// The update of this rank's shard, and the exchange of the results.
class ShardedUpdate {
public:
  /// `updateProgram` is the index of the program `update`. `executor` and
  /// `ranks` must outlive this object. Throws Error (2) for a plan for a GPU.
  ShardedUpdate(Executor &executor, int updateProgram, Communicator &ranks);

  /// Updates this rank's shard, then receives the others.
  void run();
  /// Gathers the solver history of all shards on every rank and, if requested,
  /// the updates that the program leaves in the gradient buffers. Call
  /// releaseHistory() afterwards.
  void gatherHistory(bool withUpdates);
  /// Frees the memory of other ranks' history.
  void releaseHistory();

private:
  /// A range of the arenas of parameters, gradients and history, which have
  /// equal layouts.
  struct Span {
    std::size_t begin, end; ///< bytes
  };
  /// Returns the address of the arena of `buffer`, which is at `offset` there.
  std::byte *baseOf(std::uint32_t buffer, std::size_t offset) const;
  void allGather(std::byte *base) const;

  Executor &executor;
  int program;
  Communicator &ranks;
  std::vector<Span> trained;        ///< parameters, in order
  std::vector<std::size_t> offsets; ///< of the shards, and the end
  /// Ranges of this rank's steps.
  std::vector<std::pair<std::size_t, std::size_t>> steps;
  std::byte *parameters = nullptr, *gradients = nullptr;
  std::vector<std::byte *> history; ///< by slot; relative to offset 0
};

} // namespace brew::runtime
