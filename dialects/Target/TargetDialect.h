//===- TargetDialect.h - The machine that a module is compiled for --------===//
#pragma once

#include "dialects/Target/TargetEnums.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"

#include "dialects/Target/TargetDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Target/TargetAttributes.h.inc"

namespace brew::dialects::target {

/// Name of the module attribute that describes the machine.
inline constexpr llvm::StringLiteral kMachineAttr = "target.machine";

/// Returns the number in "sm_90" or "sm_90a"; 0 if `arch` is not the name of an
/// architecture.
unsigned archNumber(llvm::StringRef arch);

/// Returns a processor with vectors of that many bits. `bf16` is whether the
/// library's products of bf16 operands are faster than those of f32 operands.
CpuAttr describeCpu(mlir::MLIRContext *context, int64_t vectorBits, bool bf16);

/// Returns the GPU of the first of `archs` ("sm_90", or "sim" for the
/// simulator) or, if that is not in the table, of the nearest older one, or
/// else of the nearest newer one. Its library has only the capabilities that it
/// has on all of `archs`. Requires names that archNumber() accepts.
GpuAttr describeGpu(mlir::MLIRContext *context,
                    llvm::ArrayRef<llvm::StringRef> archs);

/// Returns whether the module of `op` is compiled for a GPU.
bool isForGpu(mlir::Operation *op);
/// Return the machine of the module of `op`: the reference machine of that kind
/// if the module has no attribute, null if its machine is of the other kind.
CpuAttr cpuOf(mlir::Operation *op);
GpuAttr gpuOf(mlir::Operation *op);
/// Returns the library of the machine of the module of `op`, by default of the
/// reference CPU.
LibraryAttr libraryOf(mlir::Operation *op);

} // namespace brew::dialects::target
