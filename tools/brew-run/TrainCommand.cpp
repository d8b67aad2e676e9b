//===- TrainCommand.cpp - brew-run train ----------------------------------===//

#include "Log.h"
#include "Session.h"
#include "SignalActions.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

namespace brew::run {
namespace {

struct TrainOptions {
  PlanOptions plan;
  std::vector<std::string> weights;
  std::string snapshot;
  std::optional<double> lossScale;
  bool resume = false;
  int keepSnapshots = 0;
  std::string snapshotBest;
  bool checkNan = false;
  std::vector<std::string> stopWhen;
  std::string patience, logFolder;
  std::string onInterrupt = "stop";
  std::string onHangUp = "snapshot";

  /// Solver fields that the command line changes, with their values.
  std::vector<std::pair<std::string, std::string>> fields;
};

std::string textOf(const std::string &value) { return value; }
std::string textOf(bool value) { return value ? "true" : "false"; }
std::string textOf(int value) { return std::to_string(value); }
std::string textOf(long long value) { return std::to_string(value); }
std::string textOf(float value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", double(value));
  return text;
}
std::string textOf(const std::vector<int> &values) {
  std::string text;
  for (int value : values)
    text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

/// One flag for each field.
void addSolverOptions(CLI::App &command, TrainOptions &options) {
  for (const brew_solver_field &field : api::solverFields()) {
    auto add = [&](auto kind) {
      using Value = decltype(kind);
      return command
          .add_option_function<Value>(
              std::string("--") + field.flag,
              [&options, name = field.name](const Value &value) {
                options.fields.emplace_back(name, textOf(value));
              },
              field.help)
          ->group("Solver fields (instead of the solver's own)");
    };
    switch (field.kind) {
    case BREW_FIELD_REAL:
      add(float());
      break;
    case BREW_FIELD_INTEGER:
      add(int());
      break;
    case BREW_FIELD_INTEGER64:
      add(static_cast<long long>(0));
      break;
    case BREW_FIELD_BOOLEAN:
      add(bool());
      break;
    case BREW_FIELD_TEXT:
      add(std::string());
      break;
    case BREW_FIELD_INTEGERS:
      add(std::vector<int>())->delimiter(',');
      break;
    }
  }
}

void addSnapshotOptions(CLI::App &command, TrainOptions &options) {
  command.add_flag("--resume", options.resume,
                   "Resume from the newest intact snapshot of the solver's "
                   "snapshot_prefix, if there is one");
  command
      .add_option("--keep-snapshots", options.keepSnapshots,
                  "Delete all but the newest N snapshots that the run writes")
      ->check(atLeast(1));
  command.add_option(
      "--snapshot-best", options.snapshotBest,
      "Also write PREFIX_best_METRIC.caffemodel and "
      ".solverstate whenever a test gives METRIC (test.accuracy, "
      "test1.loss) its best value so far; lower is better for "
      "losses, higher for accuracies, and METRIC:min or "
      "METRIC:max say so of others");
}

void addWatchOptions(CLI::App &command, TrainOptions &options) {
  const std::string group = "Watching";
  const CLI::Validator notEmpty(
      [](const std::string &text) {
        return text.empty() ? std::string("the text is empty") : "";
      },
      "", "not empty");
  command
      .add_flag("--check-nan", options.checkNan,
                "End at the first NaN or Inf, before it reaches a parameter, "
                "and say in which layer and blob it arose")
      ->group(group);
  command
      .add_option("--stop-when", options.stopWhen,
                  "End when this holds, e.g. 'test.accuracy >= 0.991 or time > "
                  "3600' (may be repeated)")
      ->type_name("RULE")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--patience", options.patience,
                  "End after N tests without improvement of METRIC (default: "
                  "the first test net's accuracy, else loss)")
      ->type_name("N[:METRIC[:min|:max]]")
      ->check(notEmpty)
      ->group(group);
  command
      .add_option("--log-dir", options.logFolder,
                  "Folder for metrics.jsonl and TensorBoard's event files")
      ->type_name("FOLDER")
      ->check(notEmpty)
      ->group(group);
}

int train(const TrainOptions &options) {
  if (!options.snapshot.empty() && !options.weights.empty())
    throw usage("give a snapshot to resume training or weights to finetune, "
                "but not both");
  if (options.resume && !options.snapshot.empty())
    throw usage("give --resume to go on from the newest snapshot or --snapshot "
                "to go on from one that you name, but not both");
  const brew_action onInterrupt =
      parseAction(options.onInterrupt, "--sigint-effect");
  const brew_action onHangUp = parseAction(options.onHangUp, "--sighup-effect");

  Session session(options.plan);
  if (session.onGpu()) {
    const std::string number = std::to_string(session.gpu);
    log::info(log::site::useGpus, "Using GPUs " + number);
    log::info(log::site::gpuName, "GPU " + number + ": " + session.device());
  } else {
    log::info(log::site::useCpu, "Use CPU.");
  }

  SignalActions signals(onInterrupt, onHangUp);
  api::Trainer trainer(session, {options.fields, options.weights,
                                  options.snapshot, options.lossScale,
                                  options.resume, options.keepSnapshots,
                                  options.snapshotBest, options.checkNan,
                                  options.stopWhen, options.patience,
                                  options.logFolder});
  trainer.setActionSource([&signals] { return signals.takeRequest(); });
  log::info(log::site::startOptimization, "Starting Optimization");
  trainer.solve();
  log::info(log::site::trainDone, "Optimization Done.");
  return 0;
}

} // namespace

void addTrain(CLI::App &app, Action &action) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App *command = app.add_subcommand(
      "train", "Train a net, from fillers, weights or a snapshot");
  addPlanOptions(*command, options->plan);
  command->add_option("--weights", options->weights,
                      "Weights to start from (files separated by commas)");
  command->add_option("--snapshot", options->snapshot,
                      "Solver state to resume from");
  addSnapshotOptions(*command, *options);
  command->add_option("--loss-scale", options->lossScale,
                      "f16: what losses are multiplied by at first, instead of "
                      "the plan's or the snapshot's scale");
  command->add_option("--sigint-effect", options->onInterrupt,
                      "What SIGINT does: stop, snapshot or none");
  command->add_option("--sighup-effect", options->onHangUp,
                      "What SIGHUP does: stop, snapshot or none");
  addWatchOptions(*command, *options);
  addSolverOptions(*command, *options);
  command->callback(
      [options, &action] { action = [options] { return train(*options); }; });
}

} // namespace brew::run
