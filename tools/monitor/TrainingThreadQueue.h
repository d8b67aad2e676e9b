//===- TrainingThreadQueue.h - Work queue for training ----------*- C++ -*-===//
//
// Only the training thread accesses the session, between two iterations.
// Requests queue their work here and wait for the result. Reads for display
// take at most one hundredth of the run's time.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>

namespace brew::monitor {

/// A queue of work that the training thread executes.
class TrainingThreadQueue {
public:
  using Clock = std::chrono::steady_clock;
  using Work = std::function<nlohmann::json()>;
  enum class Kind {
    Read,   ///< a read for display; delayed to limit its cost
    Control ///< an action of the user; runs after the current iteration
  };

  /// Runs `work` on the training thread and returns its result or throws its
  /// exception. Throws HttpError (503) on a timeout, after the end of the run
  /// or if the queue is full. Callable from any thread except the training
  /// thread.
  nlohmann::json run(Kind kind, Work work);

  /// Executes the work that is due, or all work if `idle` (the run is paused).
  /// Call it on the training thread between iterations.
  void work(bool idle);
  /// Fails all pending and future work.
  void close();

  /// Accounts for a read that took `cost` on the training thread.
  void addReadCost(Clock::duration cost);
  /// Returns whether a read for display may run now.
  bool mayRead(bool idle) const { return idle || Clock::now() >= nextRead; }

private:
  struct Job {
    Kind kind;
    Work work;
    std::promise<nlohmann::json> result;
  };
  static constexpr std::size_t kMaxJobs = 16;

  std::mutex mutex;
  std::deque<std::shared_ptr<Job>> waiting;
  bool closed = false;
  Clock::time_point nextRead; ///< training thread only
};

} // namespace brew::monitor
