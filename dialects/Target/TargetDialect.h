//===- TargetDialect.h - The machine that a module is compiled for --------===//
#pragma once

#include "dialects/Target/TargetEnums.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"

#include "dialects/Target/TargetDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Target/TargetAttributes.h.inc"

namespace brew::dialects::target {

/// Name of the module's attribute.
inline constexpr llvm::StringLiteral kMachineAttr = "target.machine";

/// The number in "sm_90" or "sm_90a"; 0 if that is no architecture's name.
unsigned archNumber(llvm::StringRef arch);

/// A processor with vectors of that many bits. `bf16`: the library multiplies
/// such operands faster than f32 ones.
CpuAttr describeCpu(mlir::MLIRContext *context, int64_t vectorBits, bool bf16);

/// The GPU that the first of `archs` ("sm_90", or "sim" for the simulator)
/// stands for, or the nearest known one, an earlier one if there is any; its
/// library does only what it does on all of them. None of them may be unknown
/// to archNumber().
GpuAttr describeGpu(mlir::MLIRContext *context,
                    llvm::ArrayRef<llvm::StringRef> archs);

/// Whether the module around `op` is for a GPU.
bool isForGpu(mlir::Operation *op);
/// The machine of the module around `op`, or the reference one of its kind if
/// it names none; null if it names one of the other kind.
CpuAttr cpuOf(mlir::Operation *op);
GpuAttr gpuOf(mlir::Operation *op);
/// The library of the machine of the module around `op`, which is a CPU if it
/// names none.
LibraryAttr libraryOf(mlir::Operation *op);

} // namespace brew::dialects::target
