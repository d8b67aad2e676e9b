//===- CallerNets.h - Nets that the caller of a trainer runs ----*- C++ -*-===//
#pragma once

#include "formats/WeightFile.h"
#include "runtime/events/Events.h"

#include <functional>
#include <string>
#include <vector>

namespace brew::runtime {

/// The nets of a training run if the caller runs them, for example layer by
/// layer: the trainer calls these functions, on its thread, in place of the
/// passes of its plan. The plan's program `update` computes on the memory of
/// their parameters and gradients (MemoryBindings.h). Exceptions of the
/// functions end the trainer's call.
struct CallerNets {
  /// Runs the passes of an iteration. Sets the gradients to their sums over
  /// the solver's iter_size batches, and returns the mean loss of the batches.
  std::function<double()> computeGradients;
  /// Runs a forward pass of the training net; returns its loss.
  std::function<double()> forward;
  /// Returns the outputs of the training net's last pass.
  std::function<std::vector<OutputValue>()> outputs;
  /// Called immediately before each update.
  std::function<void()> prepareUpdate;

  struct Batch {
    double loss;
    std::vector<OutputValue> outputs;
  };
  /// Runs a batch of a test net; there is one for each test_iter of the solver.
  std::function<Batch(int net)> test;

  /// Returns copies of the weights, with their gradients if so requested.
  std::function<formats::Weights(bool withDiffs)> weights;
  /// Loads a weight file; all of its weights or, if it throws, none.
  std::function<void(const std::string &path)> loadWeights;
};

} // namespace brew::runtime
