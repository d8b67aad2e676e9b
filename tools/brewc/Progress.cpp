//===- Progress.cpp - Progress of a long compilation ----------------------===//
#include "Progress.h"

#include <algorithm>
#include <cstdio>
#include <sys/ioctl.h>
#include <system_error>
#include <unistd.h>

namespace brewc {

/// Returns the number of columns of the terminal.
static std::size_t terminalWidth() {
  winsize size = {};
  constexpr std::size_t usual = 80;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col
             ? size.ws_col
             : usual;
}

Progress::Progress(std::string progressText) : text(std::move(progressText)) {
  if (!isatty(STDERR_FILENO))
    return;
  // A line that wraps cannot be erased.
  constexpr std::size_t secondsWidth = 12;
  const std::size_t width = terminalWidth();
  text.resize(std::min(text.size(), width - std::min(width, secondsWidth)));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n'; },
      ' ');
  try {
    thread = std::thread([this] { run(); });
  } catch (const std::system_error &) {
    // The compilation goes on without it.
  }
}

void Progress::run() {
  constexpr int firstSecond = 3;
  std::unique_lock<std::mutex> lock(mutex);
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
