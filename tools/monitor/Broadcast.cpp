//===- Broadcast.cpp - Messages to all open pages -------------------------===//

#include "tools/monitor/Broadcast.h"

#include <algorithm>
#include <utility>

namespace brew::monitor {

void Broadcast::send(std::string message) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (closed)
      return;
    buffered.push_back(std::move(message));
    ++sent;
    if (buffered.size() > capacity)
      buffered.pop_front();
  }
  changed.notify_all();
}

void Broadcast::close() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    closed = true;
  }
  changed.notify_all();
}

Broadcast::Batch Broadcast::wait(std::uint64_t from,
                                 std::chrono::milliseconds timeout) {
  std::unique_lock<std::mutex> lock(mutex);
  from = std::min(from, sent);
  changed.wait_for(lock, timeout, [&] { return closed || sent > from; });
  const std::uint64_t first = std::max(from, sent - buffered.size());
  Batch batch;
  batch.missed = first - from;
  batch.next = sent;
  batch.closed = closed;
  batch.messages.assign(buffered.end() -
                            static_cast<std::ptrdiff_t>(sent - first),
                        buffered.end());
  return batch;
}

std::uint64_t Broadcast::next() const {
  std::lock_guard<std::mutex> lock(mutex);
  return sent;
}

} // namespace brew::monitor
