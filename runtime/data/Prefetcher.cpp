//===- Prefetcher.cpp - Thread that reads batches ahead -------------------===//

#include "runtime/data/Prefetcher.h"

#include "runtime/executor/PixelBlock.h"
#include "support/ThreadWithoutSignals.h"

#include <new>

namespace brew::runtime {

/// Uses calloc: the system maps zero pages lazily, so an unused block takes no
/// memory.
std::byte *Prefetcher::Batch::allocate(std::size_t size) {
  storage.emplace_back(
      static_cast<std::byte *>(std::calloc(size ? size : 1, 1)));
  if (!storage.back())
    throw std::bad_alloc();
  return storage.back().get();
}

Prefetcher::Prefetcher(std::unique_ptr<BatchSource> batchSource,
                       const DataLayerInfo &info,
                       const std::vector<bool> &wanted, unsigned depth,
                       bool asPixels)
    : source(std::move(batchSource)), batches(depth ? depth : 1) {
  consumedPosition = source->position();
  sourceIdentity = source->identity();
  for (Batch &batch : batches) {
    for (std::size_t i = 0; i < info.tops.size(); ++i)
      batch.tops.push_back(wanted[i] ? batch.allocate(info.tops[i]->size())
                                     : nullptr);
    if (asPixels)
      batch.pixels =
          batch.allocate(PixelBlock::of(*info.tops[0], *info.pixels).size);
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
  started = Clock::now();
  thread = startThreadWithoutSignals([this] { run(); });
}

void Prefetcher::run() {
  while (true) {
    Batch *batch = nullptr;
    {
      std::unique_lock<std::mutex> lock(mutex);
      const Clock::time_point begin = Clock::now();
      changed.wait(lock, [this] { return stopping || !empty.empty(); });
      idleSeconds +=
          std::chrono::duration<double>(Clock::now() - begin).count();
      if (stopping)
        return;
      batch = empty.front();
      empty.pop_front();
    }
    std::exception_ptr error;
    try {
      batch->arePixels = false;
      if (batch->pixels)
        batch->arePixels = source->readPixels(batch->tops, batch->pixels);
      else
        source->read(batch->tops);
      batch->shapes = source->shapes();
      batch->after = source->position();
    } catch (...) {
      error = std::current_exception();
    }
    {
      std::lock_guard<std::mutex> lock(mutex);
      skipped = source->skippedRecords();
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

Prefetcher::Load Prefetcher::load() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!thread.joinable())
    return {};
  return {std::chrono::duration<double>(Clock::now() - started).count(),
          idleSeconds, skipped};
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
