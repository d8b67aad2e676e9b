//===- ObjectCode.h - Machine code for CPU kernels --------------*- C++ -*-===//
//
// The end of the CPU target: kernels written as LowerToLLVM.h describes become
// one ELF shared object that brew-run opens with dlopen.
//
// None of these functions changes the module it is given. Equal modules and
// targets give equal bytes, whatever the number of cores. All of them throw
// Error (Bug) where the module cannot be compiled.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace brew::compiler::cpu {

struct CpuTarget;

/// The shared object. It exports one symbol per kernel and needs at run time
/// only libm and libc's memory functions. Throws Error (Unavailable) if no
/// temporary folder can be written.
std::string compileToSharedObject(mlir::ModuleOp module,
                                  const CpuTarget &target);

/// The same code as optimised LLVM IR, as text (.ll).
std::string emitLLVMIR(mlir::ModuleOp module, const CpuTarget &target);

/// The same code as assembly (.s).
std::string emitAssembly(mlir::ModuleOp module, const CpuTarget &target);

} // namespace brew::compiler::cpu
