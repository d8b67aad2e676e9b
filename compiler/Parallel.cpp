//===- Parallel.cpp - Parallel loop over all cores ------------------------===//
#include "compiler/Parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace brew::compiler {

void runParallel(std::size_t count,
                 llvm::function_ref<void(std::size_t)> work) {
  std::vector<std::exception_ptr> failures(count);
  std::atomic<std::size_t> next{0};
  // Items with lower indices than a failed one have already started and will
  // finish.
  std::atomic<bool> failed{false};
  auto loop = [&] {
    for (std::size_t i; !failed && (i = next++) < count;)
      try {
        work(i);
      } catch (...) {
        failures[i] = std::current_exception();
        failed = true;
      }
  };
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> helpers;
  helpers.reserve(std::min(cores, count));
  try {
    while (helpers.size() + 1 < std::min(cores, count))
      helpers.emplace_back(loop);
  } catch (const std::exception &) {
    // The threads started so far do all the work.
  }
  loop();
  for (std::thread &helper : helpers)
    helper.join();
  for (const std::exception_ptr &failure : failures)
    if (failure)
      std::rethrow_exception(failure);
}

} // namespace brew::compiler
