//===- PerProcess.h - Objects with threads across forks ---------*- C++ -*-===//
#pragma once

#include "support/ForkCount.h"

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

namespace brew {

/// An object with threads or locks. A forked child can neither use nor destroy
/// the object of its parent: it leaks that object, and creates its own at the
/// first use.
template <typename T> class PerProcess {
public:
  using Factory = std::function<std::unique_ptr<T>()>;

  explicit PerProcess(Factory factory) : factory(std::move(factory)) {
    forkCount(); // counts from now on
  }
  ~PerProcess() {
    if (find())
      delete entry.load();
  }
  PerProcess(const PerProcess &) = delete;
  PerProcess &operator=(const PerProcess &) = delete;

  /// Returns this process's object; creates it at the first call. Thread-safe,
  /// but concurrent first calls may create objects that are destroyed at once.
  /// Rethrows exceptions of the factory.
  T &get() {
    if (T *object = find())
      return *object;
    auto fresh = std::make_unique<Entry>(Entry{forkCount(), factory()});
    Entry *expected = entry.load();
    while (!expected || expected->forks != fresh->forks)
      if (entry.compare_exchange_weak(expected, fresh.get()))
        return *fresh.release()->object;
    return *expected->object; // another thread was faster
  }

  /// Returns this process's object, or null if it was not created.
  T *find() const {
    const Entry *current = entry.load();
    return current && current->forks == forkCount() ? current->object.get()
                                                    : nullptr;
  }

private:
  struct Entry {
    int forks;
    std::unique_ptr<T> object;
  };

  Factory factory;
  std::atomic<Entry *> entry{nullptr};
};

} // namespace brew
