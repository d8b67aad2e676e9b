//===- TimeCommand.cpp - brew-run time ------------------------------------===//

#include "ChromeTrace.h"
#include "Log.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <thread>

namespace brew::run {
namespace {

struct TimeOptions {
  PlanOptions plan;
  std::vector<std::string> weights;
  int iterations = 50;
  bool isIterationsSet = false;
  std::string program, phase;
  std::optional<std::string> profile; ///< trace file
  bool randomInput = false;
  bool feedOnly = false;
  bool all = false; ///< list every layer and iteration, as Caffe does
};

/// Number of layers in the list without --all.
constexpr std::size_t kSlowestLayers = 10;

double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// Mean, median and minimum of durations.
struct Summary {
  double mean = 0, median = 0, minimum = 0;

  explicit Summary(std::vector<double> seconds) {
    if (seconds.empty())
      return;
    std::sort(seconds.begin(), seconds.end());
    mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) /
           static_cast<double>(seconds.size());
    const std::size_t middle = seconds.size() / 2;
    median = seconds.size() % 2 ? seconds[middle]
                                : (seconds[middle - 1] + seconds[middle]) / 2;
    minimum = seconds.front();
  }

  /// Returns "1.5 ms. (median 1.4, min 1.3)"; the beginning is as in Caffe.
  std::string text() const {
    return log::number(mean * 1e3) + " ms. (median " +
           log::number(median * 1e3) + ", min " + log::number(minimum * 1e3) +
           ")";
  }
};

/// The sum of the times of all steps of the same layers, for each iteration.
struct LayerTime {
  std::string layers;
  bool backward;
  std::vector<double> seconds;

  double total() const {
    return std::accumulate(seconds.begin(), seconds.end(), 0.0);
  }
};

std::string layersText(const brew_step_info &step) {
  std::string text;
  for (std::size_t i = 0; i < step.layer_count; ++i)
    text += (i ? "+" : "") + std::string(step.layers[i]);
  return text.empty() ? "(internal)" : text;
}

/// Returns the seed of sources and random inputs; a negative one is random.
std::uint64_t seedOf(const PlanOptions &options) {
  const std::string text = options.options.text("random-seed");
  const long long seed = text.empty() ? 0 : std::stoll(text);
  return seed < 0 ? std::random_device()() : static_cast<std::uint64_t>(seed);
}

/// Opens the data sources, or sets random inputs if they are missing.
void openInputs(Session &session, int program, const TimeOptions &options) {
  if (!options.randomInput) {
    try {
      session.openSources(program);
      return;
    } catch (const Error &error) {
      if (error.status() != BREW_UNAVAILABLE)
        throw;
      log::warning(log::site::brew,
                   std::string("Timing with random inputs: ") + error.what());
    }
    session.resetSources(program, seedOf(options.plan));
  }
  session.setRandomInputs(program, seedOf(options.plan));
}

/// Returns ", 31.4 %".
std::string shareText(double part, double total) {
  char text[16];
  std::snprintf(text, sizeof text, ", %.1f %%",
                total > 0 ? 100 * part / total : 0);
  return text;
}

/// Returns ", 19907 images/s" for the mean duration of an iteration of the
/// program; "" if its first input has no images.
std::string throughputText(Session &session, int program,
                           const Summary &duration) {
  constexpr std::size_t imageDims = 4;
  if (!session.inputs(program) || duration.mean <= 0)
    return "";
  const brew_input input = session.input(program, 0);
  if (input.ndim != imageDims)
    return "";
  const double perSecond = static_cast<double>(input.dims[0]) / duration.mean;
  char text[32];
  std::snprintf(text, sizeof text, perSecond < 100 ? "%.3g" : "%.0f",
                perSecond);
  return std::string(", ") + text + " images/s";
}

class Benchmark {
public:
  /// `trace` receives the time of each step. It may be null.
  Benchmark(Session &planSession, int programIndex, ChromeTrace *trace,
            bool logAll)
      : session(planSession), program(programIndex), profile(trace),
        all(logAll) {
    std::map<std::pair<std::string, bool>, std::size_t> layerIndices;
    const std::size_t steps = session.plan.programInfo(program).step_count;
    for (std::size_t i = 0; i < steps; ++i) {
      const brew_step_info step = session.plan.step(program, i);
      const auto [entry, isNew] = layerIndices.emplace(
          std::make_pair(layersText(step), bool(step.backward)), layers.size());
      if (isNew)
        layers.push_back({entry->first.first, entry->first.second, {}});
      layerOfStep.push_back(entry->second);
    }
  }

  /// Runs one iteration and times each step.
  void timeSteps(int number) {
    session.feed(program);
    std::vector<double> sums(layers.size()), steps(layerOfStep.size());
    const auto begin = std::chrono::steady_clock::now();
    session.runTimed(program, [&](std::size_t step, double seconds) {
      sums[layerOfStep[step]] += seconds;
      steps[step] = seconds;
    });
    const double wall = secondsSince(begin);
    if (number == 1)
      firstBegin = begin;
    if (profile)
      profile->add(std::chrono::duration<double>(begin - firstBegin).count(),
                   wall, steps);
    if (all)
      log::info(log::site::timeIteration,
                "Iteration: " + std::to_string(number) +
                    " forward-backward time: " + log::number(wall * 1e3) +
                    " ms.");
    double forwardSum = 0, backwardSum = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      layers[i].seconds.push_back(sums[i]);
      (layers[i].backward ? backwardSum : forwardSum) += sums[i];
    }
    forward.push_back(forwardSum);
    backward.push_back(backwardSum);
  }

  void report() const {
    const bool listsAll = all || layers.size() <= kSlowestLayers;
    log::info(log::site::timePerLayer,
              listsAll
                  ? "Average time per layer: "
                  : "Average time of the " + std::to_string(kSlowestLayers) +
                        " slowest of " + std::to_string(layers.size()) +
                        " layers and passes (--all lists all): ");
    std::vector<const LayerTime *> listed;
    double total = 0;
    for (const LayerTime &layer : layers) {
      listed.push_back(&layer);
      total += layer.total();
    }
    if (!listsAll) {
      std::stable_sort(listed.begin(), listed.end(),
                       [](const LayerTime *a, const LayerTime *b) {
                         return a->total() > b->total();
                       });
      listed.resize(kSlowestLayers);
    }
    for (const LayerTime *layer : listed) {
      std::string name = layer->layers;
      if (name.size() < 10)
        name.insert(0, 10 - name.size(), ' ');
      log::info(layer->backward ? log::site::timeBackwardLayer
                                : log::site::timeForwardLayer,
                name + (layer->backward ? "\tbackward: " : "\tforward: ") +
                    Summary(layer->seconds).text() +
                    (all ? "" : shareText(layer->total(), total)));
    }
    log::info(log::site::timeForwardTotal,
              "Average Forward pass: " + Summary(forward).text());
    log::info(log::site::timeBackwardTotal,
              "Average Backward pass: " + Summary(backward).text());
  }

private:
  Session &session;
  int program;
  ChromeTrace *profile;
  bool all;
  std::chrono::steady_clock::time_point firstBegin; ///< of the first iteration
  std::vector<LayerTime> layers;
  std::vector<std::size_t> layerOfStep;
  std::vector<double> forward, backward;
};

/// Times complete iterations, not their steps: runs `program` and then, if not
/// negative, `update`. Returns the seconds of each iteration.
std::vector<double> timeCompleteIterations(Session &session, int program,
                                           int update, int iterations) {
  std::vector<double> seconds;
  for (int i = 0; i < iterations; ++i) {
    session.feed(program);
    session.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    session.run(program);
    if (update >= 0)
      session.run(update);
    session.synchronize();
    seconds.push_back(secondsSince(begin));
  }
  return seconds;
}

/// Warm-up batches: more than are prefetched, so that the measurement covers
/// the throughput of the readers.
constexpr int kFeedWarmUp = 10;

/// Times the data layers of the program without running it.
int timeFeed(Session &session, int program, int iterations) {
  session.openSources(program);
  for (int i = 0; i < kFeedWarmUp; ++i)
    session.feed(program);
  session.synchronize();
  std::vector<double> seconds;
  for (int i = 0; i < iterations; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    session.feed(program);
    session.synchronize();
    seconds.push_back(secondsSince(begin));
  }
  log::info(log::site::brew, "Average batch: " + Summary(seconds).text());
  return 0;
}

/// Maximum number of iterations in a profile without --iterations.
constexpr int kMaxProfiledIterations = 10;

/// Returns the number of threads of a session with these options.
int threadsOf(const PlanOptions &options) {
  const char *text = std::getenv("OMP_NUM_THREADS");
  const long requested = text ? std::strtol(text, nullptr, 10) : 0;
  if (const int chosen = chosenThreads(options))
    return chosen;
  return std::max(
      1, requested > 0 ? static_cast<int>(requested)
                       : static_cast<int>(std::thread::hardware_concurrency()));
}

/// Logs the time between GPU events, which excludes time on the host.
void reportGpuTimes(Session &session, const std::vector<int> &programs,
                    int iterations) {
  auto measured = api::makeStruct<brew_measurement>();
  const std::vector<double> seconds =
      session.measure(programs, iterations, &measured);
  log::info(log::site::brew, "Average on the GPU: " + Summary(seconds).text());
  log::info(log::site::brew,
            "CUDA graph: " + std::to_string(measured.graph_nodes) +
                " nodes; GPU memory: " + std::to_string(measured.device_bytes) +
                " bytes");
}

int time(const TimeOptions &options) {
  Session session(options.plan);
  if (session.onGpu())
    log::info(log::site::timeUseGpu, "Use GPU with device ID " +
                                         std::to_string(session.gpu) + " (" +
                                         session.device() + ")");
  else
    log::info(log::site::timeUseCpu, "Use CPU.");
  std::vector<std::string> preferred = {"forward_backward", "main", "deploy",
                                        "test_0"};
  if (options.phase == "TEST")
    preferred = {"test_0", "deploy", "main"};
  const int program = session.chooseProgram(options.program, preferred);
  session.emitNetSetUp(program);
  if (options.feedOnly)
    return timeFeed(session, program, options.iterations);
  const std::string name = session.plan.programInfo(program).name;
  // Create the profile first, because its path may be invalid.
  std::optional<ChromeTrace> profile;
  if (options.profile)
    profile.emplace(*options.profile, session, program,
                    options.isIterationsSet
                        ? options.iterations
                        : std::min(kMaxProfiledIterations, options.iterations),
                    threadsOf(options.plan));
  session.initialise(options.weights);
  openInputs(session, program, options);

  log::info(log::site::timeForward, "Performing Forward");
  session.feedAndRun(program);
  log::info(log::site::timeInitialLoss,
            "Initial loss: " + log::number(session.loss(program)));
  log::info(log::site::timeBegin, "*** Benchmark begins ***");
  log::info(log::site::timeIterations, "Testing for " +
                                           std::to_string(options.iterations) +
                                           " iterations.");
  const auto begin = std::chrono::steady_clock::now();
  Benchmark benchmark(session, program, profile ? &*profile : nullptr,
                      options.all);
  for (int i = 0; i < options.iterations; ++i)
    benchmark.timeSteps(i + 1);
  benchmark.report();
  if (profile)
    profile->write();

  const Summary forwardBackward(
      timeCompleteIterations(session, program, -1, options.iterations));
  log::info(log::site::timeBothTotal,
            "Average Forward-Backward: " + forwardBackward.text() +
                (options.all
                     ? ""
                     : throughputText(session, program, forwardBackward)));
  if (session.onGpu())
    reportGpuTimes(session, {program}, options.iterations);
  const int update = session.plan.findProgram("update");
  if (name == "forward_backward" && update >= 0) {
    // With a learning rate of 0, the update does all its work but leaves the
    // weights unchanged.
    session.setLearningRate(0);
    const Summary step(
        timeCompleteIterations(session, program, update, options.iterations));
    log::info(log::site::timeBothTotal,
              "Average training step: " + step.text() +
                  (options.all ? "" : throughputText(session, program, step)));
    if (session.onGpu())
      reportGpuTimes(session, {program, update}, options.iterations);
  }
  log::info(log::site::timeTotal,
            "Total Time: " + log::number(secondsSince(begin) * 1e3) + " ms.");
  log::info(log::site::timeEnd, "*** Benchmark ends ***");
  return 0;
}

} // namespace

void addTime(CLI::App &app, Action &action) {
  auto options = std::make_shared<TimeOptions>();
  CLI::App *command =
      app.add_subcommand("time", "Measure a program layer by layer");
  addPlanOptions(*command, options->plan);
  addWeightOptions(*command, options->weights);
  CLI::Option *iterations =
      command
          ->add_option("--iterations", options->iterations, "Runs to measure")
          ->capture_default_str()
          ->check(atLeast(1));
  command
      ->add_option("--profile", options->profile,
                   "Write a trace for chrome://tracing and Perfetto")
      ->type_name("FILE");
  command
      ->add_option("--program", options->program,
                   "Program to run (default: forward_backward, or the "
                   "only one)")
      ->type_name("NAME");
  command
      ->add_option("--phase", options->phase,
                   "TRAIN or TEST: selects the program without --program")
      ->check(CLI::IsMember({"TRAIN", "TEST"}));
  CLI::Option *random = command->add_flag(
      "--random-input", options->randomInput,
      "Run on one batch of random values; open no data source");
  command
      ->add_flag("--feed", options->feedOnly,
                 "Measure only the throughput of the data layers")
      ->excludes(random)
      ->excludes("--profile");
  command->add_flag("--all", options->all,
                    "List every layer and iteration, as Caffe does");
  command->callback([options, iterations, &action] {
    options->isIterationsSet = iterations->count() > 0;
    action = [options] { return time(*options); };
  });
}

} // namespace brew::run
