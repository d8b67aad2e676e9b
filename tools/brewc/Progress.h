//===- Progress.h - Progress of a long compilation --------------*- C++ -*-===//
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace brewc {

/// Shows on a terminal how long a compilation has taken, from its third second
/// on. Does nothing if standard error is no terminal.
class Progress {
public:
  explicit Progress(std::string text);
  ~Progress() { stop(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// Prints a complete line to standard error in place of the progress.
  void print(const std::string &line);
  /// Erases the progress for good.
  void stop();

private:
  void run();
  void erase();

  std::string text;
  const std::chrono::steady_clock::time_point begin =
      std::chrono::steady_clock::now();
  std::mutex mutex;
  std::condition_variable changed;
  bool isStopped = false, isShown = false;
  std::thread thread;
};

} // namespace brewc
