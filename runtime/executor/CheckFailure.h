//===- CheckFailure.h - Conditions that kernels check on the device ---*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"

#include <cstddef>
#include <cstdint>

namespace brew::runtime {

/// Throws the Error (1) that a check's nonzero `status` stands for. `bytes`
/// hold the buffer of checked values.
[[noreturn]] void throwCheckFailure(const plan::Check &check, std::int32_t status,
                            const plan::Buffer &values, const std::byte *bytes);

} // namespace brew::runtime
