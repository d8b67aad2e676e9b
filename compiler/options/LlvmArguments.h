//===- LlvmArguments.h - MLIR's and LLVM's own options ----------*- C++ -*-===//
//
// LLVM keeps its options in globals of the process: whoever sets them does so
// for every compilation, and while none runs.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>
#include <vector>

namespace brew::compiler {

/// Sets options such as `--mlir-print-ir-after-all` or `--mlir-timing`; values
/// stand behind a `=`. Those set before lose their values. Throws Error (Usage)
/// with LLVM's words for what it does not know, and for options that would
/// print or exit (`--help`); then those set before stay in force.
void setLlvmArguments(const std::vector<std::string> &arguments);

/// Sets what was set last anew, after something in the process (the linker) has
/// given LLVM's options their defaults.
void reapplyLlvmArguments();

/// Whether it was called: without it MLIR must not be asked for its options.
bool hasLlvmArguments();

} // namespace brew::compiler
