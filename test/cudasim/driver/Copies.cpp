//===- Copies.cpp - Copies and fills --------------------------------------===//
#include "Driver.h"

#include "../engine/Engine.h"

#include <cstring>

namespace cudasim {

using Lock = std::lock_guard<std::recursive_mutex>;

static std::byte *bytesAt(DevicePointer address) {
  return reinterpret_cast<std::byte *>(address);
}

CUDASIM_API int cuMemcpyHtoDAsync_v2(DevicePointer target, const void *source,
                                     std::size_t bytes, Stream *stream) {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  // A captured copy reads its source when the graph runs, from pageable memory
  // too.
  if (isPinned(source, bytes) || isCapturing(stream))
    return enqueue(stream, [=] {
      requireDeviceRange(target, bytes, "copy to the device");
      std::memcpy(bytesAt(target), source, bytes);
    });
  // Pageable memory is staged before the call returns.
  const auto *first = static_cast<const std::byte *>(source);
  std::vector<std::byte> staged(first, first + bytes);
  return enqueue(stream, [target, staged = std::move(staged)] {
    requireDeviceRange(target, staged.size(), "copy to the device");
    std::memcpy(bytesAt(target), staged.data(), staged.size());
  });
}

CUDASIM_API int cuMemcpyDtoHAsync_v2(void *target, DevicePointer source,
                                     std::size_t bytes, Stream *stream) {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  if (Result error = enqueue(stream, [=] {
        requireDeviceRange(source, bytes, "copy from the device");
        std::memcpy(target, bytesAt(source), bytes);
      }))
    return error;
  // A copy to pageable memory is synchronous.
  return isPinned(target, bytes) ? Success : synchronize(stream);
}

CUDASIM_API int cuMemcpyDtoDAsync_v2(DevicePointer target, DevicePointer source,
                                     std::size_t bytes, Stream *stream) {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  return enqueue(stream, [=] {
    requireDeviceRange(source, bytes, "copy within the device, source");
    requireDeviceRange(target, bytes, "copy within the device, target");
    if (target < source + bytes && source < target + bytes)
      reportLaunchFinding("copy within the device: source and target overlap");
    std::memcpy(bytesAt(target), bytesAt(source), bytes);
  });
}

namespace {
/// One side of a two-dimensional copy.
struct CopySide {
  std::byte *first;
  std::size_t pitch;
  bool isDevice;

  CopySide(int type, const void *host, DevicePointer device, std::size_t x,
           std::size_t y, std::size_t pitch)
      : first((type == DeviceMemory
                   ? bytesAt(device)
                   : static_cast<std::byte *>(const_cast<void *>(host))) +
              y * pitch + x),
        pitch(pitch), isDevice(type == DeviceMemory) {}
  std::uint64_t extent(std::size_t width, std::size_t height) const {
    return (height - 1) * pitch + width;
  }
};

/// Returns whether any rows of the two sides overlap; each side has `height`
/// rows of `width` bytes.
bool overlap(const CopySide &a, const CopySide &b, std::size_t width,
             std::size_t height) {
  for (std::size_t i = 0, j = 0; i < height && j < height;) {
    const std::byte *rowOfA = a.first + i * a.pitch,
                    *rowOfB = b.first + j * b.pitch;
    if (rowOfA < rowOfB + width && rowOfB < rowOfA + width)
      return true;
    // Later rows of the other side have higher addresses, so the row with the
    // lower address overlaps none of them.
    rowOfA < rowOfB ? ++i : ++j;
  }
  return false;
}

/// Returns whether the simulated device rejects the pitch in copies within the
/// device.
bool isRejectedPitch(std::size_t pitch) {
  return pitch % environmentNumber("CUDASIM_PITCH_ALIGNMENT", 1) != 0;
}
} // namespace

CUDASIM_API int cuMemcpy2DAsync_v2(const Copy2D *copy, Stream *stream) {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  std::size_t width = copy->width, height = copy->height;
  if (width == 0 || height == 0)
    return Success;
  for (int type : {copy->sourceType, copy->targetType})
    if (type != HostMemory && type != DeviceMemory)
      return InvalidValue;
  if (width + copy->sourceX > copy->sourcePitch ||
      width + copy->targetX > copy->targetPitch ||
      copy->sourcePitch > kMaximumPitch || copy->targetPitch > kMaximumPitch)
    return InvalidValue;
  if (copy->sourceType == DeviceMemory && copy->targetType == DeviceMemory &&
      (isRejectedPitch(copy->sourcePitch) ||
       isRejectedPitch(copy->targetPitch)))
    return InvalidValue;
  CopySide source(copy->sourceType, copy->sourceHost, copy->sourceDevice,
                  copy->sourceX, copy->sourceY, copy->sourcePitch);
  CopySide target(copy->targetType, copy->targetHost, copy->targetDevice,
                  copy->targetX, copy->targetY, copy->targetPitch);
  bool pageable = false;
  for (const CopySide &side : {source, target})
    pageable |=
        !side.isDevice && !isPinned(side.first, side.extent(width, height));
  Result result = enqueue(stream, [=] {
    for (const CopySide &side : {source, target})
      if (side.isDevice)
        requireDeviceRange(reinterpret_cast<DevicePointer>(side.first),
                           side.extent(width, height), "two-dimensional copy");
    if (overlap(source, target, width, height))
      reportLaunchFinding("two-dimensional copy: source and target overlap");
    for (std::size_t row = 0; row < height; ++row)
      std::memcpy(target.first + row * target.pitch,
                  source.first + row * source.pitch, width);
  });
  // Copies of pageable rows are synchronous, which CUDA permits.
  return result == Success && pageable ? synchronize(stream) : result;
}

CUDASIM_API int cuMemsetD8Async(DevicePointer target, unsigned char value,
                                std::size_t bytes, Stream *stream) {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  return enqueue(stream, [=] {
    requireDeviceRange(target, bytes, "fill");
    std::memset(bytesAt(target), value, bytes);
  });
}

} // namespace cudasim
