//===- EmitKernels.h - Emission of CUDA kernels -----------------*- C++ -*-===//
#pragma once

#include "compiler/cuda/KernelSchedule.h"
#include "compiler/kernels/AccessBytes.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::compiler::cuda {

/// A plan.kernel as CUDA C++.
struct EmittedKernel {
  std::string symbol; ///< function name
  std::string text;   ///< complete .cu file
  /// `text` without names and comments: kernels with equal canonical text share
  /// machine code.
  std::string canonical;
  unsigned argumentCount = 0;
  uint32_t blocks = 1, threads = 1;
  /// Stages separated by grid-wide barriers; if more than one, the last
  /// argument is the mask of stages to run.
  uint32_t stages = 1;
  uint64_t flops = 0, bytes = 0;
  std::vector<TensorAccess> accesses; ///< their bytes add up to `bytes`
  bool needsHeaders = false;          ///< includes CUDA headers for 16-bit
                                      ///< types
};

/// Emits one kernel per plan.kernel of `module`, in order, for the machine of
/// `module` (dialects/Target). Throws Error (Bug), naming the kernel, for a
/// body that violates the rules of brew.kernel or has an operation without
/// translation.
std::vector<EmittedKernel> emitKernels(mlir::ModuleOp module,
                                       const ThreadOptions &options = {});
/// Emits only the kernel with number `index` of those that emitKernels returns.
/// Throws the same errors.
EmittedKernel emitKernel(mlir::ModuleOp module, std::size_t index,
                         const ThreadOptions &options);

/// Returns `text` without comment lines.
std::string withoutComments(const std::string &text);

} // namespace brew::compiler::cuda
