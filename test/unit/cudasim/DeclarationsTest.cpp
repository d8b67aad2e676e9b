//===- DeclarationsTest.cpp - Brew's declarations of CUDA's interfaces ----===//
//
// Brew and the simulated libraries have their own declarations of the CUDA
// functions and constants that they use. If CUDA's headers are installed, this
// test compares both with them: without a GPU nothing else reveals mistakes.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/CublasLt.h"
#include "runtime/cuda/DriverApi.h"
#include "test/cudasim/driver/Api.h"

#include <cstddef>
#include <cublasLt.h>
#include <cuda.h>
#include <gtest/gtest.h>
#include <type_traits>

namespace {

namespace ours = brew::runtime::cuda;

/// Returns whether values of two types are passed to functions in the same way.
template <class A, class B> constexpr bool arePassedAlike() {
  if constexpr (std::is_void_v<A> || std::is_void_v<B>)
    return std::is_void_v<A> && std::is_void_v<B>;
  else
    return sizeof(A) == sizeof(B) &&
           std::is_pointer_v<A> == std::is_pointer_v<B> &&
           std::is_floating_point_v<A> == std::is_floating_point_v<B>;
}

/// Whether functions of two pointer types are called in the same way.
template <class A, class B> struct CalledAlike : std::false_type {};
template <class R, class... P, class S, class... Q>
struct CalledAlike<R (*)(P...), S (*)(Q...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(P) != sizeof...(Q))
      return false;
    else
      return arePassedAlike<R, S>() && (arePassedAlike<P, Q>() && ...);
  }();
};

// The lists of functions are expanded in the namespace of Brew's types.
} // namespace

namespace brew::runtime::cuda {
#define CHECK_FUNCTION(NAME, SYMBOL, ARGUMENTS)                                \
  static_assert(                                                               \
      CalledAlike<CUresult(*) ARGUMENTS, decltype(&::SYMBOL)>::value,          \
      #SYMBOL " has another declaration in CUDA");
BREW_DRIVER_FUNCTIONS(CHECK_FUNCTION)
#undef CHECK_FUNCTION
#define CHECK_FUNCTION(NAME, RESULT, ARGUMENTS)                                \
  static_assert(CalledAlike<RESULT(*) ARGUMENTS, decltype(&::NAME)>::value,    \
                #NAME " has another declaration in cuBLASLt");
BREW_CUBLASLT_FUNCTIONS(CHECK_FUNCTION)
#undef CHECK_FUNCTION
} // namespace brew::runtime::cuda

namespace {

#define CHECK_NUMBER(NAME)                                                     \
  static_assert(static_cast<int>(ours::NAME) == static_cast<int>(::NAME),      \
                #NAME " has another number in CUDA")
CHECK_NUMBER(CUDA_SUCCESS);
CHECK_NUMBER(CUDA_ERROR_OUT_OF_MEMORY);
CHECK_NUMBER(CUDA_ERROR_NO_DEVICE);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_GPU_OVERLAP);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
CHECK_NUMBER(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
CHECK_NUMBER(CU_JIT_ERROR_LOG_BUFFER);
CHECK_NUMBER(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
CHECK_NUMBER(CU_STREAM_NON_BLOCKING);
CHECK_NUMBER(CU_EVENT_DEFAULT);
CHECK_NUMBER(CU_EVENT_DISABLE_TIMING);
CHECK_NUMBER(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
CHECK_NUMBER(CU_MEMORYTYPE_DEVICE);
CHECK_NUMBER(CUDA_R_32F);
CHECK_NUMBER(CUDA_R_64F);
CHECK_NUMBER(CUDA_R_16F);
CHECK_NUMBER(CUDA_R_16BF);
CHECK_NUMBER(CUBLAS_COMPUTE_32F);
CHECK_NUMBER(CUBLAS_COMPUTE_64F);
CHECK_NUMBER(CUBLAS_COMPUTE_32F_FAST_TF32);
CHECK_NUMBER(CUBLAS_OP_N);
CHECK_NUMBER(CUBLAS_OP_T);
CHECK_NUMBER(CUBLASLT_MATMUL_DESC_TRANSA);
CHECK_NUMBER(CUBLASLT_MATMUL_DESC_TRANSB);
CHECK_NUMBER(CUBLASLT_MATMUL_DESC_EPILOGUE);
CHECK_NUMBER(CUBLASLT_MATMUL_DESC_BIAS_POINTER);
CHECK_NUMBER(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
CHECK_NUMBER(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
CHECK_NUMBER(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
CHECK_NUMBER(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
CHECK_NUMBER(CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE);
CHECK_NUMBER(CUBLASLT_EPILOGUE_DEFAULT);
CHECK_NUMBER(CUBLASLT_EPILOGUE_RELU);
CHECK_NUMBER(CUBLASLT_EPILOGUE_BIAS);
CHECK_NUMBER(CUBLASLT_EPILOGUE_RELU_BIAS);
CHECK_NUMBER(CUBLASLT_EPILOGUE_BGRADA);
CHECK_NUMBER(CUBLASLT_EPILOGUE_BGRADB);
#undef CHECK_NUMBER

static_assert(sizeof(ours::cublasLtMatmulHeuristicResult_t) ==
                      sizeof(::cublasLtMatmulHeuristicResult_t) &&
                  offsetof(ours::cublasLtMatmulHeuristicResult_t, state) ==
                      offsetof(::cublasLtMatmulHeuristicResult_t, state) &&
                  offsetof(ours::cublasLtMatmulHeuristicResult_t,
                           workspaceSize) ==
                      offsetof(::cublasLtMatmulHeuristicResult_t,
                               workspaceSize),
              "the heuristic's results have another layout in cuBLASLt");

#define CHECK_FIELD(THEIRS, STAND_IN)                                          \
  static_assert(offsetof(ours::CUDA_MEMCPY2D, THEIRS) ==                       \
                        offsetof(::CUDA_MEMCPY2D, THEIRS) &&                   \
                    offsetof(cudasim::Copy2D, STAND_IN) ==                     \
                        offsetof(::CUDA_MEMCPY2D, THEIRS),                     \
                #THEIRS " has another offset in CUDA")
CHECK_FIELD(srcXInBytes, sourceX);
CHECK_FIELD(srcY, sourceY);
CHECK_FIELD(srcMemoryType, sourceType);
CHECK_FIELD(srcHost, sourceHost);
CHECK_FIELD(srcDevice, sourceDevice);
CHECK_FIELD(srcPitch, sourcePitch);
CHECK_FIELD(dstXInBytes, targetX);
CHECK_FIELD(dstY, targetY);
CHECK_FIELD(dstMemoryType, targetType);
CHECK_FIELD(dstHost, targetHost);
CHECK_FIELD(dstDevice, targetDevice);
CHECK_FIELD(dstPitch, targetPitch);
CHECK_FIELD(WidthInBytes, width);
CHECK_FIELD(Height, height);
#undef CHECK_FIELD

#define CHECK_RESULT(NAME, THEIRS)                                             \
  static_assert(static_cast<int>(cudasim::NAME) == static_cast<int>(THEIRS),   \
                #THEIRS " has another number")
CHECK_RESULT(InvalidValue, CUDA_ERROR_INVALID_VALUE);
CHECK_RESULT(OutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
CHECK_RESULT(NotInitialized, CUDA_ERROR_NOT_INITIALIZED);
CHECK_RESULT(NoDevice, CUDA_ERROR_NO_DEVICE);
CHECK_RESULT(InvalidDevice, CUDA_ERROR_INVALID_DEVICE);
CHECK_RESULT(InvalidContext, CUDA_ERROR_INVALID_CONTEXT);
CHECK_RESULT(NoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
CHECK_RESULT(InvalidHandle, CUDA_ERROR_INVALID_HANDLE);
CHECK_RESULT(NotFound, CUDA_ERROR_NOT_FOUND);
CHECK_RESULT(NotReady, CUDA_ERROR_NOT_READY);
CHECK_RESULT(StreamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
CHECK_RESULT(StreamCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
CHECK_RESULT(StreamCaptureUnjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
CHECK_RESULT(IllegalState, CUDA_ERROR_ILLEGAL_STATE);
CHECK_RESULT(LaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
CHECK_RESULT(CooperativeLaunchTooLarge,
             CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
CHECK_RESULT(StreamCaptureMerge, CUDA_ERROR_STREAM_CAPTURE_MERGE);
CHECK_RESULT(StreamCaptureUnmatched, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
CHECK_RESULT(StreamCaptureIsolation, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
CHECK_RESULT(StreamCaptureImplicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
CHECK_RESULT(CapturedEvent, CUDA_ERROR_CAPTURED_EVENT);
CHECK_RESULT(StreamCaptureWrongThread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
#undef CHECK_RESULT

TEST(CudasimDeclarations, AgreeWithTheHeaders) {
  // The compiler has checked the static assertions above.
  EXPECT_GE(CUDA_VERSION, 12000);
}

} // namespace
