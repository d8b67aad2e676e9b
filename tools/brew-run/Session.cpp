//===- Session.cpp - A plan loaded for one command ------------------------===//

#include "Session.h"

#include "formats/Error.h"
#include "formats/PathLookup.h"
#include "runtime/log/Log.h"

#include <algorithm>

namespace brew::run {
namespace {

Error usage(const std::string &text) { return Error(ExitStatus::Usage, text); }

runtime::ExecutorOptions executorOptions(const PlanOptions &options) {
  runtime::ExecutorOptions result;
  result.threads = options.threads;
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
    : executor((!options.gpu.empty() &&
                file->manifest().target().kind() == plan::Target::CPU)
                   ? throw usage("-gpu " + options.gpu + ": '" + options.plan +
                                 "' was compiled for the CPU; compile it with "
                                 "--target cuda, or leave out -gpu")
                   : file,
               executorOptions(options)),
      parameters(executor), planPath(options.plan),
      planFolder(formats::folderOfFile(options.plan)) {}

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

  if (required && !embedded && names.empty() && manifest().parameters_size())
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
