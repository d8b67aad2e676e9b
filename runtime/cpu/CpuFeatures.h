//===- CpuFeatures.h - Does this machine run that plan? ---------*- C++ -*-===//
#pragma once

#include "plan/plan.pb.h"

#include <string>
#include <string_view>

namespace brew::runtime {

/// Whether this machine and its system support the feature LLVM calls `name`
/// ("avx512f", "sse4.2"). Unknown names count as missing.
bool cpuHasFeature(std::string_view name);

/// The model that the processor gives as its name, and what else tells it from
/// others: "AMD EPYC (a10f11)"; for keys, so that it has no tab in it.
std::string processorName();

/// Throws Error (3) unless this machine can run code built for `target`; the
/// text names what the plan was built for and what is missing. `path` is the
/// plan's.
void checkTarget(const plan::Target &target, const std::string &path);

} // namespace brew::runtime
