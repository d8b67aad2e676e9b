//===- Plugin.h - What a transport gives the runtime ------------*- C++ -*-===//
//
// libbrew_mpi.so, which links an MPI, exports brew_comm_plugin(). The runtime,
// which links none, opens it when a run has several ranks. All functions are
// called on one thread, the one that called begin. They return null, or what
// went wrong, valid until the next call.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

enum BrewCommType { BREW_COMM_BYTE, BREW_COMM_F32, BREW_COMM_F64 };

struct BrewCommPlugin {
  std::uint32_t version; ///< kBrewCommVersion, or it is not used
  const char *name;      ///< "Open MPI 4.1.4"

  /// Joins the run; `local` is how many ranks this machine has.
  const char *(*begin)(int *rank, int *ranks, int *local, int *localRank);
  /// Leaves it, together with all ranks.
  const char *(*end)();
  /// Ends the processes of all ranks with this status.
  void (*abort)(int status);

  // Collective operations: every rank starts the same ones in the same order,
  // one at a time. Memory belongs to the operation until test() says done.

  /// Adds `count` elements up over all ranks, in place, in any order.
  const char *(*allReduce)(void *data, std::size_t count, BrewCommType type);
  /// Sends `counts[r]` elements at `offsets[r]` of `data` to each rank r, and
  /// receives `received` elements from each, rank by rank.
  const char *(*allToAll)(const void *data, const int *counts,
                          const int *offsets, void *to, int received,
                          BrewCommType type);
  /// Gives every rank the `counts[r]` elements that each rank r has at
  /// `offsets[r]` of its `data`.
  const char *(*allGather)(void *data, const int *counts, const int *offsets,
                        BrewCommType type);
  /// Gives every rank the bytes of rank 0.
  const char *(*broadcast)(void *data, std::size_t bytes);
  /// Whether what was started last is done.
  const char *(*test)(int *done);

  // Messages between two ranks, beside the operations. Small, never waited for.
  const char *(*send)(int to, const void *message, std::size_t bytes);
  /// The next message of so many bytes, if one has come (`from` < 0: none).
  const char *(*receive)(int *from, void *message, std::size_t bytes);
};

constexpr std::uint32_t kBrewCommVersion = 2;
/// Name of the function that returns the plugin's table.
#define BREW_COMM_ENTRY "brew_comm_plugin"
using BrewCommEntry = const BrewCommPlugin *(*)();

} // extern "C"
