//===- Progress.cpp - Progress of a long compilation ----------------------===//
#include "Progress.h"

#include <chrono>
#include <cstdio>
#include <unistd.h>

namespace brewc {

Progress::Progress(std::string progressText) : text(std::move(progressText)) {
  if (isatty(STDERR_FILENO))
    thread = std::thread([this] { run(); });
}

void Progress::run() {
  constexpr int firstSecond = 3;
  std::unique_lock<std::mutex> lock(mutex);
  const auto begin = std::chrono::steady_clock::now();
  for (int second = firstSecond;; ++second) {
    if (changed.wait_until(lock, begin + std::chrono::seconds(second),
                           [&] { return isStopped; }))
      return;
    std::fprintf(stderr, "\r%s, %d s", text.c_str(), second);
    std::fflush(stderr);
    isShown = true;
  }
}

void Progress::erase() {
  if (isShown)
    std::fputs("\r\x1b[K", stderr);
  isShown = false;
}

void Progress::print(const std::string &line) {
  const std::lock_guard<std::mutex> lock(mutex);
  erase();
  std::fputs(line.c_str(), stderr);
}

void Progress::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    isStopped = true;
    erase();
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
}

} // namespace brewc
