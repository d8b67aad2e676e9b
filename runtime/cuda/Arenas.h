//===- Arenas.h - A plan's arenas in GPU memory -----------------*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/cuda/Device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime::cuda {

/// One allocation per arena of the plan, with its initial contents.
class Arenas {
public:
  /// Throws Error (3) if the GPU has too little free memory. The message names
  /// the bytes needed, the largest buffers and the batch that would fit.
  Arenas(const Device &device, const Stream &stream,
         const plan::PlanFile &plan);

  CUdeviceptr address(std::uint32_t arena) const {
    return slabs[arena].address();
  }
  /// Writes the initial contents of every arena.
  void initialise(const Stream &stream);
  /// Writes the initial contents of the TRANSIENT and GRADIENTS arenas, which
  /// every run recomputes.
  void initialiseTransient(const Stream &stream);

private:
  void initialise(std::size_t arena, const Stream &stream);

  const Device &device;
  const plan::PlanFile &plan;
  std::vector<DeviceMemory> slabs;
};

/// Returns the message "PLAN: out of GPU memory: ..." for a device with `free`
/// bytes of free memory.
std::string outOfMemoryText(const plan::PlanFile &plan, std::uint64_t free,
                            const std::string &device);

} // namespace brew::runtime::cuda
