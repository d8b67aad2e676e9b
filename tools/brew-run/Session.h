//===- Session.h - Session and options of one command -----------*- C++ -*-===//
#pragma once

#include <brew/brew.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace brew::run {

using api::Error;
inline Error usage(const std::string &text) { return {BREW_USAGE, text}; }
inline Error badInput(const std::string &text) {
  return {BREW_BAD_INPUT, text};
}
inline Error unavailable(const std::string &text) {
  return {BREW_UNAVAILABLE, text};
}

/// The options of all commands that run a plan.
struct PlanOptions {
  std::string plan;
  api::Options options;   ///< from the table (TableOptions.h)
  std::string hostLayers; ///< plugin files, separated by commas
  std::string gpu;        ///< value of -gpu; "": not set
  /// The communicator of the ranks; null: a single process. Only rank 0 logs.
  const api::Communicator *ranks = nullptr;
};

/// Declares the plan: positional, or as one of Caffe's flags `-solver` and
/// `-model`. Rejects Caffe's --level and --stage with a hint, by Error (2).
void addPlan(CLI::App &command, std::string &plan);

/// Declares the plan, the options of the table that the command takes, -gpu and
/// --host-plugin.
void addPlanOptions(CLI::App &command, PlanOptions &options);

/// Declares --weights, for commands that do not train.
void addWeightOptions(CLI::App &command, std::vector<std::string> &weights);

/// Returns the GPU numbers in the value of -gpu: "all", "1" or "0,2", as in
/// Caffe. "" has no numbers. Throws Error (2) for other texts.
std::vector<int> gpuNumbers(const std::string &text);

/// Returns the value of --threads; 0: the default.
int chosenThreads(const PlanOptions &options);

/// Returns a check that an integer is at least `smallest`.
CLI::Validator atLeast(long long smallest);

/// Returns the path of the timing cache of library calls: of --timing-cache, or
/// next to the plan.
std::string timingCachePath(const PlanOptions &options);

/// Opens the plan. Throws Error (2) if no plan is named, Error (1) with a hint
/// if the file is a prototxt.
api::Plan openPlan(const std::string &path);

/// A session of the plan on the command line, which writes Caffe's log.
class Session : public api::Session {
public:
  /// Throws Error (2) for -gpu with a CPU plan, and the errors of api::Session.
  explicit Session(const PlanOptions &options);

  api::Plan plan;
  int gpu; ///< number of the GPU; 0 for CPU plans
  bool onGpu() const { return plan.info().cuda; }

  /// Returns the index of program `name`; without a name, of the first existing
  /// one of `preferred`, else of the only program. Throws Error (2), which
  /// lists the programs, if there is no unique choice.
  int chooseProgram(const std::string &name,
                    const std::vector<std::string> &preferred) const;

private:
  Session(const PlanOptions &options, api::Plan opened);
};

/// The action of a command, to run after parsing. Returns the exit status.
using Action = std::function<int()>;

// Each function declares one command; parsing the command sets `action`.
void addTrain(CLI::App &app, Action &action);
void addTest(CLI::App &app, Action &action);
void addEval(CLI::App &app, Action &action);
void addInfer(CLI::App &app, Action &action);
void addFeatures(CLI::App &app, Action &action);
void addEmbed(CLI::App &app, Action &action);
void addTime(CLI::App &app, Action &action);
void addTune(CLI::App &app, Action &action);
void addInspect(CLI::App &app, Action &action);
void addMonitor(CLI::App &app, Action &action);
void addDeviceQuery(CLI::App &app, Action &action);

} // namespace brew::run
