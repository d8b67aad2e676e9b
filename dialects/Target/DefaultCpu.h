//===- DefaultCpu.h - The default processor ---------------------*- C++ -*-===//
#pragma once

#include <cstdint>

namespace brew::dialects::target {

inline constexpr std::int64_t kDefaultVectorBits = 512;
/// Whether the library's products of bf16 operands are faster than those of f32
/// operands.
inline constexpr bool kDefaultBf16 = false;

} // namespace brew::dialects::target
