//===- CublasLt.h - cuBLASLt, opened at first use ---------------*- C++ -*-===//
//
// Declares the functions and constants of cuBLASLt that Brew uses. They are
// looked up with dlopen; see DriverApi.h.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime::cuda {

using cublasLtHandle_t = struct cublasLtContext *;
using cublasLtMatmulDesc_t = struct cublasLtMatmulDescOpaque *;
using cublasLtMatrixLayout_t = struct cublasLtMatrixLayoutOpaque *;
using cublasLtMatmulPreference_t = struct cublasLtMatmulPreferenceOpaque *;
struct cublasLtMatmulAlgo_t {
  std::uint64_t data[8];
};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  std::size_t workspaceSize;
  int state;
  float wavesCount;
  int reserved[4];
};

enum : int {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_R_16BF = 14,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
  CUBLAS_OP_N = 0,
  CUBLAS_OP_T = 1,
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
  CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26,
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
  CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5, // then B, C and D
  CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE = 2,
  CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE = 4,
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_RELU = 2,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_RELU_BIAS = 6,
  CUBLASLT_EPILOGUE_BGRADA = 256,
  CUBLASLT_EPILOGUE_BGRADB = 512
};

#define BREW_CUBLASLT_FUNCTIONS(FUNCTION)                                      \
  FUNCTION(cublasLtCreate, int, (cublasLtHandle_t *))                          \
  FUNCTION(cublasLtDestroy, int, (cublasLtHandle_t))                           \
  FUNCTION(cublasLtGetVersion, std::size_t, ())                                \
  FUNCTION(cublasLtGetStatusString, const char *, (int))                       \
  FUNCTION(cublasLtMatmulDescCreate, int, (cublasLtMatmulDesc_t *, int, int))  \
  FUNCTION(cublasLtMatmulDescDestroy, int, (cublasLtMatmulDesc_t))             \
  FUNCTION(cublasLtMatmulDescSetAttribute, int,                                \
           (cublasLtMatmulDesc_t, int, const void *, std::size_t))             \
  FUNCTION(cublasLtMatrixLayoutCreate, int,                                    \
           (cublasLtMatrixLayout_t *, int, std::uint64_t, std::uint64_t,       \
            std::int64_t))                                                     \
  FUNCTION(cublasLtMatrixLayoutDestroy, int, (cublasLtMatrixLayout_t))         \
  FUNCTION(cublasLtMatmulPreferenceCreate, int,                                \
           (cublasLtMatmulPreference_t *))                                     \
  FUNCTION(cublasLtMatmulPreferenceDestroy, int, (cublasLtMatmulPreference_t)) \
  FUNCTION(cublasLtMatmulPreferenceSetAttribute, int,                          \
           (cublasLtMatmulPreference_t, int, const void *, std::size_t))       \
  FUNCTION(cublasLtMatmulAlgoGetHeuristic, int,                                \
           (cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,    \
            cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,                    \
            cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,           \
            cublasLtMatmulHeuristicResult_t *, int *))                         \
  FUNCTION(cublasLtMatmul, int,                                                \
           (cublasLtHandle_t, cublasLtMatmulDesc_t, const void *,              \
            const void *, cublasLtMatrixLayout_t, const void *,                \
            cublasLtMatrixLayout_t, const void *, const void *,                \
            cublasLtMatrixLayout_t, void *, cublasLtMatrixLayout_t,            \
            const cublasLtMatmulAlgo_t *, void *, std::size_t, void *))

/// The library and its handle for the thread's current CUDA context.
class CublasLt {
public:
  /// Opens the first of `libraries` that dlopen accepts. Throws Error (3) with
  /// the loader's messages if it accepts none.
  explicit CublasLt(const std::vector<std::string> &libraries);
  ~CublasLt();
  CublasLt(const CublasLt &) = delete;
  CublasLt &operator=(const CublasLt &) = delete;

#define BREW_DECLARE(NAME, RESULT, ARGUMENTS) RESULT(*NAME) ARGUMENTS = nullptr;
  BREW_CUBLASLT_FUNCTIONS(BREW_DECLARE)
#undef BREW_DECLARE

  cublasLtHandle_t handle() const { return libraryHandle; }
  /// Returns the name and version, such as "cuBLASLt 13.1.0".
  std::string name() const;
  /// Throws Error (3), "PURPOSE: cuBLASLt: TEXT", unless `status` is success.
  void check(int status, const std::string &purpose) const;

private:
  cublasLtHandle_t libraryHandle = nullptr;
};

} // namespace brew::runtime::cuda
