//===- LinkObjects.h - Object files to a shared object ----------*- C++ -*-===//
//
// Links in this process, with LLD as a library.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>
#include <vector>

namespace brew::compiler::cpu {

/// Links relocatable ELF objects (their bytes) in the order given and returns
/// the bytes of the stripped shared object, which depend on nothing else.
/// Throws Error: Bug if a symbol is needed that a program with libc and libm
/// does not have, or the linker fails; Unavailable if no temporary folder can
/// be written.
std::string linkSharedObject(const std::vector<std::string> &objects);

} // namespace brew::compiler::cpu
