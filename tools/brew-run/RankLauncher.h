//===- RankLauncher.h - Launcher of local ranks -----------------*- C++ -*-===//
#pragma once

namespace brew::run {

struct LaunchOptions {
  int ranks = 1;
  /// Maximum number of restarts from the last snapshot after a rank failed.
  int maxRestarts = 0;
  /// Whether SIGINT and SIGHUP stop the ranks, which then must not be
  /// restarted. SIGTERM always stops them.
  bool interruptStops = true, hangUpStops = false;
};

/// Runs the command line of this process on `ranks` ranks with Open MPI's
/// launcher and forwards SIGINT, SIGHUP and SIGTERM. Returns the exit status
/// for this process: the status of the ranks, or 128 + N if signal N killed a
/// rank. Throws Error (3) if there is no launcher.
int launchRanks(const LaunchOptions &options);

} // namespace brew::run
