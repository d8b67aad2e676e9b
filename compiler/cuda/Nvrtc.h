//===- Nvrtc.h - NVIDIA's run-time compiler ---------------------*- C++ -*-===//
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace brew::compiler::cuda {

/// NVRTC, an optional shared library. Thread-safe.
class Nvrtc {
public:
  /// Opens the library: by name, then in $CUDA_HOME, $CUDA_PATH and
  /// /usr/local/cuda. If a component is missing, throws Error (Unavailable)
  /// that names it.
  Nvrtc();
  ~Nvrtc();

  const std::string &version() const; ///< "13.0"
  int versionNumber() const;          ///< 13000
  /// Throws Error (Usage) if this version does not support `arch`.
  void requireArch(const std::string &arch) const;

  struct Result {
    bool succeeded = false;
    std::string cubin; ///< for a real architecture (sm_90)
    std::string ptx;
    std::string log;
  };
  /// Compiles `text` for `arch`, sm_N or compute_N. `needsHeaders` means that
  /// the text includes CUDA headers; throws Error (Unavailable) if they are
  /// missing. `name` is the file name in the log.
  Result compile(const std::string &text, const std::string &name,
                 const std::string &arch, bool needsHeaders) const;
  /// Returns the options of compile() that affect its result, for cache keys.
  static std::string optionsKey();

private:
  struct Api;
  std::unique_ptr<Api> api;
};

} // namespace brew::compiler::cuda
