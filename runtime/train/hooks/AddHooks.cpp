//===- AddHooks.cpp - Adding hooks from lines and files -------------------===//

#include "runtime/train/hooks/Hooks.h"

#include "formats/PathLookup.h"
#include "support/Error.h"
#include "support/NumberText.h"
#include "support/RegularFile.h"
#include "support/Suggest.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

namespace brew::runtime {
namespace {

/// Calls a caller's function. Brew assumes that it does not affect training.
class Callback : public HookAction {
public:
  explicit Callback(HookFunction function) : function(std::move(function)) {}
  DeferredWork run(HookCall &call) override {
    if (!call.background) {
      struct InHook {
        Session &session;
        explicit InHook(Session &session) : session(session) {
          session.setInHook(true);
        }
        ~InHook() { session.setInHook(false); }
      } const scope(call.trainer.session());
      function(call);
      return {};
    }
    // Copy the arguments, since the call ends before the background run. Only
    // the training thread may measure tensors.
    struct CallCopy {
      std::string name, reason;
      HookTrigger trigger;
      int iteration;
      double seconds;
      MetricValues values;
      HookRequests hookRequests;
    };
    auto copy = std::make_shared<CallCopy>(CallCopy{call.name,
                                                    call.reason,
                                                    call.trigger,
                                                    call.iteration,
                                                    call.seconds,
                                                    MetricValues(),
                                                    {}});
    return
        [this, copy, &trainer = call.trainer, &statistics = call.statistics] {
          function({copy->name, copy->trigger, copy->iteration, copy->seconds,
                    copy->reason, copy->values, statistics, trainer,
                    copy->hookRequests, true});
          return std::vector<std::string>();
        };
  }
  bool isReadOnly() const override { return true; }
  bool isCallback() const override { return true; }

private:
  HookFunction function;
};

/// Parses a line "epoch 500 iterations". Returns nullopt for other lines.
std::optional<std::uint64_t> epochLengthIn(const std::string &line) {
  std::istringstream words(line);
  std::string epoch, count, unit, more;
  words >> epoch >> count >> unit;
  if (epoch != "epoch" || count.empty() || count[0] == ':')
    return {};
  const std::optional<int> length = parseInteger(count);
  if (!length || *length < 1 || (unit != "iterations" && unit != "iteration") ||
      words >> more)
    throw TextError{line.find("epoch") + 6,
                    "expected the length of an epoch, as in 'epoch 500 "
                    "iterations'"};
  return static_cast<std::uint64_t>(*length);
}

/// Returns whether metrics can name the hook's value. Values of background
/// hooks cannot be used, since they arrive at no defined time.
bool producesUsableValue(const HookLine &line) {
  return !line.background && producesValue(line.action.front().text);
}

} // namespace

std::set<std::string> Hooks::valueHooks() const {
  std::set<std::string> names;
  for (const auto &hook : hooks)
    if (producesUsableValue(hook->line))
      names.insert(hook->name);
  return names;
}

std::optional<double> Hooks::value(const std::string &metric) const {
  const std::set<std::string> names = valueHooks();
  try {
    return values.value(
        parseMetricName(metric, {trainer.session().manifest(), testNets, &names,
                                 trainer.hasLearner()}));
  } catch (const TextError &problem) {
    throwTextError("metric", metric, problem);
  }
}

std::unique_ptr<Hooks::Hook> Hooks::createHook(const Entry &entry,
                                               const MetricScope &scope,
                                               bool &needsEpochs) {
  auto hook = std::make_unique<Hook>();
  hook->line = entry.line;
  hook->name = entry.line.name;
  const HookLine &line = entry.line;
  if (!line.criterion.empty())
    try {
      hook->criterion.emplace(line.criterion, scope, /*allowsMemory=*/true);
    } catch (const TextError &problem) {
      throw TextError{line.criterionOffset + problem.offset, problem.text};
    }
  const HookWord &verb = line.action.front();
  if (!verb.quoted && verb.text == "call") {
    if (!entry.function)
      throw TextError{
          verb.offset,
          "'call' needs a function, which only hooks added by a program have"};
    if (line.action.size() > 1)
      throw TextError{line.action[1].offset, "expected nothing after 'call'"};
    hook->action = std::make_unique<Callback>(entry.function);
  } else {
    if (entry.function)
      throw TextError{verb.offset,
                      "a hook with a function needs the action 'call'"};
    hook->action = makeAction(line, {scope, trainer, folders});
  }
  const HookTrigger unit = line.schedule.trigger();
  if (line.schedule.isFromBeginning() &&
      (!hook->action->appliesFromBeginning() ||
       unit != HookTrigger::Iteration || hook->criterion))
    throw TextError{verb.offset,
                    "'after 0 iterations' supports only 'set' and changes of "
                    "parameters, without a condition"};
  if (verb.text == "test" && unit == HookTrigger::Test)
    throw TextError{verb.offset, "a test after each test never ends"};
  if (line.background)
    hook->state = std::make_shared<BackgroundHooks::HookState>();
  needsEpochs |= unit == HookTrigger::Epoch;
  hook->findUpdates();
  const bool optional = verb.text == "report_progress";
  for (const MetricName &metric : hook->metrics())
    if (metric.kind == MetricName::Epoch)
      needsEpochs |= !optional || epochLength || trainer.hasEpochs();
  if (needsEpochs && !epochLength && !trainer.hasEpochs())
    throw TextError{
        0, "the training net's data make no passes over records: "
           "define the length of an epoch first ('epoch 500 iterations')"};
  return hook;
}

/// Resolves the dependencies of the hooks of `entries`, the last ones in `all`.
void Hooks::linkDependencies(
    std::vector<std::unique_ptr<Hook>> &all, const std::vector<Entry> &entries,
    const std::function<void(const Entry &, const TextError &)> &fail) {
  auto find = [&](const std::string &name) -> Hook * {
    for (const auto &hook : all)
      if (hook->name == name)
        return hook.get();
    return nullptr;
  };
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Hook &hook = *all[all.size() - entries.size() + i];
    for (const HookWord &word : hook.line.needs) {
      Hook *dependency = find(word.text);
      if (!dependency) {
        std::vector<std::string> names;
        for (const auto &candidate : all)
          names.push_back(candidate->name);
        fail(entries[i], {word.offset, "there is no hook '" + word.text + "'" +
                                           didYouMean(word.text, names)});
      }
      hook.dependencies.push_back(dependency);
    }
    for (const MetricName &metric : hook.metrics())
      // A hook may read its own last value.
      if (metric.kind == MetricName::HookValue && metric.hook != hook.name)
        hook.dependencies.push_back(find(metric.hook));
  }
}

/// Returns the hooks in the order in which they run. Throws Error (2) that
/// names a dependency cycle.
std::vector<Hooks::Hook *>
Hooks::sortByDependencies(std::vector<std::unique_ptr<Hook>> &all) const {
  std::vector<Hook *> result, remaining;
  for (const auto &hook : all)
    remaining.push_back(hook.get());
  while (!remaining.empty()) {
    auto isReady = [&](const Hook *hook) {
      return std::none_of(hook->dependencies.begin(), hook->dependencies.end(),
                          [&](const Hook *needed) {
                            return std::count(remaining.begin(),
                                              remaining.end(), needed);
                          });
    };
    auto next = remaining.end();
    for (auto it = remaining.begin(); it != remaining.end(); ++it)
      if (isReady(*it) && (next == remaining.end() ||
                           (*it)->line.priority > (*next)->line.priority))
        next = it;
    if (next == remaining.end()) {
      // Every remaining hook leads into a cycle.
      std::vector<const Hook *> path = {remaining.front()};
      while (true) {
        const Hook *last = path.back();
        const Hook *dependency =
            *std::find_if(last->dependencies.begin(), last->dependencies.end(),
                          [&](const Hook *needed) {
                            return std::count(remaining.begin(),
                                              remaining.end(), needed) != 0;
                          });
        const auto first = std::find(path.begin(), path.end(), dependency);
        const std::vector<const Hook *> cycle(first, path.end());
        path.push_back(dependency);
        if (cycle.empty())
          continue;
        std::string text = "'" + dependency->name + "'";
        for (auto it = cycle.begin() + 1; it != cycle.end(); ++it)
          text += " needs '" + (*it)->name + "'";
        text += " needs '" + dependency->name + "'";
        throw usageError("hooks need each other: " + text);
      }
    }
    result.push_back(*next);
    remaining.erase(next);
  }
  return result;
}

void Hooks::addAll(std::vector<Entry> entries, const std::string &path) {
  auto fail = [&](const Entry &entry, const TextError &problem) {
    if (path.empty())
      throwTextError("hook", entry.text, problem);
    throw badInput(markedText(path + ", line " + std::to_string(entry.number),
                              entry.text, problem));
  };
  std::set<std::string> usedNames, valueNames = valueHooks();
  for (const auto &hook : hooks)
    usedNames.insert(hook->name);
  for (Entry &entry : entries) {
    HookLine &line = entry.line;
    if (!line.name.empty() && !usedNames.insert(line.name).second)
      fail(entry, {entry.text.find(line.name),
                   "there is a hook '" + line.name + "' already"});
    while (line.name.empty()) {
      const std::string name = entry.number
                                   ? "line-" + std::to_string(entry.number)
                                   : "hook-" + std::to_string(++unnamed);
      if (usedNames.insert(name).second)
        line.name = name;
      else if (entry.number) // used by another file
        entry.number = 0;
    }
    if (producesUsableValue(line))
      valueNames.insert(line.name);
  }
  const MetricScope scope{trainer.session().manifest(), testNets, &valueNames,
                          trainer.hasLearner()};
  const std::size_t oldCount = hooks.size();
  bool needsEpochs = false;
  std::vector<std::unique_ptr<Hook>> added;
  for (const Entry &entry : entries)
    try {
      added.push_back(createHook(entry, scope, needsEpochs));
    } catch (const TextError &problem) {
      fail(entry, problem);
    }
  for (auto &hook : added)
    hooks.push_back(std::move(hook));
  try {
    linkDependencies(hooks, entries, fail);
    for (std::size_t i = 0; i < entries.size(); ++i)
      try {
        hooks[oldCount + i]->action->check(bestMetrics());
      } catch (const TextError &problem) {
        fail(entries[i], problem);
      }
    order = sortByDependencies(hooks);
  } catch (const Error &error) {
    hooks.resize(oldCount);
    if (path.empty() || error.status() != ExitStatus::Usage)
      throw;
    throw badInput(path + ": " + error.what());
  }
  const bool newlyTracked = needsEpochs && !tracksEpochs;
  tracksEpochs |= needsEpochs;
  if (!hasStarted)
    return;
  if (oldCount == 0 || newlyTracked) // without hooks, triggers are not counted
    countFrom(trainer.iteration());
  std::vector<Hook *> addedHooks;
  for (Hook *hook : order)
    if (std::any_of(hooks.begin() + static_cast<std::ptrdiff_t>(oldCount),
                    hooks.end(),
                    [&](const auto &added) { return added.get() == hook; }))
      addedHooks.push_back(hook);
  startAt(addedHooks, trainer.iteration());
}

void Hooks::add(const std::string &line, HookFunction function) {
  throwIfRunning();
  Entry entry{line, {}, 0, std::move(function)};
  try {
    if (const auto length = epochLengthIn(withoutComment(line))) {
      if (!hooks.empty())
        throw usageError("the length of an epoch must precede all hooks");
      epochLength = length;
      return;
    }
    entry.line = readHookLine(line, entry.function ? "call" : nullptr);
  } catch (const TextError &problem) {
    throwTextError("hook", line, problem);
  }
  std::vector<Entry> entries;
  entries.push_back(std::move(entry));
  addAll(std::move(entries), "");
}

void Hooks::addFile(const std::string &path) {
  throwIfRunning();
  refuseSpecialFile(path);
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw unavailable("cannot read the hooks of '" + path + "'");
  std::vector<Entry> entries;
  const std::optional<std::uint64_t> lengthBefore = epochLength;
  std::size_t number = 0;
  // Files named in a line are searched in the hook file's folder.
  const std::string folder = formats::folderOfFile(path);
  folders.insert(folders.begin(), folder);
  struct FolderScope {
    std::vector<std::string> &folders;
    ~FolderScope() { folders.erase(folders.begin()); }
  } const scope{folders};
  try {
    for (std::string text; std::getline(file, text);) {
      ++number;
      const std::string line = withoutComment(text);
      if (line.find_first_not_of(" \t\r") == line.npos)
        continue;
      try {
        if (const auto length = epochLengthIn(line)) {
          if (!entries.empty() || !hooks.empty())
            throw TextError{0, "the length of an epoch must precede all hooks"};
          epochLength = length;
          continue;
        }
        entries.push_back({line, readHookLine(line), number, {}});
      } catch (const TextError &problem) {
        throw badInput(markedText(path + ", line " + std::to_string(number),
                                  line, problem));
      }
    }
    if (file.bad())
      throw unavailable("cannot read the hooks of '" + path + "'");
    addAll(std::move(entries), path);
  } catch (...) {
    epochLength = lengthBefore;
    throw;
  }
}

} // namespace brew::runtime
