//===- Prefetcher.h - Thread that reads batches ahead -----------*- C++ -*-===//
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
/// Batches have the layout of the buffers, so the consumer only copies them. An
/// error of the source is thrown when the consumer acquires the batch that
/// could not be read, not earlier.
class Prefetcher {
public:
  /// One batch: the bytes of each top, and the source's position after it.
  struct Batch {
    std::vector<std::byte *> tops;
    std::byte *pixels = nullptr; ///< a PixelBlock of the first top
    bool arePixels = false; ///< the first top is in `pixels`, not in tops[0]
    BatchShapes shapes;     ///< see BatchSource::shapes()
    SourcePosition after;

  private:
    friend class Prefetcher;
    struct Free {
      void operator()(std::byte *memory) const { std::free(memory); }
    };
    std::byte *allocate(std::size_t size);
    std::vector<std::unique_ptr<std::byte, Free>> storage;
  };

  /// `wanted[i]`: whether to read top i. `asPixels`: whether to read the first
  /// top as bytes (`info.pixels`) if possible.
  Prefetcher(std::unique_ptr<BatchSource> source, const DataLayerInfo &info,
             const std::vector<bool> &wanted, unsigned depth,
             bool asPixels = false);
  ~Prefetcher();
  Prefetcher(const Prefetcher &) = delete;
  Prefetcher &operator=(const Prefetcher &) = delete;

  /// Starts the thread; a no-op if started. Throws Error (3) if the system
  /// cannot create it.
  void start();
  /// Waits for the next batch, which stays valid until release(). Rethrows the
  /// source's error.
  const Batch &acquire();
  /// Returns the acquired batch to the reader.
  void release();

  /// Returns the position after the last acquired batch; batches read ahead do
  /// not count.
  SourcePosition consumed() const { return consumedPosition; }
  /// Makes the source continue at `position`. Call it before start().
  void seek(const SourcePosition &position);

  /// See BatchSource.
  const std::string &identity() const { return sourceIdentity; }

  /// Return how often, and for how long in total, acquire() waited for a batch.
  /// The first batch does not count, since it can never be ready.
  std::uint64_t waits() const { return waitCount; }
  double secondsWaited() const { return waitSeconds; }

  /// The thread's load since it started.
  struct Load {
    double seconds = 0;        ///< since the start
    double idle = 0;           ///< seconds spent waiting for a free batch
    std::uint64_t skipped = 0; ///< records skipped by the source
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
