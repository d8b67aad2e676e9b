//===- Communicator.h - Ranks of a data-parallel run ------------*- C++ -*-===//
//
// A rank is a process that trains on its share of the data. A communicator
// sums gradients over the ranks while the net computes, broadcasts the values
// of rank 0, and ends all ranks if one of them fails, hangs or computes
// something else. It calls the transport (Plugin.h) on a thread of its own.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/comm/Stragglers.h"
#include "support/Error.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace brew::runtime {

struct CommunicatorOptions {
  /// Seconds that a rank waits for a rank that neither computes nor answers;
  /// then the run ends. The computation between two all-reduces must take less.
  double timeout = 600;
  /// Sum in the order of ranks, starting from zero, instead of in the
  /// transport's order.
  bool deterministic = false;
};

/// Contiguous numbers to sum over the ranks, in place.
struct ReductionBuffer {
  std::byte *data;
  std::size_t count; ///< elements
  bool isDouble;     ///< f64, else f32
};

/// The connection of this process to the other ranks.
class Communicator {
public:
  /// Returns whether a transport is installed.
  static bool isAvailable();
  /// Returns whether a launcher started this process as one of several ranks.
  static bool isLaunched();

  /// Joins the run. All ranks must do so. Throws Error (3) if the transport is
  /// missing or fails.
  explicit Communicator(CommunicatorOptions options);
  /// Ends the other ranks, too, unless close() was called.
  ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  /// Leaves the run. Returns once all ranks have called it.
  void close();
  /// Ends the processes of all ranks, including this one, with `status`.
  [[noreturn]] void abort(int status);

  int rank() const;
  int ranks() const;
  /// Returns the number of ranks on this machine.
  int localRanks() const;
  /// Returns this rank's number among the ranks on this machine.
  int localRank() const;
  bool isRoot() const { return rank() == 0; }
  /// Returns the name of the transport, such as "Open MPI 4.1.4".
  const std::string &transport() const;
  bool isDeterministic() const;

  // Collective operations, for the thread that trains. All ranks must call the
  // same operations in the same order. Blocking operations throw an Error (3)
  // that names the missing rank.

  /// Starts the sum of `buffers` over the ranks. Nothing may read or write them
  /// until waitAllReduce() of this bucket returns. With `asBf16` the numbers
  /// (f32) are transferred as bf16: each rank rounds its values; the sums are
  /// computed in f32 in the order of ranks and then rounded.
  void startAllReduce(std::uint32_t bucket,
                      const std::vector<ReductionBuffer> &buffers,
                      bool asBf16 = false);
  /// Waits until the sum of this bucket is complete.
  void waitAllReduce(std::uint32_t bucket);
  /// Returns whether an all-reduce of this bucket was started but not awaited.
  bool isAllReducing(std::uint32_t bucket) const;
  /// Copies the bytes of rank 0 to all ranks.
  void broadcast(void *data, std::size_t bytes);
  /// Returns the value of rank 0.
  std::uint64_t broadcastFromRoot(std::uint64_t value);
  /// Returns the texts of all ranks, by rank.
  std::vector<std::string> gatherTexts(const std::string &own);
  /// Copies the slice [offsets[r], offsets[r + 1]) of rank r's `data` to all
  /// ranks, for every r. Offsets are in bytes and multiples of 8.
  void allGatherSlices(std::byte *data,
                       const std::vector<std::size_t> &offsets);
  /// Returns the bitwise OR over all ranks. Also exchanges how long each rank
  /// has waited for others since the last call. If `countsWaits` is false,
  /// discards these times instead.
  std::uint32_t allReduceOr(std::uint32_t bits, bool countsWaits = true);
  /// Returns the rank that the others have waited for since the last call,
  /// `seconds` ago, or nullopt if the waits were short (see findStraggler).
  std::optional<comm::Straggler> takeStraggler(double seconds);
  /// Throws Error (1) on all ranks unless the values are equal on all ranks.
  /// Each entry is a description ("plan") and a value of any length.
  void
  checkAllEqual(const std::vector<std::pair<std::string, std::string>> &values);
  /// Returns whether the last error is collective: all ranks have thrown it.
  /// Then one rank reports it, and all leave the run with close().
  bool hasCollectiveError() const;
  /// Marks and returns an error that all ranks are about to throw.
  Error collectiveError(Error error);

  /// The period in which this rank waits for others by means outside this
  /// class. The waiting code must poll failureText() and stop if it has a
  /// value.
  class WaitScope {
  public:
    explicit WaitScope(Communicator &ranks);
    ~WaitScope();
    WaitScope(const WaitScope &) = delete;
    WaitScope &operator=(const WaitScope &) = delete;

  private:
    Communicator &ranks;
    std::chrono::steady_clock::time_point begin;
  };
  /// Returns why the run cannot continue, or nullopt. Thread-safe.
  std::optional<std::string> failureText() const;

  /// Reports that this rank is alive. Call it if much time passes between two
  /// collective operations.
  void reportProgress();

  /// Whether steps of forward_backward all-reduce the gradients; otherwise a
  /// separate program does. Only the thread that trains may access it.
  bool reducesInSteps = false;

private:
  std::vector<std::uint64_t> gather(const std::vector<std::uint64_t> &own,
                                    const char *description);
  struct State;
  std::unique_ptr<State> state;
};

} // namespace brew::runtime
