//===- ForkCount.h - Detection of forked processes --------------*- C++ -*-===//
#pragma once

namespace brew {

/// Returns the number of forks between the ancestor that called it first and
/// this process. An object that stores the count at its creation can tell that
/// it now is in a forked child, where its threads do not exist and its locks
/// may be taken forever. Thread-safe.
int forkCount();

/// Deleter that leaks objects with threads or locks in a process forked since
/// the deleter was created.
struct DeleteUnlessForked {
  int forks = forkCount();

  template <typename T> void operator()(T *object) const {
    if (forks == forkCount())
      delete object;
  }
};

} // namespace brew
