//===- DecodeThreads.cpp - Threads that decode records --------------------===//

#include "runtime/data/DecodeThreads.h"

#include "support/ThreadWithoutSignals.h"

#include <algorithm>

namespace brew::runtime {

static unsigned defaultThreadCount() {
  constexpr unsigned kMaxThreads = 16;
  return std::clamp(std::thread::hardware_concurrency(), 1u, kMaxThreads);
}

DecodeThreads::DecodeThreads(unsigned size)
    : threadCount(size ? size : defaultThreadCount()) {}

DecodeThreads::~DecodeThreads() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  begin.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

void DecodeThreads::start() {
  while (threads.size() + 1 < threadCount) {
    const unsigned worker = static_cast<unsigned>(threads.size()) + 1;
    threads.push_back(
        startThreadWithoutSignals([this, worker] { run(worker); }));
  }
}

void DecodeThreads::run(unsigned worker) {
  std::uint64_t lastRound = 0;
  while (true) {
    {
      std::unique_lock<std::mutex> lock(mutex);
      begin.wait(lock, [&] { return stopping || round != lastRound; });
      if (stopping)
        return;
      lastRound = round;
    }
    work(worker);
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (--busy == 0)
        done.notify_all();
    }
  }
}

void DecodeThreads::work(unsigned worker) {
  while (true) {
    std::int64_t index;
    {
      std::lock_guard<std::mutex> lock(mutex);
      // After a failure, stop: other threads already run all lower indices.
      if (next == count || failure)
        return;
      index = next++;
    }
    try {
      (*body)(index, worker);
    } catch (...) {
      std::lock_guard<std::mutex> lock(mutex);
      if (!failure || index < failedIndex) {
        failure = std::current_exception();
        failedIndex = index;
      }
    }
  }
}

void DecodeThreads::forEachAlone(std::int64_t indexCount,
                                 const Body &function) const {
  for (std::int64_t i = 0; i < indexCount; ++i)
    function(i, 0);
}

void DecodeThreads::forEach(std::int64_t indexCount, const Body &function) {
  if (threadCount == 1 || indexCount < 2)
    return forEachAlone(indexCount, function);
  start();
  {
    std::lock_guard<std::mutex> lock(mutex);
    body = &function;
    count = indexCount;
    next = 0;
    failure = nullptr;
    busy = static_cast<unsigned>(threads.size());
    ++round;
  }
  begin.notify_all();
  work(0);
  std::exception_ptr error;
  {
    std::unique_lock<std::mutex> lock(mutex);
    done.wait(lock, [this] { return busy == 0; });
    error = std::exchange(failure, nullptr);
  }
  if (error)
    std::rethrow_exception(error);
}

} // namespace brew::runtime
