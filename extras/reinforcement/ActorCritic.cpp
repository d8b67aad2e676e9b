//===- ActorCritic.cpp - PPO and advantage actor-critic -------------------===//

#include "extras/reinforcement/ActorCritic.h"

#include "extras/reinforcement/Returns.h"
#include "extras/reinforcement/SavedCount.h"
#include "plan/Contract.h"
#include "support/Error.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace brew::reinforcement {
namespace {

// Inputs of the training net beside its observations.
constexpr char kAction[] = "action";       // one-hot
constexpr char kAdvantage[] = "advantage"; // of the action
constexpr char kReturn[] = "return";       // of the state
constexpr char kOldLogProbability[] =
    "log_chance"; // log probability when acting

struct Defaults {
  const char *trainer;
  int steps, epochs;
};
constexpr Defaults kDefaults[] = {{"PPO", 128, 4}, {"A2C", 16, 1}};

const Defaults &defaultsOf(const std::string &trainer) {
  return kDefaults[trainer == kDefaults[0].trainer ? 0 : 1];
}

std::int64_t countElements(const plan::Buffer &buffer) {
  std::int64_t count = 1;
  for (std::int64_t dim : buffer.dims())
    count *= dim;
  return count;
}

const plan::Program *testProgram(const runtime::Session &session) {
  for (const plan::Program &program : session.manifest().programs())
    if (program.name() == plan::programs::testName(0))
      return &program;
  return nullptr;
}

} // namespace

struct ActorCritic::Rollout {
  std::vector<float> states;
  std::vector<int> actions;
  std::vector<double> logProbabilities, advantages, returns;
  std::vector<Segment> segments; ///< of each actor
};

int ActorCritic::environmentCount(const runtime::Session &session) {
  const plan::Program *program = testProgram(session);
  if (!program || program->data_inputs_size() == 0 ||
      program->data_inputs(0).buffer_indices_size() == 0)
    throw badInput("PPO and A2C choose actions with the test net, but the plan "
                   "has no test net with an input");
  const plan::Buffer &input = session.manifest().buffers(
      static_cast<int>(program->data_inputs(0).buffer_indices(0)));
  return input.dims_size() ? static_cast<int>(input.dims(0)) : 1;
}

ActorCritic::ActorCritic(runtime::Trainer &solver,
                         runtime::Session &planSession,
                         LearnerOptions learnerOptions,
                         caffe::TrainerProperties trainerProperties)
    : Learner(solver, planSession, std::move(learnerOptions),
              std::move(trainerProperties)),
      inference(session, options.environments.front()->observationCount()),
      program(session.program(plan::programs::kForwardBackward)),
      observationCount(options.environments.front()->observationCount()),
      steps(properties.steps ? properties.steps
                             : defaultsOf(properties.trainerType).steps),
      epochs(properties.epochs ? properties.epochs
                               : defaultsOf(properties.trainerType).epochs),
      starts(session.seed(), "episodes of actors"),
      draws(session.seed(), "actions of actors"),
      orders(session.seed(), "order of steps") {
  if (!inference.isTest())
    throw badInput(properties.trainerType +
                   " chooses actions with the test net, but the plan has no "
                   "test net");
  const auto rows = static_cast<std::size_t>(inference.rows());
  if (options.environments.size() != rows)
    throw usageError(properties.trainerType +
                     " takes one environment for each "
                     "row of the test net: " +
                     std::to_string(rows) + ", not " +
                     std::to_string(options.environments.size()));
  findBlobs();
  const std::int64_t rolloutRows = steps * inference.rows();
  if (rolloutRows % batch)
    throw usageError(
        "Steps=" + std::to_string(steps) + " of " + std::to_string(rows) +
        " environments are " + std::to_string(rolloutRows) +
        " rows, which is not a multiple of "
        "the " +
        std::to_string(batch) + " that the training net takes at once");
  states.resize(rows * static_cast<std::size_t>(observationCount));
  for (Environment *environment : options.environments)
    actors.push_back({environment, {}, 0, 0});
  for (std::size_t i = 0; i < actors.size(); ++i)
    actors[i].end.agent = static_cast<int>(i);
  restoreState();
}

/// Restores the counts of a snapshot. Episodes that were in progress start
/// over.
void ActorCritic::restoreState() {
  if (restoredState.size() != actors.size() + 2)
    return;
  drawCount = static_cast<std::uint64_t>(savedCount(restoredState[0]));
  orderCount = static_cast<std::uint64_t>(savedCount(restoredState[1]));
  for (std::size_t i = 0; i < actors.size(); ++i)
    actors[i].episodes = savedCount(restoredState[i + 2]);
}

void ActorCritic::restart() {
  drawCount = orderCount = 0;
  for (Actor &actor : actors)
    actor.episodes = 0;
  restoreState();
}

void ActorCritic::findBlobs() {
  const int actions = options.environments.front()->actionCount();
  const plan::Program &test = session.manifest().programs(inference.program());
  for (const plan::Output &output : test.outputs()) {
    const auto count = static_cast<std::int64_t>(
        inference.rows() ? countElements(session.manifest().buffers(
                               static_cast<int>(output.buffer_index()))) /
                               inference.rows()
                         : 0);
    if (count == 1 && value.empty())
      value = output.blob();
    else if (count == actions && logits.empty())
      logits = output.blob();
  }
  actionCount = actions;
  if (logits.empty() || value.empty())
    throw badInput("the test net's outputs must be " + std::to_string(actions) +
                   " logits and one value for each state");
  runtime::DataPipeline &pipeline = session.dataPipeline(program);
  const plan::Buffer *input = pipeline.find(inference.input());
  if (!input || input->dims_size() == 0)
    throw badInput("the training net has no input '" + inference.input() +
                   "', which the test net reads observations from");
  batch = input->dims(0);
  auto require = [&](const char *name, std::int64_t count) {
    const plan::Buffer *buffer = pipeline.find(name);
    if (!buffer || countElements(*buffer) != count)
      throw badInput("the training net needs an input '" + std::string(name) +
                     "' of " + std::to_string(count) + " numbers");
  };
  require(kAction, batch * actions);
  require(kAdvantage, batch);
  require(kReturn, batch);
  usesOldProbability = pipeline.find(kOldLogProbability) != nullptr;
  if (usesOldProbability || properties.trainerType == "PPO")
    require(kOldLogProbability, batch);
}

std::vector<double> ActorCritic::saveState() const {
  std::vector<double> values = {static_cast<double>(drawCount),
                                static_cast<double>(orderCount)};
  for (const Actor &actor : actors)
    values.push_back(static_cast<double>(actor.episodes));
  return values;
}

//===----------------------------------------------------------------------===//
// Acting
//===----------------------------------------------------------------------===//

void ActorCritic::beginEpisode(std::size_t index) {
  Actor &actor = actors[index];
  const std::uint64_t number =
      static_cast<std::uint64_t>(actor.episodes) * actors.size() + index;
  actor.environment->reset(
      starts.block(number)[0] >> 1,
      states.data() + index * static_cast<std::size_t>(observationCount));
  actor.end = {static_cast<int>(index), 0, 0, 0};
  actor.entropySum = 0;
}

/// Computes the logits and values of one observation for each actor.
void ActorCritic::evaluatePolicy(const std::vector<float> &observations) {
  inference.run(observations);
  logitRows = inference.read(logits);
  valueRows = inference.read(value);
  for (const auto *rows : {&logitRows, &valueRows})
    for (float number : *rows)
      if (!std::isfinite(number))
        throw badInput("the net has diverged: its outputs are not finite; a "
                       "smaller base_lr may help");
}

Distribution ActorCritic::probabilitiesOf(std::size_t actor) const {
  return distributionOf(logitRows.data() +
                            actor * static_cast<std::size_t>(actionCount),
                        actionCount);
}

/// Performs one step of all actors.
void ActorCritic::act(Rollout &rollout, std::int64_t step) {
  const auto size = static_cast<std::size_t>(observationCount);
  // The values of truncated episodes' last states are computed together, below.
  std::vector<std::size_t> truncatedActors;
  std::vector<float> lastStates(states.size());
  for (std::size_t i = 0; i < actors.size(); ++i) {
    Actor &actor = actors[i];
    const std::size_t row = static_cast<std::size_t>(step) * actors.size() + i;
    float *state = states.data() + i * size;
    std::copy(state, state + size,
              rollout.states.begin() + static_cast<std::ptrdiff_t>(row * size));
    const Distribution probabilities = probabilitiesOf(i);
    const int action =
        sample(probabilities, draws.uniform(drawCount * actors.size() + i));
    rollout.actions[row] = action;
    rollout.logProbabilities[row] = std::log(
        std::max(probabilities[static_cast<std::size_t>(action)], 1e-300));
    const StepResult outcome = actor.environment->step(action, state);
    actor.end.reward += outcome.reward;
    ++actor.end.steps;
    actor.entropySum += entropyOf(probabilities);
    const bool isTruncated =
        !outcome.terminated &&
        (outcome.truncated ||
         (options.maxSteps && actor.end.steps >= options.maxSteps));
    Segment &segment = rollout.segments[i];
    segment.rewards.push_back(outcome.reward);
    segment.values.push_back(double(valueRows[i]));
    segment.ended.push_back(outcome.terminated || isTruncated);
    segment.next.push_back(0);
    if (isTruncated) {
      truncatedActors.push_back(i);
      std::copy(state, state + size,
                lastStates.begin() + static_cast<std::ptrdiff_t>(i * size));
    }
    if (!outcome.terminated && !isTruncated)
      continue;
    actor.end.entropy = actor.entropySum / static_cast<double>(actor.end.steps);
    const EpisodeSummary end = actor.end;
    ++actor.episodes;
    beginEpisode(i);
    reportEpisode(end);
  }
  ++drawCount;
  if (!truncatedActors.empty()) {
    inference.run(lastStates);
    const std::vector<float> values = inference.read(value);
    for (std::size_t i : truncatedActors)
      rollout.segments[i].next.back() = double(values[i]);
  }
  evaluatePolicy(states);
  for (std::size_t i = 0; i < actors.size(); ++i)
    if (!rollout.segments[i].ended.back())
      rollout.segments[i].next.back() = double(valueRows[i]);
}

void ActorCritic::run() {
  for (std::size_t i = 0; i < actors.size(); ++i)
    beginEpisode(i);
  const std::size_t rows = static_cast<std::size_t>(steps) * actors.size();
  session.prepare();
  evaluatePolicy(states);
  while (!shouldEnd()) {
    Rollout rollout;
    rollout.states.resize(rows * static_cast<std::size_t>(observationCount));
    rollout.actions.resize(rows);
    rollout.logProbabilities.resize(rows);
    rollout.advantages.resize(rows);
    rollout.returns.resize(rows);
    rollout.segments.resize(actors.size());
    for (std::int64_t step = 0; step < steps; ++step) {
      if (interrupted())
        return;
      act(rollout, step);
    }
    for (std::size_t i = 0; i < actors.size(); ++i) {
      const Segment &segment = rollout.segments[i];
      const std::vector<double> rowAdvantages =
          computeAdvantages(segment, properties.gamma, properties.lambda);
      for (std::size_t t = 0; t < rowAdvantages.size(); ++t) {
        const std::size_t row = t * actors.size() + i;
        rollout.advantages[row] = rowAdvantages[t];
        rollout.returns[row] = rowAdvantages[t] + segment.values[t];
      }
    }
    learn(rollout);
    session.prepare();
    evaluatePolicy(states);
  }
}

//===----------------------------------------------------------------------===//
// Learning
//===----------------------------------------------------------------------===//

void ActorCritic::feed(const Rollout &rollout,
                       const std::vector<std::size_t> &rows) {
  const auto size = static_cast<std::size_t>(observationCount);
  const auto actions = static_cast<std::size_t>(actionCount);
  std::vector<float> observations, oneHotActions(rows.size() * actions),
      oldLogProbabilities, returns;
  std::vector<double> rowAdvantages;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t row = rows[i];
    const auto begin =
        rollout.states.begin() + static_cast<std::ptrdiff_t>(row * size);
    observations.insert(observations.end(), begin,
                        begin + static_cast<std::ptrdiff_t>(size));
    oneHotActions[i * actions +
                  static_cast<std::size_t>(rollout.actions[row])] = 1;
    oldLogProbabilities.push_back(
        static_cast<float>(rollout.logProbabilities[row]));
    returns.push_back(static_cast<float>(rollout.returns[row]));
    rowAdvantages.push_back(rollout.advantages[row]);
  }
  if (properties.standardizeAdvantage)
    standardise(rowAdvantages);
  runtime::DataPipeline &pipeline = session.dataPipeline(program);
  auto set = [&](const std::string &name, const auto &values) {
    pipeline.set(name, values.data(), static_cast<std::int64_t>(values.size()));
  };
  set(inference.input(), observations);
  set(kAction, oneHotActions);
  set(kAdvantage, rowAdvantages);
  set(kReturn, returns);
  if (usesOldProbability)
    set(kOldLogProbability, oldLogProbabilities);
}

void ActorCritic::learn(const Rollout &rollout) {
  std::vector<std::size_t> order(rollout.actions.size());
  std::iota(order.begin(), order.end(), 0);
  const auto size = static_cast<std::size_t>(batch);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[orders.below(orderCount++, i)]);
    for (std::size_t from = 0; from < order.size(); from += size) {
      // Ignore the limit of episodes here, so that training also uses the last
      // rollout.
      if (updatesDone())
        return;
      const auto begin = order.begin() + static_cast<std::ptrdiff_t>(from);
      feed(rollout, {begin, begin + static_cast<std::ptrdiff_t>(size)});
      setSnapshotState(saveState());
      trainer.iterate();
      lastLoss = trainer.smoothedLoss();
      afterUpdate();
    }
  }
}

Evaluation ActorCritic::evaluateEpisodes(std::int64_t count) {
  // All environments play; only the first `count` episodes are evaluated.
  const std::vector<Environment *> &environments = evaluationEnvironments();
  std::vector<float> observations(states.size());
  const caffe::RandomStream seeds(session.seed(), "judged episodes"),
      actionDraws(session.seed(), "judged actions");
  const auto size = static_cast<std::size_t>(observationCount);
  std::vector<std::int64_t> episodeOf(actors.size(), -1); ///< episode; -1: idle
  std::vector<double> rewards(actors.size());
  std::vector<std::int64_t> lengths(actors.size());
  std::int64_t begunCount = 0;
  Evaluation evaluation;
  auto start = [&](std::size_t i) {
    episodeOf[i] = begunCount < count ? begunCount : -1;
    if (episodeOf[i] < 0)
      return;
    rewards[i] = 0;
    lengths[i] = 0;
    environments[i]->reset(
        seeds.block(static_cast<std::uint64_t>(begunCount++))[0] >> 1,
        observations.data() + i * size);
  };
  for (std::size_t i = 0; i < actors.size(); ++i)
    start(i);
  for (std::uint64_t step = 0;
       evaluation.episodes < count && !isStopRequested(); ++step) {
    evaluatePolicy(observations);
    for (std::size_t i = 0; i < actors.size(); ++i) {
      if (episodeOf[i] < 0)
        continue;
      const StepResult outcome = environments[i]->step(
          sample(probabilitiesOf(i),
                 actionDraws.uniform(step * actors.size() + i)),
          observations.data() + i * size);
      rewards[i] += outcome.reward;
      ++lengths[i];
      if (!outcome.ended() &&
          !(options.maxSteps && lengths[i] >= options.maxSteps))
        continue;
      evaluation.add(rewards[i], lengths[i]);
      start(i);
    }
  }
  return evaluation;
}

} // namespace brew::reinforcement
