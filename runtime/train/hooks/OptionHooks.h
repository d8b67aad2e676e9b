//===- OptionHooks.h - Hooks of training options ----------------*- C++ -*-===//
//
// Options that end training or keep its best weights are hooks without lines:
//
//   --stop-when RULE       stop if the criterion holds when solve() begins,
//                          after an iteration, or after the last test net
//   --patience N:METRIC    early_stop after each test of the metric's net
//   --snapshot-best METRIC save_best after each test of the metric's net
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/train/hooks/Criterion.h"
#include "runtime/train/hooks/Hooks.h"
#include "runtime/train/metrics/Patience.h"

#include <string>

namespace brew::runtime {

// Each throws Error (2) with the column if the option's text is wrong.

/// Parses the criterion of --stop-when.
Criterion parseStopRule(const std::string &rule, const MetricScope &scope);
/// Parses the argument of --patience: N[:METRIC[:min|:max]].
Patience parsePatience(const std::string &text, const MetricScope &scope);

void addStopRule(Hooks &hooks, const std::string &rule,
                 const MetricScope &scope);
void addPatience(Hooks &hooks, const std::string &text,
                 const MetricScope &scope);
/// Returns the metric, for messages.
const BestMetric &addSnapshotBest(Hooks &hooks, const std::string &text,
                                  const MetricScope &scope);

} // namespace brew::runtime
