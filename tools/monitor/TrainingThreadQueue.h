//===- TrainingThreadQueue.h - What other threads ask of the training thread ---*- C++ -*-===//
//
// A session is read by the thread that trains, between two iterations: requests
// leave their work here and wait for it. Reading for the eyes gets at most one
// hundredth of the run's time.
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

class TrainingThreadQueue {
public:
  using Clock = std::chrono::steady_clock;
  using Work = std::function<nlohmann::json()>;
  enum class Kind {
    Read, ///< waits until there is time for it
    Control ///< what a user does by hand: at once
  };

  /// Any thread but the one that trains. Returns what `work` does or throws
  /// what it throws; HttpError (503) where the run does not come to it in time,
  /// has ended or has too much to do.
  nlohmann::json run(Kind kind, Work work);

  /// On the training thread, between iterations: does what is due. With `idle`
  /// (the run is paused) all of it.
  void work(bool idle);
  /// Refuses what waits and all that comes.
  void close();

  /// What looking has cost, for others that look on the training thread too.
  void addReadCost(Clock::duration cost);
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
  Clock::time_point nextRead; ///< of the training thread alone
};

} // namespace brew::monitor
