//===- LogRows.h - Rows of a training run's logs ----------------*- C++ -*-===//
#pragma once

#include "runtime/events/Events.h"

#include <optional>

namespace brew::runtime {

/// The measurements of a displayed iteration.
struct TrainRow {
  event::Display display;
  std::optional<event::Throughput> speed; ///< not known at the first display
  double learningRate;
  double seconds; ///< since training began, in this run
};

/// A displayed episode of reinforcement learning.
struct EpisodeRow {
  event::EpisodeDone episode;
  double seconds;
};

/// The result of a test of one net.
struct TestRow {
  event::TestDone test;
  double seconds;
};

} // namespace brew::runtime
