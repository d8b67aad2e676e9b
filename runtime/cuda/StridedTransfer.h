//===- StridedTransfer.h - Copy and clear views on a GPU --------*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/cuda/Device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime::cuda {

/// Copies or clears the elements of a buffer by the driver's rectangular copies
/// and fills; analysed once, enqueued often. Each rectangle is a node of the
/// CUDA graph, so there are few: where elements change their order the compiler
/// generates a kernel.
///
/// The pitch of a rectangle is the distance of its rows. CUDA's documentation
/// allows cuMemcpy2DAsync to fail within a device where cuMemAllocPitch did not
/// compute the pitches, and above the device's maximum (2 GiB). Drivers accept
/// all pitches below that, and copy faster than row by row; where one refuses,
/// few rows are copied one by one.
class StridedTransfer {
public:
  /// Rectangles of a transfer, and rows copied one by one, at most.
  static constexpr std::uint64_t kMaxRectangles = 64;

  /// Copies between buffers of equal dimensions, whatever the strides. Throws
  /// Error (70), starting with `where`, if that takes more than kMaxRectangles
  /// rectangles.
  static StridedTransfer copy(const plan::Buffer &source,
                              CUdeviceptr sourceAddress,
                              const plan::Buffer &target,
                              CUdeviceptr targetAddress,
                              const std::string &where);
  /// Sets the elements to zero bytes; the gaps of the strides stay.
  static StridedTransfer zero(const plan::Buffer &buffer, CUdeviceptr address,
                              const std::string &where);

  /// Throws Error (3) if the driver refuses, also a rectangle of more rows than
  /// can be copied one by one.
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

  CUresult enqueueRow(const DriverApi &api, const Rectangle &rectangle,
                      std::uint64_t row, const Stream &stream) const;
  CUresult enqueueRectangle(const DriverApi &api, const Rectangle &rectangle,
                            const Stream &stream) const;
  static StridedTransfer analyse(const plan::Buffer &source,
                                 CUdeviceptr sourceAddress,
                                 const plan::Buffer &target,
                                 CUdeviceptr targetAddress,
                                 const std::string &where);
};

} // namespace brew::runtime::cuda
