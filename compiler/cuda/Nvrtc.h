//===- Nvrtc.h - NVIDIA's run-time compiler, opened on first use ----------===//
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace brew::compiler::cuda {

/// NVRTC, a shared library that may be absent. Safe to use from several
/// threads.
class Nvrtc {
public:
  /// Opens the library: by its name, then in $CUDA_HOME, $CUDA_PATH and
  /// /usr/local/cuda. Throws Error (Unavailable) that names what is missing.
  Nvrtc();
  ~Nvrtc();

  const std::string &version() const; ///< "13.0"
  int versionNumber() const;          ///< 13000
  /// Throws Error (Usage) if this version knows no architecture `arch`.
  void requireArch(const std::string &arch) const;

  struct Result {
    bool succeeded = false;
    std::string cubin; ///< for a real architecture (sm_90)
    std::string ptx;
    std::string log;
  };
  /// Compiles `text` for `arch`, sm_N or compute_N; `headers`: it includes
  /// CUDA's own (throws Unavailable if they are not there). `name` is that of
  /// the file in the log.
  Result compile(const std::string &text, const std::string &name,
                 const std::string &arch, bool headers) const;
  /// What of the options of compile() changes its result, for cache keys.
  static std::string optionsKey();

private:
  struct Api;
  std::unique_ptr<Api> api;
};

} // namespace brew::compiler::cuda
