//===- CudnnAdapter.h - cuDNN behind the table of vendor calls --*- C++ -*-===//
#pragma once

#include "runtime/cuda/VendorTable.h"

namespace brew::runtime::cuda {

/// The table whose calls are graphs of cuDNN 9. The library is opened with the
/// first context.
const BrewVendorTable &cudnnVendorTable();

} // namespace brew::runtime::cuda
