//===- Prefetcher.h - Batches read ahead on a thread ------------*- C++ -*-===//
#pragma once

#include "runtime/data/BatchSource.h"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace brew::runtime {

/// Fills up to `depth` batches ahead of the consumer on its own thread.
///
/// Batches lie in memory of the buffers' own layout, so that handing one over
/// is a copy. An error of the source reaches the consumer when it asks for the
/// batch that could not be read, not earlier.
class Prefetcher {
public:
  /// One batch: for every top its bytes, and where the source stood after it.
  struct Batch {
    std::vector<std::byte *> tops;
    std::byte *pixels = nullptr; ///< a PixelBlock of the first top
    bool arePixels = false;      ///< it is there, not in tops[0]
    SourcePosition after;

  private:
    friend class Prefetcher;
    struct Free {
      void operator()(std::byte *memory) const { std::free(memory); }
    };
    std::byte *allocate(std::size_t size);
    std::vector<std::unique_ptr<std::byte, Free>> storage;
  };

  /// `wanted[i]` says whether top i is read at all; `pixels`, whether the first
  /// is wanted as `info.pixels` says where that is possible.
  Prefetcher(std::unique_ptr<BatchSource> source, const DataLayerInfo &info,
             const std::vector<bool> &wanted, unsigned depth,
             bool pixels = false);
  ~Prefetcher();
  Prefetcher(const Prefetcher &) = delete;
  Prefetcher &operator=(const Prefetcher &) = delete;

  /// Starts the thread; a no-op afterwards. Throws Error (3) if the system gives
  /// none.
  void start();
  /// Waits for the next batch, which stays valid until release(). Rethrows the
  /// source's error.
  const Batch &acquire();
  /// Gives the acquired batch back to be filled again.
  void release();

  /// Position after the last acquired batch; what the thread read ahead of it
  /// does not count.
  SourcePosition consumed() const { return consumedPosition; }
  /// Only before start().
  void seek(const SourcePosition &position);

  /// See BatchSource.
  const std::string &identity() const { return sourceIdentity; }

  /// How often, and for how long in all, acquire() found no batch ready. The
  /// first batch does not count: nothing can be ready then.
  std::uint64_t waits() const { return waitCount; }
  double secondsWaited() const { return waitSeconds; }

  /// What the thread has done since it was started.
  struct Load {
    double seconds = 0; ///< since then
    double idle = 0;    ///< of them without a batch to fill
    std::uint64_t skipped = 0; ///< records that the source passed over
  };
  Load load();

private:
  using Clock = std::chrono::steady_clock;
  void run();

  std::unique_ptr<BatchSource> source;
  std::string sourceIdentity;
  std::vector<Batch> batches;
  std::deque<Batch *> empty, full;
  Batch *current = nullptr;
  SourcePosition consumedPosition;
  bool firstBatch = true;
  std::uint64_t waitCount = 0;
  double waitSeconds = 0;
  Clock::time_point started;

  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  double idleSeconds = 0;
  std::uint64_t skipped = 0;
  std::exception_ptr failure;
  std::thread thread;
};

} // namespace brew::runtime
