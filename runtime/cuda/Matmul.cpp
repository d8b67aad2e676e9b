//===- Matmul.cpp - A cuBLASLt matrix product -----------------------------===//
#include "runtime/cuda/Matmul.h"

#include "support/Error.h"

#include <algorithm>

namespace brew::runtime::cuda {

namespace {

int libraryType(plan::DataType type) {
  switch (type) {
  case plan::F32:
    return CUDA_R_32F;
  case plan::F64:
    return CUDA_R_64F;
  case plan::F16:
    return CUDA_R_16F;
  case plan::BF16:
    return CUDA_R_16BF;
  case plan::I32:
  case plan::U8:
    break;
  }
  throw Error(ExitStatus::Bug, "products of integers are not supported");
}

void *toPointer(CUdeviceptr address) {
  return reinterpret_cast<void *>(address);
}

int epilogueOf(const MatmulProblem &problem) {
  switch (problem.bias) {
  case MatmulBias::None:
    return problem.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
  case MatmulBias::Add:
    return problem.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  case MatmulBias::GradientA:
    return CUBLASLT_EPILOGUE_BGRADA;
  case MatmulBias::GradientB:
    return CUBLASLT_EPILOGUE_BGRADB;
  }
  return CUBLASLT_EPILOGUE_DEFAULT;
}

} // namespace

std::array<std::uint32_t, 4> MatmulProblem::alignments() const {
  // C is D; the library accesses the bias with the alignment of the result.
  std::uint32_t result = alignmentOf(d.address);
  if (bias != MatmulBias::None)
    result = std::min(result, alignmentOf(biasAddress));
  return {alignmentOf(a.address), alignmentOf(b.address), result, result};
}

std::string MatmulProblem::text() const {
  auto matrix = [](const Matrix &m) {
    return plan::DataType_Name(m.type) + "[" + std::to_string(m.rows) + "," +
           std::to_string(m.columns) + "]:[" + std::to_string(m.rowStride) +
           "," + std::to_string(m.columnStride) + "]";
  };
  return matrix(a) + " . " + matrix(b) + " -> " + matrix(d) +
         (accumulate ? " accumulate" : "") + " epilogue " +
         std::to_string(epilogueOf(*this)) + " aligned " +
         std::to_string(alignments()[0]) + "," +
         std::to_string(alignments()[1]) + "," +
         std::to_string(alignments()[3]);
}

Matmul::Matmul(CublasLt &lt, const MatmulProblem &description,
               const CallOptions &options, const std::string &step)
    : library(lt), problem(description), where(step) {
  const bool isDouble = problem.d.type == plan::F64;
  const bool usesTf32 =
      options.math == plan::Target::TF32 && problem.a.type == plan::F32;
  library.check(
      library.cublasLtMatmulDescCreate(&operation,
                                       isDouble   ? CUBLAS_COMPUTE_64F
                                       : usesTf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                  : CUBLAS_COMPUTE_32F,
                                       isDouble ? CUDA_R_64F : CUDA_R_32F),
      where);
  const Matrix *matrices[] = {&problem.a, &problem.b, &problem.d};
  const int attributes[] = {CUBLASLT_MATMUL_DESC_TRANSA,
                            CUBLASLT_MATMUL_DESC_TRANSB};
  for (int i = 0; i < 3; ++i) {
    bool transposed = false;
    layouts[i] = createLayout(*matrices[i], transposed);
    const std::int32_t flag = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    if (i < 2)
      setAttribute(attributes[i], &flag, sizeof flag);
    else if (transposed)
      throw Error(ExitStatus::Bug,
                  where + ": the product's result is not column-major");
  }
  const std::int32_t epilogue = epilogueOf(problem);
  setAttribute(CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
  if (problem.bias != MatmulBias::None) {
    void *bias = toPointer(problem.biasAddress);
    setAttribute(CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    const std::int32_t type = libraryType(problem.biasType);
    if (problem.biasType != problem.d.type)
      setAttribute(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &type, sizeof type);
  }
  queryAlgorithms(options);
}

Matmul::~Matmul() {
  for (cublasLtMatrixLayout_t layout : layouts)
    if (layout)
      library.cublasLtMatrixLayoutDestroy(layout);
  if (operation)
    library.cublasLtMatmulDescDestroy(operation);
}

void Matmul::setAttribute(int attribute, const void *value, std::size_t size) {
  library.check(
      library.cublasLtMatmulDescSetAttribute(operation, attribute, value, size),
      where);
}

/// The library's matrices are column-major; a row-major matrix is described as
/// the transpose of a column-major one.
cublasLtMatrixLayout_t Matmul::createLayout(const Matrix &matrix,
                                            bool &transposed) {
  transposed = matrix.rowStride != 1 && matrix.rows != 1;
  if (transposed && matrix.columnStride != 1 && matrix.columns != 1)
    throw Error(ExitStatus::Bug,
                where + ": an operand of the product is dense neither in its "
                        "rows nor in its columns");
  const Matrix stored = transposed ? matrix.transposed() : matrix;
  // The library requires leading >= rows, even for a single column, which never
  // uses it.
  const std::int64_t leading = stored.columns == 1
                                   ? stored.rows
                                   : std::max(stored.columnStride, stored.rows);
  cublasLtMatrixLayout_t result = nullptr;
  library.check(library.cublasLtMatrixLayoutCreate(
                    &result, libraryType(stored.type),
                    static_cast<std::uint64_t>(stored.rows),
                    static_cast<std::uint64_t>(stored.columns), leading),
                where);
  return result;
}

void Matmul::queryAlgorithms(const CallOptions &options) {
  constexpr int kMaxAlgorithms = 16;
  cublasLtMatmulPreference_t preference = nullptr;
  library.check(library.cublasLtMatmulPreferenceCreate(&preference), where);
  const std::uint64_t limit = options.workspaceLimit;
  // Exclude in-step reductions, whose result depends on the order of blocks:
  // repeated runs must be bitwise equal.
  const std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE |
                                   CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
  library.cublasLtMatmulPreferenceSetAttribute(
      preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit,
      sizeof limit);
  library.cublasLtMatmulPreferenceSetAttribute(
      preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions,
      sizeof reductions);
  const std::array<std::uint32_t, 4> alignments = problem.alignments();
  for (std::size_t operand = 0; operand < alignments.size(); ++operand)
    library.cublasLtMatmulPreferenceSetAttribute(
        preference,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES + static_cast<int>(operand),
        &alignments[operand], sizeof alignments[operand]);
  cublasLtMatmulHeuristicResult_t results[kMaxAlgorithms] = {};
  int count = 0;
  const int status = library.cublasLtMatmulAlgoGetHeuristic(
      library.handle(), operation, layouts[0], layouts[1], layouts[2],
      layouts[2], preference, kMaxAlgorithms, results, &count);
  library.cublasLtMatmulPreferenceDestroy(preference);
  if (status != 0)
    return;
  for (int i = 0; i < count; ++i)
    if (results[i].state == 0 && results[i].workspaceSize <= limit)
      algorithms.push_back(results[i]);
}

void Matmul::run(int candidate, CUdeviceptr workspace,
                 const Stream &stream) const {
  const double one = 1, zero = 0;
  const float oneSingle = 1, zeroSingle = 0;
  const bool isDouble = problem.d.type == plan::F64;
  const void *alpha = isDouble ? static_cast<const void *>(&one) : &oneSingle;
  const void *betaZero =
      isDouble ? static_cast<const void *>(&zero) : &zeroSingle;
  const cublasLtMatmulHeuristicResult_t &suggestion =
      algorithms[static_cast<std::size_t>(candidate)];
  library.check(library.cublasLtMatmul(library.handle(), operation, alpha,
                                       toPointer(problem.a.address), layouts[0],
                                       toPointer(problem.b.address), layouts[1],
                                       problem.accumulate ? alpha : betaZero,
                                       toPointer(problem.d.address), layouts[2],
                                       toPointer(problem.d.address), layouts[2],
                                       &suggestion.algo, toPointer(workspace),
                                       suggestion.workspaceSize, stream.get()),
                where);
}

} // namespace brew::runtime::cuda
