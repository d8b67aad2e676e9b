//===- Session.cpp - Session and options of one command -------------------===//

#include "Session.h"

#include "TableOptions.h"

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

/// Divides the cores among the ranks of a machine, unless the user has chosen
/// the number of threads, or the launcher has bound each rank to its own cores.
void divideCores(const api::Communicator &ranks, api::Options &options) {
  const std::string chosen = options.text("threads");
  if ((!chosen.empty() && chosen != "0") || std::getenv("OMP_NUM_THREADS"))
    return;
  cpu_set_t affinity;
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (sched_getaffinity(0, sizeof affinity, &affinity) != 0 ||
      CPU_COUNT(&affinity) < cores)
    return;
  options.set("threads",
              std::max(1, static_cast<int>(cores) / ranks.localRanks()));
}

api::SessionOptions sessionOptions(const PlanOptions &options,
                                   const api::Plan &plan) {
  api::SessionOptions result;
  result.options = options.options;
  result.options.set("timing-cache", timingCachePath(options));
  if (options.ranks)
    divideCores(*options.ranks, result.options);
  result.communicator = options.ranks;
  result.logToStderr = !options.ranks || options.ranks->rank() == 0;
  result.hostLayers = tools::loadHostLayers(options.hostLayers);
  if (!plan.info().cuda) {
    if (!options.gpu.empty())
      throw usage(
          "-gpu " + options.gpu + ": '" + options.plan +
          "' was compiled for the CPU; recompile it with --target cuda, "
          "or omit -gpu");
    return result;
  }
  result.gpu = gpuOf(options);
  return result;
}

bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

} // namespace

void addPlan(CLI::App &command, std::string &plan) {
  command
      .add_option("plan,--plan,--solver,--model", plan,
                  "Plan file written by brewc")
      ->type_name("PLAN");
  for (const char *name : {"--level", "--stage"})
    command
        .add_option_function<std::string>(
            name,
            [](const std::string &) {
              throw usage("--level and --stage select layers at compile time: "
                          "pass them to brewc");
            })
        ->group("");
}

void addPlanOptions(CLI::App &command, PlanOptions &options) {
  addPlan(command, options.plan);
  addTableOptions(command, options.options);
  command
      .add_option("--host-plugin", options.hostLayers, tools::kHostLayersHelp)
      ->type_name("FILES");
  command.add_option("--gpu", options.gpu, "GPU to run on; only for GPU plans")
      ->type_name("ID");
}

void addWeightOptions(CLI::App &command, std::vector<std::string> &weights) {
  CLI::Option *files = command
                           .add_option("--weights", weights,
                                       "Weights (files separated by commas)")
                           ->type_name("FILES");
  command.get_option("--allow-missing-weights")->needs(files);
}

std::string timingCachePath(const PlanOptions &options) {
  const std::string path = options.options.text("timing-cache");
  return path.empty() ? options.plan + ".timing" : path;
}

int chosenThreads(const PlanOptions &options) {
  return static_cast<int>(options.options.integer("threads"));
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

api::Plan openPlan(const std::string &path) {
  if (path.empty())
    throw usage("name a plan, e.g. 'brew-run train lenet.plan'");
  if (endsWith(path, ".prototxt"))
    throw badInput("'" + path + "' is a prototxt; compile it first: brewc " +
                   path + " -o net.plan");
  return api::Plan(path);
}

Session::Session(const PlanOptions &options)
    : Session(options, openPlan(options.plan)) {}

Session::Session(const PlanOptions &options, api::Plan opened)
    : api::Session(opened, sessionOptions(options, opened)),
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
