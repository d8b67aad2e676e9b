//===- Matmul.h - A cuBLASLt matrix product ---------------------*- C++ -*-===//
#pragma once

#include "runtime/cuda/CublasLt.h"
#include "runtime/cuda/Device.h"
#include "runtime/cuda/VendorCall.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime::cuda {

/// A matrix in device memory. Element (r, c) is at address + r * rowStride + c
/// * columnStride; strides are in elements, and one of them is 1.
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
  GradientA, ///< writes the row sums of a to the bias
  GradientB  ///< writes the column sums of b to the bias
};

/// A matrix product with an optional bias and ReLU.
struct MatmulProblem {
  Matrix a, b, d; ///< d [+]= a . b; d's rows have stride 1
  bool accumulate = false;
  bool relu = false;
  MatmulBias bias = MatmulBias::None;
  CUdeviceptr biasAddress = 0;
  plan::DataType biasType = plan::F32;

  /// Returns the alignments, in bytes, of the addresses of a, b, c and d, on
  /// which the library's suggestions depend.
  std::array<std::uint32_t, 4> alignments() const;
  /// Returns a key of everything that the library's suggestions depend on,
  /// apart from CallOptions. Problems with equal keys can share a choice.
  std::string text() const;
};

/// A matrix product and the algorithms that the library suggests for it.
class Matmul {
public:
  /// The product has no candidates if the library does not support the
  /// epilogue.
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
  void queryAlgorithms(const CallOptions &options);
  cublasLtMatrixLayout_t createLayout(const Matrix &matrix, bool &transposed);
  void setAttribute(int attribute, const void *value, std::size_t size);

  CublasLt &library;
  MatmulProblem problem;
  std::string where;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t layouts[3] = {};
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms;
};

} // namespace brew::runtime::cuda
