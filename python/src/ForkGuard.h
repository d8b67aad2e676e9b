//===- ForkGuard.h - Objects that forks do not copy -------------*- C++ -*-===//
#pragma once

#include <brew/brew.hpp>

#include <pthread.h>

#include <atomic>
#include <string>

namespace brew::python {

/// Belongs to an object that a forked child can neither use nor destroy, as it
/// belongs to a connection or a GPU of its parent.
class ForkGuard {
public:
  /// `what`: the object, for the message.
  explicit ForkGuard(const char *what) : what(what) {}

  /// Returns the number of forks between the first caller's process and this
  /// one.
  static int forkCount() {
    static std::atomic<int> count{0};
    static const int registered =
        pthread_atfork(nullptr, nullptr, [] { ++count; });
    (void)registered;
    return count;
  }

  bool isForked() const { return forks != forkCount(); }
  /// Throws in a child forked since the object was opened.
  void refuse() const {
    if (isForked())
      throw api::Error(BREW_USAGE,
                       std::string("this process was forked from one that had "
                                   "opened ") +
                           what +
                           "; start it with multiprocessing's method 'spawn' "
                           "or 'forkserver'");
  }

private:
  const char *what;
  int forks = forkCount();
};

} // namespace brew::python
