//===- StepOrder.h - An order of steps that needs less memory ---*- C++ -*-===//
//
// No MLIR here: steps read and write values of some bytes each.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace brew::passes {

struct OrderedStep {
  std::vector<unsigned> reads, writes; ///< values, each once
  /// Steps that must be done before this one for other reasons than what it
  /// reads, earlier ones in the program.
  std::vector<unsigned> after;
  /// Values that may be written where another lies that is read for the last
  /// time by this step.
  struct InPlacePair {
    unsigned written, read;
  };
  std::vector<InPlacePair> inPlacePairs;
};

struct OrderedValue {
  int64_t bytes = 0;
  bool liveAtStart = false; ///< it is there before the first step
  bool liveAtEnd = false;     ///< it is needed behind the last step
};

struct OrderProblem {
  std::vector<OrderedStep> steps; ///< in the order of the program
  unsigned boundary = 0;          ///< steps that all others stay behind
  std::vector<OrderedValue> values;
};

/// What steps need, in the order of the program.
struct MemoryUsage {
  /// Bytes that are there when each begins, and those that each needs.
  std::vector<int64_t> before, during;
  int64_t peak = 0;
  /// The last step that reads each value: steps.size() if it is needed behind
  /// them, nothing if it is not read.
  std::vector<std::optional<unsigned>> lastRead;
  /// The first step that writes each value, if one does.
  std::vector<std::optional<unsigned>> firstWrite;
};
MemoryUsage memoryUsageOf(const OrderProblem &problem);

/// The most bytes that are needed at a time when steps run in that order.
int64_t peakBytesOf(const OrderProblem &problem, const std::vector<unsigned> &order);

/// An order with a lower peak than the program's, as far as moving what a step
/// at the peak does not need lowers it; the program's own where nothing does.
std::vector<unsigned> reducePeak(const OrderProblem &problem);

} // namespace brew::passes
