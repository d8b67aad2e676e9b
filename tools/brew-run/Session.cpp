//===- Session.cpp - Session and options of one command -------------------===//

#include "Session.h"

#include "tools/common/HostPlugin.h"

#include <algorithm>
#include <cstdlib>
#include <sched.h>
#include <unistd.h>

namespace brew::run {
namespace {

/// Returns the number of the GPU to use. A single process uses the GPU of -gpu,
/// by default 0. Ranks take turns on the GPUs of -gpu; without -gpu, a rank
/// uses the GPU whose number is its local rank.
int gpuOf(const PlanOptions &options) {
  const std::vector<int> numbers = gpuNumbers(options.gpu);
  if (options.ranks) {
    const int rank = options.ranks->localRank();
    if (numbers.empty())
      return rank;
    return numbers[static_cast<std::size_t>(rank) % numbers.size()];
  }
  if (numbers.size() > 1)
    throw usage("-gpu " + options.gpu +
                ": this command uses one GPU; only 'brew-run train' accepts "
                "several");
  return numbers.empty() ? 0 : numbers.front();
}

/// Returns the number of worker threads (0: the default). Divides the cores
/// among the ranks of a machine, unless the launcher has bound each rank to its
/// own cores.
int sessionThreads(const PlanOptions &options) {
  if (options.threads > 0 || !options.ranks || std::getenv("OMP_NUM_THREADS"))
    return options.threads;
  cpu_set_t affinity;
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (sched_getaffinity(0, sizeof affinity, &affinity) != 0 ||
      CPU_COUNT(&affinity) < cores)
    return options.threads;
  return std::max(1, static_cast<int>(cores) / options.ranks->localRanks());
}

api::SessionOptions sessionOptions(const PlanOptions &options,
                                   const api::Plan &plan, std::uint64_t seed) {
  api::SessionOptions result;
  result.threads = sessionThreads(options);
  result.communicator = options.ranks;
  result.readerThreads = options.readerThreads;
  result.skipBadRecords = options.skipBadRecords;
  result.allowMissingWeights = options.allowMissingWeights;
  result.seed = seed;
  result.logToStderr = !options.ranks || options.ranks->rank() == 0;
  result.hostLayers = tools::loadHostLayers(options.hostLayers);
  result.timingCache = timingCachePath(options);
  result.tune = !options.noTune;
  if (!plan.info().cuda) {
    if (!options.gpu.empty())
      throw usage(
          "-gpu " + options.gpu + ": '" + options.plan +
          "' was compiled for the CPU; recompile it with --target cuda, "
          "or omit -gpu");
    return result;
  }
  result.gpu = gpuOf(options);
  result.deterministic = options.deterministic;
  result.workspaceLimit = options.workspaceLimit << 20;
  return result;
}

bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

} // namespace

void addPlanOptions(CLI::App &command, PlanOptions &options) {
  CLI::Option *plan =
      command.add_option("plan,--plan,--solver,--model", options.plan,
                         "Plan file written by brewc");
  plan->type_name("PLAN");
  command
      .add_option("--threads", options.threads,
                  "Worker threads (0: OMP_NUM_THREADS, else one per core)")
      ->check(CLI::Range(0, 4096));
  command
      .add_option("--reader-threads", options.readerThreads,
                  "Threads of each data layer that decode images (0: one per "
                  "core)")
      ->check(CLI::Range(0, 4096));
  command.add_flag(
      "--skip-bad-records", options.skipBadRecords,
      "Skip damaged or missing images of data layers with a warning "
      "for each, instead of failing");
  command
      .add_option("--host-plugin", options.hostLayers, tools::kHostLayersHelp)
      ->type_name("FILES");
  command.add_option("--gpu", options.gpu, "GPU to run on; only for GPU plans");
  for (const char *name : {"--level", "--stage"})
    command
        .add_option_function<std::string>(
            name,
            [](const std::string &) {
              throw usage("--level and --stage select layers at compile time: "
                          "pass them to brewc");
            })
        ->group("");
  command.add_option(
      "--timing-cache", options.timingCache,
      "Cache file of the fastest implementations of library calls "
      "(default: PLAN.timing)");
  command.add_flag("--no-tune", options.noTune,
                   "Use the default implementation of each library call and "
                   "ignore the timing cache");
  const std::string group = "GPU";
  command
      .add_option("--workspace-limit", options.workspaceLimit,
                  "Maximum scratch memory of a library call, in MiB")
      ->capture_default_str()
      ->check(CLI::Range(0, 1 << 20))
      ->group(group);
  command
      .add_flag("--deterministic", options.deterministic,
                "Use only implementations with bitwise reproducible results; "
                "with several ranks, sum in the order of ranks")
      ->group(group);
}

void addWeightOptions(CLI::App &command, PlanOptions &options,
                      std::vector<std::string> &weights) {
  CLI::Option *files = command.add_option(
      "--weights", weights, "Weights (files separated by commas)");
  command
      .add_flag("--allow-missing-weights", options.allowMissingWeights,
                "Initialize layers without weights by their fillers, with a "
                "warning, instead of failing")
      ->needs(files);
}

std::string timingCachePath(const PlanOptions &options) {
  return options.timingCache.empty() ? options.plan + ".timing"
                                     : options.timingCache;
}

std::vector<int> gpuNumbers(const std::string &text) {
  std::vector<int> numbers;
  if (text.empty())
    return numbers;
  if (text == "all") {
    for (int i = 0, count = api::gpuCount(); i < count; ++i)
      numbers.push_back(i);
    return numbers;
  }
  for (const std::string &number : CLI::detail::split(text, ',')) {
    if (number.empty() || number.size() > 4 ||
        number.find_first_not_of("0123456789") != number.npos)
      throw usage("-gpu " + text + ": use numbers separated by commas, or all");
    numbers.push_back(std::stoi(number));
  }
  return numbers;
}

CLI::Validator atLeast(long long smallest) {
  auto check = [smallest](const std::string &text) -> std::string {
    long long value = 0;
    // The later conversion reports text that is not a number.
    if (!CLI::detail::lexical_cast(text, value) || value >= smallest)
      return "";
    return text + " is less than " + std::to_string(smallest);
  };
  return CLI::Validator(check, "", "at least");
}

api::Plan openPlan(const PlanOptions &options) {
  if (options.plan.empty())
    throw usage("name a plan, e.g. 'brew-run train lenet.plan'");
  if (endsWith(options.plan, ".prototxt"))
    throw badInput("'" + options.plan +
                   "' is a prototxt; compile it first: brewc " + options.plan +
                   " -o net.plan");
  return api::Plan(options.plan);
}

Session::Session(const PlanOptions &options, std::uint64_t seed)
    : Session(options, seed, openPlan(options)) {}

Session::Session(const PlanOptions &options, std::uint64_t seed,
                 api::Plan opened)
    : api::Session(opened, sessionOptions(options, opened, seed)),
      plan(std::move(opened)), gpu(plan.info().cuda ? gpuOf(options) : 0) {}

int Session::chooseProgram(const std::string &name,
                           const std::vector<std::string> &preferred) const {
  if (!name.empty())
    return plan.program(name);
  for (const std::string &candidate : preferred)
    if (const int program = plan.findProgram(candidate); program >= 0)
      return program;
  if (plan.programs() == 1)
    return 0;
  throw usage("choose a program with --program; the plan has: " + plan.names());
}

} // namespace brew::run
