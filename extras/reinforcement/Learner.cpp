//===- Learner.cpp - Trainers of reinforcement learning -------------------===//

#include "extras/reinforcement/Learner.h"

#include "extras/reinforcement/ActorCritic.h"
#include "extras/reinforcement/PolicyGradient.h"
#include "extras/reinforcement/SavedCount.h"
#include "runtime/train/metrics/EpisodeMetrics.h"
#include "support/Error.h"
#include "support/Suggest.h"

#include <algorithm>

namespace brew::reinforcement {
namespace {

bool isActorCritic(const std::string &name) {
  return name == "PPO" || name == "A2C";
}

/// Merges the properties of the solver and the options; sets trainerType.
caffe::TrainerProperties
propertiesOf(const caffe::SolverParameter &solver,
             const LearnerOptions &options,
             const std::function<void(const std::string &)> &warn) {
  caffe::TrainerProperties properties = caffe::parseProperties(
      solver.custom_trainer_properties(), options.properties, warn);
  if (!options.trainer.empty())
    properties.trainerType = options.trainer;
  properties.trainerType = caffe::canonicalTrainerName(properties.trainerType);
  std::string known;
  for (const std::string &name : caffe::trainerNames()) {
    if (properties.trainerType == name) {
      rejectUnusedProperties(properties);
      return properties;
    }
    known += (known.empty() ? "" : ", ") + name;
  }
  const bool isFromSolver =
      options.trainer.empty() && options.properties.empty();
  throw Error(
      isFromSolver && !properties.trainerType.empty() ? ExitStatus::BadInput
                                                      : ExitStatus::Usage,
      properties.trainerType.empty()
          ? "name a trainer (" + known +
                "), or set TrainerType in the solver's "
                "custom_trainer_properties"
          : "there is no trainer '" + properties.trainerType + "'" +
                didYouMean(properties.trainerType, caffe::trainerNames()) +
                " (known: " + known + ")");
}

} // namespace

void Evaluation::add(double reward, std::int64_t steps) {
  minimumReward = episodes ? std::min(minimumReward, reward) : reward;
  maximumReward = episodes ? std::max(maximumReward, reward) : reward;
  ++episodes;
  const auto count = static_cast<double>(episodes);
  meanReward += (reward - meanReward) / count;
  meanSteps += (static_cast<double>(steps) - meanSteps) / count;
}

Learner::Learner(runtime::Trainer &solver, runtime::Session &planSession,
                 LearnerOptions learnerOptions,
                 caffe::TrainerProperties trainerProperties)
    : trainer(solver), session(planSession), options(std::move(learnerOptions)),
      properties(std::move(trainerProperties)),
      log(std::make_unique<EpisodeStatistics>(
          session.events(), properties,
          options.environments.front()->actionCount(),
          trainer.control().pendingSolver().display())) {
  restore();
  if (!options.testEnvironments.empty())
    trainer.setTestFunction([this](int episodes) { return test(episodes); });
}

Learner::~Learner() {
  if (!options.testEnvironments.empty())
    trainer.setTestFunction({});
}

/// Plays the episodes of a test. Returns nullopt after a stop request.
std::optional<std::vector<runtime::OutputValue>> Learner::test(int episodes) {
  const Evaluation evaluation = evaluateEpisodes(episodes);
  if (evaluation.episodes < episodes)
    return {};
  return {{{runtime::kTestReward, evaluation.meanReward, 0},
           {runtime::kTestSteps, evaluation.meanSteps, 0}}};
}

/// Restores the learner's state from the trainer's snapshot.
void Learner::restore() {
  restoredState.clear();
  // The count of the learner's own numbers, then these numbers, then the
  // statistics.
  const std::vector<double> &values = trainer.callerStateOfSnapshot();
  if (values.empty())
    return;
  const std::int64_t ownCount =
      savedCount(values[0], static_cast<std::int64_t>(values.size()) - 1);
  const auto statistics =
      values.begin() + 1 + static_cast<std::ptrdiff_t>(ownCount);
  restoredState.assign(values.begin() + 1, statistics);
  log->restore({statistics, values.end()});
}

void Learner::setSnapshotState(std::vector<double> learnerState) {
  std::vector<double> values = {static_cast<double>(learnerState.size())};
  values.insert(values.end(), learnerState.begin(), learnerState.end());
  const std::vector<double> statistics = log->save();
  values.insert(values.end(), statistics.begin(), statistics.end());
  trainer.setCallerState(std::move(values));
}

/// The scope of one call of train() or evaluate(). Clears a stop request at its
/// end, even if the trainer did not see the request.
struct Learner::Call {
  explicit Call(Learner &called) : learner(called) {
    learner.stopped = false;
    learner.trainer.setCallerHandlesReset(true);
  }
  ~Call() {
    learner.trainer.takeStop();
    learner.trainer.control().takeReset();
    learner.trainer.setCallerHandlesReset(false);
    learner.trainer.leaveRun();
  }
  Learner &learner;
};

void Learner::train(std::int64_t episodes) {
  const caffe::SolverParameter solver = trainer.control().pendingSolver();
  if (episodes <= 0 && solver.max_iter() <= 0)
    throw usageError("set the number of episodes, or the solver's max_iter");
  episodeLimit = episodes > 0 ? log->count() + episodes : 0;
  const Call call(*this);
  trainer.beginRun();
  beginIteration();
  run();
  while (!stopped && trainer.control().takeReset()) {
    trainer.restartRun();
    *log = log->emptyCopy();
    restore();
    lastLoss = 0;
    restart();
    beginIteration();
    run();
  }
  if (stopped)
    trainer.takeStop();
  trainer.endRun();
}

Evaluation Learner::evaluate(std::int64_t episodes) {
  const Call call(*this);
  session.prepare(); // data that inference derives from weights
  return evaluateEpisodes(episodes);
}

bool Learner::shouldEnd() {
  return updatesDone() || (episodeLimit && log->count() >= episodeLimit);
}

bool Learner::updatesDone() { return ended || interrupted(); }

void Learner::reportEpisode(const EpisodeSummary &episode) {
  log->add(episode, trainer.iteration(), lastLoss, trainer.learningRate());
  if (options.episode)
    options.episode(episode, *log);
}

void Learner::afterUpdate() {
  stopped |= trainer.stopped();
  beginIteration();
}

void Learner::beginIteration() {
  ended = interrupted() || !trainer.beginIteration();
  stopped |= trainer.stopped();
}

std::unique_ptr<Learner> makeLearner(runtime::Trainer &trainer,
                                     runtime::Session &session,
                                     LearnerOptions options) {
  const caffe::TrainerProperties properties = propertiesOf(
      trainer.control().pendingSolver(), options, [&](const std::string &text) {
        session.events().warning(log::site::brew, text);
      });
  if (options.environments.empty())
    throw usageError("there is no environment to act in");
  if (!options.testEnvironments.empty() &&
      options.testEnvironments.size() != options.environments.size())
    throw usageError("there must be as many test environments as environments, "
                     "or none");
  std::vector<Environment *> all = options.environments;
  all.insert(all.end(), options.testEnvironments.begin(),
             options.testEnvironments.end());
  for (Environment *environment : all) {
    environment->useDefaultsOf(properties.trainerType);
    const Environment &first = *options.environments.front();
    if (environment->observationCount() != first.observationCount() ||
        environment->actionCount() != first.actionCount())
      throw usageError("the environments have different observations or "
                       "actions");
    if (environment->observationCount() < 1 || environment->actionCount() < 2)
      throw usageError("the environment '" + environment->name() +
                       "' has no observations, or less than two actions");
  }
  if (session.communicator())
    throw usageError("several ranks can only train on data; use PG.MT for "
                     "several agents");
  if (isActorCritic(properties.trainerType))
    return std::make_unique<ActorCritic>(trainer, session, std::move(options),
                                         properties);
  return std::make_unique<PolicyGradient>(trainer, session, std::move(options),
                                          properties);
}

int environmentCount(const runtime::Session &session,
                     const LearnerOptions &options) {
  const caffe::TrainerProperties properties = propertiesOf(
      runtime::solverOf(session.manifest()), options, [](const auto &) {});
  if (properties.trainerType == "PG.MT")
    return properties.threads;
  return isActorCritic(properties.trainerType)
             ? ActorCritic::environmentCount(session)
             : 1;
}

} // namespace brew::reinforcement
