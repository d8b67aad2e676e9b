//===- EmitKernels.h - Loop nests to CUDA C++ ----------------------*- C++ -*-===//
#pragma once

#include "compiler/kernels/AccessBytes.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::compiler::cuda {

/// A plan.kernel as CUDA C++.
struct EmittedKernel {
  std::string symbol; ///< of the function
  std::string text;   ///< the whole .cu file
  /// `text` without names and comments: equal for kernels that can share
  /// their machine code.
  std::string canonical;
  unsigned argumentCount = 0;
  uint32_t blocks = 1, threads = 1;
  /// Which wait for each other in one launch; if more than one, what it is
  /// passed last tells which of them run.
  uint32_t stages = 1;
  uint64_t flops = 0, bytes = 0;
  std::vector<TensorAccess> accesses; ///< together they move `bytes`
  bool needsHeaders = false;          ///< CUDA's own, for 16-bit types
};

/// One kernel per plan.kernel of `module`, in order. Throws Error (Bug), naming
/// the kernel, for a body that breaks the rules of brew.kernel or has an
/// operation without translation. They are made for the machine that `module`
/// names (dialects/Target). `team` is that of scheduleKernel.
std::vector<EmittedKernel> emitKernels(mlir::ModuleOp module, unsigned team = 0);

/// `text` without the lines that are comments.
std::string withoutComments(const std::string &text);

} // namespace brew::compiler::cuda
