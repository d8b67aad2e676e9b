//===- KernelCache.h - Cache of compiled CUDA kernels -----------*- C++ -*-===//
#pragma once

#include <optional>
#include <string>

namespace brew::compiler::cuda {

/// Cache of machine code on disk, under $XDG_CACHE_HOME/brew or ~/.cache/brew.
/// The cache is only an optimisation: entries that are damaged, unreadable or
/// unwritable count as absent.
class KernelCache {
public:
  /// If not `enabled`, finds and stores nothing.
  explicit KernelCache(bool enabled);

  /// Returns the code stored for `key`, or nullopt. `key` is a text of any
  /// length that contains everything that determines the code.
  std::optional<std::string> find(const std::string &key) const;
  void store(const std::string &key, const std::string &bytes) const;

private:
  std::string pathOf(const std::string &key) const;
  std::string folder; ///< empty if the cache is disabled
};

} // namespace brew::compiler::cuda
