//===- LogRows.h - Rows of a training run's logs ---------------*- C++ -*-===//
#pragma once

#include "runtime/events/Events.h"

#include <optional>

namespace brew::runtime {

/// What an iteration that is displayed has measured.
struct TrainRow {
  event::Display display;
  std::optional<event::Throughput> speed; ///< nothing in the run's first
  double learningRate;
  double seconds; ///< since training began, in this run
};

/// A test of one net.
struct TestRow {
  event::TestDone test;
  double seconds;
};

} // namespace brew::runtime
