//===- GpuRowProducts.cpp - Matrix products on a GPU ----------------------===//

#include "extras/embedding/GpuRowProducts.h"

#include "runtime/cuda/Matmul.h"
#include "support/Error.h"

#include <algorithm>

namespace brew::embedding {

using runtime::cuda::CallOptions;
using runtime::cuda::CUdeviceptr;
using runtime::cuda::DeviceMemory;
using runtime::cuda::DriverApi;
using runtime::cuda::LibraryPaths;
using runtime::cuda::Matmul;
using runtime::cuda::MatmulProblem;

namespace {

const std::string kPurpose = "principal components";
/// Rows that are summed in single precision. The sums of such blocks are added
/// in double precision, as on the host.
constexpr std::int64_t kGpuBlockRows = 4096;
constexpr std::uint64_t kWorkspaceBytes = 32u << 20;

} // namespace

GpuRowProducts::GpuRowProducts(const LibraryPaths &libraries, int gpu,
                               const Matrix &matrix)
    : device(DriverApi::open(libraries.driver), gpu),
      library(libraries.cublasLt), stream(device), rows(matrix.rows),
      columns(matrix.columns), features(copyToDevice(matrix.values)),
      workspace(device, kWorkspaceBytes, kPurpose) {}

DeviceMemory GpuRowProducts::copyToDevice(const std::vector<float> &values) {
  DeviceMemory memory(device, values.size() * sizeof(float), kPurpose);
  upload(memory, values);
  return memory;
}

void GpuRowProducts::upload(const DeviceMemory &memory,
                            const std::vector<float> &values) {
  const DriverApi &api = device.api();
  api.check(api.cuMemcpyHtoDAsync(memory.address(), values.data(),
                                  values.size() * sizeof(float), stream.get()),
            kPurpose);
  stream.synchronize(kPurpose);
}

void GpuRowProducts::download(const DeviceMemory &memory,
                              std::vector<float> &values) {
  const DriverApi &api = device.api();
  api.check(api.cuMemcpyDtoHAsync(values.data(), memory.address(),
                                  values.size() * sizeof(float), stream.get()),
            kPurpose);
  stream.synchronize(kPurpose);
}

void GpuRowProducts::multiply(const MatmulProblem &problem) {
  CallOptions options;
  options.deterministic = true;
  options.workspaceLimit = kWorkspaceBytes;
  const Matmul product(library, problem, options, kPurpose);
  if (product.candidates() == 0)
    throw unavailable(kPurpose + ": " + library.name() +
                      " has no matrix product for " + problem.text());
  product.run(0, workspace.address(), stream);
}

// cuBLASLt's results are column-major, so each call multiplies the transposed
// operands in reverse order.

void GpuRowProducts::project(const std::vector<float> &directions,
                             std::int64_t count, std::vector<float> &scores) {
  device.makeCurrent();
  const DeviceMemory directionMemory = copyToDevice(directions);
  scores.resize(static_cast<std::size_t>(rows * count));
  const DeviceMemory result(device, scores.size() * sizeof(float), kPurpose);
  MatmulProblem problem;
  problem.a = {plan::F32, directionMemory.address(), count, columns, 1, count};
  problem.b = {plan::F32, features.address(), columns, rows, 1, columns};
  problem.d = {plan::F32, result.address(), count, rows, 1, count};
  multiply(problem);
  download(result, scores);
}

void GpuRowProducts::projectTransposed(const std::vector<float> &scores,
                                       std::int64_t count,
                                       std::vector<double> &result) {
  device.makeCurrent();
  const DeviceMemory scoreMemory = copyToDevice(scores);
  const auto size = static_cast<std::size_t>(columns * count);
  const auto blocks = static_cast<std::size_t>((rows - 1) / kGpuBlockRows + 1);
  const DeviceMemory blockSums(device, blocks * size * sizeof(float), kPurpose);
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::int64_t begin = static_cast<std::int64_t>(block) * kGpuBlockRows,
                       rowCount = std::min(kGpuBlockRows, rows - begin);
    auto addressOf = [](CUdeviceptr base, std::int64_t elements) {
      return base + static_cast<CUdeviceptr>(elements) * sizeof(float);
    };
    MatmulProblem problem;
    problem.a = {plan::F32, addressOf(scoreMemory.address(), begin * count),
                 count,     rowCount,
                 1,         count};
    problem.b = {plan::F32, addressOf(features.address(), begin * columns),
                 rowCount,  columns,
                 columns,   1};
    problem.d = {
        plan::F32,
        addressOf(blockSums.address(), static_cast<std::int64_t>(block * size)),
        count,
        columns,
        1,
        count};
    multiply(problem);
  }
  std::vector<float> sums(blocks * size);
  download(blockSums, sums);
  result.assign(size, 0);
  for (std::size_t block = 0; block < blocks; ++block)
    for (std::size_t i = 0; i < size; ++i)
      result[i] += sums[block * size + i];
}

} // namespace brew::embedding
