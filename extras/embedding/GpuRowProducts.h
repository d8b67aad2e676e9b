//===- GpuRowProducts.h - Matrix products on a GPU --------------*- C++ -*-===//
//
// Uses cuBLASLt in single precision throughout (no TF32). The rows are copied
// to the GPU once.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "extras/embedding/MatrixProducts.h"
#include "runtime/cuda/CublasLt.h"
#include "runtime/cuda/Device.h"
#include "runtime/cuda/LibraryPaths.h"

namespace brew::runtime::cuda {
struct MatmulProblem;
}

namespace brew::embedding {

/// Products on a GPU.
class GpuRowProducts : public RowProducts {
public:
  /// Throws Error (3) if the GPU or a library is missing, or if GPU memory does
  /// not suffice.
  GpuRowProducts(const runtime::cuda::LibraryPaths &libraries, int gpu,
                 const Matrix &rows);

  void project(const std::vector<float> &directions, std::int64_t count,
               std::vector<float> &scores) override;
  void projectTransposed(const std::vector<float> &scores, std::int64_t count,
                         std::vector<double> &result) override;

private:
  void multiply(const runtime::cuda::MatmulProblem &problem);
  runtime::cuda::DeviceMemory copyToDevice(const std::vector<float> &values);
  void upload(const runtime::cuda::DeviceMemory &memory,
              const std::vector<float> &values);
  void download(const runtime::cuda::DeviceMemory &memory,
                std::vector<float> &values);

  runtime::cuda::Device device;
  runtime::cuda::CublasLt library;
  runtime::cuda::Stream stream;
  std::int64_t rows, columns;
  runtime::cuda::DeviceMemory features, workspace;
};

} // namespace brew::embedding
