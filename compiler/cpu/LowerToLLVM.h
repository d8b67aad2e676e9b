//===- LowerToLLVM.h - Lowering of kernel loops to the LLVM dialect -------===//
//
// The last MLIR step of the CPU target. It converts functions of the form
//
//   func.func private @NAME(%a: memref<64x24x24x20xf32>,
//                           %b: memref<64x12x12x20xf32, strided<[...]>>,
//                           %begin: index, %end: index)
//       attributes {brew.kernel_entry} { ... return }
//
// whose bodies use func, scf, affine, memref, arith, math, index, cf, vector
// and ub, to exported functions
//
//   void NAME(void **buffers, int64_t begin, int64_t end)
//
// where buffers[i] is the address of the first element of memref argument i.
// Memrefs have static shapes, strides and offsets. Arguments may have
// attributes:
//
//   brew.may_alias   (unit)     another argument of this kernel shares memory
//                               with this one and one of them is written;
//                               other pairs of arguments are disjoint
//   brew.align = N   (integer)  the pointer is a multiple of N bytes only
//                               (default: bufferAlignment, as every buffer is)
//
// Functions without brew.kernel_entry are internal helpers. Kernels must not
// call each other. A helper of the form above with brew.sub_kernel_function
// instead makes the same promises about its arguments. A kernel with
// brew.kernel_dispatch only passes its memrefs on to such helpers.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/Contract.h"

namespace mlir {
class DialectRegistry;
class ModuleOp;
} // namespace mlir

namespace brew::compiler::cpu {

struct CpuTarget;

/// The alignment in bytes that the runtime guarantees for every buffer.
constexpr int bufferAlignment = plan::kAlignment;

/// Names of the attributes described above.
constexpr const char kernelEntryAttr[] = "brew.kernel_entry";
constexpr const char kernelDispatchAttr[] = "brew.kernel_dispatch";
constexpr const char subKernelFunctionAttr[] = "brew.sub_kernel_function";
constexpr const char mayAliasAttr[] = "brew.may_alias";
constexpr const char alignAttr[] = "brew.align";

/// Registers the dialects that kernels may use, and the interfaces that their
/// translation to LLVM IR needs.
void registerCpuDialects(mlir::DialectRegistry &registry);

/// Lowers `module` in place to the LLVM dialect. f32 exp, log, log1p, expm1,
/// tanh and erf become polynomials (relative error below 3e-7) if the target
/// has FMA. In f64 they stay calls into libm. Throws Error (Bug) with MLIR's
/// diagnostics if an operation cannot be lowered.
void lowerToLLVMDialect(mlir::ModuleOp module, const CpuTarget &target);

} // namespace brew::compiler::cpu
