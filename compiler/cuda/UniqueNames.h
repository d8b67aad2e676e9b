//===- UniqueNames.h - Unique identifiers -----------------------*- C++ -*-===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <set>
#include <string>

namespace brew::compiler::cuda {

/// Creates identifiers similar to the prototxt's names. They collide neither
/// with each other nor with names of CUDA C++ or of Brew's generated code.
class UniqueNames {
public:
  /// Returns a new identifier similar to `preferred`.
  std::string unique(llvm::StringRef preferred);
  /// Returns `prefix` and a number, for values without a name.
  std::string numbered(llvm::StringRef prefix);

private:
  std::set<std::string> usedNames;
  unsigned next = 0;
};

} // namespace brew::compiler::cuda
