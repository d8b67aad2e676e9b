//===- GpuArchs.h - GPU architectures of --gpu-arch -------------*- C++ -*-===//
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace brew::compiler::cuda {

/// Returns the distinct architectures in `option` (`sm_90,sm_80`, `native`,
/// `sim`), in order: "sm_90", ..., "sim". `native` means this machine's GPUs,
/// which the driver reports. Throws Error (Usage) for an unknown architecture,
/// and Error (Unavailable) for `native` without a driver or GPU.
std::vector<std::string> resolveGpuArchs(std::string_view option);

/// Returns "compute_90" for the newest of `archs`, whose PTX later GPUs can
/// use; empty if there is only `sim`.
std::string newestVirtualArch(const std::vector<std::string> &archs);

} // namespace brew::compiler::cuda
