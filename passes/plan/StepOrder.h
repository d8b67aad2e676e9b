//===- StepOrder.h - Step order with a lower memory peak --------*- C++ -*-===//
//
// Orders steps that read and write values. This file does not depend on MLIR.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace brew::passes {

struct OrderedStep {
  std::vector<unsigned> reads, writes; ///< values, each once
  /// Earlier steps that must precede this one for reasons other than data
  /// dependences.
  std::vector<unsigned> after;
  /// A value that this step may write into the memory of a value that it reads,
  /// if no later step reads the latter.
  struct InPlacePair {
    unsigned written, read;
  };
  std::vector<InPlacePair> inPlacePairs;
};

struct OrderedValue {
  int64_t bytes = 0;
  bool liveAtStart = false; ///< live before the first step
  bool liveAtEnd = false;   ///< live after the last step
};

struct OrderProblem {
  std::vector<OrderedStep> steps; ///< in program order
  /// Number of leading steps that all others must follow.
  unsigned forwardSteps = 0;
  std::vector<OrderedValue> values;
};

/// Memory usage of steps in program order.
struct MemoryUsage {
  /// Live bytes before and during each step.
  std::vector<int64_t> before, during;
  int64_t peak = 0;
  /// The last step that reads each value; steps.size() if it is live after the
  /// last step, nullopt if it is not read.
  std::vector<std::optional<unsigned>> lastRead;
  /// The first step that writes each value, if any.
  std::vector<std::optional<unsigned>> firstWrite;
};
MemoryUsage memoryUsageOf(const OrderProblem &problem);

/// Returns the peak of live bytes for an order of the steps.
int64_t peakBytesOf(const OrderProblem &problem,
                    const std::vector<unsigned> &order);

/// Returns an order with a lower peak, in which steps that the peak does not
/// depend on are moved; the program order if no move lowers the peak.
std::vector<unsigned> reducePeak(const OrderProblem &problem);

} // namespace brew::passes
