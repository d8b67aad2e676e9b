//===- Communicator.h - The ranks of a data-parallel run --------*- C++ -*-===//
//
// A rank is a process that trains on its share of the data. A communicator
// adds gradients up over the ranks while the net computes, hands rank 0's
// values to the others, and sees to it that a rank which fails, hangs or
// computes something else ends all of them. A thread of its own talks to the
// transport (Plugin.h).
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
  /// Seconds that a rank waits for another one that neither computes nor
  /// answers; then the run ends. Computing between two sums must take less.
  double timeout = 600;
  /// Sums are made in the order of ranks, the first one added to zero; else in
  /// the transport's.
  bool deterministic = false;
};

/// Numbers that are added up over the ranks, in place.
struct ReductionBuffer {
  std::byte *data;
  std::size_t count; ///< elements
  bool isDouble;     ///< f64, else f32
};

class Communicator {
public:
  /// Whether a transport is found.
  static bool isAvailable();
  /// Whether this process was started by a launcher as one of several ranks.
  static bool isLaunched();

  /// Joins the run; all ranks do it. Throws Error (3) where there is no
  /// transport, or it fails.
  explicit Communicator(CommunicatorOptions options);
  /// Ends the other ranks, too, unless close() was called.
  ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  /// Leaves the run, when all ranks do.
  void close();
  /// Ends the processes of all ranks, this one too, with a status.
  [[noreturn]] void abort(int status);

  int rank() const;
  int ranks() const;
  /// Ranks on this machine.
  int localRanks() const;
  /// This one's number among them.
  int localRank() const;
  bool isRoot() const { return rank() == 0; }
  /// "Open MPI 4.1.4"
  const std::string &transport() const;
  bool isDeterministic() const;

  // Calls from the thread that trains. All ranks make the same ones in the same
  // order. Those that wait throw Error (3) that names the rank which is
  // missing.

  /// Begins to add up `buffers`, which stay as they are, and untouched until
  /// waitAllReduce() of this bucket. With `asBf16` numbers (f32) are rounded on
  /// their way: each rank's, and the sums, which are made in f32 and in the
  /// order of ranks.
  void startAllReduce(std::uint32_t bucket, const std::vector<ReductionBuffer> &buffers,
                 bool asBf16 = false);
  void waitAllReduce(std::uint32_t bucket);
  /// Whether sums of this bucket are on their way.
  bool isAllReducing(std::uint32_t bucket) const;
  /// Gives all ranks the bytes of rank 0.
  void broadcast(void *data, std::size_t bytes);
  /// What rank 0 has.
  std::uint64_t broadcastFromRoot(std::uint64_t value);
  /// The texts of all ranks, by rank.
  std::vector<std::string> gatherTexts(const std::string &own);
  /// Gives every rank the bytes [offsets[r], offsets[r + 1]) of `data` that
  /// each rank r has; all of these are multiples of 8.
  void allGatherSlices(std::byte *data, const std::vector<std::size_t> &offsets);
  /// The bits that any rank has. With them goes how long each rank has waited
  /// since the last time, unless `countsWaits` is false: then that is
  /// forgotten.
   true);=std::uint32_t allReduceOr(std::uint32_t bits, bool countsWaits = true);= true);
  /// The rank that the others waited for since this was asked last, `seconds`
  /// ago, if it took long.
  std::optional<comm::Straggler> takeStraggler(double seconds);
  /// Throws Error (1), on all ranks, unless all of them have what rank 0 has.
  /// Each entry is what is compared ("plan") and its value, however long.
  void checkAllEqual(const std::vector<std::pair<std::string, std::string>> &values);
  /// Whether the error that was thrown last is one that all ranks have thrown:
  /// it is told once, and the run is left with close().
  bool hasCollectiveError() const;
  /// An error that all ranks are about to throw.
  Error collectiveError(Error error);

  /// While alive this rank waits for others by other means, which failureText()
  /// has to end.
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
  /// Why the run cannot go on, once that is known; for any thread.
  std::optional<std::string> failureText() const;

  /// Says that this rank goes on, where it takes long between two of the above.
  void reportProgress();

  /// Whether steps of forward_backward add gradients up; else a program of its
  /// own does. For the thread that trains.
  bool reducesInSteps = false;

private:
  std::vector<std::uint64_t> gather(const std::vector<std::uint64_t> &own,
                                    const char *what);
  struct State;
  std::unique_ptr<State> state;
};

} // namespace brew::runtime
