//===- KernelCache.h - Compiled kernels of earlier runs ---------*- C++ -*-===//
#pragma once

#include <optional>
#include <string>

namespace brew::compiler::cuda {

/// Machine code on disk, under $XDG_CACHE_HOME/brew or ~/.cache/brew, by what
/// it was compiled from. It only saves time: entries that are damaged or cannot
/// be read or written count as absent.
class KernelCache {
public:
  /// `enabled` false: nothing is found and nothing stored.
  explicit KernelCache(bool enabled);

  /// `key` is all that determines the result, of any length.
  std::optional<std::string> find(const std::string &key) const;
  void store(const std::string &key, const std::string &bytes) const;

private:
  std::string pathOf(const std::string &key) const;
  std::string folder; ///< empty: disabled
};

} // namespace brew::compiler::cuda
