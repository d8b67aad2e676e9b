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
/// on its number alone, not on the number of threads or their order. Used by
/// one thread at a time, which takes part.
class DecodeThreads {
public:
  /// `number`: threads including the caller's; 0: one per core, at most 16.
  /// Threads start at their first use.
  explicit DecodeThreads(unsigned number);
  ~DecodeThreads();
  DecodeThreads(const DecodeThreads &) = delete;
  DecodeThreads &operator=(const DecodeThreads &) = delete;

  /// Number of threads; `worker` below is less.
  unsigned size() const { return number; }

  using Body = std::function<void(std::int64_t index, unsigned worker)>;
  /// Calls `body` for each index from 0 to `count` - 1. If calls throw,
  /// rethrows the exception of the lowest index, as a loop would. Throws Error
  /// (3) if the system cannot create threads.
  void forEach(std::int64_t count, const Body &body);
  /// The same on the caller's thread, for short work.
  void forEachAlone(std::int64_t count, const Body &body) const;

private:
  void start();
  void run(unsigned worker);
  void work(unsigned worker);

  unsigned number;
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
