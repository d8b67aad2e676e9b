//===- Broadcast.h - Messages to all open pages -----------------*- C++ -*-===//
//
// Keeps the last messages of a run for any number of readers, each of which
// goes on from where it was. Whoever sends never waits for a reader: one that
// is too slow misses the oldest messages, and is told how many.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace brew::monitor {

class Broadcast {
public:
  explicit Broadcast(std::size_t capacity) : capacity(capacity) {}

  /// Any thread.
  void send(std::string message);
  /// Nothing more comes: readers wait no longer.
  void close();

  struct Batch {
    std::vector<std::string> messages;
    std::uint64_t next = 0;   ///< what to pass the next time
    std::uint64_t missed = 0; ///< messages before these that are gone
    bool closed = false;
  };
  /// Messages from number `from` on; if there are none yet, waits for one, at
  /// most so long. Numbers ahead of the last one begin at the next.
  Batch wait(std::uint64_t from, std::chrono::milliseconds timeout);
  /// The number that the next message will have.
  std::uint64_t next() const;

private:
  const std::size_t capacity;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> kept;
  std::uint64_t sent = 0; ///< all that ever were
  bool closed = false;
};

} // namespace brew::monitor
