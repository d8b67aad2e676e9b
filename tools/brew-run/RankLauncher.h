//===- RankLauncher.h - Several ranks on this machine -----------*- C++ -*-===//
#pragma once

namespace brew::run {

struct LaunchOptions {
  int ranks = 1;
  /// How often a run that a rank's end has ended begins again where the last
  /// snapshot is.
  int maxRestarts = 0;
  /// Whether SIGINT and SIGHUP ask the ranks to stop, so that their end is no
  /// reason to begin again. SIGTERM always does.
  bool interruptStops = true, hangUpStops = false;
};

/// Starts Open MPI's launcher, which starts this very command on `ranks` ranks,
/// waits for it, and passes SIGINT, SIGHUP and SIGTERM on. Returns what this
/// process should end with: the status of the ranks, 128 + N if signal N ended
/// one of them. Throws Error (3) if there is no launcher.
int launchRanks(const LaunchOptions &options);

} // namespace brew::run
