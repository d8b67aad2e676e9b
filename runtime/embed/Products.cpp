//===- Products.cpp - Products of matrices of floats ----------------------===//

#include "runtime/embed/Products.h"

#include "formats/Error.h"

#include <oneapi/dnnl/dnnl.h>

namespace brew::runtime::embed {

void multiply(bool transposeA, bool transposeB, std::int64_t m, std::int64_t n,
              std::int64_t k, const float *a, std::int64_t strideA,
              const float *b, std::int64_t strideB, float *c,
              std::int64_t strideC) {
  const dnnl_status_t status =
      dnnl_sgemm(transposeA ? 'T' : 'N', transposeB ? 'T' : 'N', m, n, k, 1, a,
                 strideA, b, strideB, 0, c, strideC);
  if (status == dnnl_out_of_memory)
    throw machineLacks("out of memory");
  if (status != dnnl_success)
    throw Error(ExitStatus::Bug, "oneDNN refuses a product (status " +
                                     std::to_string(status) + ")");
}

Matrix centred(const float *values, std::int64_t rows, std::int64_t columns) {
  const auto width = static_cast<std::size_t>(columns);
  std::vector<double> mean(width);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < width; ++i)
      mean[i] += values[static_cast<std::size_t>(row) * width + i];
  for (double &value : mean)
    value /= static_cast<double>(rows);
  Matrix result{rows, columns,
                std::vector<float>(static_cast<std::size_t>(rows) * width)};
  for (std::size_t i = 0; i < result.values.size(); ++i)
    result.values[i] = static_cast<float>(values[i] - mean[i % width]);
  return result;
}

} // namespace brew::runtime::embed
