//===- StridedTransfer.h - Strided copies and fills on a GPU ----*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/cuda/CudaStep.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime::cuda {

/// Copies the elements of a buffer with the driver's two-dimensional copies.
/// The rectangles are computed once. Each one is a node of the CUDA graph, so
/// their number is limited; the compiler generates a kernel for transfers that
/// reorder elements.
///
/// The pitch of a rectangle is the distance between its rows. CUDA's
/// documentation allows cuMemcpy2DAsync to fail within a device if the pitches
/// are not from cuMemAllocPitch or exceed the device's maximum (2 GiB). Drivers
/// accept all pitches below that and copy rectangles faster than single rows.
/// If a driver rejects a pitch, the rows are copied one by one, provided that
/// they are few.
class StridedTransfer : public CudaStep {
public:
  /// The maximum number of rectangles of a transfer, and of rows that are
  /// copied one by one.
  static constexpr std::uint64_t kMaxRectangles = 64;

  /// Returns a copy between buffers of equal dimensions and any strides. Throws
  /// Error (70), whose message starts with `where`, if it takes more than
  /// kMaxRectangles rectangles.
  static StridedTransfer copy(const plan::Buffer &source,
                              CUdeviceptr sourceAddress,
                              const plan::Buffer &target,
                              CUdeviceptr targetAddress,
                              const std::string &where);

  /// Throws Error (3) if the driver fails, or rejects a pitch and the rows are
  /// too many to be copied one by one.
  void run(const LaunchContext &context) override;
  std::string describe() const override { return "copy"; }

private:
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
};

} // namespace brew::runtime::cuda
