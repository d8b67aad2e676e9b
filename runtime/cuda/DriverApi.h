//===- DriverApi.h - The CUDA driver, opened at first use -------*- C++ -*-===//
//
// Declares the types, functions and constants of the driver API that Brew uses,
// under the driver's own names. They are looked up with dlopen, so that Brew
// builds and runs on machines without CUDA.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace brew::runtime::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;
using CUgraphNode = struct CUgraphNode_st *;

inline constexpr CUresult CUDA_SUCCESS = 0;
inline constexpr CUresult CUDA_ERROR_INVALID_VALUE = 1;
inline constexpr CUresult CUDA_ERROR_OUT_OF_MEMORY = 2;
inline constexpr CUresult CUDA_ERROR_NO_DEVICE = 100;
inline constexpr CUresult CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720;
inline constexpr CUresult CUDA_ERROR_NOT_SUPPORTED = 801;

enum CUdevice_attribute : int {
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
  CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY = 9,
  CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
  CU_DEVICE_ATTRIBUTE_MAX_PITCH = 11,
  CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
  CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT = 14,
  CU_DEVICE_ATTRIBUTE_GPU_OVERLAP = 15,
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT = 17,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95
};

enum CUjit_option : int {
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
};

inline constexpr unsigned CU_STREAM_NON_BLOCKING = 1;
inline constexpr unsigned CU_EVENT_DEFAULT = 0;
inline constexpr unsigned CU_EVENT_DISABLE_TIMING = 2;
inline constexpr int CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1;
inline constexpr int CU_MEMORYTYPE_DEVICE = 2;

struct CUDA_MEMCPY2D {
  std::size_t srcXInBytes, srcY;
  int srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  void *srcArray;
  std::size_t srcPitch;
  std::size_t dstXInBytes, dstY;
  int dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  void *dstArray;
  std::size_t dstPitch;
  std::size_t WidthInBytes, Height;
};

// NAME, SYMBOL, (ARGUMENTS): the driver exports newer versions of some
// functions under a symbol with a version suffix.
#define BREW_DRIVER_FUNCTIONS(FUNCTION)                                        \
  FUNCTION(cuInit, cuInit, (unsigned))                                         \
  FUNCTION(cuDriverGetVersion, cuDriverGetVersion, (int *))                    \
  FUNCTION(cuDeviceGetCount, cuDeviceGetCount, (int *))                        \
  FUNCTION(cuDeviceGet, cuDeviceGet, (CUdevice *, int))                        \
  FUNCTION(cuDeviceGetName, cuDeviceGetName, (char *, int, CUdevice))          \
  FUNCTION(cuDeviceGetAttribute, cuDeviceGetAttribute,                         \
           (int *, CUdevice_attribute, CUdevice))                              \
  FUNCTION(cuDeviceTotalMem, cuDeviceTotalMem_v2, (std::size_t *, CUdevice))   \
  FUNCTION(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain,                 \
           (CUcontext *, CUdevice))                                            \
  FUNCTION(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2,            \
           (CUdevice))                                                         \
  FUNCTION(cuCtxSetCurrent, cuCtxSetCurrent, (CUcontext))                      \
  FUNCTION(cuMemGetInfo, cuMemGetInfo_v2, (std::size_t *, std::size_t *))      \
  FUNCTION(cuMemAlloc, cuMemAlloc_v2, (CUdeviceptr *, std::size_t))            \
  FUNCTION(cuMemFree, cuMemFree_v2, (CUdeviceptr))                             \
  FUNCTION(cuMemHostAlloc, cuMemHostAlloc, (void **, std::size_t, unsigned))   \
  FUNCTION(cuMemFreeHost, cuMemFreeHost, (void *))                             \
  FUNCTION(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                            \
           (CUdeviceptr, const void *, std::size_t, CUstream))                 \
  FUNCTION(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                            \
           (void *, CUdeviceptr, std::size_t, CUstream))                       \
  FUNCTION(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                            \
           (CUdeviceptr, CUdeviceptr, std::size_t, CUstream))                  \
  FUNCTION(cuMemcpy2DAsync, cuMemcpy2DAsync_v2,                                \
           (const CUDA_MEMCPY2D *, CUstream))                                  \
  FUNCTION(cuMemsetD8Async, cuMemsetD8Async,                                   \
           (CUdeviceptr, unsigned char, std::size_t, CUstream))                \
  FUNCTION(cuStreamCreate, cuStreamCreate, (CUstream *, unsigned))             \
  FUNCTION(cuStreamDestroy, cuStreamDestroy_v2, (CUstream))                    \
  FUNCTION(cuStreamSynchronize, cuStreamSynchronize, (CUstream))               \
  FUNCTION(cuStreamWaitEvent, cuStreamWaitEvent,                               \
           (CUstream, CUevent, unsigned))                                      \
  FUNCTION(cuStreamBeginCapture, cuStreamBeginCapture_v2, (CUstream, int))     \
  FUNCTION(cuStreamEndCapture, cuStreamEndCapture, (CUstream, CUgraph *))      \
  FUNCTION(cuGraphInstantiate, cuGraphInstantiateWithFlags,                    \
           (CUgraphExec *, CUgraph, unsigned long long))                       \
  FUNCTION(cuGraphLaunch, cuGraphLaunch, (CUgraphExec, CUstream))              \
  FUNCTION(cuGraphGetNodes, cuGraphGetNodes,                                   \
           (CUgraph, CUgraphNode *, std::size_t *))                            \
  FUNCTION(cuGraphExecDestroy, cuGraphExecDestroy, (CUgraphExec))              \
  FUNCTION(cuGraphDestroy, cuGraphDestroy, (CUgraph))                          \
  FUNCTION(cuEventCreate, cuEventCreate, (CUevent *, unsigned))                \
  FUNCTION(cuEventRecord, cuEventRecord, (CUevent, CUstream))                  \
  FUNCTION(cuEventSynchronize, cuEventSynchronize, (CUevent))                  \
  FUNCTION(cuEventElapsedTime, cuEventElapsedTime,                             \
           (float *, CUevent, CUevent))                                        \
  FUNCTION(cuEventDestroy, cuEventDestroy_v2, (CUevent))                       \
  FUNCTION(cuModuleLoadDataEx, cuModuleLoadDataEx,                             \
           (CUmodule *, const void *, unsigned, CUjit_option *, void **))      \
  FUNCTION(cuModuleUnload, cuModuleUnload, (CUmodule))                         \
  FUNCTION(cuModuleGetFunction, cuModuleGetFunction,                           \
           (CUfunction *, CUmodule, const char *))                             \
  FUNCTION(cuLaunchKernel, cuLaunchKernel,                                     \
           (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,      \
            unsigned, unsigned, CUstream, void **, void **))                   \
  FUNCTION(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel,               \
           (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,      \
            unsigned, unsigned, CUstream, void **))                            \
  FUNCTION(cuOccupancyMaxActiveBlocksPerMultiprocessor,                        \
           cuOccupancyMaxActiveBlocksPerMultiprocessor,                        \
           (int *, CUfunction, int, std::size_t))                              \
  FUNCTION(cuGetErrorName, cuGetErrorName, (CUresult, const char **))          \
  FUNCTION(cuGetErrorString, cuGetErrorString, (CUresult, const char **))

/// The functions of the driver.
struct DriverApi {
#define BREW_DECLARE(NAME, SYMBOL, ARGUMENTS)                                  \
  CUresult(*NAME) ARGUMENTS = nullptr;
  BREW_DRIVER_FUNCTIONS(BREW_DECLARE)
#undef BREW_DECLARE

  /// Opens and initialises the library of this name or path. It stays open
  /// until the process ends. Throws Error (3) if the driver is missing, lacks a
  /// function that Brew needs, or does not start.
  static const DriverApi &open(const std::string &library = "libcuda.so.1");

  /// Returns the text of a result, such as "out of memory
  /// (CUDA_ERROR_OUT_OF_MEMORY)".
  std::string text(CUresult result) const;
  /// Throws Error (3), "PURPOSE: TEXT", unless `result` is success.
  void check(CUresult result, const std::string &purpose) const;
};

/// Returns the text of a CUDA version, such as "13.0" for 13000.
std::string versionText(int version);

} // namespace brew::runtime::cuda
