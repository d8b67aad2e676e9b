//===- GpuRowProducts.h - Products of a matrix on a GPU ---------*- C++ -*-===//
//
// By cuBLASLt, in single precision throughout (no TF32). The rows are copied to
// the GPU once.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cuda/CublasLt.h"
#include "runtime/cuda/Device.h"
#include "runtime/cuda/Libraries.h"
#include "runtime/embed/Products.h"

namespace brew::runtime::cuda {
struct MatmulProblem;
}

namespace brew::runtime::embed {

class GpuRowProducts : public RowProducts {
public:
  /// Throws Error (3) if the GPU or a library is not there, or has too little
  /// memory.
  GpuRowProducts(const cuda::Libraries &libraries, int gpu, const Matrix &rows);

  void project(const std::vector<float> &directions, std::int64_t count,
               std::vector<float> &scores) override;
  void sums(const std::vector<float> &scores, std::int64_t count,
            std::vector<double> &result) override;

private:
  void multiply(const cuda::MatmulProblem &problem);
  cuda::DeviceMemory uploaded(const std::vector<float> &values);
  void upload(const cuda::DeviceMemory &memory, const std::vector<float> &values);
  void download(const cuda::DeviceMemory &memory, std::vector<float> &values);

  cuda::Device device;
  cuda::CublasLt library;
  cuda::Stream stream;
  std::int64_t rows, columns;
  cuda::DeviceMemory features, workspace;
};

} // namespace brew::runtime::embed
