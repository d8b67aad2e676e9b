//===- TimeCommand.cpp - brew-run time ------------------------------------===//

#include "Session.h"

#include "formats/Error.h"
#include "runtime/data/Feeder.h"
#include "runtime/data/RandomStream.h"
#include "runtime/log/Log.h"
#include "runtime/train/NetOutputs.h"
#include "runtime/train/SolverScalars.h"
#include "runtime/train/Trainer.h"
#include "runtime/weights/Layout.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>

namespace brew::run {
namespace {

struct Options {
  PlanOptions plan;
  std::vector<std::string> weights;
  int iterations = 50;
  std::string program, phase;
  std::uint64_t seed = 0;
  bool randomInput = false;
};

double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// Mean, median and least of some durations.
struct Summary {
  double mean = 0, median = 0, least = 0;

  explicit Summary(std::vector<double> seconds) {
    if (seconds.empty())
      return;
    std::sort(seconds.begin(), seconds.end());
    mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) /
           static_cast<double>(seconds.size());
    const std::size_t middle = seconds.size() / 2;
    median = seconds.size() % 2 ? seconds[middle]
                                : (seconds[middle - 1] + seconds[middle]) / 2;
    least = seconds.front();
  }

  /// "1.5 ms. (median 1.4, min 1.3)": the start is Caffe's.
  std::string text() const {
    return log::number(mean * 1e3) + " ms. (median " +
           log::number(median * 1e3) + ", min " + log::number(least * 1e3) +
           ")";
  }
};

/// Time of all steps that compute for the same layers, iteration by iteration.
struct LayerTime {
  std::string layers;
  bool backward;
  std::vector<double> seconds;
};

std::string layersText(const plan::Step &step) {
  std::string text;
  for (const std::string &layer : step.layers())
    text += (text.empty() ? "" : "+") + layer;
  return text.empty() ? "(internal)" : text;
}

/// Timing can go on without a source, with made-up values; labels of zero are
/// valid for any loss.
void feedRandomly(runtime::Feeder &feeder, std::uint64_t seed) {
  const runtime::RandomStream stream(seed, "time");
  for (const std::string &top : feeder.tops()) {
    const plan::Buffer &buffer = *feeder.find(top);
    std::vector<float> values(
        static_cast<std::size_t>(plan::elementCount(buffer)));
    if (buffer.dims_size() > 1)
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(stream.uniform(i));
    feeder.set(top, values.data(), static_cast<std::int64_t>(values.size()));
  }
}

runtime::Feeder &openFeeder(Session &session, int program,
                            const Options &options) {
  runtime::Feeder &feeder = session.feeder(program);
  if (!options.randomInput) {
    try {
      feeder.start();
      return feeder;
    } catch (const Error &error) {
      if (error.status() != ExitStatus::MachineLacks)
        throw;
      log::warning(log::site::brew,
                   std::string("Timing with random inputs: ") + error.what());
    }
    feeder.reset(options.seed);
  }
  feedRandomly(feeder, options.seed);
  return feeder;
}

class Benchmark {
public:
  Benchmark(Session &planSession, int programIndex, runtime::Feeder &dataFeeder)
      : session(planSession), program(programIndex), feeder(dataFeeder) {
    const plan::Program &description = session.manifest().programs(program);
    std::map<std::pair<std::string, bool>, std::size_t> known;
    for (int i = 0; i < description.steps_size(); ++i) {
      const plan::Step &step = description.steps(i);
      const bool backward =
          i >= static_cast<int>(description.first_backward_step()) ||
          step.backward();
      const auto [entry, isNew] = known.emplace(
          std::make_pair(layersText(step), backward), layers.size());
      if (isNew)
        layers.push_back({entry->first.first, backward, {}});
      layerOfStep.push_back(entry->second);
    }
  }

  /// One iteration with every step timed.
  void timeSteps(int number) {
    feeder.feed();
    std::vector<double> sums(layers.size());
    const auto begin = std::chrono::steady_clock::now();
    session.executor().runTimed(program, [&](std::size_t step, double seconds) {
      sums[layerOfStep[step]] += seconds;
    });
    log::info(log::site::timeIteration,
              "Iteration: " + std::to_string(number) +
                  " forward-backward time: " +
                  log::number(secondsSince(begin) * 1e3) + " ms.");
    double forwardSum = 0, backwardSum = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      layers[i].seconds.push_back(sums[i]);
      (layers[i].backward ? backwardSum : forwardSum) += sums[i];
    }
    forward.push_back(forwardSum);
    backward.push_back(backwardSum);
  }

  void report() const {
    log::info(log::site::timePerLayer, "Average time per layer: ");
    for (const LayerTime &layer : layers) {
      std::string name = layer.layers;
      if (name.size() < 10)
        name.insert(0, 10 - name.size(), ' ');
      log::info(layer.backward ? log::site::timeBackwardLayer
                               : log::site::timeForwardLayer,
                name + (layer.backward ? "\tbackward: " : "\tforward: ") +
                    Summary(layer.seconds).text());
    }
    log::info(log::site::timeForwardTotal,
              "Average Forward pass: " + Summary(forward).text());
    log::info(log::site::timeBackwardTotal,
              "Average Backward pass: " + Summary(backward).text());
  }

private:
  Session &session;
  int program;
  runtime::Feeder &feeder;
  std::vector<LayerTime> layers;
  std::vector<std::size_t> layerOfStep;
  std::vector<double> forward, backward;
};

/// Whole iterations without a clock inside, as training runs them.
std::vector<double> timeWhole(Session &session, int program, int update,
                              runtime::Feeder &feeder, int iterations) {
  std::vector<double> seconds;
  for (int i = 0; i < iterations; ++i) {
    feeder.feed();
    session.executor().synchronize();
    const auto begin = std::chrono::steady_clock::now();
    session.executor().run(program);
    if (update >= 0)
      session.executor().run(update);
    session.executor().synchronize();
    seconds.push_back(secondsSince(begin));
  }
  return seconds;
}

/// On a GPU: the time between its own events, without the host's part.
void reportDevice(Session &session, const std::vector<int> &programs,
                  int iterations) {
  const runtime::Measurement measured =
      session.executor().measure(programs, iterations);
  log::info(log::site::brew,
            "Average on the GPU: " + Summary(measured.seconds).text());
  log::info(log::site::brew,
            "CUDA graph: " + std::to_string(measured.graphNodes) +
                " nodes; GPU memory: " + std::to_string(measured.deviceBytes) +
                " bytes");
}

int time(const Options &options) {
  Session session(options.plan, options.seed);
  if (session.onGpu())
    log::info(log::site::timeUseGpu,
              "Use GPU with device ID " + std::to_string(session.gpu) + " (" +
                  session.executor().description() + ")");
  else
    log::info(log::site::timeUseCpu, "Use CPU.");
  std::vector<std::string> preferred = {"forward_backward", "main", "deploy",
                                        "test_0"};
  if (options.phase == "TEST")
    preferred = {"test_0", "deploy", "main"};
  const int program = session.chooseProgram(options.program, preferred);
  session.announce(program);
  const std::string name = session.manifest().programs(program).name();
  session.initialise(options.weights);
  runtime::Feeder &feeder = openFeeder(session, program, options);

  log::info(log::site::timeForward, "Performing Forward");
  feeder.feed();
  session.executor().run(program);
  log::info(log::site::timeInitialLoss,
            "Initial loss: " +
                log::number(runtime::totalLoss(session.executor(), program)));
  log::info(log::site::timeBegin, "*** Benchmark begins ***");
  log::info(log::site::timeIterations, "Testing for " +
                                           std::to_string(options.iterations) +
                                           " iterations.");
  const auto begin = std::chrono::steady_clock::now();
  Benchmark benchmark(session, program, feeder);
  for (int i = 0; i < options.iterations; ++i)
    benchmark.timeSteps(i + 1);
  benchmark.report();

  const Summary whole(
      timeWhole(session, program, -1, feeder, options.iterations));
  log::info(log::site::timeBothTotal,
            "Average Forward-Backward: " + whole.text());
  if (session.onGpu())
    reportDevice(session, {program}, options.iterations);
  const int update = session.executor().findProgram("update");
  if (name == "forward_backward" && update >= 0) {
    // A rate of zero keeps the weights while doing all the work.
    runtime::SolverScalars scalars(session.executor());
    scalars.setFields(runtime::solverOf(session.manifest()), 0);
    scalars.set(plan::LEARNING_RATE, 0);
    scalars.set(plan::GRADIENT_SCALE, 1);
    log::info(log::site::timeBothTotal,
              "Average training step: " +
                  Summary(timeWhole(session, program, update, feeder,
                                    options.iterations))
                      .text());
    if (session.onGpu())
      reportDevice(session, {program, update}, options.iterations);
  }
  log::info(log::site::timeTotal,
            "Total Time: " + log::number(secondsSince(begin) * 1e3) + " ms.");
  log::info(log::site::timeEnd, "*** Benchmark ends ***");
  return 0;
}

} // namespace

void addTime(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      app.add_subcommand("time", "Measure a program layer by layer");
  addPlanOptions(*command, options->plan);
  command->add_option("--weights", options->weights,
                      "Weights (files separated by commas)");
  command->add_option("--iterations", options->iterations, "Runs to measure")
      ->capture_default_str()
      ->check(atLeast(1));
  command->add_option("--program", options->program,
                      "Program to run (default: forward_backward, or the "
                      "only one)");
  command
      ->add_option("--phase", options->phase,
                   "TRAIN or TEST: which program, without --program")
      ->check(CLI::IsMember({"TRAIN", "TEST"}));
  command->add_flag("--random-input", options->randomInput,
                    "Run on one batch of random values; open no data source");
  command->add_option("--random-seed", options->seed, "Seed of the fillers");
  command->callback(
      [options, &action] { action = [options] { return time(*options); }; });
}

} // namespace brew::run
