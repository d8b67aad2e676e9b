//===- ExitGuard.cpp - Work of threads at Python's exit -------------------===//
#include "ExitGuard.h"

#include "SessionBinding.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

namespace nb = nanobind;

namespace brew::python {
namespace {

using Clock = std::chrono::steady_clock;

/// The exit does not wait longer, for example for data from a pipe.
constexpr std::chrono::seconds kMaxWait(60);
constexpr std::chrono::milliseconds kSignalInterval(50);

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  int running = 0; ///< pieces of work
  std::multiset<api::Trainer *> trainers;
  bool isExiting = false;
  std::thread::id exitThread;

  /// Whether the calling thread must not return to Python. Requires the lock.
  bool mustSleep() const {
    return isExiting && std::this_thread::get_id() != exitThread;
  }
};

/// Nesting of this thread's work: a hook that work runs may call Brew. Only the
/// outermost work counts, and only its end may not return to Python, since the
/// exit waits for it.
thread_local int depth = 0;

/// Never destroyed: threads use it until the process ends.
State &state() {
  static State *const instance = new State;
  return *instance;
}

[[noreturn]] void sleepForever() {
  nb::set_leak_warnings(false); // the thread keeps its objects
  while (true)
    std::this_thread::sleep_for(std::chrono::hours(1));
}

} // namespace

void ExitGuard::install() {
  nb::module_::import_("atexit").attr("register")(
      nb::cpp_function([] { waitForWork(); }));
}

// In a forked child, other threads and their work do not exist.

void ExitGuard::beginWork() {
  if (ForkGuard::count() || depth++)
    return;
  {
    const std::lock_guard<std::mutex> lock(state().mutex);
    if (!state().mustSleep()) {
      ++state().running;
      return;
    }
  }
  sleepForever();
}

void ExitGuard::endWork() {
  if (ForkGuard::count() || --depth)
    return;
  {
    const std::lock_guard<std::mutex> lock(state().mutex);
    --state().running;
    if (!state().mustSleep())
      return;
  }
  state().changed.notify_all();
  sleepForever();
}

void ExitGuard::waitForWork() {
  if (ForkGuard::count())
    return;
  const Clock::time_point begin = Clock::now();
  nb::gil_scoped_release released; // hooks and listeners need the GIL
  std::unique_lock<std::mutex> lock(state().mutex);
  state().isExiting = true;
  state().exitThread = std::this_thread::get_id();
  while (state().running && Clock::now() - begin < kMaxWait) {
    // Again and again: a stop before a call ends only that call.
    for (api::Trainer *trainer : state().trainers)
      trainer->stop();
    state().changed.wait_for(lock, kSignalInterval);
    lock.unlock();
    {
      const nb::gil_scoped_acquire acquired;
      if (PyErr_CheckSignals() != 0)
        throw nb::python_error();
    }
    lock.lock();
  }
}

TrainerRun::TrainerRun(api::Trainer &newTrainer) : trainer(newTrainer) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  state().trainers.insert(&trainer);
}

TrainerRun::~TrainerRun() {
  const std::lock_guard<std::mutex> lock(state().mutex);
  state().trainers.erase(state().trainers.find(&trainer));
}

} // namespace brew::python
