//===- GradientAccumulator.h - Gradients over several batches ---*- C++ -*-===//
#pragma once

#include "runtime/executor/Executor.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace brew::runtime {

/// Sums the parameter gradients of several runs of forward_backward, each of
/// which overwrites them (iter_size). Adds in the plan's own precision, batch
/// after batch, as Caffe does. A plan that was compiled for it has programs
/// that do so where the gradients are; with another, whose iter_size was set
/// only now, they go through the host.
class GradientAccumulator {
public:
  explicit GradientAccumulator(Executor &executor);

  /// Call after every run but the last: adds the gradients to the sum.
  void add();
  /// Call after the last run: leaves the sum in the gradient buffers and
  /// forgets it.
  void finish();
  /// Forgets the sum.
  void discard();

private:
  struct Piece {
    std::uint32_t buffer;
    plan::DataType type;
    std::size_t bytes;
    std::size_t offset; ///< of its sum in `sums`
  };

  void listPieces();

  Executor &executor;
  int addProgram, finishProgram; ///< -1: the plan has none
  std::vector<Piece> pieces;
  std::vector<std::byte> sums; ///< in the buffers' own layout
  bool started = false;
};

} // namespace brew::runtime
