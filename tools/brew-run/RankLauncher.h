//===- RankLauncher.h - Launcher of local ranks -----------------*- C++ -*-===//
#pragma once

#include <brew/brew.hpp>

namespace brew::run {

struct LaunchOptions {
  int ranks = 1;
  /// Maximum number of restarts from the last snapshot after a rank failed.
  int maxRestarts = 0;
  /// The effects of SIGINT and SIGHUP on the ranks, which are not restarted
  /// after a stop. SIGTERM always stops them.
  brew_solver_action onInterrupt = BREW_ACTION_STOP,
                     onHangUp = BREW_ACTION_SNAPSHOT;
};

struct LaunchResult {
  /// The status of the ranks, or 128 + N if signal N killed a rank or stopped
  /// the ranks before they could handle it.
  int status = 0;
  bool wasTerminated = false; ///< SIGTERM has stopped the ranks
};

/// Runs the command line of this process on `ranks` ranks with Open MPI's
/// launcher and forwards SIGINT, SIGHUP and SIGTERM. A second SIGINT ends the
/// ranks at once. Throws Error (3) if there is no launcher.
LaunchResult launchRanks(const LaunchOptions &options);

} // namespace brew::run
