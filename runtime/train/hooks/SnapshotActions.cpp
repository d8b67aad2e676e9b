//===- SnapshotActions.cpp - Hook actions on weights and snapshots --------===//

#include "runtime/train/hooks/HookAction.h"

#include "formats/PathLookup.h"
#include "runtime/log/Log.h"
#include "support/Error.h"

#include <algorithm>

namespace brew::runtime {
namespace {

class Snapshot : public HookAction {
public:
  DeferredWork run(HookCall &call) override {
    call.hookRequests.snapshot = true;
    return {};
  }
};

/// Requests a snapshot when a metric has its best value so far.
class SaveBest : public HookAction {
public:
  explicit SaveBest(RankedMetric metric) : bestMetric(std::move(metric)) {}
  DeferredWork run(HookCall &call) override {
    const std::optional<double> current =
        call.values.value(bestMetric.metricName());
    if (current && bestMetric.updateIfBetter(*current, call.iteration)) {
      call.values.setHook(call.name, *current);
      call.hookRequests.best.push_back(&bestMetric);
    }
    return {};
  }
  std::vector<MetricName> metrics() const override {
    return {bestMetric.metricName()};
  }
  BestMetric *best() override { return &bestMetric; }

private:
  BestMetric bestMetric;
};

constexpr char kWeightFile[] = "weight file", kState[] = "solver state";

/// The file that `load` or `restore` names: a path, the run's last snapshot, or
/// the snapshot of a metric's best value.
class SnapshotSource {
public:
  /// Parses "last", "best [METRIC]" or files.
  SnapshotSource(ActionWords &words, const ActionContext &context,
                 const char *kind) {
    if (words.atEnd())
      words.fail(std::string("expected a ") + kind + ", 'last' or 'best'");
    if (words.take("last")) {
      isLast = true;
      return;
    }
    if (words.peek("best")) {
      bestOffset = words.next("").offset;
      isBest = true;
      if (!words.atEnd())
        metric = words.nextRankedMetric(context.scope).name.text;
      return;
    }
    const bool isList = std::string(kind) == kWeightFile;
    std::vector<std::string> folders = context.folders;
    do {
      const HookWord &word = words.next(kind);
      try {
        path += (path.empty() ? "" : ",") +
                formats::requirePath(word.text, folders, kind);
      } catch (const Error &error) {
        throw TextError{word.offset, error.what()};
      }
    } while (isList && words.take(","));
  }

  void check(const std::vector<BestMetric *> &metrics) const {
    if (isBest)
      find(metrics);
  }
  /// Returns the snapshot, or nullopt after storing in `missing` why there is
  /// none. A path is both the weights and the state.
  std::optional<SnapshotPair> get(const HookCall &call,
                                  std::string &missing) const {
    if (isLast) {
      missing = "there is no snapshot yet";
      return call.trainer.lastSnapshot();
    }
    if (isBest) {
      const BestMetric *best = find(call.trainer.bestMetrics());
      // They are written after the hooks.
      const auto &toWrite = call.hookRequests.best;
      const bool isNow =
          std::find(toWrite.begin(), toWrite.end(), best) != toWrite.end();
      missing =
          isNow ? "the weights are the best now" : "there is no best value yet";
      return isNow ? std::nullopt : call.trainer.bestSnapshot(*best);
    }
    return SnapshotPair{path, path};
  }
  /// Returns the path; "" for the last and the best snapshot.
  const std::string &fixedPath() const { return path; }

private:
  const BestMetric *find(const std::vector<BestMetric *> &metrics) const {
    std::vector<const BestMetric *> found;
    for (const BestMetric *candidate : metrics)
      if (metric.empty() || candidate->name() == metric)
        found.push_back(candidate);
    if (found.size() == 1)
      return found[0];
    throw TextError{bestOffset,
                    found.empty()
                        ? "nothing keeps the best weights" +
                              (metric.empty() ? "" : " by " + metric) +
                              ": add a hook 'at test do save_best METRIC', or "
                              "use --snapshot-best"
                        : std::string("several metrics have best weights: "
                                      "write 'best METRIC'")};
  }

  bool isLast = false, isBest = false;
  std::size_t bestOffset = 0;
  std::string metric; ///< of isBest; "": the only one
  std::string path;   ///< of neither
};

/// Loads weights; training continues with its iteration and history.
class Load : public HookAction {
public:
  explicit Load(SnapshotSource source) : source(std::move(source)) {}
  DeferredWork run(HookCall &call) override {
    std::string missing;
    const std::optional<SnapshotPair> files = source.get(call, missing);
    if (!files)
      return logLine(linePrefix(call) + missing);
    load(call.trainer, files->weights);
    return {};
  }
  bool appliesFromBeginning() const override {
    return !source.fixedPath().empty();
  }
  void resumeAt(TrainerAccess &trainer, const Resumption &resumption) override {
    if (resumption.isBeginning())
      load(trainer, source.fixedPath());
  }
  void check(const std::vector<BestMetric *> &metrics) const override {
    source.check(metrics);
  }

private:
  static void load(TrainerAccess &trainer, const std::string &files) {
    ParameterChange change;
    change.kind = ParameterChange::Load;
    change.target = files;
    trainer.change(change);
  }

  SnapshotSource source;
};

/// Continues from a snapshot: weights, history, iteration and data.
class Restore : public HookAction {
public:
  explicit Restore(SnapshotSource source) : source(std::move(source)) {}
  DeferredWork run(HookCall &call) override {
    std::string missing;
    const std::optional<SnapshotPair> files = source.get(call, missing);
    if (!files)
      return logLine(linePrefix(call) + missing);
    call.hookRequests.restore = files->state;
    return logLine(linePrefix(call) + "restores " + files->state);
  }
  void check(const std::vector<BestMetric *> &metrics) const override {
    source.check(metrics);
  }

private:
  SnapshotSource source;
};

} // namespace

std::unique_ptr<HookAction> makeSaveBest(RankedMetric metric) {
  return std::make_unique<SaveBest>(std::move(metric));
}

std::unique_ptr<HookAction> makeSnapshot(ActionWords &,
                                         const ActionContext &context) {
  context.trainer.requireSnapshots();
  return std::make_unique<Snapshot>();
}

std::unique_ptr<HookAction> makeSaveBest(ActionWords &words,
                                         const ActionContext &context) {
  if (!context.trainer.hasAllHistory())
    words.fail("save_best does not work with a sharded update: no rank has the "
               "full solver history");
  RankedMetric metric = words.nextRankedMetric(context.scope);
  context.trainer.requireSnapshots();
  return makeSaveBest(std::move(metric));
}

std::unique_ptr<HookAction> makeLoad(ActionWords &words,
                                     const ActionContext &context) {
  return std::make_unique<Load>(SnapshotSource(words, context, kWeightFile));
}

std::unique_ptr<HookAction> makeRestore(ActionWords &words,
                                        const ActionContext &context) {
  if (context.trainer.hasLearner())
    words.fail("a learner's episodes are not part of snapshots, so it cannot "
               "go back; 'load' loads weights");
  return std::make_unique<Restore>(SnapshotSource(words, context, kState));
}

} // namespace brew::runtime
