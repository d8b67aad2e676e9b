//===- TuningOperands.h - Random operands for tuning ------------*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/cuda/Device.h"

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace brew::runtime::cuda {

/// Fills the buffers of library calls with random numbers before the calls are
/// measured. On zeros a GPU switches fewer transistors, draws less power and
/// clocks higher: an H100 is up to 13 % faster than on random numbers.
class TuningOperands {
public:
  /// `address` returns the memory of a buffer.
  TuningOperands(const Device &device, const Stream &stream,
                 const plan::Manifest &manifest,
                 std::function<CUdeviceptr(std::uint32_t)> address)
      : device(device), stream(stream), manifest(manifest),
        address(std::move(address)) {}

  /// Fills all buffers of a call, including gaps between elements, with numbers
  /// of their types between -1 and 1. Must be called before parameters are
  /// loaded; the arenas must be initialised afterwards.
  void fillAll(const plan::Step &call);
  /// Fills only the buffers that every run recomputes.
  void fillTransient(const plan::Step &call);
  /// Saves the buffers that the call writes and whose contents outlive a run;
  /// restore() writes them back.
  void save(const plan::Step &call);
  void restore();

private:
  const plan::Buffer &buffer(std::uint32_t index) const {
    return manifest.buffers(static_cast<int>(index));
  }
  /// Returns whether every run recomputes the buffer.
  bool isTransient(std::uint32_t index) const;
  void fill(std::uint32_t index);
  const DeviceMemory &randomBlockOf(plan::DataType type);
  void copy(CUdeviceptr target, CUdeviceptr source, std::uint64_t bytes) const;

  const Device &device;
  const Stream &stream;
  const plan::Manifest &manifest;
  const std::function<CUdeviceptr(std::uint32_t)> address;
  std::map<plan::DataType, DeviceMemory> blocks; ///< random numbers by type
  struct Saved {
    CUdeviceptr address;
    DeviceMemory bytes;
  };
  std::vector<Saved> saved;
};

} // namespace brew::runtime::cuda
