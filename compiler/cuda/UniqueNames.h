//===- UniqueNames.h - Identifiers of a kernel's text -------------*- C++ -*-===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <set>
#include <string>

namespace brew::compiler::cuda {

/// Hands out identifiers that a reader of the prototxt recognises and that
/// collide neither with each other nor with what CUDA C++ or Brew's own text
/// uses.
class UniqueNames {
public:
  /// An identifier like `wanted` that was not given before.
  std::string unique(llvm::StringRef wanted);
  /// `prefix` and a number, for values that have no name of their own.
  std::string numbered(llvm::StringRef prefix);

private:
  std::set<std::string> taken;
  unsigned next = 0;
};

} // namespace brew::compiler::cuda
