//===- RematerializationChoice.h - What the backward pass computes again -*- C++
//-*-===//
//
// A forward pass saves what the backward pass reads. Whatever is computed again
// instead needs no memory in between, and time. This chooses what, so that no
// step needs more memory than is wanted, for as little time as it finds. No
// MLIR here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <vector>

namespace brew::passes {

/// What is computed, and if at all computed again, as a whole. Positions number
/// the steps of the program.
struct RematerializationUnit {
  int64_t bytes = 0; ///< of its results
  int64_t made = 0;  ///< where the forward pass makes it
  int64_t lastForwardUse = 0;
  /// Where steps of the backward pass read it; none if the last is negative.
  int64_t firstBackwardUse = 0, lastBackwardUse = -1;
  double seconds = 0; ///< to compute it again
  bool canRematerialize = false;
  /// Where it is made again beside the last step that reads what it is made of,
  /// if steps that could wait do: that step. Else negative.
  int64_t beside = -1;
  /// The units that it reads; all have smaller numbers.
  std::vector<unsigned> inputs;
  /// Beside a step: whether it comes into the place of what it is made of, and
  /// needs memory from the next step on only.
  bool reusesInputMemory = true;
};

/// The forward pass in the order of its program, and the memory that all else
/// takes at each step.
struct RematerializationProblem {
  std::vector<RematerializationUnit> units;
  std::vector<int64_t> otherBytes;
};

/// What a choice comes to.
struct RematerializationCost {
  int64_t peakBytes = 0;
  int64_t peakStep = 0;
  double seconds = 0;           ///< that computing again takes
  std::vector<int64_t> bytesAt; ///< of each step
};

/// With `again[u]`, unit u lives until the forward pass has read it, and is
/// made again right before the backward pass first reads it or what is made of
/// it.
RematerializationCost evaluate(const RematerializationProblem &problem,
                          const std::vector<bool> &again);

/// Units to compute again, so that the peak is at most `bytes`, or as small as
/// is found. Takes one after the other: what frees the most at the peak for its
/// time or, if that does not lead there, what leaves the smallest peak. What
/// then turns out to be needless is saved after all.
std::vector<bool> chooseRematerialized(const RematerializationProblem &problem,
                                  int64_t bytes);

/// Of what can be made again beside another step, as much as lowers the peak
/// and takes no more than `seconds`, the largest first.
std::vector<bool> chooseFused(const RematerializationProblem &problem, double seconds);

} // namespace brew::passes
