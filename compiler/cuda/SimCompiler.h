//===- SimCompiler.h - Kernel compiler of the test simulator ----*- C++ -*-===//
#pragma once

#include <string>

namespace brew::compiler::cuda {

/// Runs the program that compiles kernels for architecture "sim". The program
/// is in $BREW_CUDASIM or else in ../lib/cudasim relative to this executable's
/// folder. Builds without tests do not have it.
class SimCompiler {
public:
  /// Throws Error (Unavailable) if the program is missing.
  SimCompiler();

  struct Result {
    bool succeeded = false;
    std::string image, log;
  };
  /// Compiles `text`; `name` is the base name of the temporary files.
  Result compile(const std::string &text, const std::string &name) const;
  /// Returns a text that changes with the simulator, for cache keys.
  const std::string &key() const { return version; }

private:
  std::string program, version;
};

} // namespace brew::compiler::cuda
