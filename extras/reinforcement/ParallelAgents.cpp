//===- ParallelAgents.cpp - ParallelAgents on threads of their own ------------------------===//

#include "extras/reinforcement/ParallelAgents.h"

#include "extras/reinforcement/Agent.h"
#include "extras/reinforcement/PolicyNetwork.h"
#include "extras/reinforcement/PolicyGradient.h"
#include "plan/Contract.h"
#include "support/Error.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace brew::reinforcement {
namespace {

using Values = std::vector<std::vector<double>>;

Values readAll(const runtime::Session &session,
               const std::vector<runtime::TensorName> &names) {
  Values all;
  for (const runtime::TensorName &name : names) {
    std::int64_t count = 1;
    for (std::int64_t dim : session.find(name).shape)
      count *= dim;
    all.emplace_back(static_cast<std::size_t>(count));
    session.read(name, all.back().data(), count);
  }
  return all;
}

void writeAll(runtime::Session &session,
              const std::vector<runtime::TensorName> &names,
              const Values &values) {
  for (std::size_t i = 0; i < names.size(); ++i)
    session.write(names[i], values[i].data(),
                  static_cast<std::int64_t>(values[i].size()));
}

} // namespace

/// What agents and the thread in train() report each other.
struct ParallelAgents::Board {
  Board(runtime::Session &session, Hooks given)
      : primary(session), hooks(std::move(given)),
        parameters(session.names(runtime::TensorKind::Parameter)),
        gradients(session.names(runtime::TensorKind::ParameterGradient)) {}

  struct Request {
    const Values *gradients;
    double loss;
    Values *weights;
    bool done = false;
  };

  runtime::Session &primary;
  Hooks hooks;
  std::vector<runtime::TensorName> parameters, gradients;

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<EpisodeSummary> ended;
  std::deque<std::string> lines;
  std::deque<Request *> requests;
  std::atomic<bool> cancelled = false;
  std::exception_ptr failure; ///< the first
  std::size_t running = 0;

  template <typename Change> void report(Change &&change) {
    {
      const std::lock_guard lock(mutex);
      change();
    }
    changed.notify_all();
  }
  /// Waits for the update; false if it will not come.
  bool update(Request &request) {
    report([&] { requests.push_back(&request); });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return request.done || cancelled; });
    return request.done;
  }
};

struct ParallelAgents::Worker {
  Worker(Board &toTell, std::shared_ptr<const plan::PlanFile> plan,
         runtime::SessionOptions sessionOptions, const LearnerOptions &options,
         const caffe::Properties &chosen, std::uint64_t seed, int number,
         const std::vector<double> &restored)
      : board(toTell), properties(chosen),
        session(std::move(plan), std::move(sessionOptions)),
        agent(*options.environments[static_cast<std::size_t>(number)], chosen,
              seed, number, options.maxSteps),
        program(session.program(plan::programs::kForwardBackward)) {
    session.setSeed(seed + static_cast<std::uint64_t>(number));
    take(readAll(board.primary, board.parameters));
    const auto &environment = *options.environments.front();
    policy.emplace(session, environment.observationCount(),
                   environment.actionCount());
    passes.emplace(
        session, environment.observationCount(),
        GradientAccumulator::Runner{[this] {
                                 session.feeder(program).feed();
                                 session.run(program, runtime::Pass::Forward);
                               },
                               [this] {
                                 session.run(program, runtime::Pass::Backward);
                                 gather();
                               }});
    agent.restore(restored);
    place = agent.save();
  }

  void take(const Values &weights) {
    reinforcement::writeAll(session, board.parameters, weights);
    session.prepare();
  }
  void gather() {
    Values next = readAll(session, board.gradients);
    for (std::size_t i = 0; i < sums.size(); ++i)
      for (std::size_t j = 0; j < next[i].size(); ++j)
        next[i][j] += sums[i][j];
    sums = std::move(next);
  }
  void play();
  bool learn(std::vector<Trajectory> &cache);
  bool update();

  Board &board;
  const caffe::Properties &properties;
  runtime::Session session;
  Agent agent;
  int program;
  std::optional<Policy> policy;
  std::optional<GradientAccumulator> passes;
  Values sums;
  std::vector<double> place; ///< of the agent, at the last update
  std::int64_t episodes = 0;
  std::thread thread;
};

bool ParallelAgents::Worker::update() {
  passes->flush();
  Values weights;
  Board::Request request{&sums, passes->takeLoss(), &weights};
  {
    const std::lock_guard lock(board.mutex);
    place = agent.save();
  }
  if (!board.update(request))
    return false;
  sums.clear();
  take(weights);
  return true;
}

/// False if training ends.
bool ParallelAgents::Worker::learn(std::vector<Trajectory> &cache) {
  selectElite(cache, properties.episodeElitePercent);
  const bool each = episodes % properties.miniBatch == 0;
  for (std::size_t i = 0; i < cache.size(); ++i) {
    accumulateEpisode(*passes, cache[i], properties);
    if ((each || i + 1 == cache.size()) && !update())
      return false;
  }
  cache.clear();
  return true;
}

void ParallelAgents::Worker::play() {
  std::vector<Trajectory> cache;
  while (!board.cancelled) {
    Trajectory trajectory = agent.play(
        [this](const std::vector<float> &state) {
          return policy->probabilities(state);
        },
        [this] { return board.cancelled.load(); },
        [this](const std::string &line) {
          board.report([&] { board.lines.push_back(line); });
        });
    if (trajectory.steps.empty())
      return;
    ++episodes;
    const EpisodeSummary end = trajectory.end;
    cache.push_back(std::move(trajectory));
    board.report([&] { board.ended.push_back(end); });
    if (static_cast<int>(cache.size()) >= properties.episodeBatchSize &&
        !learn(cache))
      return;
  }
}

ParallelAgents::ParallelAgents(runtime::Session &primary, const LearnerOptions &options,
               const caffe::Properties &properties,
               const std::vector<double> &restored, Hooks hooks)
    : board(std::make_unique<Board>(primary, std::move(hooks))) {
  const std::size_t size =
      restored.size() / static_cast<std::size_t>(properties.threads);
  // The plan is the primary session's, which outlives the agents.
  const std::shared_ptr<const plan::PlanFile> plan(
      std::shared_ptr<const plan::PlanFile>(), &primary.plan());
  for (int i = 0; i < properties.threads; ++i) {
    runtime::SessionOptions own;
    own.device = primary.deviceOptions();
    own.device.threads = 1;
    own.device.pool = nullptr; // each agent has a thread of its own
    own.device.tune = false;
    own.device.timingCache.clear();
    if (!properties.gpuIds.empty())
      own.device.gpu =
          properties
              .gpuIds[static_cast<std::size_t>(i) % properties.gpuIds.size()];
    own.folder = primary.folder();
    const auto begin =
        restored.begin() +
        static_cast<std::ptrdiff_t>(size * static_cast<std::size_t>(i));
    workers.push_back(std::make_unique<Worker>(
        *board, plan, own, options, properties, primary.seed(), i,
        std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(size))));
  }
}

ParallelAgents::~ParallelAgents() {
  board->report([&] { board->cancelled = true; });
  for (const auto &worker : workers)
    if (worker->thread.joinable())
      worker->thread.join();
}

void ParallelAgents::run() {
  board->running = workers.size();
  for (const auto &worker : workers)
    worker->thread = std::thread([this, it = worker.get()] {
      std::exception_ptr thrown;
      try {
        it->play();
      } catch (...) {
        thrown = std::current_exception();
      }
      board->report([&] {
        if (thrown && !board->failure)
          board->failure = thrown;
        --board->running;
      });
    });
  while (!board->hooks.ends()) {
    std::unique_lock lock(board->mutex);
    const auto hasNews = [this] {
      return !board->ended.empty() || !board->requests.empty() ||
             !board->lines.empty() || board->failure || !board->running;
    };
    // A stop comes from elsewhere: it is looked for now and then.
    if (!board->changed.wait_for(lock, std::chrono::milliseconds(50), hasNews))
      continue;
    if (board->failure)
      std::rethrow_exception(board->failure);
    if (!board->running)
      return;
    if (!board->lines.empty()) {
      const std::string line = std::move(board->lines.front());
      board->lines.pop_front();
      lock.unlock();
      board->primary.events().info(log::site::brew, line);
      continue;
    }
    // The episodes that an update is of are told before it.
    if (!board->ended.empty()) {
      const EpisodeSummary episode = board->ended.front();
      board->ended.pop_front();
      lock.unlock();
      board->hooks.episode(episode);
      continue;
    }
    Board::Request &request = *board->requests.front();
    board->requests.pop_front();
    std::vector<double> places;
    for (const auto &worker : workers)
      places.insert(places.end(), worker->place.begin(), worker->place.end());
    lock.unlock();
    reinforcement::writeAll(board->primary, board->gradients,
                            *request.gradients);
    board->hooks.update(request.loss, places);
    *request.weights = readAll(board->primary, board->parameters);
    board->report([&] { request.done = true; });
  }
}

} // namespace brew::reinforcement
