//===- Tensor.h - Blobs, parameters and gradients by name -------*- C++ -*-===//
#pragma once

#include "plan/plan.pb.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime {

/// What a name names.
enum class TensorKind {
  Blob,              ///< of a program, at its last version
  BlobGradient,      ///< likewise, of its first version
  OutputGradient,      ///< what backward takes for the gradient of a blob
  Parameter,         ///< of a layer
  ParameterGradient, ///< of a parameter that is learnt
  SolverState,       ///< history of such a parameter
  PersistentState, ///< state that runs leave to the next ones (recurrent nets)
};

/// Names one tensor of a session.
struct TensorName {
  TensorKind kind = TensorKind::Blob;
  /// Blob, BlobGradient, OutputGradient: the blob's; PersistentState: the plan's; else
  /// the layer's.
  std::string name;
  /// Likewise: index of the program.
  int program = 0;
  /// Of a layer: which of its blobs (0: weights, 1: bias, ...).
  int index = 0;
  /// SolverState: which of the update rule's (0, and 1 for AdaDelta, Adam).
  int slot = 0;
};

/// Where a tensor lies and how.
struct Tensor {
  std::uint32_t buffer; ///< of the plan
  plan::DataType type;
  /// Caffe's shape, of what there is after a run: of a blob whose number of
  /// items the data decide, fewer than `dims` (which see). Its row-major order
  /// is that of `dims`.
  std::vector<std::int64_t> shape;
  /// The layout in memory, strides in elements. `dims` are those of the shape,
  /// or some of them split to express a layout, and always all that there is
  /// room for.
  std::vector<std::int64_t> dims, strides;
  /// First element: on the host, or of the GPU's memory. Valid for the
  /// session's life; what is there, until the next run.
  void *data;
  bool onDevice;
};

} // namespace brew::runtime
