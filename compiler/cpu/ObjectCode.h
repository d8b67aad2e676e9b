//===- ObjectCode.h - Machine code of CPU kernels ---------------*- C++ -*-===//
//
// The last step of the CPU target: kernels in the form that LowerToLLVM.h
// describes become one ELF shared object, which brew-run opens with dlopen.
//
// No function changes its module. Equal modules and targets produce equal
// bytes, regardless of the number of cores. All functions throw Error (Bug) if
// the module cannot be compiled.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace brew::compiler::cpu {

struct CpuTarget;

/// Returns the shared object. It exports one symbol per kernel and needs at run
/// time only libm and libc's memory functions. Throws Error (Unavailable) if no
/// temporary folder is writable.
std::string compileToSharedObject(mlir::ModuleOp module,
                                  const CpuTarget &target);

/// Returns the same code as optimised LLVM IR text (.ll).
std::string emitLLVMIR(mlir::ModuleOp module, const CpuTarget &target);

/// Returns the same code as assembly (.s).
std::string emitAssembly(mlir::ModuleOp module, const CpuTarget &target);

} // namespace brew::compiler::cpu
