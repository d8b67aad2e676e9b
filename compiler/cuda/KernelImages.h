//===- KernelImages.h - Machine code of CUDA kernels --------------*- C++ -*-===//
#pragma once

#include "compiler/cuda/EmitKernels.h"
#include "plan/plan.pb.h"

#include <string>
#include <vector>

namespace brew::compiler::cuda {

struct ImageOptions {
  std::vector<std::string> archs; ///< as resolveGpuArchs gives them
  bool cache = true;              ///< look in and add to KernelCache
  /// Folder with the texts of the kernels, for the error that one does not
  /// compile; empty: a temporary one is made then.
  std::string textFolder;
};

/// Compiles `kernels` for every architecture, and to PTX for the newest; sets
/// `target`'s architectures and NVRTC version. Fills in symbol and images of
/// `described`, which has one entry per kernel, and appends the images to
/// `segments`. Kernels of equal text share them.
/// Throws Error: Unavailable without NVRTC (or the simulator, for "sim"), Bug
/// with kernel, file and log for a text that does not compile.
void compileKernels(const std::vector<EmittedKernel> &kernels,
                 const ImageOptions &options,
                 std::vector<plan::Kernel> &described, plan::Target &target,
                 std::vector<std::string> &segments);

/// Throws Error unless NVRTC of CUDA `version` (12010: 12.1) and the GPUs of
/// `archs` take that kernel's arguments: Unavailable for an NVRTC that is too
/// old, Usage for an architecture, Bug if there are too many for any.
void checkArgumentSize(const EmittedKernel &kernel, int version,
                      const std::vector<std::string> &archs);

/// The description of `kernel` but for its images.
plan::Kernel describeKernel(const EmittedKernel &kernel);

} // namespace brew::compiler::cuda
