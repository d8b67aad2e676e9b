//===- Matmul.h - One cuBLASLt product --------------------------*- C++ -*-===//
#pragma once

#include "runtime/cuda/CublasLt.h"
#include "runtime/cuda/Device.h"
#include "runtime/cuda/VendorCall.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime::cuda {

/// A matrix in memory: element (r, c) is at address + r * rowStride + c *
/// columnStride (in elements); one of the strides is 1.
struct Matrix {
  plan::DataType type = plan::F32;
  CUdeviceptr address = 0;
  std::int64_t rows = 0, columns = 0;
  std::int64_t rowStride = 0, columnStride = 0;

  Matrix transposed() const {
    return {type, address, columns, rows, columnStride, rowStride};
  }
};

enum class MatmulBias {
  None,
  Add,       ///< adds bias[row] to the result
  GradientA, ///< also writes the sums of a's rows
  GradientB  ///< also writes the sums of b's columns
};

struct MatmulProblem {
  Matrix a, b, d; ///< d [+]= a . b; d's rows have stride 1
  bool accumulate = false;
  bool relu = false;
  MatmulBias bias = MatmulBias::None;
  CUdeviceptr biasAddress = 0;
  plan::DataType biasType = plan::F32;

  /// Bytes of which the addresses of a, b, c and d are multiples: the library
  /// suggests other algorithms where these are less.
  std::array<std::uint32_t, 4> alignments() const;
  /// All that decides what the library suggests; equal for problems that can
  /// share a choice.
  std::string text() const;
};

/// A product with the algorithms that the library suggests for it.
class Matmul {
public:
  /// No candidates if the library supports none with this epilogue.
  Matmul(CublasLt &library, const MatmulProblem &problem,
         const CallOptions &options, const std::string &where);
  ~Matmul();
  Matmul(const Matmul &) = delete;
  Matmul &operator=(const Matmul &) = delete;

  int candidates() const { return static_cast<int>(algorithms.size()); }
  std::uint64_t workspaceBytes(int candidate) const {
    return algorithms[static_cast<std::size_t>(candidate)].workspaceSize;
  }
  void run(int candidate, CUdeviceptr workspace, const Stream &stream) const;

private:
  void suggest(const CallOptions &options);
  cublasLtMatrixLayout_t layout(const Matrix &matrix, bool &transposed);
  void set(int attribute, const void *value, std::size_t size);

  CublasLt &library;
  MatmulProblem problem;
  std::string where;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t layouts[3] = {};
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms;
};

} // namespace brew::runtime::cuda
