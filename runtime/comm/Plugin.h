//===- Plugin.h - Interface of a transport plugin ---------------*- C++ -*-===//
//
// libbrew_mpi.so, which links an MPI, exports brew_comm_plugin(). The runtime,
// which links no MPI, opens it when a run has several ranks. All functions are
// called on one thread, the one that called begin(). They return null or an
// error message, which is valid until the next call.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

enum BrewCommType { BREW_COMM_BYTE, BREW_COMM_F32, BREW_COMM_F64 };

struct BrewCommPlugin {
  std::uint32_t version; ///< must be kBrewCommVersion
  const char *name;      ///< "Open MPI 4.1.4"

  /// Joins the run. Sets `local` to the number of ranks on this machine.
  const char *(*begin)(int *rank, int *ranks, int *local, int *localRank);
  /// Leaves the run. All ranks must call it.
  const char *(*end)();
  /// Ends the processes of all ranks with this status.
  void (*abort)(int status);

  // Collective operations. Every rank must start the same operations in the
  // same order, one at a time. The caller must not access the memory until
  // test() sets `done`.

  /// Sums `count` elements over all ranks, in place, in any order.
  const char *(*allReduce)(void *data, std::size_t count, BrewCommType type);
  /// Sends `counts[r]` elements at `offsets[r]` of `data` to each rank r, and
  /// receives `received` elements from each into `to`, in the order of ranks.
  const char *(*allToAll)(const void *data, const int *counts,
                          const int *offsets, void *to, int received,
                          BrewCommType type);
  /// Copies the `counts[r]` elements at `offsets[r]` of rank r's `data` to all
  /// ranks, for every r.
  const char *(*allGather)(void *data, const int *counts, const int *offsets,
                           BrewCommType type);
  /// Copies the bytes of rank 0 to all ranks.
  const char *(*broadcast)(void *data, std::size_t bytes);
  /// Sets `done` if the last operation has finished.
  const char *(*test)(int *done);

  // Small messages between two ranks, independent of collective operations.
  // These functions never block.
  const char *(*send)(int to, const void *message, std::size_t bytes);
  /// Receives the next message of `bytes` bytes and sets `from` to its sender,
  /// or sets `from` to -1 if no message has arrived.
  const char *(*receive)(int *from, void *message, std::size_t bytes);
};

constexpr std::uint32_t kBrewCommVersion = 2;
/// Name of the function that returns the plugin's table.
#define BREW_COMM_ENTRY "brew_comm_plugin"
using BrewCommEntry = const BrewCommPlugin *(*)();

} // extern "C"
