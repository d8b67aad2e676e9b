//===- Api.h - The CUDA driver's types and constants ------------*- C++ -*-===//
//
// The types and constants of the driver API that the simulated driver uses.
// They are independent of Brew's declarations (DriverApi.h), so that mistakes
// in either show up in tests.
//
//===----------------------------------------------------------------------===//
#ifndef CUDASIM_DRIVER_API_H
#define CUDASIM_DRIVER_API_H

#include <cstddef>
#include <cstdint>

#define CUDASIM_API extern "C" __attribute__((visibility("default")))

namespace cudasim {

enum Result : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  InvalidHandle = 400,
  IllegalState = 401,
  NotFound = 500,
  NotReady = 600,
  LaunchOutOfResources = 701,
  CooperativeLaunchTooLarge = 720,
  StreamCaptureUnsupported = 900,
  StreamCaptureInvalidated = 901,
  StreamCaptureMerge = 902,
  StreamCaptureUnmatched = 903,
  StreamCaptureUnjoined = 904,
  StreamCaptureIsolation = 905,
  StreamCaptureImplicit = 906,
  CapturedEvent = 907,
  StreamCaptureWrongThread = 908,
};

using DevicePointer = unsigned long long;

/// CU_DEVICE_ATTRIBUTE_MAX_PITCH, in bytes.
constexpr int kMaximumPitch = 0x7fffffff;

struct Context_;
struct Stream;
struct Event;
struct Graph;
struct GraphExec;
struct Module;
struct Function;

enum MemoryType : int { HostMemory = 1, DeviceMemory = 2 };

/// CUDA_MEMCPY2D.
struct Copy2D {
  std::size_t sourceX, sourceY;
  int sourceType;
  const void *sourceHost;
  DevicePointer sourceDevice;
  void *sourceArray;
  std::size_t sourcePitch;
  std::size_t targetX, targetY;
  int targetType;
  void *targetHost;
  DevicePointer targetDevice;
  void *targetArray;
  std::size_t targetPitch;
  std::size_t width, height;
};

} // namespace cudasim

#endif // CUDASIM_DRIVER_API_H
