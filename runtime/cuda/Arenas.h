//===- Arenas.h - The memory of a plan on a GPU -----------------*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/cuda/Device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime::cuda {

/// One slab per arena, with its initial contents.
class Arenas {
public:
  /// Throws Error (3) when the GPU has too little memory free; it says how
  /// much is needed and by which buffers, and which batch would fit.
  Arenas(const Device &device, const Stream &stream,
         const plan::PlanFile &plan);

  CUdeviceptr address(std::uint32_t arena) const {
    return slabs[arena].address();
  }
  /// Writes the initial contents to every arena (again).
  void initialise(const Stream &stream);
  /// Writes the initial contents to the arenas of blobs and gradients, which
  /// every run computes again.
  void initialiseTransient(const Stream &stream);

private:
  void initialise(std::size_t arena, const Stream &stream);

  const Device &device;
  const plan::PlanFile &plan;
  std::vector<DeviceMemory> slabs;
};

/// "PLAN: out of GPU memory: ..." when `free` bytes are there for a plan.
std::string outOfMemoryText(const plan::PlanFile &plan, std::uint64_t free,
                            const std::string &device);

} // namespace brew::runtime::cuda
