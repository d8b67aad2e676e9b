//===- Cubin.h - NVIDIA's files of machine code -----------------*- C++ -*-===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace brew::compiler::cuda {

/// Returns the bytes of local memory per thread that the functions of `cubin`
/// need for spilled registers and local arrays; 0 if the file does not say so.
std::uint32_t frameBytes(llvm::StringRef cubin);

} // namespace brew::compiler::cuda
