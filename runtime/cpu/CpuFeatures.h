//===- CpuFeatures.h - Features of the processor ----------------*- C++ -*-===//
#pragma once

#include "plan/plan.pb.h"

#include <string>
#include <string_view>

namespace brew::runtime {

/// Returns whether this machine and its system support the feature with LLVM's
/// name `name` ("avx512f", "sse4.2"). Unknown names count as missing.
bool cpuHasFeature(std::string_view name);

/// Returns the name and signature of the processor, such as "AMD EPYC
/// (a10f11)". The text contains no tabs, as required for keys of the timing
/// cache.
std::string processorName();

/// Throws Error (3) unless this machine can run code built for `target`. The
/// message names the target of the plan at `path` and the missing features.
void checkTarget(const plan::Target &target, const std::string &path);

} // namespace brew::runtime
