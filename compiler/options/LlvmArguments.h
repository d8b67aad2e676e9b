//===- LlvmArguments.h - MLIR's and LLVM's own options ----------*- C++ -*-===//
//
// LLVM stores its options in globals of the process. Setting them affects every
// compilation and must not overlap with one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>
#include <vector>

namespace brew::compiler {

/// Sets options such as `--mlir-print-ir-after-all` or `--mlir-timing`. Values
/// follow a `=`. Replaces all options set before. Throws Error (Usage) with
/// LLVM's message for unknown options and for options that would print or exit
/// (`--help`); the options set before then stay in force.
void setLlvmArguments(const std::vector<std::string> &arguments);

/// Sets the current options again, after code in the process (the linker) has
/// reset LLVM's options to their defaults.
void reapplyLlvmArguments();

/// Returns whether setLlvmArguments has been called. If not, MLIR's options are
/// not registered and must not be read.
bool hasLlvmArguments();

} // namespace brew::compiler
