//===- ExitGuard.cpp - Work of threads at Python's exit -------------------===//
#include "ExitGuard.h"

#include "ForkGuard.h"

#include <atomic>
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

/// The state of a process.
struct State {
  const int forks = ForkGuard::forkCount();
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

/// The work of one thread.
struct ThreadState {
  int forks = 0; ///< of the process in which the work began
  /// Nesting: a hook that work runs may call Brew. Only the outermost work
  /// counts, and only its end may not return to Python, since the exit waits
  /// for it.
  int depth = 0;
};
thread_local ThreadState threadState;

/// Never destroyed: threads use it until the process ends. A forked child, in
/// which other threads and their work do not exist, creates another one.
State &state() {
  static std::atomic<State *> current{nullptr};
  State *found = current;
  if (found && found->forks == ForkGuard::forkCount())
    return *found;
  State *const fresh = new State;
  while (!found || found->forks != fresh->forks)
    if (current.compare_exchange_weak(found, fresh))
      return *fresh;
  delete fresh;
  return *found;
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

void ExitGuard::beginWork() {
  ThreadState &thread = threadState;
  if (thread.forks != ForkGuard::forkCount())
    thread = {ForkGuard::forkCount(), 0};
  if (thread.depth++)
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
  ThreadState &thread = threadState;
  // Work that forked this process began in its parent.
  if (thread.forks != ForkGuard::forkCount() || !thread.depth)
    return;
  if (--thread.depth)
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
  const auto found = state().trainers.find(&trainer);
  if (found != state().trainers.end()) // else its run began in the parent
    state().trainers.erase(found);
}

} // namespace brew::python
