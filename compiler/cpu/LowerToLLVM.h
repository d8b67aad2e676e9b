//===- LowerToLLVM.h - Kernel loops to the LLVM dialect ---------*- C++ -*-===//
//
// The last MLIR stage of the CPU target. It takes functions of the form
//
//   func.func private @NAME(%a: memref<64x24x24x20xf32>,
//                           %b: memref<64x12x12x20xf32, strided<[...]>>,
//                           %begin: index, %end: index)
//       attributes {brew.kernel_entry} { ... return }
//
// whose bodies use func, scf, affine, memref, arith, math, index, cf, vector
// and ub, and gives for each an exported function
//
//   void NAME(void **buffers, int64_t begin, int64_t end)
//
// where buffers[i] is the address of the first element of memref argument i.
// Memrefs have static shapes, strides and offsets. Arguments may carry
//
//   brew.may_alias   (unit)     another argument of this kernel shares memory
//                               with this one and one of them is written; any
//                               other two arguments are taken to be disjoint
//   brew.align = N   (integer)  the pointer is a multiple of N bytes only
//                               (default: bufferAlignment, as every buffer is)
//
// Functions without brew.kernel_entry are helpers: they stay internal.
// Kernels must not call one another. A helper of the form above that has
// brew.sub_kernel_function instead promises the same of its arguments; a kernel that
// has brew.kernel_dispatch too only passes its memrefs on to such helpers.
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

/// Bytes; the runtime aligns every buffer to this.
constexpr int bufferAlignment = plan::kAlignment;

/// Names of the attributes described above.
constexpr const char kernelEntryAttr[] = "brew.kernel_entry";
constexpr const char kernelDispatchAttr[] = "brew.kernel_dispatch";
constexpr const char subKernelFunctionAttr[] = "brew.sub_kernel_function";
constexpr const char mayAliasAttr[] = "brew.may_alias";
constexpr const char alignAttr[] = "brew.align";

/// Adds the dialects that kernels may be written in, and the interfaces that
/// their translation to LLVM IR needs.
void registerCpuDialects(mlir::DialectRegistry &registry);

/// Rewrites `module` in place into the LLVM dialect. f32 exp, log, log1p,
/// expm1, tanh and erf become polynomials (relative error below 3e-7) where the
/// target has FMA; f64 ones stay calls into libm.
/// Throws Error (Bug) with MLIR's diagnostics if anything cannot be lowered.
void lowerToLLVMDialect(mlir::ModuleOp module, const CpuTarget &target);

} // namespace brew::compiler::cpu
