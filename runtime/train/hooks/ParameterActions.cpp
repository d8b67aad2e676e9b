//===- ParameterActions.cpp - Hook actions that change parameters ---------===//

#include "runtime/train/hooks/HookAction.h"

#include "runtime/session/Initialisers.h"
#include "runtime/session/TensorPattern.h"
#include "support/Error.h"

#include <utility>

namespace brew::runtime {
namespace {

/// Changes parameters whenever the hook is due.
class Change : public HookAction {
public:
  explicit Change(std::vector<ParameterChange> changes)
      : changes(std::move(changes)) {}

  DeferredWork run(HookCall &call) override {
    apply(call.trainer, call.iteration, call.once);
    return {};
  }
  bool appliesFromBeginning() const override { return true; }
  void resumeAt(TrainerAccess &trainer, const Resumption &resumption) override {
    if (resumption.isBeginning())
      apply(trainer, 0, /*once=*/true);
  }

protected:
  void apply(TrainerAccess &trainer, int iteration, bool once) const {
    for (ParameterChange change : changes) {
      change.once = once;
      // Other values at each iteration, the same on all ranks.
      constexpr std::uint64_t kStride = 0x9e3779b97f4a7c15;
      change.seed = trainer.session().rankSeed().common +
                    kStride * (static_cast<std::uint64_t>(iteration) + 1);
      trainer.change(change);
    }
  }

private:
  const std::vector<ParameterChange> changes;
};

/// Freezes or unfreezes parameters.
class ChangeFrozen : public Change {
public:
  using Change::Change;
  void resumeAt(TrainerAccess &trainer, const Resumption &resumption) override {
    if (resumption.lastDue)
      apply(trainer, resumption.iteration, /*once=*/true);
  }
};

/// Parses patterns of parameters separated by commas, and makes a change of
/// each.
std::vector<ParameterChange> nextTargets(ActionWords &words,
                                         const ActionContext &context,
                                         ParameterChange::Kind kind) {
  std::vector<ParameterChange> changes;
  do {
    const HookWord &word = words.next("a parameter, e.g. conv1.weights");
    try {
      parametersMatching(context.scope.manifest, word.text);
    } catch (const Error &error) {
      throw TextError{word.offset, error.what()};
    }
    ParameterChange change;
    change.kind = kind;
    change.target = word.text;
    changes.push_back(std::move(change));
  } while (words.take(","));
  return changes;
}

void requireHistory(const ActionWords &words, const ActionContext &context) {
  if (!context.trainer.hasAllHistory())
    words.fail("this action does not work with a sharded update: no rank has "
               "the full solver history");
}

std::unique_ptr<HookAction> makeChangeFrozen(ActionWords &words,
                                             const ActionContext &context,
                                             ParameterChange::Kind kind) {
  requireHistory(words, context);
  return std::make_unique<ChangeFrozen>(nextTargets(words, context, kind));
}

} // namespace

std::unique_ptr<HookAction> makeClip(ActionWords &words,
                                     const ActionContext &context) {
  std::vector<ParameterChange> changes =
      nextTargets(words, context, ParameterChange::ClipToRange);
  words.require("to");
  const bool byNorm = words.take("norm");
  const ActionWords before = words;
  const double first = words.nextReal(byNorm ? "the largest norm"
                                             : "'norm' or the smallest value");
  const double second = byNorm ? first : words.nextReal("the largest value");
  if (byNorm ? first <= 0 : first > second)
    before.fail(byNorm ? "the largest norm must be above 0"
                       : "the smallest value is above the largest");
  for (ParameterChange &change : changes) {
    if (byNorm)
      change.kind = ParameterChange::ClipToNorm;
    change.low = byNorm ? 0 : first;
    change.high = second;
  }
  return std::make_unique<Change>(std::move(changes));
}

std::unique_ptr<HookAction> makeScale(ActionWords &words,
                                      const ActionContext &context) {
  std::vector<ParameterChange> changes =
      nextTargets(words, context, ParameterChange::Scale);
  words.require("by");
  const double factor = words.nextReal("a factor");
  for (ParameterChange &change : changes)
    change.high = factor;
  return std::make_unique<Change>(std::move(changes));
}

std::unique_ptr<HookAction> makeFreeze(ActionWords &words,
                                       const ActionContext &context) {
  return makeChangeFrozen(words, context, ParameterChange::Freeze);
}

std::unique_ptr<HookAction> makeUnfreeze(ActionWords &words,
                                         const ActionContext &context) {
  return makeChangeFrozen(words, context, ParameterChange::Unfreeze);
}

std::unique_ptr<HookAction> makeReinitialise(ActionWords &words,
                                             const ActionContext &context) {
  requireHistory(words, context);
  std::vector<ParameterChange> changes =
      nextTargets(words, context, ParameterChange::Reinitialise);
  if (words.take("with")) {
    const HookWord &filler = words.next("a filler, e.g. gaussian(0, 0.01)");
    for (ParameterChange &change : changes)
      try {
        makeInitialiser(change.target, filler.text, context.scope.manifest);
        change.filler = filler.text;
      } catch (const Error &error) {
        throw TextError{filler.offset, error.what()};
      }
  }
  return std::make_unique<Change>(std::move(changes));
}

} // namespace brew::runtime
