//===- VendorLibrary.h - The table of vendor calls, opened ------*- C++ -*-===//
#pragma once

#include "runtime/cuda/VendorTable.h"

#include <string>

namespace brew::runtime::cuda {

/// A table of vendor calls and its context on the thread's current device.
class VendorLibrary {
public:
  /// Opens the shared object at `path`, which exports brewVendorTable, or the
  /// machine's cuDNN without one. Throws Error (3) that says what is missing.
  explicit VendorLibrary(const std::string &path);
  ~VendorLibrary();
  VendorLibrary(const VendorLibrary &) = delete;
  VendorLibrary &operator=(const VendorLibrary &) = delete;

  const BrewVendorTable &table() const { return *functions; }
  BrewVendorContext *context() const { return opened; }
  /// "cuDNN 9.19.0".
  std::string name() const { return functions->name(opened); }

private:
  const BrewVendorTable *functions = nullptr;
  BrewVendorContext *opened = nullptr;
};

} // namespace brew::runtime::cuda
