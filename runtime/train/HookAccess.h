//===- HookAccess.h - The training run as hooks see it ----------*- C++ -*-===//
#pragma once

#include "runtime/train/Collectives.h"
#include "runtime/train/Iteration.h"
#include "runtime/train/ParameterChanges.h"
#include "runtime/train/SolverTests.h"
#include "runtime/train/hooks/HookAction.h"
#include "runtime/train/snapshots/Snapshots.h"

#include <string>

namespace brew::runtime {

/// The parts of a training run that hooks use.
struct HookedRun {
  Session &session;
  TrainerControl &control;
  const TrainingPrograms &programs;
  const TrainingState &state;
  Iteration &passes;
  SolverTests &tests;
  Snapshots &snapshots;
  ParameterChanges &changes;
  bool hasAllHistory; ///< this rank has the full solver history
  bool hasLearner;    ///< a learner runs the iterations
  bool allowsCommands;
};

/// Gives hooks access to a training run.
class HookAccess : public TrainerAccess {
public:
  explicit HookAccess(const HookedRun &run) : run(run) {}

  Session &session() override { return run.session; }
  TrainerControl &control() override { return run.control; }
  const caffe::SolverParameter &solver() const override {
    return run.control.current();
  }
  bool hasLearner() const override { return run.hasLearner; }
  int iteration() const override { return run.state.iteration; }
  int trainProgram() const override { return run.programs.train; }
  int testProgram(int net) const override { return run.tests.program(net); }
  bool hasAllHistory() const override { return run.hasAllHistory; }
  void requireSnapshots() const override { run.snapshots.requireWritable(); }
  std::optional<SnapshotPair> lastSnapshot() override;
  std::vector<BestMetric *> bestMetrics() const override {
    return run.snapshots.bestMetrics();
  }
  std::optional<SnapshotPair> bestSnapshot(const BestMetric &metric) override;
  void change(const ParameterChange &change) override;
  bool allowsCommands() const override { return run.allowsCommands; }
  bool hasEpochs() const override { return !layerWithEpochs().empty(); }
  std::uint64_t epochs() const override;
  void forEachTestBatch(int net, const std::function<void()> &body) override;

private:
  std::string layerWithEpochs() const;

  const HookedRun run;
};

} // namespace brew::runtime
