//===- Prefetcher.cpp - Batches read ahead on a thread --------------------===//

#include "runtime/data/Prefetcher.h"

#include <chrono>
#include <csignal>

namespace brew::runtime {

Prefetcher::Prefetcher(std::unique_ptr<BatchSource> batchSource,
                       const FeedInfo &info, const std::vector<bool> &wanted,
                       unsigned depth)
    : source(std::move(batchSource)), batches(depth ? depth : 1) {
  consumedPosition = source->position();
  for (Batch &batch : batches) {
    for (std::size_t i = 0; i < info.tops.size(); ++i) {
      std::unique_ptr<std::byte[]> bytes;
      if (wanted[i])
        bytes.reset(new std::byte[info.tops[i]->size()]());
      batch.tops.push_back(bytes.get());
      batch.storage.push_back(std::move(bytes));
    }
    empty.push_back(&batch);
  }
}

Prefetcher::~Prefetcher() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
}

void Prefetcher::start() {
  if (thread.joinable())
    return;
  // Signals are the main thread's business.
  sigset_t all, previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  thread = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

void Prefetcher::run() {
  while (true) {
    Batch *batch = nullptr;
    {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [this] { return stopping || !empty.empty(); });
      if (stopping)
        return;
      batch = empty.front();
      empty.pop_front();
    }
    std::exception_ptr error;
    try {
      source->read(batch->tops);
      batch->after = source->position();
    } catch (...) {
      error = std::current_exception();
    }
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (error)
        failure = error;
      else
        full.push_back(batch);
    }
    changed.notify_all();
    if (error)
      return;
  }
}

const Prefetcher::Batch &Prefetcher::acquire() {
  start();
  std::unique_lock<std::mutex> lock(mutex);
  auto ready = [this] { return !full.empty() || failure; };
  if (!ready()) {
    const auto begin = std::chrono::steady_clock::now();
    changed.wait(lock, ready);
    if (!firstBatch) {
      ++waitCount;
      waitSeconds += std::chrono::duration<double>(
                         std::chrono::steady_clock::now() - begin)
                         .count();
    }
  }
  firstBatch = false;
  if (full.empty())
    std::rethrow_exception(failure);
  current = full.front();
  full.pop_front();
  consumedPosition = current->after;
  return *current;
}

void Prefetcher::release() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    empty.push_back(current);
    current = nullptr;
  }
  changed.notify_all();
}

void Prefetcher::seek(const SourcePosition &position) {
  source->seek(position);
  consumedPosition = source->position();
}

} // namespace brew::runtime
