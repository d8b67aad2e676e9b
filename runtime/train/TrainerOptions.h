//===- TrainerOptions.h - Options of a trainer ------------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "runtime/train/CallerNets.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime {

struct WatchOptions {
  /// Checks for NaN and Inf in every iteration of solve() and step()
  /// (NanCheck.h).
  bool checkNan = false;
  /// Criteria (Criterion.h), each of which ends training when it holds
  /// (OptionHooks.h).
  std::vector<std::string> stopWhen = {};
  /// Argument of --patience (OptionHooks.h): N[:METRIC[:min|:max]]; "": none.
  std::string patience = {};
  /// Folder of metrics.jsonl (MetricsLog.h), changes.hooks (SolverChangeLog.h)
  /// and TensorBoard's event files (TensorBoardLog.h), created if missing; "":
  /// none.
  std::string logFolder = {};
};

struct TrainerOptions {
  /// The plan's solver with the caller's changes applied.
  caffe::SolverParameter solver;
  /// Nets that the caller runs, already initialised; null: the plan's nets.
  /// Options that concern nets then have no effect: weights, debug_info, tests
  /// of detectors, checks for NaN.
  std::shared_ptr<const CallerNets> callerNets = {};
  /// Weight files to start from, instead of the solver's and the plan's own.
  std::vector<std::string> weights;
  /// Solver state to resume from; excludes `weights`.
  std::string snapshot;
  /// Resume from the newest intact snapshot of the solver's prefix
  /// (newestIntactSnapshot()); without one, start as if this were false.
  bool resume = false;
  /// The number of snapshots of this run to keep; 0: all. Older ones are
  /// deleted once a newer one is on disk.
  int keepSnapshots = 0;
  /// A metric (MetricName.h): whenever a test of the solver yields its best
  /// value so far, PREFIX_best_METRIC.caffemodel and .solverstate are written.
  std::string snapshotBest;
  /// If set, and if an intact snapshot was written at this time (seconds since
  /// 1970) or later, resume from the newest one instead of `snapshot`.
  std::optional<std::int64_t> resumeSince;
  /// A file with a list of snapshots: resume from the newest intact snapshot
  /// that it lacks, if there is one, instead of `snapshot`. Without the file,
  /// the start writes the list of all snapshots. "": no list.
  std::string earlierSnapshots = {};
  /// f16: the initial loss scale, instead of the plan's or the snapshot's
  /// scale.
  std::optional<double> lossScale;
  /// On several ranks: each rank tests its share of the batches; else rank 0
  /// tests all. Not supported for eval_type "detection".
  bool distributeTests = false;
  /// On several ranks, on the CPU: each rank updates its shard of the
  /// parameters and keeps its solver history (ShardedUpdate.h).
  bool shardUpdate = false;
  WatchOptions watch = {};
  /// A learner (extras/reinforcement) runs the iterations: there are metrics of
  /// episodes, and tests play episodes.
  bool hasLearner = false;
  /// Files of hooks (hooks/Hooks.h). On several ranks only rank 0 has hooks.
  std::vector<std::string> hooks = {};
  /// Hooks may run programs (the action `run`).
  bool allowCommands = false;
};

} // namespace brew::runtime
