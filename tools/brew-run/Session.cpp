//===- Session.cpp - A plan loaded for one command ------------------------===//

#include "Session.h"

#include "formats/Error.h"
#include "formats/PathLookup.h"
#include "runtime/log/Log.h"

#include <algorithm>

namespace brew::run {
namespace {

Error usage(const std::string &text) { return Error(ExitStatus::Usage, text); }

/// The GPU of -gpu; Caffe's "all" and lists ask for several.
int gpuNumber(const std::string &text) {
  if (text.empty())
    return 0;
  if (text.find_first_not_of("0123456789") != text.npos || text.size() > 4)
    throw usage("-gpu " + text +
                ": name one GPU by its number; a plan runs on one");
  return std::stoi(text);
}

runtime::ExecutorOptions executorOptions(const PlanOptions &options,
                                         const plan::Manifest &manifest) {
  runtime::ExecutorOptions result;
  result.threads = options.threads;
  if (manifest.target().kind() != plan::Target::CUDA) {
    if (!options.gpu.empty())
      throw usage("-gpu " + options.gpu + ": '" + options.plan +
                  "' was compiled for the CPU; compile it with --target cuda, "
                  "or leave out -gpu");
    return result;
  }
  result.gpu = gpuNumber(options.gpu);
  // What is measured on the simulator means nothing.
  const auto &archs = manifest.target().archs();
  const bool onDevice =
      std::any_of(archs.begin(), archs.end(),
                  [](const std::string &arch) { return arch != "sim"; });
  result.timingCache = options.timingCache;
  if (result.timingCache.empty() && onDevice)
    result.timingCache = options.plan + ".timing";
  result.tune = !options.noTune && onDevice;
  result.deterministic = options.deterministic;
  result.workspaceLimit = options.workspaceLimit << 20;
  result.warn = [](const std::string &text) {
    log::warning(log::site::brew, text);
  };
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
                         "The plan that brewc wrote");
  plan->type_name("PLAN");
  command
      .add_option("--threads", options.threads,
                  "Worker threads (0: OMP_NUM_THREADS, else one per core)")
      ->check(CLI::Range(0, 4096));
  command.add_option("--gpu", options.gpu,
                     "GPU to run on; only for plans compiled for one");
  for (const char *name : {"--level", "--stage"})
    command
        .add_option_function<std::string>(
            name,
            [](const std::string &) {
              throw usage("--level and --stage choose layers, which is done "
                          "when the net is compiled: give them to brewc");
            })
        ->group("");
  const std::string group = "GPU";
  command
      .add_option("--timing-cache", options.timingCache,
                  "File that keeps which vendor engines were fastest "
                  "(default: PLAN.timing)")
      ->group(group);
  command
      .add_flag("--no-tune", options.noTune,
                "Take each vendor library's first suggestion unmeasured")
      ->group(group);
  command
      .add_option("--workspace-limit", options.workspaceLimit,
                  "Scratch memory for a vendor call, in MiB")
      ->capture_default_str()
      ->check(CLI::Range(0, 1 << 20))
      ->group(group);
  command
      .add_flag("--deterministic", options.deterministic,
                "Only vendor engines whose results repeat to the bit")
      ->group(group);
}

CLI::Validator atLeast(long long smallest) {
  auto check = [smallest](const std::string &text) -> std::string {
    long long value = 0;
    // What is no number is reported when it is converted.
    if (!CLI::detail::lexical_cast(text, value) || value >= smallest)
      return "";
    return text + " is less than " + std::to_string(smallest);
  };
  return CLI::Validator(check, "", "at least");
}

std::shared_ptr<const plan::PlanFile> openPlan(const PlanOptions &options) {
  if (options.plan.empty())
    throw usage("name a plan, e.g. 'brew-run train lenet.plan'");
  if (endsWith(options.plan, ".prototxt"))
    throw badInput("'" + options.plan +
                   "' is a prototxt; compile it first: brewc " + options.plan +
                   " -o net.plan");
  return plan::PlanFile::open(options.plan);
}

Session::Session(const PlanOptions &options)
    : Session(options, openPlan(options)) {}

Session::Session(const PlanOptions &options,
                 std::shared_ptr<const plan::PlanFile> file)
    : executor(file, executorOptions(options, file->manifest())),
      parameters(executor), planPath(options.plan),
      planFolder(formats::folderOfFile(options.plan)),
      gpu(gpuNumber(options.gpu)) {}

void Session::initialise(const std::vector<std::string> &weights,
                         std::uint64_t seed, bool required) {
  bool embedded = false;
  for (const plan::Arena &arena : manifest().arenas())
    embedded |=
        arena.kind() == plan::PARAMETERS && arena.has_initial_segment_index();
  std::vector<std::string> names;
  for (const std::string &list : weights) {
    for (const std::string &name : CLI::detail::split(list, ','))
      if (!CLI::detail::trim_copy(name).empty())
        names.push_back(CLI::detail::trim_copy(name));
  }
  std::vector<std::string> folders;
  if (names.empty() && !embedded && manifest().has_initial_weights()) {
    names.push_back(manifest().initial_weights());
    folders.push_back(manifest().initial_weights_folder());
  }
  folders.push_back(planFolder);

  const bool complete = std::all_of(
      manifest().parameters().begin(), manifest().parameters().end(),
      [](const plan::Parameter &parameter) {
        return parameter.has_initial_segment_index();
      });
  if (required && !embedded && names.empty() && !complete)
    throw usage("the plan has no weights in it: give some with --weights");
  if (!embedded)
    parameters.fill(seed);
  for (const std::string &name : names)
    parameters.load(formats::requirePath(name, folders, "weight file"));

  const int prepare = executor.findProgram("prepare");
  if (prepare >= 0)
    executor.run(prepare);
}

int Session::chooseProgram(const std::string &name,
                           const std::vector<std::string> &preferred) const {
  std::vector<std::string> candidates = preferred;
  if (!name.empty())
    candidates = {name};
  for (const std::string &candidate : candidates) {
    const int program = executor.findProgram(candidate);
    if (program >= 0)
      return program;
  }
  if (name.empty() && manifest().programs_size() == 1)
    return 0;
  std::string list;
  for (const plan::Program &program : manifest().programs())
    list += (list.empty() ? "" : ", ") + program.name();
  throw usage((name.empty() ? std::string("choose a program with --program")
                            : "the plan has no program '" + name + "'") +
              "; it has: " + list);
}

} // namespace brew::run
