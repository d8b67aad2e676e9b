//===- DefaultCpu.h - The processor where nobody names one ------*- C++ -*-===//
#pragma once

#include <cstdint>

namespace brew::dialects::target {

inline constexpr std::int64_t kDefaultVectorBits = 512;
/// Whether its library multiplies bf16 operands faster than f32 ones.
inline constexpr bool kDefaultBf16 = false;

} // namespace brew::dialects::target
