//===- SimCompiler.h - Kernels for the simulator of Brew's tests ----------===//
#pragma once

#include <string>

namespace brew::compiler::cuda {

/// The program that compiles a kernel's text for the architecture "sim": it
/// lies in $BREW_CUDASIM, or else in ../lib/cudasim beside the folder of this
/// executable. Builds without tests have none.
class SimCompiler {
public:
  /// Throws Error (Unavailable) if it is not there.
  SimCompiler();

  struct Result {
    bool succeeded = false;
    std::string image, log;
  };
  Result compile(const std::string &text, const std::string &name) const;
  /// Changes whenever the simulator does, for cache keys.
  const std::string &key() const { return version; }

private:
  std::string program, version;
};

} // namespace brew::compiler::cuda
