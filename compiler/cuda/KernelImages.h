//===- KernelImages.h - Machine code of CUDA kernels ------------*- C++ -*-===//
#pragma once

#include "compiler/cuda/EmitKernels.h"
#include "plan/plan.pb.h"

#include <functional>
#include <string>
#include <vector>

namespace brew::compiler::cuda {

struct ImageOptions {
  std::vector<std::string> archs; ///< from resolveGpuArchs
  bool cache = true;              ///< use KernelCache
  /// Folder that contains the kernels' sources, which the error for a kernel
  /// that does not compile names. If empty, the source of such a kernel is
  /// written to a temporary folder.
  std::string textFolder;
  /// Emits the kernel with the given number again, with other options.
  std::function<EmittedKernel(std::size_t, const ThreadOptions &)> emitAgain;
};

/// Compiles `kernels` for every architecture, and to PTX for the newest one.
/// Sets `target`'s architectures and NVRTC version. Fills in the symbols and
/// images of `planKernels`, which has one entry per kernel, and appends the
/// images to `segments`. Kernels with equal source share images. A kernel that
/// spills many registers is replaced, if the only architecture is a GPU's, by
/// one with smaller blocks and more registers that does not. Throws Error
/// (Unavailable) without NVRTC (or without the simulator, for "sim"), and Error
/// (Bug) with kernel, file and log for source that does not compile.
void compileKernels(std::vector<EmittedKernel> kernels,
                    const ImageOptions &options,
                    std::vector<plan::Kernel> &planKernels,
                    plan::Target &target, std::vector<std::string> &segments);

/// Throws Error unless NVRTC of CUDA `version` (12010: 12.1) and the GPUs of
/// `archs` support the size of the kernel's arguments. The status is
/// Unavailable if the NVRTC is too old, Usage if an architecture is too old,
/// and Bug if no GPU supports the size.
void checkArgumentSize(const EmittedKernel &kernel, int version,
                       const std::vector<std::string> &archs);

/// Returns the manifest entry of `kernel` without its images.
plan::Kernel describeKernel(const EmittedKernel &kernel);

} // namespace brew::compiler::cuda
