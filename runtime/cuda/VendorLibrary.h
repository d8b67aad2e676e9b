//===- VendorLibrary.h - An opened vendor library ---------------*- C++ -*-===//
#pragma once

#include "runtime/cuda/VendorTable.h"

#include <string>

namespace brew::runtime::cuda {

/// A vendor table and its context on the thread's current device.
class VendorLibrary {
public:
  /// Opens the shared library at `path`, which exports brewVendorTable, or the
  /// system's cuDNN if `path` is empty. Throws an Error (3) that names the
  /// missing library or function.
  explicit VendorLibrary(const std::string &path);
  ~VendorLibrary();
  VendorLibrary(const VendorLibrary &) = delete;
  VendorLibrary &operator=(const VendorLibrary &) = delete;

  const BrewVendorTable &table() const { return *functions; }
  BrewVendorContext *context() const { return libraryContext; }
  /// Returns the name and version, such as "cuDNN 9.19.0".
  std::string name() const { return functions->name(libraryContext); }

private:
  const BrewVendorTable *functions = nullptr;
  BrewVendorContext *libraryContext = nullptr;
};

} // namespace brew::runtime::cuda
