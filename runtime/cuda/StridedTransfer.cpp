//===- StridedTransfer.cpp - Strided copies on a GPU ----------------------===//
#include "runtime/cuda/StridedTransfer.h"

#include "support/Error.h"

#include <algorithm>

namespace brew::runtime::cuda {

namespace {

struct Axis {
  std::uint64_t dim, source, target; ///< strides in bytes
};

/// Returns the axes with an extent above 1 in order of decreasing target
/// stride. Merges neighbours that both buffers can iterate as a single axis.
std::vector<Axis> mergeAxes(const plan::Buffer &source,
                            const plan::Buffer &target) {
  const std::uint64_t size = plan::elementSize(target.type());
  std::vector<Axis> axes;
  for (int d = 0; d < target.dims_size(); ++d)
    if (target.dims(d) > 1)
      axes.push_back({static_cast<std::uint64_t>(target.dims(d)),
                      static_cast<std::uint64_t>(source.strides(d)) * size,
                      static_cast<std::uint64_t>(target.strides(d)) * size});
  std::stable_sort(axes.begin(), axes.end(), [](const Axis &a, const Axis &b) {
    return a.target > b.target;
  });
  std::vector<Axis> merged;
  for (const Axis &axis : axes) {
    if (!merged.empty() && merged.back().source == axis.source * axis.dim &&
        merged.back().target == axis.target * axis.dim)
      merged.back() = {merged.back().dim * axis.dim, axis.source, axis.target};
    else
      merged.push_back(axis);
  }
  return merged;
}

} // namespace

StridedTransfer StridedTransfer::copy(const plan::Buffer &source,
                                      CUdeviceptr sourceAddress,
                                      const plan::Buffer &target,
                                      CUdeviceptr targetAddress,
                                      const std::string &where) {
  std::vector<Axis> axes = mergeAxes(source, target);
  StridedTransfer result;
  result.width = plan::elementSize(target.type());
  if (!axes.empty() && axes.back().source == result.width &&
      axes.back().target == result.width) {
    result.width *= axes.back().dim;
    axes.pop_back();
  }
  const auto rows = std::max_element(
      axes.begin(), axes.end(),
      [](const Axis &a, const Axis &b) { return a.dim < b.dim; });
  if (rows != axes.end()) {
    result.height = rows->dim;
    result.sourcePitch = rows->source;
    result.targetPitch = rows->target;
    axes.erase(rows);
  }
  std::uint64_t count = 1;
  for (const Axis &axis : axes)
    count *= axis.dim;
  if (count > kMaxRectangles)
    throw Error(ExitStatus::Bug,
                where + ": the copy takes " + std::to_string(count) +
                    " rectangles, more than " + std::to_string(kMaxRectangles) +
                    "; the compiler should have generated a kernel for it");
  result.rectangles.push_back({sourceAddress, targetAddress});
  for (const Axis &axis : axes) {
    std::vector<Rectangle> repeated;
    for (std::uint64_t i = 0; i < axis.dim; ++i)
      for (const Rectangle &rectangle : result.rectangles)
        repeated.push_back({rectangle.source + i * axis.source,
                            rectangle.target + i * axis.target});
    result.rectangles = std::move(repeated);
  }
  return result;
}

CUresult StridedTransfer::enqueueRow(const DriverApi &api,
                                     const Rectangle &rectangle,
                                     std::uint64_t row,
                                     const Stream &stream) const {
  const CUdeviceptr target = rectangle.target + row * targetPitch;
  return api.cuMemcpyDtoDAsync(target, rectangle.source + row * sourcePitch,
                               width, stream.get());
}

CUresult StridedTransfer::enqueueRectangle(const DriverApi &api,
                                           const Rectangle &rectangle,
                                           const Stream &stream) const {
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = rectangle.source;
  copy.srcPitch = sourcePitch;
  copy.dstDevice = rectangle.target;
  copy.dstPitch = targetPitch;
  copy.WidthInBytes = width;
  copy.Height = height;
  return api.cuMemcpy2DAsync(&copy, stream.get());
}

void StridedTransfer::run(const LaunchContext &context) {
  const DriverApi &api = context.device.api();
  const std::string purpose = "copying on the GPU";
  for (const Rectangle &rectangle : rectangles) {
    if (height > 1) {
      const CUresult result = enqueueRectangle(api, rectangle, context.stream);
      if (result == CUDA_SUCCESS)
        continue;
      if (result != CUDA_ERROR_INVALID_VALUE ||
          height * rectangles.size() > kMaxRectangles)
        api.check(result, purpose + ", " + std::to_string(height) + " rows, " +
                              std::to_string(sourcePitch) + " and " +
                              std::to_string(targetPitch) + " bytes apart");
    }
    for (std::uint64_t row = 0; row < height; ++row)
      api.check(enqueueRow(api, rectangle, row, context.stream), purpose);
  }
}

} // namespace brew::runtime::cuda
