//===- KernelImages.h - Loading of a plan's compiled kernels ----*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"

#include <cstdint>
#include <vector>

namespace brew::runtime {

/// A generated kernel; see message Kernel in plan.proto.
using KernelFunction = void (*)(void **buffers, std::int64_t begin,
                                std::int64_t end);

/// The shared objects in a plan's KERNEL_IMAGE segments, loaded without files
/// on disk and unloaded with this object. A plan's machine code is executed
/// unchecked: plans, like programs, must come from a trusted source.
class KernelImages {
public:
  /// Throws Error: 3 if the system cannot load an image, 1 if an image lacks
  /// the symbol of a kernel.
  explicit KernelImages(const plan::PlanFile &plan);
  ~KernelImages();
  KernelImages(const KernelImages &) = delete;
  KernelImages &operator=(const KernelImages &) = delete;

  /// Returns the entry point of kernel `index` of the manifest.
  KernelFunction function(std::uint32_t index) const {
    return functions[index];
  }

private:
  struct Image {
    void *handle = nullptr;
  };
  void load(const plan::PlanFile &plan);
  void unload();

  std::vector<Image> images; ///< by segment; null handles for other kinds
  std::vector<KernelFunction> functions;
};

} // namespace brew::runtime
