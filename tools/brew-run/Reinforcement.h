//===- Reinforcement.h - Reinforcement learning -----------------*- C++ -*-===//
#pragma once

#include "Session.h"

#include "tools/monitor/RunMonitor.h"

#include <cstdint>
#include <string>

namespace brew::run {

/// What `brew-run train` and `test` play. The options of learners are in the
/// table of options.
struct ReinforcementOptions {
  std::string environment;
  std::string drawFile;                    ///< file for pictures of an episode
  std::int64_t episodes = 0, evaluate = 0; ///< 0: not set

  /// Returns whether any option is set; `options`: of the table.
  bool isRequested(const api::Options &options) const;
};

/// Adds the options of `brew-run train`, and of `brew-run test`.
void addReinforcementOptions(CLI::App &command, ReinforcementOptions &options);
void addPlayOptions(CLI::App &command, ReinforcementOptions &options);

/// Trains in environments of the given name, as many as the learner needs.
/// Reports the progress to `page`, which may be null. Throws Error (2) for
/// missing or incompatible options.
void learn(const ReinforcementOptions &options, Session &session,
           api::Trainer &trainer, monitor::RunMonitor *page);

/// Plays episodes without learning, with the policy of the weight files, and
/// logs the results. `sessionOptions` may set random-seed, the seed of all
/// random numbers; the default is the solver's. Throws Error (2) for missing or
/// incompatible options.
void testPolicy(const ReinforcementOptions &options, Session &session,
                const std::vector<std::string> &weights,
                const api::Options &sessionOptions, std::int64_t episodes);

} // namespace brew::run
