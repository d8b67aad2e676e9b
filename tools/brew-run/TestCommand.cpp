//===- TestCommand.cpp - brew-run test ------------------------------------===//

#include "Session.h"

#include "formats/Error.h"
#include "runtime/data/Feeder.h"
#include "runtime/log/Log.h"
#include "runtime/train/DebugInfo.h"
#include "runtime/train/NetOutputs.h"

#include <memory>

namespace brew::run {
namespace {

struct Options {
  PlanOptions plan;
  std::vector<std::string> weights;
  int iterations = 50;
  std::string program;
  std::uint64_t seed = 0;
};

int test(const Options &options) {
  Session session(options.plan, options.seed);
  if (session.onGpu()) {
    log::info(log::site::testUseGpu,
              "Use GPU with device ID " + std::to_string(session.gpu));
    log::info(log::site::testGpuName,
              "GPU device name: " + session.executor().description());
  } else {
    log::info(log::site::testUseCpu, "Use CPU.");
  }
  const int program = session.chooseProgram(options.program, {"test_0"});
  session.initialise(options.weights, /*required=*/true);
  const plan::Program &description = session.manifest().programs(program);
  session.announce(program);
  const runtime::DebugInfo debug(description, session.parameters(),
                                 session.events());
  runtime::Feeder &feeder = session.feeder(program);
  feeder.start();

  log::info(log::site::testRunning, "Running for " +
                                        std::to_string(options.iterations) +
                                        " iterations.");
  runtime::OutputMeans means;
  double loss = 0;
  for (int i = 0; i < options.iterations; ++i) {
    feeder.feed();
    session.executor().run(program);
    if (runtime::DebugInfo::isIn(description))
      debug.forward();
    loss += runtime::totalLoss(session.executor(), program);
    const auto outputs = runtime::readOutputs(session.executor(), program);
    means.add(outputs);
    for (const runtime::OutputValue &output : outputs)
      log::info(log::site::testBatch, "Batch " + std::to_string(i) + ", " +
                                          output.blob + " = " +
                                          log::number(output.value));
  }
  log::info(log::site::testLoss,
            "Loss: " + log::number(loss / options.iterations));
  for (const runtime::OutputValue &mean : means.means())
    log::info(log::site::testScore,
              mean.blob + " = " + log::number(mean.value) +
                  runtime::lossSuffix(mean.lossWeight, mean.value));
  return 0;
}

} // namespace

void addTest(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      app.add_subcommand("test", "Score a net over batches of its data layer");
  addPlanOptions(*command, options->plan);
  command->add_option("--weights", options->weights,
                      "Weights (files separated by commas)");
  command->add_option("--iterations", options->iterations, "Batches to run")
      ->capture_default_str()
      ->check(atLeast(1));
  command->add_option("--program", options->program,
                      "Program to run (default: test_0, or the only one)");
  command->add_option("--random-seed", options->seed,
                      "Seed of shuffling and transformations");
  command->callback(
      [options, &action] { action = [options] { return test(*options); }; });
}

} // namespace brew::run
