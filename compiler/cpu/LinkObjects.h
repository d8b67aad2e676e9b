//===- LinkObjects.h - Linking of object files to a shared object ---------===//
//
// Links in-process, with LLD as a library.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>
#include <vector>

namespace brew::compiler::cpu {

/// Links relocatable ELF objects (their bytes) in order and returns the bytes
/// of the stripped shared object, which depend on nothing else. Throws Error
/// (Bug) for a symbol that neither the objects nor libc and libm define, or if
/// the linker fails, and Error (Unavailable) if no temporary folder is
/// writable.
std::string linkSharedObject(const std::vector<std::string> &objects);

} // namespace brew::compiler::cpu
