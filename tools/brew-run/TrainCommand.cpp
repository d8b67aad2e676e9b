//===- TrainCommand.cpp - brew-run train ----------------------------------===//

#include "Session.h"

#include "formats/Error.h"
#include "runtime/log/Log.h"
#include "runtime/train/Trainer.h"

#include <limits>
#include <memory>
#include <optional>

namespace brew::run {
namespace {

struct Options {
  PlanOptions plan;
  std::vector<std::string> weights;
  std::string snapshot;
  std::optional<double> lossScale;
  std::string onInterrupt = "stop";
  std::string onHangUp = "snapshot";

  // Solver fields that the command line changes.
  std::optional<float> baseRate, momentum, momentum2, delta, rmsDecay,
      weightDecay, gamma, power, clip;
  std::optional<int> maxIter, stepSize, display, snapshotInterval, testInterval,
      averageLoss, iterSize;
  std::vector<int> stepValues, testIterations;
  std::optional<std::string> ratePolicy, snapshotPrefix;
  std::optional<long long> randomSeed;
  std::optional<bool> testInitialization, snapshotAfterTrain;
};

void addSolverOptions(CLI::App &command, Options &options) {
  const std::string group = "Solver fields (instead of the solver's own)";
  auto add = [&](const char *name, auto &target, const char *description) {
    return command.add_option(name, target, description)->group(group);
  };
  add("--base-lr", options.baseRate, "Learning rate to begin with");
  add("--lr-policy", options.ratePolicy,
      "fixed, step, exp, inv, multistep, poly or sigmoid");
  add("--gamma", options.gamma, "Parameter of the policy");
  add("--power", options.power, "Parameter of the policy");
  add("--stepsize", options.stepSize, "Parameter of the policy");
  add("--stepvalue", options.stepValues, "Steps of the policy multistep")
      ->delimiter(',');
  add("--momentum", options.momentum, "Momentum");
  add("--momentum2", options.momentum2, "Adam's decay of the second moment");
  add("--delta", options.delta,
      "Added to denominators (AdaGrad, RMSProp, AdaDelta, Adam)");
  add("--rms-decay", options.rmsDecay, "RMSProp's decay of the mean square");
  add("--weight-decay", options.weightDecay, "Weight decay");
  add("--clip-gradients", options.clip,
      "Largest L2 norm of the gradients (negative: any)");
  add("--iter-size", options.iterSize, "Batches per update");
  add("--max-iter", options.maxIter, "Iterations to train to");
  add("--display", options.display, "Iterations between displays (0: none)");
  add("--average-loss", options.averageLoss,
      "Iterations the displayed loss is averaged over");
  add("--test-interval", options.testInterval,
      "Iterations between tests (0: none)");
  add("--test-iter", options.testIterations, "Batches of each test net")
      ->delimiter(',');
  add("--test-initialization", options.testInitialization,
      "Whether to test before the first iteration");
  add("--snapshot-interval", options.snapshotInterval,
      "Iterations between snapshots (0: none)");
  add("--snapshot-prefix", options.snapshotPrefix,
      "Beginning of the names of snapshots");
  add("--snapshot-after-train", options.snapshotAfterTrain,
      "Whether to snapshot at the end");
  add("--random-seed", options.randomSeed,
      "Seed of fillers, shuffling and transformations (negative: a fresh one)");
}

void applyOverrides(const Options &options, caffe::SolverParameter &solver) {
  if (options.baseRate)
    solver.set_base_lr(*options.baseRate);
  if (options.ratePolicy)
    solver.set_lr_policy(*options.ratePolicy);
  if (options.gamma)
    solver.set_gamma(*options.gamma);
  if (options.power)
    solver.set_power(*options.power);
  if (options.stepSize)
    solver.set_stepsize(*options.stepSize);
  if (!options.stepValues.empty())
    *solver.mutable_stepvalue() = {options.stepValues.begin(),
                                   options.stepValues.end()};
  if (options.momentum)
    solver.set_momentum(*options.momentum);
  if (options.momentum2)
    solver.set_momentum2(*options.momentum2);
  if (options.delta)
    solver.set_delta(*options.delta);
  if (options.rmsDecay)
    solver.set_rms_decay(*options.rmsDecay);
  if (options.weightDecay)
    solver.set_weight_decay(*options.weightDecay);
  if (options.clip)
    solver.set_clip_gradients(*options.clip);
  if (options.iterSize)
    solver.set_iter_size(*options.iterSize);
  if (options.maxIter)
    solver.set_max_iter(*options.maxIter);
  if (options.display)
    solver.set_display(*options.display);
  if (options.averageLoss)
    solver.set_average_loss(*options.averageLoss);
  if (options.testInterval)
    solver.set_test_interval(*options.testInterval);
  if (!options.testIterations.empty())
    *solver.mutable_test_iter() = {options.testIterations.begin(),
                                   options.testIterations.end()};
  if (options.testInitialization)
    solver.set_test_initialization(*options.testInitialization);
  if (options.snapshotInterval)
    solver.set_snapshot(*options.snapshotInterval);
  if (options.snapshotPrefix)
    solver.set_snapshot_prefix(*options.snapshotPrefix);
  if (options.snapshotAfterTrain)
    solver.set_snapshot_after_train(*options.snapshotAfterTrain);
  if (options.randomSeed)
    solver.set_random_seed(*options.randomSeed);
}

int train(const Options &options) {
  if (!options.snapshot.empty() && !options.weights.empty())
    throw Error(ExitStatus::Usage,
                "give a snapshot to resume training or weights to finetune, "
                "but not both");
  const runtime::SolverAction onInterrupt =
      runtime::parseSolverAction(options.onInterrupt, "--sigint-effect");
  const runtime::SolverAction onHangUp =
      runtime::parseSolverAction(options.onHangUp, "--sighup-effect");

  Session session(options.plan);
  if (session.onGpu()) {
    const std::string number = std::to_string(session.gpu);
    log::info(log::site::useGpus, "Using GPUs " + number);
    log::info(log::site::gpuName,
              "GPU " + number + ": " + session.executor.description());
  } else {
    log::info(log::site::useCpu, "Use CPU.");
  }

  runtime::TrainerOptions trainerOptions;
  trainerOptions.solver = runtime::solverOf(session.manifest());
  applyOverrides(options, trainerOptions.solver);
  trainerOptions.planPath = options.plan.plan;
  trainerOptions.weights = options.weights;
  trainerOptions.snapshot = options.snapshot;
  trainerOptions.lossScale = options.lossScale;

  runtime::SignalActions signals(onInterrupt, onHangUp);
  runtime::Trainer trainer(session.executor, std::move(trainerOptions));
  trainer.setActionSource([&signals] { return signals.takeRequest(); });
  log::info(log::site::startOptimization, "Starting Optimization");
  trainer.solve();
  log::info(log::site::trainDone, "Optimization Done.");
  return 0;
}

} // namespace

void addTrain(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "train", "Train a net, from fillers, weights or a snapshot");
  addPlanOptions(*command, options->plan);
  command->add_option("--weights", options->weights,
                      "Weights to start from (files separated by commas)");
  command->add_option("--snapshot", options->snapshot,
                      "Solver state to resume from");
  command->add_option("--loss-scale", options->lossScale,
                      "f16: what losses are multiplied by at first, instead of "
                      "the plan's or the snapshot's scale");
  command->add_option("--sigint-effect", options->onInterrupt,
                      "What SIGINT does: stop, snapshot or none");
  command->add_option("--sighup-effect", options->onHangUp,
                      "What SIGHUP does: stop, snapshot or none");
  addSolverOptions(*command, *options);
  command->callback(
      [options, &action] { action = [options] { return train(*options); }; });
}

} // namespace brew::run
