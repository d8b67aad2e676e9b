//===- EmitKernels.h - Loop nests to CPU kernel functions -------*- C++ -*-===//
//
// Turns every plan.kernel into a function of the form that LowerToLLVM.h
// describes, choosing per part of a kernel how its loops run (see
// Schedule.h).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::compiler::cpu {

/// What a launch of an emitted kernel needs to know.
struct EmittedKernel {
  std::string symbol;
  int64_t domain = 0;         ///< ranges divide [0, domain)
  int64_t grain = 1;          ///< least units of the domain worth a range of
                              ///< their own; ranges start at multiples of it
  unsigned argumentCount = 0; ///< buffers: inputs, then results not in place
  uint64_t flops = 0;         ///< scalar floating-point operations
  uint64_t bytes = 0;         ///< size of all buffers together
};

/// Emits one func.func per plan.kernel of `module`, in order, behind functions
/// for its subKernels if there are many, into a new module of the same context, and
/// appends their descriptions to `kernels`.
/// They are made for the machine that `module` names (dialects/Target). Loads
/// the dialects that the functions need into the context. Throws Error (Bug),
/// naming the kernel, for a body that breaks the rules of brew.kernel or that
/// no schedule can run.
mlir::OwningOpRef<mlir::ModuleOp>
emitKernels(mlir::ModuleOp module, std::vector<EmittedKernel> &kernels);

} // namespace brew::compiler::cpu
