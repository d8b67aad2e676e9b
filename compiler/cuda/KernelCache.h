//===- KernelCache.h - Cache of compiled CUDA kernels -----------*- C++ -*-===//
#pragma once

#include <optional>
#include <string>

namespace brew::compiler::cuda {

/// Cache of machine code on disk, under $XDG_CACHE_HOME/brew or ~/.cache/brew.
/// An optimisation only: entries that are damaged, unreadable or unwritable
/// count as absent.
class KernelCache {
public:
  /// If not `enabled`, finds and stores nothing.
  explicit KernelCache(bool enabled);

  /// `key` contains everything that determines the result, of any length.
  std::optional<std::string> find(const std::string &key) const;
  void store(const std::string &key, const std::string &bytes) const;

private:
  std::string pathOf(const std::string &key) const;
  std::string folder; ///< empty: disabled
};

} // namespace brew::compiler::cuda
