//===- CheckFailure.h - Errors of checks that kernels perform ---*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"

#include <cstddef>
#include <cstdint>

namespace brew::runtime {

/// Throws Error (1) for a failed check. `status` is the position of the invalid
/// value plus 1. `bytes` are the bytes of `values`, the buffer of checked
/// values.
[[noreturn]] void throwCheckFailure(const plan::Check &check,
                                    std::int32_t status,
                                    const plan::Buffer &values,
                                    const std::byte *bytes);

} // namespace brew::runtime
