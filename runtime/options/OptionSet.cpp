//===- OptionSet.cpp - Option values set by a caller ----------------------===//

#include "runtime/options/OptionTable.h"
#include "support/Error.h"
#include "support/Suggest.h"

#include <algorithm>

namespace brew::runtime {
namespace {

const RunOption &findOption(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  std::vector<std::string> names;
  for (const RunOption &option : runOptions()) {
    if (name == option.name)
      return option;
    names.push_back(option.name);
  }
  throw usageError("there is no option '" + name + "'" +
                   didYouMean(name, names));
}

/// Returns the values that setting `option` to `value` adds.
std::vector<std::string> checkedValues(const RunOption &option,
                                       const char *value) {
  if (!option.field)
    return option.checkedValues(value);
  if (!value)
    throw usageError("--" + std::string(option.name) +
                     " needs a value");
  caffe::SolverParameter solver;
  setSolverField(solver, option.field->name, value);
  return {value};
}

} // namespace

void RunOptionSet::set(const std::string &name, const char *value) {
  const RunOption &option = findOption(name);
  const std::vector<std::string> added = checkedValues(option, value);
  std::vector<std::string> &stored = explicitValues[option.name];
  if (option.kind != OptionKind::List)
    stored.clear();
  stored.insert(stored.end(), added.begin(), added.end());
}

template <typename Apply> void RunOptionSet::forEach(Apply apply) const {
  for (const RunOption &option : runOptions())
    if (const auto found = explicitValues.find(option.name);
        found != explicitValues.end())
      for (const std::string &value : found->second)
        apply(option, value);
}

void RunOptionSet::applyTo(SessionOptions &options) const {
  forEach([&](const RunOption &option, const std::string &value) {
    if (option.applyToSession)
      option.applyToSession(options, value);
  });
}

void RunOptionSet::applyTo(TrainerOptions &options) const {
  forEach([&](const RunOption &option, const std::string &value) {
    if (option.field)
      setSolverField(options.solver, option.field->name, value);
    else if (option.applyToTrainer)
      option.applyToTrainer(options, value);
  });
  if (!options.snapshot.empty() && !options.weights.empty())
    throw usageError("give a snapshot to resume training or weights to "
                     "finetune, but not both");
  if (options.resume && !options.snapshot.empty())
    throw usageError(
        "use --resume to resume from the newest snapshot or "
        "--snapshot to resume from a particular one, but not both");
}

} // namespace brew::runtime
