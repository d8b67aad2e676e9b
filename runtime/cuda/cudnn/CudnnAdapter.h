//===- CudnnAdapter.h - The cuDNN implementation of VendorTable -*- C++ -*-===//
#pragma once

#include "runtime/cuda/VendorTable.h"

#include <string>

namespace brew::runtime::cuda {

/// Returns the vendor table that is implemented by graphs of cuDNN 9. Opening
/// the first context opens the library.
const BrewVendorTable &cudnnVendorTable();

/// Returns a context for a device that is not installed. `properties` is
/// cuDNN's JSON description of the device. Calls can be created and their
/// candidates built, but not run. Returns null and sets `message` if cuDNN is
/// missing or older than 9.8.
BrewVendorContext *makeOfflineCudnnContext(const std::string &properties,
                                           std::string &message);

} // namespace brew::runtime::cuda
