//===- DecodeThreads.h - Threads that decode records ------------*- C++ -*-===//
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace brew::runtime {

/// Threads that share the records of a batch. The result for a record depends
/// on its number alone, not on the number of threads or their order. Only one
/// thread at a time may call it; that thread takes part in the work.
class DecodeThreads {
public:
  /// `threadCount` includes the caller's thread; 0: one per core, at most 16.
  /// Threads start at their first use.
  explicit DecodeThreads(unsigned threadCount);
  ~DecodeThreads();
  DecodeThreads(const DecodeThreads &) = delete;
  DecodeThreads &operator=(const DecodeThreads &) = delete;

  /// Returns the number of threads.
  unsigned size() const { return threadCount; }

  /// `worker` is the number of the thread: 0 for the caller's, at most
  /// size() - 1.
  using Body = std::function<void(std::int64_t index, unsigned worker)>;
  /// Calls `body` for each index from 0 to `count` - 1. If calls throw,
  /// rethrows the exception of the lowest index, as a loop would. Throws Error
  /// (3) if the system cannot create threads.
  void forEach(std::int64_t count, const Body &body);
  /// Does the same on the caller's thread only, for short work.
  void forEachAlone(std::int64_t count, const Body &body) const;

private:
  void start();
  void run(unsigned worker);
  void work(unsigned worker);

  unsigned threadCount;
  std::vector<std::thread> threads;

  std::mutex mutex;
  std::condition_variable begin, done;
  std::uint64_t round = 0; ///< number of calls of forEach()
  unsigned busy = 0;       ///< threads still working in this round
  bool stopping = false;
  // State of this round.
  const Body *body = nullptr;
  std::int64_t count = 0, next = 0;
  std::int64_t failedIndex = 0;
  std::exception_ptr failure;
};

} // namespace brew::runtime
