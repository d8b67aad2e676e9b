//===- TrainingThreadQueue.cpp - Work queue for the training thread -------===//

#include "tools/monitor/TrainingThreadQueue.h"

#include "tools/monitor/Server.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace brew::monitor {

nlohmann::json TrainingThreadQueue::run(Kind kind, Work work) {
  auto job = std::make_shared<Job>();
  job->kind = kind;
  job->work = std::move(work);
  std::future<nlohmann::json> result = job->result.get_future();
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (closed)
      throw HttpError(503, "the run has ended");
    if (waiting.size() >= kMaxJobs)
      throw HttpError(503, "the run is busy");
    waiting.push_back(job);
  }
  if (result.wait_for(std::chrono::seconds(10)) != std::future_status::ready) {
    std::lock_guard<std::mutex> lock(mutex);
    const auto position = std::find(waiting.begin(), waiting.end(), job);
    if (position != waiting.end()) {
      waiting.erase(position);
      throw HttpError(503, "the run is busy");
    }
  }
  return result.get(); // the work has at least begun
}

void TrainingThreadQueue::work(bool idle) {
  while (true) {
    std::shared_ptr<Job> next;
    {
      std::lock_guard<std::mutex> lock(mutex);
      const auto due =
          std::find_if(waiting.begin(), waiting.end(), [&](const auto &job) {
            return job->kind == Kind::Control || mayRead(idle);
          });
      if (due == waiting.end())
        return;
      next = *due;
      waiting.erase(due);
    }
    const Clock::time_point begin = Clock::now();
    try {
      next->result.set_value(next->work());
    } catch (...) {
      next->result.set_exception(std::current_exception());
    }
    if (next->kind == Kind::Read)
      addReadCost(Clock::now() - begin);
  }
}

void TrainingThreadQueue::addReadCost(Clock::duration cost) {
  nextRead = Clock::now() + 100 * cost;
}

void TrainingThreadQueue::close() {
  std::lock_guard<std::mutex> lock(mutex);
  closed = true;
  for (const std::shared_ptr<Job> &job : waiting)
    job->result.set_exception(
        std::make_exception_ptr(HttpError(503, "the run has ended")));
  waiting.clear();
}

} // namespace brew::monitor
