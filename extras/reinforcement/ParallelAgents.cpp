//===- ParallelAgents.cpp - Agents on separate threads --------------------===//

#include "extras/reinforcement/ParallelAgents.h"

#include "extras/reinforcement/Agent.h"
#include "extras/reinforcement/PolicyGradient.h"
#include "extras/reinforcement/PolicyNetwork.h"
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
  Values values;
  for (const runtime::TensorName &name : names) {
    std::int64_t count = 1;
    for (std::int64_t dim : session.find(name).shape)
      count *= dim;
    values.emplace_back(static_cast<std::size_t>(count));
    session.read(name, values.back().data(), count);
  }
  return values;
}

void writeAll(runtime::Session &session,
              const std::vector<runtime::TensorName> &names,
              const Values &values) {
  for (std::size_t i = 0; i < names.size(); ++i)
    session.write(names[i], values[i].data(),
                  static_cast<std::int64_t>(values[i].size()));
}

} // namespace

/// State shared by the agents and the thread that is in train().
struct ParallelAgents::SharedState {
  SharedState(runtime::Session &session, Hooks callerHooks)
      : primary(session), hooks(std::move(callerHooks)),
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
  std::deque<EpisodeSummary> endedEpisodes;
  std::deque<std::string> lines;
  std::deque<Request *> requests;
  std::atomic<bool> cancelled = false;
  std::exception_ptr failure; ///< of the first agent that failed
  std::size_t running = 0;

  template <typename Change> void notify(Change &&change) {
    {
      const std::lock_guard lock(mutex);
      change();
    }
    changed.notify_all();
  }
  /// Waits for the update. Returns false if training ends before it.
  bool update(Request &request) {
    notify([&] { requests.push_back(&request); });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return request.done || cancelled; });
    return request.done;
  }
};

/// An agent with its session and thread.
struct ParallelAgents::Worker {
  Worker(SharedState &state, std::shared_ptr<const plan::PlanFile> plan,
         runtime::SessionOptions sessionOptions, const LearnerOptions &options,
         const caffe::TrainerProperties &trainerProperties, std::uint64_t seed,
         int number, const std::vector<double> &restored)
      : shared(state), properties(trainerProperties),
        session(std::move(plan), std::move(sessionOptions)),
        agent(*options.environments[static_cast<std::size_t>(number)],
              trainerProperties, seed, number, options.maxSteps),
        program(session.program(plan::programs::kForwardBackward)) {
    session.setSeed(
        session.rankSeed(seed + static_cast<std::uint64_t>(number)));
    setWeights(readAll(shared.primary, shared.parameters));
    const auto &environment = *options.environments.front();
    policy.emplace(session, environment.observationCount(),
                   environment.actionCount());
    accumulator.emplace(session, environment.observationCount(),
                        GradientAccumulator::Runner{
                            [this] {
                              session.inputs(program).feed();
                              session.run(program, runtime::Pass::Forward);
                            },
                            [this] {
                              session.run(program, runtime::Pass::Backward);
                              addGradients();
                            }});
    agent.restore(restored);
    savedState = agent.save();
  }

  void setWeights(const Values &weights) {
    reinforcement::writeAll(session, shared.parameters, weights);
    session.prepare();
  }
  void addGradients() {
    Values next = readAll(session, shared.gradients);
    for (std::size_t i = 0; i < sums.size(); ++i)
      for (std::size_t j = 0; j < next[i].size(); ++j)
        next[i][j] += sums[i][j];
    sums = std::move(next);
  }
  void play();
  bool learn(std::vector<Trajectory> &cache);
  bool update();

  SharedState &shared;
  const caffe::TrainerProperties &properties;
  runtime::Session session;
  Agent agent;
  int program;
  std::optional<Policy> policy;
  std::optional<GradientAccumulator> accumulator;
  Values sums;
  std::vector<double> savedState; ///< the agent's state at the last update
  std::int64_t episodes = 0;
  std::thread thread;
};

bool ParallelAgents::Worker::update() {
  accumulator->flush();
  Values weights;
  SharedState::Request request{&sums, accumulator->takeLoss(), &weights};
  {
    const std::lock_guard lock(shared.mutex);
    savedState = agent.save();
  }
  if (!shared.update(request))
    return false;
  sums.clear();
  setWeights(weights);
  return true;
}

/// Accumulates the gradients of the cached episodes, updates, and clears the
/// cache. Returns false if training ends.
bool ParallelAgents::Worker::learn(std::vector<Trajectory> &cache) {
  selectElite(cache, properties.episodeElitePercent);
  const bool updatesAfterEachEpisode = episodes % properties.miniBatch == 0;
  for (std::size_t i = 0; i < cache.size(); ++i) {
    accumulateEpisode(*accumulator, cache[i], properties);
    if ((updatesAfterEachEpisode || i + 1 == cache.size()) && !update())
      return false;
  }
  cache.clear();
  return true;
}

void ParallelAgents::Worker::play() {
  std::vector<Trajectory> cache;
  while (!shared.cancelled) {
    Trajectory trajectory = agent.play(
        [this](const std::vector<float> &state) {
          return policy->probabilities(state);
        },
        [this] { return shared.cancelled.load(); },
        [this](const std::string &line) {
          shared.notify([&] { shared.lines.push_back(line); });
        });
    if (trajectory.steps.empty())
      return;
    ++episodes;
    const EpisodeSummary end = trajectory.end;
    cache.push_back(std::move(trajectory));
    shared.notify([&] { shared.endedEpisodes.push_back(end); });
    if (static_cast<int>(cache.size()) >= properties.episodeBatchSize &&
        !learn(cache))
      return;
  }
}

ParallelAgents::ParallelAgents(runtime::Session &primary,
                               const LearnerOptions &options,
                               const caffe::TrainerProperties &properties,
                               const std::vector<double> &restored, Hooks hooks)
    : shared(std::make_unique<SharedState>(primary, std::move(hooks))) {
  const std::size_t size =
      restored.size() / static_cast<std::size_t>(properties.threads);
  // The primary session owns the plan and outlives the agents.
  const std::shared_ptr<const plan::PlanFile> plan(
      std::shared_ptr<const plan::PlanFile>(), &primary.plan());
  for (int i = 0; i < properties.threads; ++i) {
    runtime::SessionOptions workerOptions;
    workerOptions.device = primary.deviceOptions();
    workerOptions.device.threads = 1;
    workerOptions.device.pool = nullptr; // each agent has its own thread
    workerOptions.device.tune = false;
    workerOptions.device.timingCache.clear();
    if (!properties.gpuIds.empty())
      workerOptions.device.gpu =
          properties
              .gpuIds[static_cast<std::size_t>(i) % properties.gpuIds.size()];
    workerOptions.folder = primary.folder();
    const auto begin =
        restored.begin() +
        static_cast<std::ptrdiff_t>(size * static_cast<std::size_t>(i));
    workers.push_back(std::make_unique<Worker>(
        *shared, plan, workerOptions, options, properties, primary.seed(), i,
        std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(size))));
  }
}

ParallelAgents::~ParallelAgents() {
  shared->notify([&] { shared->cancelled = true; });
  for (const auto &worker : workers)
    if (worker->thread.joinable())
      worker->thread.join();
}

void ParallelAgents::run() {
  shared->running = workers.size();
  for (const auto &worker : workers)
    worker->thread = std::thread([this, agentWorker = worker.get()] {
      std::exception_ptr thrown;
      try {
        agentWorker->play();
      } catch (...) {
        thrown = std::current_exception();
      }
      shared->notify([&] {
        if (thrown && !shared->failure)
          shared->failure = thrown;
        --shared->running;
      });
    });
  while (!shared->hooks.shouldEnd()) {
    std::unique_lock lock(shared->mutex);
    const auto hasNews = [this] {
      return !shared->endedEpisodes.empty() || !shared->requests.empty() ||
             !shared->lines.empty() || shared->failure || !shared->running;
    };
    // No notification announces a stop request, so poll for it.
    if (!shared->changed.wait_for(lock, std::chrono::milliseconds(50), hasNews))
      continue;
    if (shared->failure)
      std::rethrow_exception(shared->failure);
    if (!shared->running)
      return;
    if (!shared->lines.empty()) {
      const std::string line = std::move(shared->lines.front());
      shared->lines.pop_front();
      lock.unlock();
      shared->primary.events().info(log::site::brew, line);
      continue;
    }
    // Report episodes before the update that they contribute to.
    if (!shared->endedEpisodes.empty()) {
      const EpisodeSummary episode = shared->endedEpisodes.front();
      shared->endedEpisodes.pop_front();
      lock.unlock();
      shared->hooks.episode(episode);
      continue;
    }
    SharedState::Request &request = *shared->requests.front();
    shared->requests.pop_front();
    std::vector<double> savedStates;
    for (const auto &worker : workers)
      savedStates.insert(savedStates.end(), worker->savedState.begin(),
                         worker->savedState.end());
    lock.unlock();
    reinforcement::writeAll(shared->primary, shared->gradients,
                            *request.gradients);
    shared->hooks.update(request.loss, savedStates);
    *request.weights = readAll(shared->primary, shared->parameters);
    shared->notify([&] { request.done = true; });
  }
}

} // namespace brew::reinforcement
