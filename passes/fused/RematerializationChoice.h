//===- RematerializationChoice.h - Choice of recomputed values --*- C++ -*-===//
//
// Chooses the values that the backward pass recomputes instead of reading saved
// ones. A recomputed value needs no memory between the passes, but takes time.
// The choice keeps the memory of every step within a limit, for as little time
// as the search finds. Independent of MLIR.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <vector>

namespace brew::passes {

/// Unit of computation that is recomputed as a whole or not at all. Positions
/// are numbers of steps in the program.
struct RematerializationUnit {
  int64_t bytes = 0;     ///< of its results
  int64_t definedAt = 0; ///< where the forward pass computes it
  int64_t lastForwardUse = 0;
  /// First and last reader in the backward pass; no reader if the last is
  /// negative.
  int64_t firstBackwardUse = 0, lastBackwardUse = -1;
  double seconds = 0; ///< to recompute it
  bool canRematerialize = false;
  /// The last step that reads the unit's input, if the unit can be recomputed
  /// next to it by deferring its readers; otherwise negative.
  int64_t fusionStep = -1;
  /// The units that it reads; all have smaller numbers.
  std::vector<unsigned> inputs;
  /// When recomputed next to a step: whether it reuses the memory of its input,
  /// and needs memory of its own only from the next step on.
  bool reusesInputMemory = true;
};

/// The forward pass in program order, and the memory of all other values at
/// each step.
struct RematerializationProblem {
  std::vector<RematerializationUnit> units;
  std::vector<int64_t> otherBytes;
};

/// Memory and time of a choice.
struct RematerializationCost {
  int64_t peakBytes = 0;
  int64_t peakStep = 0;
  double seconds = 0;           ///< of recomputation
  std::vector<int64_t> bytesAt; ///< of each step
};

/// Evaluates a choice. With `rematerialized[u]`, unit u lives until its last
/// reader in the forward pass, and is recomputed right before the backward pass
/// first reads it or a unit recomputed from it.
RematerializationCost evaluate(const RematerializationProblem &problem,
                               const std::vector<bool> &rematerialized);

/// Chooses units to recompute, so that the peak is at most `bytes`, or as small
/// as the search finds. A greedy search: it takes the unit that frees the most
/// memory at the peak per second or, if that misses the limit, the unit that
/// leaves the smallest peak. Finally drops units that are not needed for the
/// result.
std::vector<bool> chooseRematerialized(const RematerializationProblem &problem,
                                       int64_t bytes);

/// Chooses units that can be recomputed next to another step, largest first,
/// that lower the peak and take at most `seconds` in total.
std::vector<bool> chooseFused(const RematerializationProblem &problem,
                              double seconds);

} // namespace brew::passes
