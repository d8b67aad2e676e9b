//===- TestCommand.cpp - brew-run test ------------------------------------===//

#include "Log.h"
#include "Reinforcement.h"
#include "Session.h"
#include "support/Caller.h"

#include <memory>
#include <vector>

namespace brew::run {
namespace {

struct TestOptions {
  PlanOptions plan;
  std::vector<std::string> weights;
  int iterations = 50;
  std::string program;
  ReinforcementOptions learning;
};

/// Returns the suffix that Caffe logs after a loss; "" for other outputs.
std::string lossSuffix(const api::OutputValue &output) {
  if (output.lossWeight == 0)
    return "";
  return " (* " + log::number(output.lossWeight) + " = " +
         log::number(output.lossWeight * output.value) + " loss)";
}

/// Warns of inputs that no data layer fills. Throws Error (2) if these are all,
/// except for `caffe test`: Caffe scores such a net, on zeros.
void requireData(api::Session &session, int program) {
  std::vector<std::string> unfilled;
  for (std::size_t i = 0; i < session.inputs(program); ++i)
    if (const brew_input input = session.input(program, i); input.needs_values)
      unfilled.emplace_back(input.name);
  if (!unfilled.empty() && unfilled.size() == session.inputs(program) &&
      !isCalledByCaffe())
    throw usage("nothing fills input '" + unfilled[0] +
                "': score a net with data layers, or compute the outputs of "
                "files with brew-run infer");
  for (const std::string &name : unfilled)
    log::warning(log::site::brew,
                 "nothing fills input '" + name + "': it is zero");
}

int test(const TestOptions &options) {
  Session session(options.plan);
  if (session.onGpu()) {
    log::info(log::site::testUseGpu,
              "Use GPU with device ID " + std::to_string(session.gpu));
    log::info(log::site::testGpuName,
              std::string("GPU device name: ") + session.device());
  } else {
    log::info(log::site::testUseCpu, "Use CPU.");
  }
  if (options.learning.isRequested(options.plan.options)) {
    if (!options.program.empty())
      throw usage("--program selects a net to score on data; with --env, the "
                  "policy plays");
    session.initialise(options.weights, /*required=*/true);
    testPolicy(options.learning, session, options.weights, options.plan.options,
               options.iterations);
    return 0;
  }
  const int program = session.chooseProgram(options.program, {"test_0"});
  session.initialise(options.weights, /*required=*/true);
  session.emitNetSetUp(program);
  session.openSources(program);
  requireData(session, program);

  log::info(log::site::testRunning, "Running for " +
                                        std::to_string(options.iterations) +
                                        " iterations.");
  const api::Session::Score score = session.score(
      program, options.iterations,
      [](int batch, const std::vector<api::OutputValue> &outputs) {
        for (const api::OutputValue &output : outputs)
          log::info(log::site::testBatch, "Batch " + std::to_string(batch) +
                                              ", " + output.blob + " = " +
                                              log::number(output.value));
      });
  log::info(log::site::testLoss, "Loss: " + log::number(score.loss));
  for (const api::OutputValue &mean : score.means)
    log::info(log::site::testScore,
              mean.blob + " = " + log::number(mean.value) + lossSuffix(mean));
  return 0;
}

} // namespace

void addTest(CLI::App &app, Action &action) {
  auto options = std::make_shared<TestOptions>();
  CLI::App *command = app.add_subcommand(
      "test", "Score a net over batches of its data layer, or a "
              "policy over episodes (--env)");
  addPlanOptions(*command, options->plan);
  addWeightOptions(*command, options->weights);
  command
      ->add_option("--iterations", options->iterations,
                   "Batches to run, or with --env episodes to play")
      ->capture_default_str()
      ->check(atLeast(1));
  command
      ->add_option("--program", options->program,
                   "Program to run (default: test_0, or the only one)")
      ->type_name("NAME");
  addPlayOptions(*command, options->learning);
  command->callback(
      [options, &action] { action = [options] { return test(*options); }; });
}

} // namespace brew::run
