//===- Broadcast.h - Messages to all open pages -----------------*- C++ -*-===//
//
// Buffers the latest messages of a run for any number of readers, each with its
// own position. send() never waits for readers: a slow reader misses the oldest
// messages, and wait() reports how many.
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

/// A bounded queue of messages with many readers.
class Broadcast {
public:
  /// `capacity`: maximum number of buffered messages.
  explicit Broadcast(std::size_t capacity) : capacity(capacity) {}

  /// Appends a message. Thread-safe.
  void send(std::string message);
  /// Ends the stream and wakes all readers.
  void close();

  struct Batch {
    std::vector<std::string> messages;
    std::uint64_t next = 0;   ///< `from` of the next call
    std::uint64_t missed = 0; ///< messages dropped before `messages`
    bool closed = false;
  };
  /// Returns the messages from number `from` on. If there is no such message,
  /// waits for one, at most for `timeout`. A `from` beyond the number of the
  /// next message is treated as that number.
  Batch wait(std::uint64_t from, std::chrono::milliseconds timeout);
  /// Returns the number of the next message.
  std::uint64_t next() const;

private:
  const std::size_t capacity;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> buffered;
  std::uint64_t sent = 0; ///< total number of messages
  bool closed = false;
};

} // namespace brew::monitor
