//===- EmitKernels.h - Emission of CPU kernel functions ---------*- C++ -*-===//
//
// Emits every plan.kernel as a function of the form that LowerToLLVM.h
// describes. Chooses a loop schedule per sub-kernel (see Schedule.h).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::compiler::cpu {

/// Properties of an emitted kernel that its launches use.
struct EmittedKernel {
  std::string symbol;
  int64_t domain = 0;         ///< threads run ranges of [0, domain)
  int64_t grain = 1;          ///< smallest profitable length of a range; ranges
                              ///< start at multiples of it
  unsigned argumentCount = 0; ///< buffers: inputs, then results not in place
  uint64_t flops = 0;         ///< scalar floating-point operations
  uint64_t bytes = 0;         ///< total size of all buffers
};

/// Emits one func.func per plan.kernel of `module`, in order, into a new module
/// of the same context, and appends their descriptions to `kernels`. A kernel
/// with many sub-kernels calls functions for them, which precede it. Optimises
/// for the machine of `module` (dialects/Target). Loads the dialects that the
/// functions need into the context. Throws Error (Bug), naming the kernel, for
/// a body that violates the rules of brew.kernel or that no schedule supports.
mlir::OwningOpRef<mlir::ModuleOp>
emitKernels(mlir::ModuleOp module, std::vector<EmittedKernel> &kernels);

} // namespace brew::compiler::cpu
