//===- CudnnAdapter.h - cuDNN behind the table of vendor calls --*- C++ -*-===//
#pragma once

#include "runtime/cuda/VendorTable.h"

#include <string>

namespace brew::runtime::cuda {

/// The table whose calls are graphs of cuDNN 9. The library is opened with the
/// first context.
const BrewVendorTable &cudnnVendorTable();

/// A context for a device that is not here, described by cuDNN's own JSON of
/// its properties: calls can be created and their candidates looked at, not
/// run. Null with a `message` if cuDNN is not there or too old for that.
BrewVendorContext *makeOfflineCudnnContext(const std::string &properties,
                                  std::string &message);

} // namespace brew::runtime::cuda
