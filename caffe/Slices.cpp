//===- Slices.cpp - Work on elements by several threads -------------------===//
#include "caffe/Slices.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

namespace brew::caffe {

void forEachSlice(std::int64_t count, int threads,
                  const std::function<void(std::int64_t, std::int64_t)> &work) {
  constexpr std::int64_t kElementsPerThread = 1 << 18;
  const std::int64_t slices = std::clamp<std::int64_t>(
      count / kElementsPerThread, 1, std::max(1, threads));
  std::vector<std::thread> workers;
  workers.reserve(static_cast<std::size_t>(slices));
  // The first slice without a worker. This thread does that slice, all later
  // ones and slice 0.
  std::int64_t nextSlice = 1;
  try {
    for (; nextSlice < slices; ++nextSlice)
      workers.emplace_back(work, count * nextSlice / slices,
                           count * (nextSlice + 1) / slices);
  } catch (const std::system_error &) {
    // The system cannot create more threads.
  }
  work(0, count / slices);
  work(count * nextSlice / slices, count);
  for (std::thread &worker : workers)
    worker.join();
}

} // namespace brew::caffe
