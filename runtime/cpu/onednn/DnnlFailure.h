//===- DnnlFailure.h - Errors of oneDNN's calls -----------------*- C++ -*-===//
#pragma once

#include "support/Error.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <string>

namespace brew::runtime {

/// Returns the error of a primitive that failed: Error (3) if the process has
/// no more memory, else Error (70). `name` is that of the call.
Error dnnlFailure(const std::string &name, dnnl_status_t status);

} // namespace brew::runtime
