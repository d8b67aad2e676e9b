//===- StridedTransfer.h - Copy and clear views on a GPU --------*- C++ -*-===//
#pragma once

#include "runtime/cuda/Device.h"
#include "runtime/plan/PlanFile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime::cuda {

/// Copies or clears the elements of a buffer by the driver's rectangular copies
/// and fills; analysed once, enqueued often. The compiler generates kernels
/// where a permutation would take many of them.
class StridedTransfer {
public:
  /// Copies between buffers of equal dimensions, whatever the strides. Throws
  /// Error (70), starting with `where`, if that takes an absurd number of
  /// rectangles.
  static StridedTransfer copy(const plan::Buffer &source,
                              CUdeviceptr sourceAddress,
                              const plan::Buffer &target,
                              CUdeviceptr targetAddress,
                              const std::string &where);
  /// Sets the elements to zero bytes; the gaps of the strides stay.
  static StridedTransfer zero(const plan::Buffer &buffer, CUdeviceptr address,
                              const std::string &where);

  void enqueue(const Device &device, const Stream &stream) const;
  bool clears() const { return !copies; }

private:
  bool copies = false;
  std::uint64_t width = 0, height = 1; ///< bytes, rows
  std::uint64_t sourcePitch = 0, targetPitch = 0;
  struct Rectangle {
    CUdeviceptr source, target;
  };
  std::vector<Rectangle> rectangles;

  static StridedTransfer analyse(const plan::Buffer &source,
                                 CUdeviceptr sourceAddress,
                                 const plan::Buffer &target,
                                 CUdeviceptr targetAddress,
                                 const std::string &where);
};

} // namespace brew::runtime::cuda
