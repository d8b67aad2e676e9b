//===- Tensor.h - Blobs, parameters and gradients by name -------*- C++ -*-===//
#pragma once

#include "plan/plan.pb.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime {

/// The kind of a named tensor.
enum class TensorKind {
  Blob,              ///< of a program, at its last version
  BlobGradient,      ///< of a blob of a program, at its first version
  OutputGradient,    ///< of a blob; written by the caller
  Parameter,         ///< of a layer
  ParameterGradient, ///< of a trained parameter
  SolverState,       ///< history of a trained parameter
  PersistentState,   ///< state that a run leaves for the next (recurrent nets)
};

/// The name of a tensor of a session.
struct TensorName {
  TensorKind kind = TensorKind::Blob;
  /// Blob, BlobGradient, OutputGradient: the blob's name; PersistentState: the
  /// name in the plan; other kinds: the layer's name.
  std::string name;
  /// Blob, BlobGradient, OutputGradient: the index of the program.
  int program = 0;
  /// Parameter, ParameterGradient, SolverState: the index among the layer's
  /// parameters (0: weights, 1: bias, ...).
  int index = 0;
  /// SolverState: the slot of the update rule (0, and 1 for AdaDelta, Adam).
  int slot = 0;
};

/// The memory, type and layout of a tensor.
struct Tensor {
  std::uint32_t buffer; ///< of the plan
  plan::DataType type;
  /// Caffe's shape after a run. For a blob with a dynamic number of items, or
  /// of images with several sizes, it may be smaller than `dims`; the values
  /// are then the first ones, row-major.
  std::vector<std::int64_t> shape;
  /// The layout in memory, strides in elements. `dims` are the dimensions of
  /// the allocation: those of the shape, or some of them split to express a
  /// layout.
  std::vector<std::int64_t> dims, strides;
  /// First element, in host or GPU memory. The pointer is valid for the
  /// session's life, the values until the next run.
  void *data;
  bool onDevice;
};

} // namespace brew::runtime
