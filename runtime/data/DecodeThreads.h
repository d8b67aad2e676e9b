//===- DecodeThreads.h - Threads that decode records ---------------*- C++ -*-===//
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace brew::runtime {

/// Threads that share the records of a batch. What each record becomes depends
/// on its number alone, so that neither their number nor their order shows in
/// the result. Used by one thread at a time, which takes part.
class DecodeThreads {
public:
  /// `number` of threads, the caller's included; 0: one for each core, at most
  /// 16. They are started when they are first needed.
  explicit DecodeThreads(unsigned number);
  ~DecodeThreads();
  DecodeThreads(const DecodeThreads &) = delete;
  DecodeThreads &operator=(const DecodeThreads &) = delete;

  /// How many there are; `worker` below is less.
  unsigned size() const { return number; }

  using Body = std::function<void(std::int64_t index, unsigned worker)>;
  /// Calls `body` for each index from 0 to `count` - 1. Of what calls throw,
  /// the exception of the lowest index comes out, as it would of a loop.
  /// Throws Error (3) if the system gives no threads.
  void forEach(std::int64_t count, const Body &body);
  /// The same on the caller's thread alone, for little work.
  void forEachAlone(std::int64_t count, const Body &body) const;

private:
  void start();
  void run(unsigned worker);
  void work(unsigned worker);

  unsigned number;
  std::vector<std::thread> threads;

  std::mutex mutex;
  std::condition_variable begin, done;
  std::uint64_t round = 0; ///< counts calls of forEach()
  unsigned busy = 0;       ///< threads that have not finished this one
  bool stopping = false;
  // Of this round.
  const Body *body = nullptr;
  std::int64_t count = 0, next = 0;
  std::int64_t failedIndex = 0;
  std::exception_ptr failure;
};

} // namespace brew::runtime
