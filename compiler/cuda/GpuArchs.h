//===- GpuArchs.h - The architectures of brewc's --gpu-arch -----*- C++ -*-===//
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace brew::compiler::cuda {

/// The architectures that `option` (`sm_90,sm_80`, `native`, `sim`) names, in
/// order and each once: "sm_90", ..., "sim". `native` stands for those of this
/// machine's GPUs, which the driver is asked for. Throws Error: Usage for
/// something that is no architecture, Unavailable for `native` without a
/// driver or GPU.
std::vector<std::string> resolveGpuArchs(std::string_view option);

/// "compute_90" for the newest of `archs`, whose PTX later GPUs can use; empty
/// if there is none but `sim`.
std::string newestVirtualArch(const std::vector<std::string> &archs);

} // namespace brew::compiler::cuda
